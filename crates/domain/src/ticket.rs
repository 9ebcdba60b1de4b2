//! Tickets: one for each place of a confirmed order, used once.

use serde::{Deserialize, Serialize};

pub use crate::gate::MAX_GATE_LEN;
use crate::gate::{Admission, Admissions, Conflict};
use crate::ids::{AccountId, OrderId, ShowId, TicketId};
use crate::layout::PlaceIndex;
use crate::ticket_return::Return;
use crate::time::Millis;
use crate::transfer::Hands;

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
    /// When its right to enter last changed; zero if it never did.
    #[serde(default, skip_serializing_if = "is_never")]
    pub changed: Millis,
    /// Every time it let somebody in. The state follows from it.
    #[serde(default, skip_serializing_if = "Admissions::is_empty")]
    pub admissions: Admissions,
    /// From whom it came, and to whom it goes.
    #[serde(default, skip_serializing_if = "Hands::is_untouched")]
    pub hands: Hands,
    /// That it was put back to be sold to somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_back: Option<Return>,
}

fn is_never(at: &Millis) -> bool {
    *at == Millis(0)
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
    pub fn scan(&self, serial: u8, admission: Admission) -> Scan {
        match &self.state {
            // A code that was replaced is dead, whatever became of its successor.
            _ if serial != self.serial => Scan::Revoked,
            TicketState::Revoked { .. } => Scan::Revoked,
            TicketState::Used { at, .. } => Scan::AlreadyUsed { at: *at },
            TicketState::Valid => {
                let now = admission.at;
                Scan::Admitted(Box::new(self.with_admissions(&admission.into(), now)))
            }
        }
    }

    /// The ticket with what gates report later. Somebody is in, whatever the ticket was:
    /// that is written down even where it should not have happened.
    #[must_use]
    pub fn with_admissions(&self, reported: &Admissions, now: Millis) -> Self {
        self.with(self.all_admissions().join(reported), now)
    }

    /// The ticket as if nobody had come in on it; `None` if nobody has.
    pub fn without_admissions(&self, by: AccountId, now: Millis) -> Option<Self> {
        let all = self.all_admissions();
        all.first()?;
        Some(self.with(all.undone(by, now), now))
    }

    /// A ticket that was used before uses were listed has its only one in its state.
    pub fn all_admissions(&self) -> Admissions {
        let TicketState::Used { at, gate, scan } = &self.state else {
            return self.admissions.clone();
        };
        if self.admissions.of_scan(scan).is_some() {
            return self.admissions.clone();
        }
        let only = Admission {
            scan: scan.clone(),
            at: *at,
            gate: gate.clone(),
            by: None,
            device: None,
            undone: None,
        };
        self.admissions.join(&only.into())
    }

    fn with(&self, admissions: Admissions, now: Millis) -> Self {
        let mut next = self.clone();
        if !matches!(self.state, TicketState::Revoked { .. }) {
            next.state = match admissions.first() {
                None => TicketState::Valid,
                Some(first) => TicketState::Used {
                    at: first.at,
                    gate: first.gate.clone(),
                    scan: first.scan.clone(),
                },
            };
        }
        if next.state != self.state || admissions != self.admissions {
            next.changed = now;
        }
        // Whoever is in has used it, and sells it to nobody.
        if next.state != TicketState::Valid {
            next.end_return(now);
        }
        next.admissions = admissions;
        next
    }

    /// Why somebody has to look at it.
    pub fn conflict(&self) -> Option<Conflict> {
        let revoked = matches!(self.state, TicketState::Revoked { .. });
        match self.admissions.standing().count() {
            0 => None,
            1 => revoked.then_some(Conflict::Revoked),
            _ => Some(Conflict::Double),
        }
    }

    /// The ticket without its right to enter; `None` if it has none already.
    pub fn revoked(&self, now: Millis) -> Option<Self> {
        if matches!(self.state, TicketState::Revoked { .. }) {
            return None;
        }
        let mut revoked = self.clone();
        revoked.admissions = self.all_admissions();
        revoked.state = TicketState::Revoked { at: now };
        revoked.changed = now;
        revoked.end_return(now);
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
            changed: Millis(0),
            admissions: Admissions::default(),
            hands: Hands::default(),
            put_back: None,
        }
    }

    fn at(gate: &str, at: u64) -> Admission {
        Admission {
            scan: format!("{gate}-{at}"),
            at: Millis(at),
            gate: gate.to_owned(),
            by: Some(AccountId::from_bytes([9; 16])),
            device: None,
            undone: None,
        }
    }

    fn used() -> Ticket {
        let Scan::Admitted(used) = ticket().scan(0, at("north", 5)) else {
            unreachable!("a valid ticket admits");
        };
        *used
    }

    #[test]
    fn a_ticket_admits_once() {
        assert_eq!(
            used().scan(0, at("south", 6)),
            Scan::AlreadyUsed { at: Millis(5) }
        );
    }

    #[test]
    fn a_revoked_ticket_and_a_replaced_code_admit_nobody() {
        let revoked = ticket().revoked(Millis(4)).unwrap();
        assert_eq!(revoked.scan(0, at("north", 5)), Scan::Revoked);
        assert_eq!(revoked.revoked(Millis(6)), None);
        assert_eq!(ticket().scan(1, at("north", 5)), Scan::Revoked);
        assert_eq!(used().scan(1, at("north", 6)), Scan::Revoked);
    }

    #[test]
    fn an_earlier_admission_that_is_reported_later_is_the_one() {
        let double = used().with_admissions(&at("south", 3).into(), Millis(9));
        let TicketState::Used { at, gate, .. } = &double.state else {
            unreachable!("it was used twice");
        };
        assert_eq!((*at, gate.as_str()), (Millis(3), "south"));
        assert_eq!(double.conflict(), Some(Conflict::Double));
        assert_eq!(double.changed, Millis(9));
        assert_eq!(used().conflict(), None);
    }

    #[test]
    fn an_admission_on_a_revoked_ticket_is_written_down_and_the_ticket_stays_dead() {
        let revoked = ticket().revoked(Millis(4)).unwrap();
        let entered = revoked.with_admissions(&at("north", 5).into(), Millis(9));
        assert_eq!(entered.state, revoked.state);
        assert_eq!(entered.conflict(), Some(Conflict::Revoked));
        assert_eq!(revoked.conflict(), None);
    }

    #[test]
    fn an_undone_ticket_is_good_again_and_remembers() {
        let supervisor = AccountId::from_bytes([8; 16]);
        let free = used().without_admissions(supervisor, Millis(7)).unwrap();
        assert!(free.is_valid());
        assert_eq!(free.without_admissions(supervisor, Millis(8)), None);
        let kept = free.admissions.iter().next().unwrap();
        let undone = kept.undone.as_ref().unwrap();
        assert_eq!((undone.at, undone.by), (Millis(7), supervisor));
        assert!(matches!(
            free.scan(0, at("south", 8)),
            Scan::Admitted(again) if again.admissions.iter().count() == 2
        ));
    }

    /// As it was stored before uses were listed.
    #[test]
    fn a_use_without_a_list_is_kept_when_it_is_revoked_or_undone() {
        let mut old = used();
        old.admissions = Admissions::default();
        let revoked = old.revoked(Millis(7)).unwrap();
        assert_eq!(revoked.conflict(), Some(Conflict::Revoked));
        let free = old.without_admissions(AccountId::from_bytes([8; 16]), Millis(7));
        assert!(free.unwrap().is_valid());
    }
}
