//! Those in line who asked to be told by mail when it is their turn.
//!
//! Whoever waits leaves no trace; whoever asks leaves a ticket and an address, until the
//! mail is on its way or the ticket is worth nothing any more. What stays then is the
//! lot, so that one ticket is worth one mail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::draw::Seeds;
use super::opaque::Lot;
use super::published::Published;
use super::status::{State, decide};
use super::ticket::QueueTicket;
use crate::account::Email;
use crate::language::Language;
use crate::time::Millis;

/// Tickets that one object remembers. A show has as many objects as it has gates.
pub const MAX_REMINDERS: usize = 10_000;
/// Turns that one call to the cloud tells of: together they are below 4 KiB.
pub const TURNS_A_CALL: usize = 10;
/// Nobody looks more often than this.
const SHORTEST_LOOK_MS: u64 = 2_000;

/// Somebody who wants to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    pub ticket: QueueTicket,
    pub email: Email,
    /// The language of their browser, if we write in it.
    pub language: Option<Language>,
}

/// Whose turn it is, as the edge tells the cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    pub lot: Lot,
    pub email: Email,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Until then the ticket lets them in.
    pub enter_by: Millis,
}

/// One call of the edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    pub turns: Vec<Turn>,
}

/// What is known of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    Waiting(Reminder),
    /// The cloud has been told, and sends one mail. Remembered while the ticket counts.
    Told {
        until: Millis,
    },
}

/// Why a reminder is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotKept {
    #[error("as many reminders are kept as there may be")]
    Full,
    #[error("this ticket has had its mail")]
    Told,
}

/// What there is to do at a time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// Those whose turn it is.
    pub turns: Vec<Turn>,
    /// Tickets that count no longer: forget them.
    pub gone: Vec<Lot>,
    /// When to look again, in milliseconds; `None`: nobody is left.
    pub again_ms: Option<u64>,
}

#[derive(Debug, Default)]
pub struct Reminders(BTreeMap<Lot, Kept>);

impl Reminders {
    pub fn restore(kept: BTreeMap<Lot, Kept>) -> Self {
        Self(kept)
    }

    pub fn get(&self, lot: Lot) -> Option<&Kept> {
        self.0.get(&lot)
    }

    pub fn anybody_waits(&self) -> bool {
        self.0.values().any(|kept| matches!(kept, Kept::Waiting(_)))
    }

    /// Keeps a reminder. Another one of the same ticket takes its place.
    pub fn ask(&mut self, reminder: Reminder) -> Result<(), NotKept> {
        let lot = reminder.ticket.lot;
        match self.0.get(&lot) {
            Some(Kept::Told { .. }) => return Err(NotKept::Told),
            None if self.0.len() >= MAX_REMINDERS => return Err(NotKept::Full),
            Some(Kept::Waiting(_)) | None => {}
        }
        self.0.insert(lot, Kept::Waiting(reminder));
        Ok(())
    }

    /// The cloud was told of this turn, and until when it is one. The address is forgotten.
    pub fn told(&mut self, lot: Lot, until: Millis) {
        if let Some(kept) = self.0.get_mut(&lot)
            && matches!(kept, Kept::Waiting(_))
        {
            *kept = Kept::Told { until };
        }
    }

    pub fn forget(&mut self, lot: Lot) {
        self.0.remove(&lot);
    }

    /// Asks for everybody what they would ask for themselves, and as often as the first of
    /// them would have to. Without news of the room only time passes.
    pub fn look(&self, room: Option<(&Published, &Seeds)>, now: Millis) -> Look {
        let mut look = Look::default();
        let mut again = |ms: u64| {
            let ms = ms.max(SHORTEST_LOOK_MS);
            look.again_ms = Some(look.again_ms.map_or(ms, |known| known.min(ms)));
        };
        for (lot, kept) in &self.0 {
            let until = match kept {
                Kept::Told { until } => *until,
                Kept::Waiting(Reminder { ticket, .. }) => match room {
                    Some((room, _)) => ticket.serves_until(room.opening.opens).min(room.ends),
                    None => ticket.expires,
                },
            };
            if until <= now {
                look.gone.push(*lot);
                continue;
            }
            let (Kept::Waiting(reminder), Some((published, seeds))) = (kept, room) else {
                again(now.until(until));
                continue;
            };
            let status = decide(published, seeds, Some(&reminder.ticket), now);
            match status.state {
                State::Door => {
                    look.turns.push(Turn {
                        lot: *lot,
                        email: reminder.email.clone(),
                        language: reminder.language,
                        enter_by: until,
                    });
                    // Until it is told, and then as long as the ticket counts.
                    again(now.until(until));
                }
                _ => again(status.refresh_after_ms),
            }
        }
        look
    }
}

#[cfg(test)]
#[path = "reminder_tests.rs"]
mod tests;
