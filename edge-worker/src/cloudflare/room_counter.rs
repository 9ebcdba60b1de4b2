//! A counter of a show as a Durable Object.

// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, console_warn, durable_object};

use super::object_alarm::Alarm;
use super::object_calls::{ObjectName, asked, astray, told};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use crate::host::Told;
use crate::objects::counter::{CounterObject, REPORT_AFTER_MS};
use crate::objects::wire::{CounterRequest, ObjectAnswer, ObjectRequest};

/// When the controller did not listen, it is told again after this.
const RETRY_MS: u64 = 2_000;

type Counter = CounterObject<ObjectStorage, ObjectLinks>;

#[durable_object(alarm)]
#[derive(Debug)]
pub struct RoomCounter {
    counter: Told<Counter>,
    alarm: Alarm,
}

impl DurableObject for RoomCounter {
    fn new(state: State, env: Env) -> Self {
        Self {
            counter: counter(&state, env),
            alarm: Alarm::new(&state),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        told(self.answer(&mut request).await)
    }

    async fn alarm(&self) -> Result<Response> {
        if let Err(trouble) = self.report().await {
            console_warn!("a count was not reported: {trouble}");
            let again = self.alarm.set_again(RETRY_MS).await;
            again.map_err(|trouble| worker::Error::from(trouble.0))?;
        }
        Response::empty()
    }
}

impl RoomCounter {
    async fn answer(&self, request: &mut Request) -> Told<ObjectAnswer> {
        let counter = self.counter.as_ref().map_err(Clone::clone)?;
        let request = match asked(request).await? {
            ObjectRequest::Counter(_, _, request) => request,
            other => return astray(&other),
        };
        let is_flush = matches!(request, CounterRequest::Add(_));
        let answer = counter.answer(request).await?;
        if is_flush {
            self.alarm.set_within(REPORT_AFTER_MS).await?;
        }
        Ok(answer)
    }

    async fn report(&self) -> Told<()> {
        let counter = self.counter.as_ref().map_err(Clone::clone)?;
        counter.report().await
    }
}

fn counter(state: &State, env: Env) -> Told<Counter> {
    let name = ObjectName::of(state)?;
    let links = ObjectLinks::new(env)?;
    let storage = ObjectStorage::new(state);
    Ok(CounterObject::new(name.show, name.index()?, storage, links))
}
