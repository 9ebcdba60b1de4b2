//! A gate of a show as a Durable Object.

// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::object_calls::{ObjectName, asked, astray, told};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use super::settings::internal_keys;
use crate::host::Told;
use crate::objects::gate::GateObject;
use crate::objects::wire::{ObjectAnswer, ObjectRequest};

type Gate = GateObject<ObjectStorage, ObjectLinks>;

#[durable_object(fetch)]
#[derive(Debug)]
pub struct RoomGate {
    gate: Told<Gate>,
}

impl DurableObject for RoomGate {
    fn new(state: State, env: Env) -> Self {
        Self {
            gate: gate(&state, env),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        told(self.answer(&mut request).await)
    }
}

impl RoomGate {
    async fn answer(&self, request: &mut Request) -> Told<ObjectAnswer> {
        let gate = self.gate.as_ref().map_err(Clone::clone)?;
        match asked(request).await? {
            ObjectRequest::Gate(_, _, request) => gate.answer(request).await,
            other => astray(&other),
        }
    }
}

fn gate(state: &State, env: Env) -> Told<Gate> {
    let name = ObjectName::of(state)?;
    let keys = internal_keys(&env)?;
    let links = ObjectLinks::new(env)?;
    let storage = ObjectStorage::new(state);
    Ok(GateObject::new(
        name.show,
        name.gate()?,
        storage,
        links,
        keys,
    ))
}
