//! Tickets: one for each place of a confirmed order, used once.

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, OrderId, ShowId, TicketId};
use crate::layout::PlaceIndex;
use crate::time::Millis;

/// The longest name of a gate.
pub const MAX_GATE_LEN: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum TicketState {
    Valid,
    /// `scan` tells one scan from another in the same moment at the same gate: only the
    /// one that is stored let somebody in.
    Used {
        at: Millis,
        gate: String,
        scan: String,
    },
    Revoked {
        at: Millis,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub id: TicketId,
    pub order_id: OrderId,
    pub show_id: ShowId,
    /// Whose it is.
    pub account: AccountId,
    pub place: PlaceIndex,
    pub seat: String,
    /// Which code is the good one: an older code of the same ticket is dead.
    pub serial: u8,
    /// What the QR says. Empty for a ticket that was revoked before it was issued.
    pub code: String,
    #[serde(flatten)]
    pub state: TicketState,
    pub issued: Millis,
}

/// What the gate is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scan {
    /// Let them in, once this ticket is stored.
    Admitted(Box<Ticket>),
    AlreadyUsed {
        at: Millis,
    },
    Revoked,
}

impl Ticket {
    /// A code of this ticket is shown at a gate.
    pub fn scan(&self, serial: u8, gate: &str, scan: &str, now: Millis) -> Scan {
        match &self.state {
            // A code that was replaced is dead, whatever became of its successor.
            _ if serial != self.serial => Scan::Revoked,
            TicketState::Revoked { .. } => Scan::Revoked,
            TicketState::Used { at, .. } => Scan::AlreadyUsed { at: *at },
            TicketState::Valid => {
                let mut used = self.clone();
                used.state = TicketState::Used {
                    at: now,
                    gate: gate.to_owned(),
                    scan: scan.to_owned(),
                };
                Scan::Admitted(Box::new(used))
            }
        }
    }

    /// The ticket without its right to enter; `None` if it has none already.
    pub fn revoked(&self, now: Millis) -> Option<Self> {
        if matches!(self.state, TicketState::Revoked { .. }) {
            return None;
        }
        let mut revoked = self.clone();
        revoked.state = TicketState::Revoked { at: now };
        Some(revoked)
    }

    pub fn is_valid(&self) -> bool {
        self.state == TicketState::Valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        let order_id = OrderId::from_bytes([1; 16]);
        let place = PlaceIndex(7);
        Ticket {
            id: TicketId::of(order_id, place),
            order_id,
            show_id: ShowId::from_bytes([2; 16]),
            account: AccountId::from_bytes([3; 16]),
            place,
            seat: "A-1-8".into(),
            serial: 0,
            code: "CODE".into(),
            state: TicketState::Valid,
            issued: Millis(1),
        }
    }

    #[test]
    fn a_ticket_admits_once() {
        let Scan::Admitted(used) = ticket().scan(0, "north", "s", Millis(5)) else {
            unreachable!("a valid ticket admits");
        };
        assert_eq!(
            used.scan(0, "south", "s", Millis(6)),
            Scan::AlreadyUsed { at: Millis(5) }
        );
    }

    #[test]
    fn a_revoked_ticket_and_a_replaced_code_admit_nobody() {
        let revoked = ticket().revoked(Millis(4)).unwrap();
        assert_eq!(revoked.scan(0, "north", "s", Millis(5)), Scan::Revoked);
        assert_eq!(revoked.revoked(Millis(6)), None);
        assert_eq!(ticket().scan(1, "north", "s", Millis(5)), Scan::Revoked);
        let Scan::Admitted(used) = ticket().scan(0, "north", "s", Millis(5)) else {
            unreachable!("a valid ticket admits");
        };
        assert_eq!(used.scan(1, "north", "s", Millis(6)), Scan::Revoked);
    }
}
