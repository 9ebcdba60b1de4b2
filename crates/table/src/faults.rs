//! Planned faults, which a whole test world shares: its table, queues and providers count their
//! calls in one place, and a test lets any of them go wrong.
//!
//! A process that dies never comes back from a call: the call waits for ever, and the test drops
//! the worker that made it. A call that fails returns an error instead, before or after it was
//! done.

mod table;

use std::fmt::{Debug, Formatter};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use table::FaultyTable;

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    DieBefore,
    DieAfter,
    FailBefore,
    /// Done, but the reply is lost.
    FailAfter,
    /// Done, but the reply is lost and the engine repeats the write by itself: the caller gets
    /// the answer of the second try.
    Repeated,
    /// Not done for want of throughput.
    Throttled,
    /// Not done because a transaction is in the way. Reads are let through.
    Conflict,
}

impl Fault {
    /// What can happen to any call.
    pub const ALL: [Self; 4] = [
        Self::DieBefore,
        Self::DieAfter,
        Self::FailBefore,
        Self::FailAfter,
    ];

    /// What can happen to a write of a table.
    pub const OF_WRITES: [Self; 7] = [
        Self::DieBefore,
        Self::DieAfter,
        Self::FailBefore,
        Self::FailAfter,
        Self::Repeated,
        Self::Throttled,
        Self::Conflict,
    ];
}

/// Faults of long random runs: every call goes wrong with a probability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weather {
    /// The same seed gives the same faults to the same calls.
    pub seed: u64,
    /// How many of a hundred calls go wrong.
    pub percent: u8,
    /// Each is as likely as the others.
    pub faults: Vec<Fault>,
}

impl Weather {
    fn strike(&mut self) -> Option<Fault> {
        let is_struck = splitmix64(&mut self.seed) % 100 < u64::from(self.percent);
        if !is_struck || self.faults.is_empty() {
            return None;
        }
        let which = splitmix64(&mut self.seed) % self.faults.len() as u64;
        self.faults.get(which as usize).copied()
    }
}

/// The next number of a small generator (Steele, Lea and Flood 2014), which needs no crate.
pub(crate) fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

type Action = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct State {
    /// The names of the calls since the faults were last armed.
    calls: Vec<String>,
    planned: Option<(usize, Fault)>,
    /// Faults of the next call of a name.
    next: Vec<(String, Fault)>,
    /// Calls that fail whenever they are made.
    broken: Vec<String>,
    /// What happens before the next call of a name.
    actions: Vec<(String, Action)>,
    weather: Option<Weather>,
}

/// Counts calls, and decides which go wrong. A name that is asked for is an operation, or
/// `write` for each operation that writes items, and perhaps kinds that the call must touch:
/// `update`, `write BLK`, `get_many SES+BUY`.
#[derive(Default)]
pub struct Faults(Mutex<State>);

impl Debug for Faults {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Faults")
            .field("calls", &state.calls.len())
            .field("planned", &state.planned)
            .field("broken", &state.broken)
            .field("actions", &state.actions.len())
            .field("weather", &state.weather)
            .finish()
    }
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts from zero again, and lets the `nth` call from now on go wrong.
    pub fn arm(&self, planned: Option<(usize, Fault)>) {
        let mut state = self.state();
        state.calls.clear();
        state.planned = planned;
    }

    /// The names of the calls since the faults were last armed.
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// How many calls of this name there were since then.
    pub fn calls_of(&self, name: &str) -> usize {
        let state = self.state();
        let calls = state.calls.iter();
        calls.filter(|call| is_named(call, name)).count()
    }

    /// Lets every call of this name fail before it is done, or no longer.
    pub fn fail_always(&self, name: &str, broken: bool) {
        let mut state = self.state();
        state.broken.retain(|known| known != name);
        if broken {
            state.broken.push(name.to_owned());
        }
    }

    /// Lets the next call of this name go wrong, once.
    pub fn at_next(&self, name: impl Into<String>, fault: Fault) {
        self.state().next.push((name.into(), fault));
    }

    /// Lets `action` happen just before the next call of this name, as if another process had
    /// been scheduled there. Several for one name happen one for each call, in the order given.
    /// The action may itself make calls: they count, and go wrong, like any other.
    pub fn before_next(
        &self,
        name: impl Into<String>,
        action: impl Future<Output = ()> + Send + 'static,
    ) {
        let action = (name.into(), Box::pin(action) as Action);
        self.state().actions.push(action);
    }

    /// Lets calls go wrong at random, or no longer.
    pub fn weather(&self, weather: Option<Weather>) {
        self.state().weather = weather;
    }

    fn take_action(&self, name: &str) -> Option<Action> {
        let actions = &mut self.state().actions;
        let next = actions.iter().position(|(at, _)| is_named(name, at))?;
        Some(actions.remove(next).1)
    }

    fn decide(&self, name: &str) -> Option<Fault> {
        let mut state = self.state();
        let n = state.calls.len();
        state.calls.push(name.to_owned());
        if let Some(at) = state.next.iter().position(|(at, _)| is_named(name, at)) {
            return Some(state.next.remove(at).1);
        }
        if state.broken.iter().any(|broken| is_named(name, broken)) {
            return Some(Fault::FailBefore);
        }
        match state.planned {
            Some((at, fault)) if at == n => Some(fault),
            _ => state.weather.as_mut().and_then(Weather::strike),
        }
    }

    /// Counts a call; returns what is to go wrong with it.
    async fn next(&self, name: &str) -> Option<Fault> {
        // No lock is held while the action runs: it may call the table through these faults.
        if let Some(action) = self.take_action(name) {
            action.await;
        }
        self.decide(name)
    }

    /// Lets a call of a queue, a bus or a provider through, or not. Such a call cannot conflict,
    /// and one that the engine would repeat loses its reply.
    pub async fn pass<T, E>(
        &self,
        name: &str,
        failure: impl Fn() -> E,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match self.next(name).await {
            None | Some(Fault::Conflict) => call.await,
            Some(Fault::DieBefore) => pending().await,
            Some(Fault::DieAfter) => {
                drop(call.await);
                pending().await
            }
            Some(Fault::FailBefore | Fault::Throttled) => Err(failure()),
            Some(Fault::FailAfter | Fault::Repeated) => {
                drop(call.await);
                Err(failure())
            }
        }
    }
}

/// Whether the name asks for this call: its operation, and kinds that are all among its own.
fn is_named(call: &str, name: &str) -> bool {
    let words = |text: &'static str| move |c: char| text.contains(c);
    let (call_operation, call_kinds) = call.split_once(' ').unwrap_or((call, ""));
    let (operation, kinds) = name.split_once(' ').unwrap_or((name, ""));
    let is_write = ["update", "put_new", "delete", "transact"].contains(&call_operation);
    let known = |kind: &str| call_kinds.split(words("+ ")).any(|known| known == kind);
    (operation == call_operation || operation == "write" && is_write)
        && (kinds.is_empty() || kinds.split(words("+ ")).all(known))
}
