//! The controller of a show as a Durable Object.

// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, console_warn, durable_object};

use super::object_alarm::Alarm;
use super::object_calls::{ObjectName, asked, astray, told};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use super::settings::internal_keys;
use crate::host::Told;
use crate::objects::controller::{ControllerObject, STEP_MS};
use crate::objects::wire::{ObjectAnswer, ObjectRequest};

/// When a room could not be forgotten, it is tried again after this.
const RETRY_MS: u64 = 3_600_000;

type Controller = ControllerObject<ObjectStorage, ObjectLinks>;

#[durable_object(alarm)]
#[derive(Debug)]
pub struct RoomController {
    controller: Told<Controller>,
    alarm: Alarm,
}

impl DurableObject for RoomController {
    fn new(state: State, env: Env) -> Self {
        Self {
            controller: controller(&state, env),
            alarm: Alarm::new(&state),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        told(self.answer(&mut request).await)
    }

    async fn alarm(&self) -> Result<Response> {
        if let Err(trouble) = self.step().await {
            console_warn!("a step failed: {trouble}");
        }
        Response::empty()
    }
}

impl RoomController {
    async fn answer(&self, request: &mut Request) -> Told<ObjectAnswer> {
        let controller = self.controller.as_ref().map_err(Clone::clone)?;
        let request = match asked(request).await? {
            ObjectRequest::Controller(_, request) => request,
            other => return astray(&other),
        };
        let answer = controller.answer(request).await?;
        // For a show that does not exist nothing is stored, not even an alarm.
        if matches!(answer, ObjectAnswer::Bulletin(Some(_))) {
            self.alarm.set_sooner(STEP_MS).await?;
        }
        Ok(answer)
    }

    /// The next step is arranged before this one is taken. A controller that was moved
    /// knows of nobody who asks, and rests until somebody does.
    async fn step(&self) -> Told<()> {
        let controller = self.controller.as_ref().map_err(Clone::clone)?;
        if !controller.is_wanted() {
            return self.rest(controller).await;
        }
        self.alarm.set_again(STEP_MS).await?;
        controller.step().await
    }

    /// The alarm rings again when there is something to forget.
    async fn rest(&self, controller: &Controller) -> Told<()> {
        let again_ms = controller.rest().await.unwrap_or_else(|trouble| {
            console_warn!("a room was not forgotten: {trouble}");
            Some(RETRY_MS)
        });
        match again_ms {
            Some(ms) => self.alarm.set_again(ms).await,
            None => Ok(()),
        }
    }
}

fn controller(state: &State, env: Env) -> Told<Controller> {
    let name = ObjectName::of(state)?;
    let keys = internal_keys(&env)?;
    let links = ObjectLinks::new(env)?;
    let storage = ObjectStorage::new(state);
    Ok(ControllerObject::new(name.show, storage, links, keys))
}
