//! Interruptions: something happens just before a step of the store, as if another
//! process had been scheduled there.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use crate::MemoryStore;

/// What another process may come before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    ReadBuyer,
    Claim,
    Shift,
    Release,
    Replace,
    ReplaceOrder,
    CreateTicket,
    ReplaceTicket,
    ReadTicket,
    ReadTickets,
    TakePass,
    ClaimAccount,
    ListEndedPasses,
    AcceptTransfer,
    Resell,
    ReplaceMail,
    ReplaceWaitlistEntry,
}

type Action = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
pub(crate) struct Interruptions(Mutex<Vec<(Step, Action)>>);

impl std::fmt::Debug for Interruptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interruptions")
    }
}

impl MemoryStore {
    /// Lets `action` happen just before the next such step. Several for one step happen
    /// one at a time, in the order they were given.
    pub fn before_next(&self, step: Step, action: impl Future<Output = ()> + Send + 'static) {
        let mut waiting = self
            .interruptions
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.push((step, Box::pin(action)));
    }

    pub(crate) async fn reach(&self, step: Step) {
        let action = {
            let mut waiting = self
                .interruptions
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let next = waiting.iter().position(|(at, _)| *at == step);
            next.map(|i| waiting.remove(i).1)
        };
        if let Some(action) = action {
            action.await;
        }
    }
}
