//! What the objects are asked and what they answer, declared once for both hosts.
//!
//! A new call is a variant here and an arm in the object that answers it. Hosts carry
//! requests without looking into them, except for the object they go to.

use std::fmt;
use std::future::Future;

use onsale_domain::ids::ShowId;
use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::census::CounterReport;
use onsale_domain::room::gate::{Enter, Entered, GateIndex, Knock, Knocked, NotEntered};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::{NotKept, Reminder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::controller::Bulletin;
use crate::host::{COUNTERS, Flush, MaybeSend, MaybeSync, Told, Trouble};

/// An object that does not answer for so long is being moved or overrun.
pub const TIMEOUT_MS: u64 = 10_000;
/// How long a gate may take to answer a controller. One that hangs must not hold the
/// others up.
pub const GATE_TIMEOUT_MS: u64 = 2_000;

/// The layout of what is sent to objects and from them, its first byte. It is raised when a
/// layout changes, for while a version is deployed the other one still answers.
const LAYOUT: u8 = 1;

/// What is sent, where host and object do not share a memory.
pub fn written(value: &impl Serialize) -> Told<Vec<u8>> {
    postcard::to_extend(value, vec![LAYOUT]).map_err(Trouble::new)
}

/// What was sent.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Told<T> {
    match bytes.split_first() {
        Some((&LAYOUT, rest)) => postcard::from_bytes(rest).map_err(Trouble::new),
        _ => Err(Trouble::new(
            "it was sent by another version of this software",
        )),
    }
}

/// Where an object is found, on both hosts: its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    Controller(ShowId),
    Gate(ShowId, GateIndex),
    Counter(ShowId, u8),
    Reminders(ShowId, GateIndex),
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(show) => write!(f, "{show}"),
            Self::Gate(show, gate) => write!(f, "{show}/gate/{}", gate.number()),
            Self::Counter(show, number) => write!(f, "{show}/counter/{number}"),
            Self::Reminders(show, gate) => write!(f, "{show}/reminders/{}", gate.number()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectRequest {
    Controller(ShowId, ControllerRequest),
    Gate(ShowId, GateIndex, GateRequest),
    Counter(ShowId, u8, CounterRequest),
    Reminders(ShowId, GateIndex, Reminder),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControllerRequest {
    /// What it said last.
    Bulletin,
    /// What a counter has counted.
    Report(CounterReport),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateRequest {
    Enter(Enter),
    /// Asks whether there is a slot.
    Knock(Knock),
    /// Ends the pass of a lot.
    Leave(Lot),
    Grant(Grant),
    Forget,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterRequest {
    Add(Flush),
    Forget,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectAnswer {
    /// `None`: there is no such show.
    Bulletin(Option<Box<Bulletin>>),
    Entered(Result<Entered, NotEntered>),
    Knocked(Knocked),
    /// `false`: the lot has no pass.
    Left(bool),
    Report(Report),
    Kept(Result<(), NotKept>),
    Done,
}

impl ObjectRequest {
    pub fn object(&self) -> Object {
        match self {
            Self::Controller(show, _) => Object::Controller(*show),
            Self::Gate(show, gate, _) => Object::Gate(*show, *gate),
            Self::Counter(show, number, _) => Object::Counter(*show, *number),
            Self::Reminders(show, gate, _) => Object::Reminders(*show, *gate),
        }
    }

    pub fn timeout_ms(&self) -> u64 {
        match self {
            Self::Gate(_, _, GateRequest::Grant(_) | GateRequest::Forget)
            | Self::Counter(_, _, CounterRequest::Forget) => GATE_TIMEOUT_MS,
            _ => TIMEOUT_MS,
        }
    }

    /// Enters by the gate of the lot.
    pub fn enter(show: ShowId, wanted: Enter) -> Self {
        let gate = GateIndex::of_lot(wanted.lot);
        Self::Gate(show, gate, GateRequest::Enter(wanted))
    }
}

/// An object answered, but something that was not asked.
fn something_else<T>() -> Told<T> {
    Err(Trouble::new("an object answered something else"))
}

/// Whoever can reach the objects.
pub trait Objects: MaybeSend + MaybeSync {
    /// Asks the object that the request names.
    fn ask(&self, request: ObjectRequest) -> impl Future<Output = Told<ObjectAnswer>> + MaybeSend;

    /// What the controller of a show said last. `None`: there is no such show.
    fn bulletin(&self, show: ShowId) -> impl Future<Output = Told<Option<Bulletin>>> + MaybeSend {
        async move {
            let request = ObjectRequest::Controller(show, ControllerRequest::Bulletin);
            match self.ask(request).await? {
                ObjectAnswer::Bulletin(bulletin) => Ok(bulletin.map(|bulletin| *bulletin)),
                _ => something_else(),
            }
        }
    }

    /// Tells the controller what a counter has counted.
    fn report(
        &self,
        show: ShowId,
        report: CounterReport,
    ) -> impl Future<Output = Told<()>> + MaybeSend {
        self.tell(ObjectRequest::Controller(
            show,
            ControllerRequest::Report(report),
        ))
    }

    /// Adds people and calls to a counter.
    fn count(
        &self,
        show: ShowId,
        counter: u8,
        flush: Flush,
    ) -> impl Future<Output = Told<()>> + MaybeSend {
        self.tell(ObjectRequest::Counter(
            show,
            counter,
            CounterRequest::Add(flush),
        ))
    }

    /// Asks the gate of this lot for a pass.
    fn enter(
        &self,
        show: ShowId,
        wanted: Enter,
    ) -> impl Future<Output = Told<Result<Entered, NotEntered>>> + MaybeSend {
        async move {
            match self.ask(ObjectRequest::enter(show, wanted)).await? {
                ObjectAnswer::Entered(entered) => Ok(entered),
                _ => something_else(),
            }
        }
    }

    /// Asks the gate of this lot how things stand.
    fn knock(&self, show: ShowId, knock: Knock) -> impl Future<Output = Told<Knocked>> + MaybeSend {
        async move {
            let gate = GateIndex::of_lot(knock.lot);
            let request = ObjectRequest::Gate(show, gate, GateRequest::Knock(knock));
            match self.ask(request).await? {
                ObjectAnswer::Knocked(knocked) => Ok(knocked),
                _ => something_else(),
            }
        }
    }

    /// Ends the pass of this lot. `false`: it has none.
    fn leave(&self, show: ShowId, lot: Lot) -> impl Future<Output = Told<bool>> + MaybeSend {
        async move {
            let gate = GateIndex::of_lot(lot);
            let request = ObjectRequest::Gate(show, gate, GateRequest::Leave(lot));
            match self.ask(request).await? {
                ObjectAnswer::Left(left) => Ok(left),
                _ => something_else(),
            }
        }
    }

    /// Sends a gate what it is granted.
    fn grant(
        &self,
        show: ShowId,
        gate: GateIndex,
        grant: Grant,
    ) -> impl Future<Output = Told<Report>> + MaybeSend {
        async move {
            let request = ObjectRequest::Gate(show, gate, GateRequest::Grant(grant));
            match self.ask(request).await? {
                ObjectAnswer::Report(report) => Ok(report),
                _ => something_else(),
            }
        }
    }

    /// Keeps a reminder, with the others of its lot's gate.
    fn remind(
        &self,
        show: ShowId,
        reminder: Reminder,
    ) -> impl Future<Output = Told<Result<(), NotKept>>> + MaybeSend {
        async move {
            let gate = GateIndex::of_lot(reminder.ticket.lot);
            let request = ObjectRequest::Reminders(show, gate, reminder);
            match self.ask(request).await? {
                ObjectAnswer::Kept(kept) => Ok(kept),
                _ => something_else(),
            }
        }
    }

    /// Has the gates and the counters of a show forget everything.
    fn forget(&self, show: ShowId) -> impl Future<Output = Told<()>> + MaybeSend {
        async move {
            for gate in GateIndex::all() {
                let forget = ObjectRequest::Gate(show, gate, GateRequest::Forget);
                self.tell(forget).await?;
            }
            for number in 0..COUNTERS {
                let forget = ObjectRequest::Counter(show, number, CounterRequest::Forget);
                self.tell(forget).await?;
            }
            Ok(())
        }
    }

    /// Asks for something to be done.
    fn tell(&self, request: ObjectRequest) -> impl Future<Output = Told<()>> + MaybeSend {
        async move {
            match self.ask(request).await? {
                ObjectAnswer::Done => Ok(()),
                _ => something_else(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::room::census::Tally;
    use onsale_domain::room::opening::Bucket;

    use super::*;

    #[test]
    fn what_is_sent_is_what_arrives() {
        let show: ShowId = "shw_01890a5dac96774bbcceb302099a8057".parse().unwrap();
        let flush = Flush {
            joined: vec![(Bucket(7), Tally { fans: 1, others: 2 })],
            ..Flush::default()
        };
        let lot = Lot([9; 16]);
        for request in [
            ObjectRequest::Controller(show, ControllerRequest::Bulletin),
            ObjectRequest::Gate(show, GateIndex::of_lot(lot), GateRequest::Leave(lot)),
            ObjectRequest::Counter(show, 3, CounterRequest::Add(flush)),
        ] {
            let sent = written(&request).unwrap();
            let arrived: ObjectRequest = read(&sent).unwrap();
            assert_eq!(format!("{arrived:?}"), format!("{request:?}"));
        }
    }

    #[test]
    fn what_another_version_sent_is_refused() {
        let mut sent = written(&ObjectAnswer::Done).unwrap();
        assert!(read::<ObjectAnswer>(&sent).is_ok());
        sent[0] += 1;
        assert!(read::<ObjectAnswer>(&sent).is_err());
        assert!(read::<ObjectAnswer>(br#""done""#).is_err());
        assert!(read::<ObjectAnswer>(b"").is_err());
    }
}
