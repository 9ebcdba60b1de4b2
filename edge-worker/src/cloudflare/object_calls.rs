//! How the objects are found and asked: each has a name, and takes and gives bytes.

use onsale_domain::ids::ShowId;
use onsale_domain::room::gate::GateIndex;
use worker::{Env, Request, Response, State, Stub};

use super::messages;
use super::outgoing::within;
use crate::host::{Told, Trouble};
use crate::objects::wire::{Object, ObjectAnswer, ObjectRequest, read, written};

/// The stub of an object.
pub fn stub(env: &Env, object: Object) -> Told<Stub> {
    let binding = match object {
        Object::Controller(_) => "ROOM_CONTROLLER",
        Object::Gate(..) => "ROOM_GATE",
        Object::Counter(..) => "ROOM_COUNTER",
        Object::Reminders(..) => "ROOM_REMINDERS",
    };
    named(env, binding, &object.to_string())
}

/// The stub of the live map of a show, which is asked by watching it.
pub fn feed_stub(env: &Env, show: ShowId) -> Told<Stub> {
    named(env, "SEAT_FEED", &show.to_string())
}

fn named(env: &Env, binding: &str, name: &str) -> Told<Stub> {
    let objects = env.durable_object(binding).map_err(Trouble::new)?;
    objects.get_by_name(name).map_err(Trouble::new)
}

/// Asks an object, and waits for what it answers.
pub async fn ask(env: &Env, request: &ObjectRequest) -> Told<ObjectAnswer> {
    let stub = stub(env, request.object())?;
    let url = "https://object/";
    let sent = http::Request::post(url)
        .body(written(request)?)
        .map_err(Trouble::new)?;
    let sent = messages::outgoing(url, &sent)?;
    let asked = async {
        let mut answer = stub.fetch_with_request(sent.into()).await?;
        Ok::<_, worker::Error>((answer.status_code(), answer.bytes().await?))
    };
    let answered = within(request.timeout_ms(), asked).await?;
    let (status, bytes) = answered.map_err(Trouble::new)?;
    match status {
        200 => read(&bytes),
        _ => Err(Trouble(String::from_utf8_lossy(&bytes).into_owned())),
    }
}

/// What comes after the show in the name of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    pub show: ShowId,
    pub index: Option<u8>,
}

impl ObjectName {
    /// The name by which an object was asked for, also when an alarm woke it.
    pub fn of(state: &State) -> Told<Self> {
        let name = state.id().name();
        let name = name.ok_or_else(|| Trouble::new("the object has no name"))?;
        let mut parts = name.split('/');
        let show = parts.next().unwrap_or("").parse().map_err(Trouble::new)?;
        let index = parts.nth(1).map(str::parse).transpose();
        Ok(Self {
            show,
            index: index.map_err(Trouble::new)?,
        })
    }

    pub fn index(&self) -> Told<u8> {
        self.index
            .ok_or_else(|| Trouble::new("the name of the object has no number"))
    }

    pub fn gate(&self) -> Told<GateIndex> {
        let number = self.index()?;
        GateIndex::all()
            .find(|gate| gate.number() == number)
            .ok_or_else(|| Trouble(format!("there is no gate {number}")))
    }
}

/// Reads what an object was asked.
pub async fn asked(request: &mut Request) -> Told<ObjectRequest> {
    read(&request.bytes().await.map_err(Trouble::new)?)
}

/// Answers for an object. Trouble is told to the caller, who logs it.
pub fn told(answer: Told<ObjectAnswer>) -> worker::Result<Response> {
    match answer.and_then(|answer| written(&answer)) {
        Ok(answer) => Response::from_bytes(answer),
        Err(trouble) => Response::error(trouble.0, 500),
    }
}

/// A request that was meant for an object of another kind.
pub fn astray<T>(request: &ObjectRequest) -> Told<T> {
    Err(Trouble(format!("this is not {}", request.object())))
}
