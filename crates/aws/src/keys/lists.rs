//! Where items stand in the indexes: the partitions of lists, and places in them.

use onsale_app::ports::{EntryRight, GateChange};
use onsale_domain::gate::Conflict;
use onsale_domain::ids::{AccountId, OrderId, ShowId, TicketId, WaitlistId};
use onsale_domain::mail::{MailId, Recipient};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::Wish;

use super::{SALE, WORK_SHARDS};

/// The lines of what a show sold are spread over this many partitions: each takes 1,000
/// writes a second, and whoever reads asks all of them.
pub const SALE_PARTS: u8 = 4;

/// The partition of a buyer's orders in `BY_BUYER`.
pub fn buyer_orders(account: AccountId) -> String {
    format!("BUYER#{}", account.simple())
}

/// The partition of a show's ended passes in `BY_BUYER`. It takes 1,000 of them a second,
/// as many as a show confirms orders.
pub fn ended_passes(show: ShowId) -> String {
    format!("ENDED#{}", show.simple())
}

/// The partition of the fans of a show in `BY_BUYER`.
pub fn fans_of(show: ShowId) -> String {
    format!("FANS#{}", show.simple())
}

/// A partition of the lines of what a show sold. Within it they are sorted by time: the one
/// kind of item that shares its partition, because it is only ever read in lists.
pub fn sale_lines(show: ShowId, part: u8) -> String {
    format!("{SALE}#{}#{part}", show.simple())
}

/// Which of them the lines of an order are in.
pub fn sale_part(order: OrderId) -> u8 {
    order.as_bytes()[15] % SALE_PARTS
}

/// The partition of an address's registrations as a fan in `BY_OWNER`.
pub fn fan_of(email: EmailHash) -> String {
    format!("FAN#{email}")
}

/// The partition of an account's sessions in `BY_BUYER`.
pub fn sessions_of(account: AccountId) -> String {
    format!("SESSIONS#{}", account.simple())
}

/// The partition of an organiser's staff in `BY_BUYER`.
pub fn staff_of(organiser: AccountId) -> String {
    format!("STAFF#{}", organiser.simple())
}

/// The partition of a show's audit trail in `BY_BUYER`.
pub fn audit_of(show: ShowId) -> String {
    format!("AUDIT#{}", show.simple())
}

/// The partition of the tickets that an account has, in `BY_BUYER`.
pub fn tickets_of(account: AccountId) -> String {
    format!("TICKETS#{}", account.simple())
}

/// The partition of the gates of a show in `BY_BUYER`.
pub fn gates_of(show: ShowId) -> String {
    format!("GATES#{}", show.simple())
}

/// The partition of what gates of a show must know, in `BY_WORK`. It takes 1,000 changes a
/// second; 10,000 scans a minute are 167.
pub fn gate_log(show: ShowId) -> String {
    format!("GATE#{}", show.simple())
}

/// The partition of tickets of a show that somebody has to look at, in `BY_LIST`.
pub fn conflicts_of(show: ShowId, kind: Conflict) -> String {
    let kind = match kind {
        Conflict::Double => "DOUBLE",
        Conflict::Revoked => "ENTERED",
    };
    format!("{kind}#{}", show.simple())
}

/// The partition of tickets of a show that were put back, in `BY_OWNER`.
pub fn put_back_in(show: ShowId) -> String {
    format!("RETURNS#{}", show.simple())
}

/// The partition of what an account offered, in `BY_BUYER`.
pub fn sent_by(account: AccountId) -> String {
    format!("SENT#{}", account.simple())
}

/// The partition of what was offered to an address, in `BY_OWNER`.
pub fn offered_to(email: EmailHash) -> String {
    format!("TO#{email}")
}

/// The partition of the mails to an account, or to an address, in `BY_BUYER`; none: nobody
/// knows to whom it was.
pub fn mails_to(to: &Recipient) -> Option<String> {
    match to {
        Recipient::Account(account) => Some(format!("MAILS#{}", account.simple())),
        Recipient::Address(email) => Some(format!("MAILS#{}", EmailHash::of(email))),
        Recipient::Nobody => None,
    }
}

/// The partition of an account's entries in waitlists, in `BY_BUYER`.
pub fn waits_of(account: AccountId) -> String {
    format!("WAITS#{}", account.simple())
}

/// Where a change stands in the log of a show's gates. It says all there is to know, so
/// that reading the log reads no ticket.
pub fn gate_place(changed: Millis, ticket: TicketId, right: &EntryRight) -> String {
    let right = match right {
        EntryRight::Used { at, gate } => format!("U{:015}{gate}", at.0),
        EntryRight::Revoked => "R".to_owned(),
        EntryRight::GoodAgain => "V".to_owned(),
    };
    by_time(changed, format_args!("{}#{right}", ticket.simple()))
}

/// What such a place says.
pub fn read_gate_place(place: &str) -> Option<GateChange> {
    let (_, rest) = read_by_time(place)?;
    let (digits, right) = rest.split_once('#')?;
    let right = match (right.get(..1)?, right.get(1..)?) {
        ("U", used) => EntryRight::Used {
            at: Millis(used.get(..15)?.parse().ok()?),
            gate: used.get(15..)?.to_owned(),
        },
        ("R", "") => EntryRight::Revoked,
        ("V", "") => EntryRight::GoodAgain,
        _ => return None,
    };
    let ticket = format!("{}_{digits}", TicketId::PREFIX).parse().ok()?;
    Some(GateChange { ticket, right })
}

/// Which partition of open orders an order belongs to. The last byte is random or hashed
/// in every kind of id.
pub fn work_shard(order: OrderId) -> u8 {
    order.as_bytes()[15] % WORK_SHARDS
}

/// A partition of open orders in `BY_WORK`.
pub fn open_orders(shard: u8) -> String {
    format!("OPEN#{shard:02}")
}

/// Which partition of open mails a mail belongs to.
pub fn mail_shard(id: &MailId) -> u8 {
    let bytes = id.as_str().bytes();
    bytes.fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte)) % WORK_SHARDS
}

/// A partition of open mails in `BY_WORK`.
pub fn open_mails(shard: u8) -> String {
    format!("OPENMAIL#{shard:02}")
}

/// A partition of those who wait for a show in `BY_WORK`. A crowd that joins when a show
/// sells out is spread over them by account.
pub fn waiting(show: ShowId, shard: u8) -> String {
    format!("WAIT#{}#{shard:02}", show.simple())
}

/// Which partition of a waitlist an account belongs to.
pub fn waiting_shard(account: AccountId) -> u8 {
    account.as_bytes()[15] % WORK_SHARDS
}

/// The partition of those who have an offer for a show in `BY_WORK`.
pub fn offered(show: ShowId) -> String {
    format!("OFFERED#{}", show.simple())
}

/// Where somebody stands in a line. It says what they wait for as well, so that a pass
/// over a long line reads one list and not every entry.
pub fn waiting_place(joined: Millis, id: WaitlistId, wish: &Wish) -> String {
    let together = if wish.together { 't' } else { 'a' };
    let sections: String = wish.sections.iter().map(|s| format!("{s:02x}")).collect();
    let turn = by_time(joined, id.simple());
    format!("{turn}#{}{together}#{sections}", wish.quantity)
}

/// What such a place says.
pub fn read_waiting_place(place: &str) -> Option<(Millis, WaitlistId, Wish)> {
    let (joined, rest) = read_by_time(place)?;
    let mut parts = rest.split('#');
    let id = format!("{}_{}", WaitlistId::PREFIX, parts.next()?);
    let wish = parts.next()?;
    let (quantity, together) = match wish.strip_suffix('t') {
        Some(quantity) => (quantity, true),
        None => (wish.strip_suffix('a')?, false),
    };
    let sections = parts.next()?;
    let number = |at: usize| u8::from_str_radix(sections.get(at..at + 2)?, 16).ok();
    let sections = (0..sections.len()).step_by(2).map(number);
    let wish = Wish {
        quantity: quantity.parse().ok()?,
        together,
        sections: sections.collect::<Option<_>>()?,
    };
    Some((joined, id.parse().ok()?, wish))
}

pub fn owner(account: AccountId) -> String {
    format!("ORG#{}", account.simple())
}

/// Sorts by time, then by id.
pub fn by_time(created: Millis, id: impl std::fmt::Display) -> String {
    format!("{:015}#{id}", created.0)
}

/// The time and the id of such a place.
pub fn read_by_time(place: &str) -> Option<(Millis, &str)> {
    let (time, id) = place.split_once('#')?;
    Some((Millis(time.parse().ok()?), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_log_of_gates_says_what_was_written() {
        let ticket = TicketId::from_bytes([0xab; 16]);
        let used = |gate: &str| EntryRight::Used {
            at: Millis(1_800_000_000_000),
            gate: gate.to_owned(),
        };
        let rights = [
            used("north"),
            used("#1 Südtor 🎟"),
            EntryRight::Revoked,
            EntryRight::GoodAgain,
        ];
        for right in rights {
            let place = gate_place(Millis(7), ticket, &right);
            assert_eq!(
                read_gate_place(&place),
                Some(GateChange { ticket, right }),
                "{place}"
            );
        }
        for wrong in ["", "7", "000000000000007#ab#R", "000000000000007#"] {
            assert_eq!(read_gate_place(wrong), None, "{wrong}");
        }
    }
}
