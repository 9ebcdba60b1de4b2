//! What a device at a gate knows while it has no line to us, and what it decides by it.

use std::collections::{HashMap, HashSet};

use crate::gate::ShortId;
use crate::ids::{ShowId, TicketId};
use crate::ticket_code::{CodeError, TicketKeys};
use crate::time::Millis;

/// Where and when a ticket was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub at: Millis,
    pub gate: String,
}

/// What the device tells whoever holds the ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Let them in, once that is written down.
    Admit(TicketId),
    AlreadyUsed(TicketId, Used),
    Revoked(TicketId),
    WrongShow,
    Invalid(CodeError),
}

/// The keys of a show, and those of its tickets that are not good for entering.
#[derive(Debug, Clone)]
pub struct GateBook {
    show: ShowId,
    keys: TicketKeys,
    revoked: HashSet<ShortId>,
    used: HashMap<ShortId, Used>,
}

impl GateBook {
    pub fn new(show: ShowId, keys: TicketKeys) -> Self {
        Self {
            show,
            keys,
            revoked: HashSet::new(),
            used: HashMap::new(),
        }
    }

    pub fn judge(&self, code: &str) -> Verdict {
        let claims = match self.keys.verify(code) {
            Ok(claims) => claims,
            Err(error) => return Verdict::Invalid(error),
        };
        if claims.show != self.show {
            return Verdict::WrongShow;
        }
        let short = ShortId::of(claims.ticket);
        if self.revoked.contains(&short) {
            return Verdict::Revoked(claims.ticket);
        }
        match self.used.get(&short) {
            Some(used) => Verdict::AlreadyUsed(claims.ticket, used.clone()),
            None => Verdict::Admit(claims.ticket),
        }
    }

    /// A ticket that never comes back: its order was undone, or it was passed on.
    pub fn revoke(&mut self, ticket: ShortId) {
        self.revoked.insert(ticket);
    }

    /// A ticket was used, here or elsewhere; the earliest use is the one that is shown.
    pub fn use_up(&mut self, ticket: ShortId, used: Used) {
        let known = self.used.entry(ticket).or_insert_with(|| used.clone());
        if used.at < known.at {
            *known = used;
        }
    }

    /// A use was taken back: the ticket is good again.
    pub fn free(&mut self, ticket: ShortId) {
        self.used.remove(&ticket);
    }

    /// How many tickets are known to be used, and to be revoked.
    pub fn len(&self) -> (usize, usize) {
        (self.used.len(), self.revoked.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::PlaceIndex;
    use crate::ticket_code::{TicketClaims, TicketKey};

    const SHOW: ShowId = ShowId::from_bytes([2; 16]);

    fn code(ticket: u8, show: ShowId) -> (ShortId, String) {
        let claims = TicketClaims {
            ticket: TicketId::from_bytes([ticket; 16]),
            show,
            place: PlaceIndex(1),
            serial: 0,
        };
        let key = TicketKey::from_bytes(&[7; 32]);
        (ShortId::of(claims.ticket), key.sign(&claims))
    }

    fn book() -> GateBook {
        let key = TicketKey::from_bytes(&[7; 32]).public();
        GateBook::new(SHOW, TicketKeys::new(vec![key]).unwrap())
    }

    #[test]
    fn a_device_without_a_line_tells_good_tickets_from_all_others() {
        let mut book = book();
        let (short, good) = code(1, SHOW);
        let used = Used {
            at: Millis(5),
            gate: "north".into(),
        };
        let ticket = TicketId::from_bytes([1; 16]);
        assert_eq!(book.judge(&good), Verdict::Admit(ticket));
        book.use_up(short, used.clone());
        assert_eq!(book.judge(&good), Verdict::AlreadyUsed(ticket, used));
        book.free(short);
        assert_eq!(book.judge(&good), Verdict::Admit(ticket));
        book.revoke(short);
        assert_eq!(book.judge(&good), Verdict::Revoked(ticket));
        let (_, elsewhere) = code(1, ShowId::from_bytes([3; 16]));
        assert_eq!(book.judge(&elsewhere), Verdict::WrongShow);
        assert_eq!(
            book.judge("no code"),
            Verdict::Invalid(CodeError::Malformed)
        );
    }

    #[test]
    fn the_earliest_use_is_the_one_that_is_shown() {
        let mut book = book();
        let (short, good) = code(1, SHOW);
        for (at, gate) in [(7, "south"), (5, "north"), (6, "east")] {
            let gate = gate.to_owned();
            book.use_up(
                short,
                Used {
                    at: Millis(at),
                    gate,
                },
            );
        }
        let Verdict::AlreadyUsed(_, used) = book.judge(&good) else {
            unreachable!("it was used three times");
        };
        assert_eq!((used.at, used.gate.as_str()), (Millis(5), "north"));
    }
}
