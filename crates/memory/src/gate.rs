//! Every call of a port passes a gate, where a test can let it go wrong.
//!
//! A process that dies never comes back from a call: the call waits for ever, and the
//! test drops the worker that made it. A call that fails answers an error instead,
//! before or after it was done.

use std::future::{Future, pending};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    DieBefore,
    DieAfter,
    FailBefore,
    /// Done, but the reply is lost.
    FailAfter,
}

impl Fault {
    pub const ALL: [Self; 4] = [
        Self::DieBefore,
        Self::DieAfter,
        Self::FailBefore,
        Self::FailAfter,
    ];
}

#[derive(Debug, Default)]
struct State {
    /// The names of the calls since the gate was last armed.
    calls: Vec<&'static str>,
    planned: Option<(usize, Fault)>,
    /// Calls that fail whenever they are made.
    broken: Vec<&'static str>,
}

#[derive(Debug, Default)]
pub struct Gate(Mutex<State>);

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts from zero again, and lets the `nth` call from now on go wrong.
    pub fn arm(&self, planned: Option<(usize, Fault)>) {
        let mut state = self.state();
        state.calls.clear();
        state.planned = planned;
    }

    /// The calls since the gate was last armed.
    pub fn calls(&self) -> Vec<&'static str> {
        self.state().calls.clone()
    }

    /// How many calls of this name there were since then.
    pub fn calls_of(&self, name: &str) -> usize {
        self.calls().iter().filter(|call| **call == name).count()
    }

    /// Lets every call of this name fail before it is done, or no longer.
    pub fn fail_always(&self, name: &'static str, broken: bool) {
        let mut state = self.state();
        state.broken.retain(|known| *known != name);
        if broken {
            state.broken.push(name);
        }
    }

    fn next(&self, name: &'static str) -> Option<Fault> {
        let mut state = self.state();
        let n = state.calls.len();
        state.calls.push(name);
        if state.broken.contains(&name) {
            return Some(Fault::FailBefore);
        }
        state
            .planned
            .filter(|(at, _)| *at == n)
            .map(|(_, fault)| fault)
    }

    /// Lets the call through, or not.
    pub async fn pass<T, E>(
        &self,
        name: &'static str,
        failure: impl Fn() -> E,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match self.next(name) {
            None => call.await,
            Some(Fault::DieBefore) => pending().await,
            Some(Fault::DieAfter) => {
                let _ = call.await;
                pending().await
            }
            Some(Fault::FailBefore) => Err(failure()),
            Some(Fault::FailAfter) => {
                let _ = call.await;
                Err(failure())
            }
        }
    }
}
