//! Some of the reminders of a show as a Durable Object.

use onsale_domain::room::reminder::{NotKept, Reminder};
// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, console_warn, durable_object};

use super::object_alarm::Alarm;
use super::object_calls::{ObjectName, sent, told, unknown_action};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use super::settings::{internal_keys, room_secret};
use crate::host::Told;
use crate::objects::reminders::{LOOK_AFTER_MS, RETRY_MS, RemindersObject};

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
        match request.path().as_str() {
            "/remind" => told(self.remind(&mut request).await),
            path => told(unknown_action::<()>(path)),
        }
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
    async fn remind(&self, request: &mut Request) -> Told<std::result::Result<(), NotKept>> {
        let reminder: Reminder = sent(request).await?;
        let reminders = self.reminders.as_ref().map_err(Clone::clone)?;
        // Before, so that nothing is kept that nobody looks at; and after, because the first
        // alarm may have rung by then and found nothing.
        self.alarm.set_sooner(LOOK_AFTER_MS).await?;
        let kept = reminders.remind(reminder).await?;
        self.alarm.set_sooner(LOOK_AFTER_MS).await?;
        Ok(kept)
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
