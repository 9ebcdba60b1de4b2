//! Some of the reminders of a show as a Durable Object.

// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, console_warn, durable_object};

use super::object_alarm::Alarm;
use super::object_calls::{ObjectName, asked, astray, told};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use super::settings::{internal_keys, room_secret};
use crate::host::Told;
use crate::objects::reminders::{LOOK_AFTER_MS, RETRY_MS, RemindersObject};
use crate::objects::wire::{ObjectAnswer, ObjectRequest};

type Reminders = RemindersObject<ObjectStorage, ObjectLinks>;

#[durable_object(alarm)]
#[derive(Debug)]
pub struct RoomReminders {
    reminders: Told<Reminders>,
    alarm: Alarm,
}

impl DurableObject for RoomReminders {
    fn new(state: State, env: Env) -> Self {
        Self {
            reminders: reminders(&state, env),
            alarm: Alarm::new(&state),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        told(self.answer(&mut request).await)
    }

    async fn alarm(&self) -> Result<Response> {
        let again = self.look().await.unwrap_or_else(|trouble| {
            console_warn!("reminders were not looked at: {trouble}");
            Some(RETRY_MS)
        });
        if let Some(ms) = again {
            let set = self.alarm.set_again(ms).await;
            set.map_err(|trouble| worker::Error::from(trouble.0))?;
        }
        Response::empty()
    }
}

impl RoomReminders {
    async fn answer(&self, request: &mut Request) -> Told<ObjectAnswer> {
        let reminders = self.reminders.as_ref().map_err(Clone::clone)?;
        let reminder = match asked(request).await? {
            ObjectRequest::Reminders(_, _, reminder) => reminder,
            other => return astray(&other),
        };
        // Before, so that nothing is kept that nobody looks at; and after, because the first
        // alarm may have rung by then and found nothing.
        self.alarm.set_sooner(LOOK_AFTER_MS).await?;
        let kept = reminders.remind(reminder).await?;
        self.alarm.set_sooner(LOOK_AFTER_MS).await?;
        Ok(ObjectAnswer::Kept(kept))
    }

    async fn look(&self) -> Told<Option<u64>> {
        let reminders = self.reminders.as_ref().map_err(Clone::clone)?;
        reminders.look().await
    }
}

fn reminders(state: &State, env: Env) -> Told<Reminders> {
    let name = ObjectName::of(state)?;
    let keys = internal_keys(&env)?;
    let seeds = room_secret(&env)?.seeds(name.show);
    let links = ObjectLinks::new(env)?;
    let storage = ObjectStorage::new(state);
    Ok(RemindersObject::new(name.show, storage, links, keys, seeds))
}
