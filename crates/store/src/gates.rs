//! Gates: admissions that are stored together with their counts, and the log of what changed.

use onsale_domain::gate::Conflict;
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;
use onsale_table::{Reads, Update, Write};

use crate::attributes::{FORGET_AT, REQUEST, get_number, get_request, seconds};
use crate::conditions::scan_is_new_or_the_same;
use crate::documents::{Together, Versioned};
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::lists::{List, Page, Sorted, by_time, place_of, read_by_time};
use crate::store::Store;

/// How many came in by a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCount {
    pub gate: String,
    pub admitted: u64,
}

/// What became of a ticket, as a gate must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateChange {
    pub ticket: TicketId,
    pub right: EntryRight,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryRight {
    Used {
        at: Millis,
        gate: String,
    },
    Revoked,
    /// Its use was undone.
    GoodAgain,
}

impl EntryRight {
    /// `None` for a ticket that is as good as on the day it was issued, and for one that was
    /// never issued: gates need not know of either.
    pub fn of(ticket: &Ticket) -> Option<Self> {
        if ticket.code.is_empty() {
            return None;
        }
        match &ticket.state {
            TicketState::Valid if ticket.admissions.is_empty() => None,
            TicketState::Valid => Some(Self::GoodAgain),
            TicketState::Revoked { .. } => Some(Self::Revoked),
            TicketState::Used { at, gate, .. } => Some(Self::Used {
                at: *at,
                gate: gate.clone(),
            }),
        }
    }
}

/// What a scan that a key names was asked with, so that the key names no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptScan {
    /// The name of the scan; it follows from the key.
    pub id: String,
    pub request: RequestHash,
    /// Until when it is kept.
    pub until: Millis,
}

/// Where a change stands in the log of a show's gates. It says all there is to know, so that
/// reading the log reads no ticket.
pub(crate) fn gate_place(changed: Millis, ticket: TicketId, right: &EntryRight) -> String {
    let right = match right {
        EntryRight::Used { at, gate } => format!("U{:015}{gate}", at.0),
        EntryRight::Revoked => "R".to_owned(),
        EntryRight::GoodAgain => "V".to_owned(),
    };
    by_time(changed, format_args!("{}#{right}", ticket.simple()))
}

/// What such a place says.
fn read_gate_place(place: &str) -> Option<GateChange> {
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

/// Adds to the count of a gate. It needs no condition: it is one part of a transaction whose
/// tickets have theirs, so it happens once for each of them.
fn count(show: ShowId, gate: &str, change: i64) -> Write {
    let list = List::GatesOf(show);
    let update = Update::always()
        .add("n", change)
        .set(list.index().pk, list.partition())
        .set(list.index().sk, gate);
    Write::Update(keys::gate_count(show, gate), update)
}

impl Together {
    fn count(&mut self, show: ShowId, counts: &[(String, i64)]) -> &mut Self {
        for (gate, change) in counts {
            self.push(count(show, gate, *change));
        }
        self
    }
}

impl Store {
    /// What this scan was asked with, unless that was forgotten by now.
    pub async fn kept_scan(&self, id: &str, now: Millis) -> Stored<Option<RequestHash>> {
        let Some(item) = self.get(&keys::scan(id)).await? else {
            return Ok(None);
        };
        if get_number::<u64>(&item, FORGET_AT)? * 1_000 <= now.0 {
            return Ok(None);
        }
        let request = get_request(&item).ok_or_else(|| corrupt("a scan"))?;
        Ok(Some(request))
    }

    /// Like `store_admissions` for one ticket, and keeps the scan as well. `false`: the ticket
    /// has moved on, or the key came with another request.
    pub async fn store_scan(
        &self,
        ticket: &Versioned<Ticket>,
        counts: &[(String, i64)],
        scan: &KeptScan,
        now: Millis,
    ) -> Stored<bool> {
        let keep = Update::when(scan_is_new_or_the_same(scan.request, now))
            .set(REQUEST, scan.request.0)
            .set(FORGET_AT, seconds(scan.until));
        let mut together = self.together();
        together
            .replace(ticket)?
            .push(Write::Update(keys::scan(&scan.id), keep))
            .count(ticket.value.show_id, counts);
        self.write(&together).await
    }

    /// Replaces these tickets of a show, each at its version, and changes the counts of its
    /// gates: all or nothing. `false`: one of them has moved on.
    pub async fn store_admissions(
        &self,
        show: ShowId,
        tickets: &[Versioned<Ticket>],
        counts: &[(String, i64)],
    ) -> Stored<bool> {
        let mut together = self.together();
        together.replace_all(tickets)?.count(show, counts);
        self.write(&together).await
    }

    /// The counts of all gates that ever admitted a ticket, by name.
    pub async fn gate_counts(&self, show: ShowId) -> Stored<Vec<GateCount>> {
        let listed = self.whole(&List::GatesOf(show)).await?;
        let keys: Vec<_> = listed.into_iter().map(|row| row.key).collect();
        let mut counts = Vec::with_capacity(keys.len());
        for row in self.get_many(&keys, Reads::Consistent).await? {
            let gate = keys::counted_gate(&row.key);
            let gate = gate.ok_or_else(|| corrupt("the count of a gate"))?;
            counts.push(GateCount {
                gate: gate.to_owned(),
                admitted: get_number(&row.item, "n")?,
            });
        }
        counts.sort_by(|one, other| one.gate.cmp(&other.gate));
        Ok(counts)
    }

    /// The tickets of a show whose right to enter changed at this time or later, in the order of
    /// their last change. The list may lag behind by seconds.
    pub async fn gate_changes(
        &self,
        show: ShowId,
        from: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<GateChange>> {
        let list = List::GateLog(show);
        // Every change of that very millisecond comes after the place without a ticket.
        let from = by_time(from, "");
        let after = after.filter(|after| *after > from.as_str());
        let after = Some(after.unwrap_or(&from));
        let page = self.page(&list, Sorted::OldestFirst, after, limit).await?;
        page.try_map(|row| {
            let place = read_gate_place(place_of(&row, &list)?);
            place.ok_or_else(|| corrupt("a place in the log of gates"))
        })
    }

    /// Tickets with such a conflict, oldest first. The list may lag behind by seconds.
    pub async fn gate_conflicts(
        &self,
        show: ShowId,
        kind: Conflict,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let list = List::Conflicts(show, kind);
        let page = self.list::<Ticket>(&list, Sorted::OldestFirst, after, limit);
        let mut page = page.await?.values();
        page.items.retain(|ticket| ticket.conflict() == Some(kind));
        Ok(page)
    }
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
            let read = read_gate_place(&place);
            assert_eq!(read, Some(GateChange { ticket, right }), "{place}");
        }
        for wrong in ["", "7", "000000000000007#ab#R", "000000000000007#"] {
            assert_eq!(read_gate_place(wrong), None, "{wrong}");
        }
    }
}
