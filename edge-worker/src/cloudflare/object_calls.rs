//! How the objects are found and asked: each has a name, and takes and gives JSON.

use std::fmt;

use onsale_domain::ids::ShowId;
use onsale_domain::room::gate::{Entered, GateIndex, NotEntered};
use onsale_domain::room::opaque::PassId;
use onsale_domain::time::Millis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use worker::{Env, Request, Response, State, Stub};

use super::messages;
use super::outgoing::within;
use crate::host::{Told, Trouble};

/// An object that does not answer for so long is being moved or overrun.
pub const TIMEOUT_MS: u64 = 10_000;

#[derive(Debug, Clone, Copy)]
pub enum Object {
    Controller(ShowId),
    Gate(ShowId, GateIndex),
    Counter(ShowId, u8),
    Reminders(ShowId, GateIndex),
    Feed(ShowId),
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(show) | Self::Feed(show) => write!(f, "{show}"),
            Self::Gate(show, gate) => write!(f, "{show}/gate/{}", gate.number()),
            Self::Counter(show, number) => write!(f, "{show}/counter/{number}"),
            Self::Reminders(show, gate) => write!(f, "{show}/reminders/{}", gate.number()),
        }
    }
}

impl Object {
    fn binding(self) -> &'static str {
        match self {
            Self::Controller(_) => "ROOM_CONTROLLER",
            Self::Gate(..) => "ROOM_GATE",
            Self::Counter(..) => "ROOM_COUNTER",
            Self::Reminders(..) => "ROOM_REMINDERS",
            Self::Feed(_) => "SEAT_FEED",
        }
    }

    pub fn stub(self, env: &Env) -> Told<Stub> {
        let objects = env.durable_object(self.binding()).map_err(Trouble::new)?;
        objects.get_by_name(&self.to_string()).map_err(Trouble::new)
    }

    /// Asks the object, and waits for what it answers.
    pub async fn call<A: DeserializeOwned>(
        self,
        env: &Env,
        action: &str,
        body: &impl Serialize,
    ) -> Told<A> {
        self.call_within(TIMEOUT_MS, env, action, body).await
    }

    pub async fn call_within<A: DeserializeOwned>(
        self,
        timeout_ms: u64,
        env: &Env,
        action: &str,
        body: &impl Serialize,
    ) -> Told<A> {
        let stub = self.stub(env)?;
        let url = format!("https://object/{action}");
        let body = serde_json::to_vec(body).map_err(Trouble::new)?;
        let request = http::Request::post(&url).body(body).map_err(Trouble::new)?;
        let request = messages::outgoing(&url, &request)?;
        let asked = async {
            let mut answer = stub.fetch_with_request(request.into()).await?;
            Ok::<_, worker::Error>((answer.status_code(), answer.text().await?))
        };
        let answered = within(timeout_ms, asked).await?;
        let (status, text) = answered.map_err(Trouble::new)?;
        match status {
            200 => serde_json::from_str(&text).map_err(Trouble::new),
            _ => Err(Trouble(text)),
        }
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

/// Reads what an object was sent.
pub async fn sent<T: DeserializeOwned>(request: &mut Request) -> Told<T> {
    let text = request.text().await.map_err(Trouble::new)?;
    serde_json::from_str(&text).map_err(Trouble::new)
}

/// Answers for an object. Trouble is told to whoever asked, and they log it.
pub fn told<T: Serialize>(answer: Told<T>) -> worker::Result<Response> {
    match answer {
        Ok(answer) => Response::from_json(&answer),
        Err(trouble) => Response::error(trouble.0, 500),
    }
}

pub fn unknown_action<T>(path: &str) -> Told<T> {
    Err(Trouble(format!("an object has no {path}")))
}

/// What a gate says to somebody who wants to enter, as it is sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Entered {
        pass: PassId,
        issued: Millis,
        expires: Millis,
    },
    Full,
    TooFast,
    Spent,
    NotYet,
}

impl From<Result<Entered, NotEntered>> for Verdict {
    fn from(entered: Result<Entered, NotEntered>) -> Self {
        match entered {
            Ok(Entered {
                pass,
                issued,
                expires,
            }) => Self::Entered {
                pass,
                issued,
                expires,
            },
            Err(NotEntered::Full) => Self::Full,
            Err(NotEntered::TooFast) => Self::TooFast,
            Err(NotEntered::Spent) => Self::Spent,
            Err(NotEntered::NotYet) => Self::NotYet,
        }
    }
}

impl From<Verdict> for Result<Entered, NotEntered> {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Entered {
                pass,
                issued,
                expires,
            } => Ok(Entered {
                pass,
                issued,
                expires,
            }),
            Verdict::Full => Err(NotEntered::Full),
            Verdict::TooFast => Err(NotEntered::TooFast),
            Verdict::Spent => Err(NotEntered::Spent),
            Verdict::NotYet => Err(NotEntered::NotYet),
        }
    }
}
