//! A gate of a show as a Durable Object.

use onsale_domain::room::allotment::Grant;
use onsale_domain::room::gate::Enter;
// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::object_calls::{ObjectName, Verdict, sent, told, unknown_action};
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use super::settings::internal_keys;
use crate::host::Told;
use crate::objects::gate::GateObject;

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
        match request.path().as_str() {
            "/enter" => told(self.enter(&mut request).await),
            "/leave" => told(self.leave(&mut request).await),
            "/grant" => told(self.grant(&mut request).await),
            "/forget" => told(self.forget().await),
            path => told(unknown_action::<()>(path)),
        }
    }
}

impl RoomGate {
    fn gate(&self) -> Told<&Gate> {
        self.gate.as_ref().map_err(Clone::clone)
    }

    async fn enter(&self, request: &mut Request) -> Told<Verdict> {
        let wanted: Enter = sent(request).await?;
        let entered = self.gate()?.enter(&wanted).await?;
        Ok(entered.into())
    }

    async fn leave(&self, request: &mut Request) -> Told<bool> {
        let lot = sent(request).await?;
        self.gate()?.leave(lot).await
    }

    async fn grant(&self, request: &mut Request) -> Told<onsale_domain::room::allotment::Report> {
        let grant: Grant = sent(request).await?;
        self.gate()?.grant(&grant).await
    }

    async fn forget(&self) -> Told<()> {
        self.gate()?.forget().await
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
