//! What a device did while it had no line to us, told afterwards.
//!
//! Nothing that happened is refused: whoever was let in is in. Each scan is named by its
//! device, its ticket and the time on the device, so a batch that was cut off is simply
//! sent again.

use std::collections::{BTreeMap, HashMap};

use onsale_domain::gate::{Admission, Admissions, scanned_at};
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::ticket_code::{TicketClaims, TicketKeys};
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::Versioned;
use crate::tickets::{Invalid, check_name, hex, invalid};

/// Tickets written in one piece. Each may change the counts of two gates, and a
/// transaction has at most a hundred parts.
const TICKETS_AT_ONCE: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineScan {
    pub code: String,
    /// By the clock of the device.
    pub at: Millis,
    /// Whether the device let them in.
    pub admitted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedScan {
    pub outcome: Outcome,
    /// By our clock.
    pub at: Millis,
    /// As it is now.
    pub ticket: Option<Ticket>,
    /// The name of the scan among the admissions of its ticket.
    pub scan: String,
}

/// What became of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// They were let in, and first.
    Admitted,
    /// They were let in, and somebody else was before them.
    Double,
    /// They were let in on a revoked ticket, or turned away for it.
    Revoked,
    Invalid(Invalid),
    /// They were turned away, and the ticket is used.
    AlreadyUsed,
    /// They were turned away, and the ticket is good.
    NotAdmitted,
}

/// One scan of a batch, as far as its code says it.
struct Read {
    claims: std::result::Result<TicketClaims, Invalid>,
    at: Millis,
    scan: String,
    admitted: bool,
}

impl App {
    #[expect(clippy::too_many_arguments, reason = "they are the fields of a batch")]
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn sync_scans(
        &self,
        caller: &Caller,
        show: ShowId,
        keys: &TicketKeys,
        gate: &str,
        device: &str,
        sent_at: Millis,
        scans: &[OfflineScan],
    ) -> Result<Vec<SyncedScan>> {
        self.gate_show(caller, show).await?;
        check_name("gate", gate)?;
        check_name("device", device)?;
        let now = self.now();
        let read: Vec<Read> = scans
            .iter()
            .map(|scan| read_scan(scan, show, keys, device, sent_at, now))
            .collect();
        let mut reported: BTreeMap<TicketId, Admissions> = BTreeMap::new();
        for scan in &read {
            let Ok(claims) = scan.claims else { continue };
            let known = reported.entry(claims.ticket).or_default();
            if scan.admitted {
                *known = known.join(&Admissions::from(Admission {
                    scan: scan.scan.clone(),
                    at: scan.at,
                    gate: gate.to_owned(),
                    by: Some(caller.account),
                    device: Some(device.to_owned()),
                    undone: None,
                }));
            }
        }
        let ids: Vec<_> = reported.keys().copied().collect();
        let found = self.store.read_many::<Ticket>(&ids).await?;
        let mut tickets: HashMap<TicketId, Ticket> = HashMap::with_capacity(found.len());
        for chunk in found.chunks(TICKETS_AT_ONCE) {
            for ticket in self.merge(show, chunk, &reported).await? {
                tickets.insert(ticket.id, ticket);
            }
        }
        Ok(read
            .into_iter()
            .map(|scan| outcome(scan, &tickets))
            .collect())
    }

    /// Stores what was reported of these tickets, together if nobody is in the way.
    async fn merge(
        &self,
        show: ShowId,
        found: &[Versioned<Ticket>],
        reported: &BTreeMap<TicketId, Admissions>,
    ) -> Result<Vec<Ticket>> {
        let now = self.now();
        let (mut known, mut new, mut counts) = (Vec::new(), Vec::new(), BTreeMap::new());
        for ticket in found {
            let Some(next) = merged(ticket, reported, now) else {
                known.push(ticket.value.clone());
                continue;
            };
            let before = ticket.value.all_admissions();
            for (gate, change) in before.count_changes(&next.value.admissions) {
                *counts.entry(gate).or_insert(0) += change;
            }
            new.push(next);
        }
        counts.retain(|_, change| *change != 0);
        let counts: Vec<(String, i64)> = counts.into_iter().collect();
        if new.is_empty() || self.store.store_admissions(show, &new, &counts).await? {
            for ticket in &new {
                report(&ticket.value);
            }
            known.extend(new.into_iter().map(|ticket| ticket.value));
            return Ok(known);
        }
        for ticket in new {
            known.push(self.merge_one(ticket.value.id, reported).await?);
        }
        Ok(known)
    }

    async fn merge_one(
        &self,
        id: TicketId,
        reported: &BTreeMap<TicketId, Admissions>,
    ) -> Result<Ticket> {
        for _ in 0..ROUNDS {
            let ticket = self.store.read::<Ticket>(id).await?.ok_or(Error::Corrupt)?;
            let Some(next) = merged(&ticket, reported, self.now()) else {
                return Ok(ticket.value);
            };
            if self.store_admission(&ticket.value, &next, None).await? {
                report(&next.value);
                return Ok(next.value);
            }
        }
        Err(Error::Unavailable)
    }
}

/// The ticket with what was reported of it; `None` if that is known already, or it is known
/// well enough that everybody comes in on it.
fn merged(
    ticket: &Versioned<Ticket>,
    reported: &BTreeMap<TicketId, Admissions>,
    now: Millis,
) -> Option<Versioned<Ticket>> {
    if !ticket.value.admissions.has_room() {
        return None;
    }
    let value = ticket
        .value
        .with_admissions(reported.get(&ticket.value.id)?, now);
    let version = ticket.version;
    (value != ticket.value).then_some(Versioned { version, value })
}

fn report(ticket: &Ticket) {
    if let Some(conflict) = ticket.conflict() {
        metrics::counter!("onsale_gate_conflicts_total").increment(1);
        tracing::warn!(ticket = %ticket.id, show = %ticket.show_id, ?conflict, "more came in on a ticket than should have");
    }
}

fn read_scan(
    scan: &OfflineScan,
    show: ShowId,
    keys: &TicketKeys,
    device: &str,
    sent_at: Millis,
    now: Millis,
) -> Read {
    let claims = match keys.verify(&scan.code) {
        Err(error) => Err(invalid(error)),
        Ok(claims) if claims.show != show => Err(Invalid::WrongShow),
        Ok(claims) => Ok(claims),
    };
    let ticket = claims.map_or_else(|_| String::new(), |claims| claims.ticket.to_string());
    let name = format!("{device}\0{ticket}\0{}", scan.at.0);
    Read {
        claims,
        at: scanned_at(scan.at, sent_at, now),
        scan: hex(&RequestHash::of(name.as_bytes()).0),
        admitted: scan.admitted,
    }
}

fn outcome(scan: Read, tickets: &HashMap<TicketId, Ticket>) -> SyncedScan {
    let found = match scan.claims {
        Err(why) => Err(why),
        Ok(claims) => tickets
            .get(&claims.ticket)
            // Revoked before it was issued: nobody was ever given this code.
            .filter(|ticket| !ticket.code.is_empty())
            .map(|ticket| (claims, ticket))
            .ok_or(Invalid::UnknownTicket),
    };
    let outcome = match &found {
        Err(why) => Outcome::Invalid(*why),
        Ok((claims, ticket)) => what_became(&scan, claims, ticket),
    };
    SyncedScan {
        outcome,
        at: scan.at,
        ticket: found.ok().map(|(_, ticket)| ticket.clone()),
        scan: scan.scan,
    }
}

fn what_became(scan: &Read, claims: &TicketClaims, ticket: &Ticket) -> Outcome {
    let dead = claims.serial != ticket.serial;
    match &ticket.state {
        TicketState::Revoked { .. } => Outcome::Revoked,
        _ if dead => Outcome::Revoked,
        state if !scan.admitted => match state {
            TicketState::Used { .. } => Outcome::AlreadyUsed,
            _ => Outcome::NotAdmitted,
        },
        _ => {
            let own = ticket.admissions.of_scan(&scan.scan);
            let first = ticket.admissions.first();
            let undone = own.is_some_and(|own| own.undone.is_some());
            match undone || first.is_some_and(|first| first.scan == scan.scan) {
                true => Outcome::Admitted,
                false => Outcome::Double,
            }
        }
    }
}
