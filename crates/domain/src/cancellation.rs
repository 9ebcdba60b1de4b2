//! A show is called off: many refund sagas, and how far they are.
//!
//! First every block is closed, so that nothing in it can be claimed, extended or sold
//! any more. What is sold then is all that ever will be: every order that owns a cell
//! is undone, and a refund is done when its cells are free again. So progress is
//! counted from the cells, and no counter can drift.

use serde::{Deserialize, Serialize};

use crate::ids::ShowId;
use crate::time::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The show is cancelled, but some of its blocks may still be open.
    Closing,
    /// All blocks are closed; orders are being undone.
    Refunding,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    pub show_id: ShowId,
    pub phase: Phase,
    /// Orders that owned sold places when the last block was closed.
    pub refunds_due: u64,
    pub began: Millis,
    pub changed: Millis,
}

impl Cancellation {
    pub fn begin(show_id: ShowId, now: Millis) -> Self {
        Self {
            show_id,
            phase: Phase::Closing,
            refunds_due: 0,
            began: now,
            changed: now,
        }
    }

    pub fn is_open(&self) -> bool {
        self.phase != Phase::Done
    }

    /// Every block is closed, and so many orders own sold places.
    pub fn closed(&self, refunds_due: u64, now: Millis) -> Self {
        Self {
            phase: Phase::Refunding,
            refunds_due,
            changed: now,
            ..self.clone()
        }
    }

    /// No sold cell is left.
    pub fn done(&self, now: Millis) -> Self {
        Self {
            phase: Phase::Done,
            changed: now,
            ..self.clone()
        }
    }
}
