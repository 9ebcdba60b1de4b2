//! The gates of a show: who may stand there, what they need to know, and what went wrong.

mod sync;

pub use sync::{OfflineScan, Outcome, SyncedScan};

use std::sync::Arc;

use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::gate::Conflict;
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::show::Show;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{GateChange, GateCount, KeptScan, Page, Versioned};

/// A log of changes is read from this long before the last look at it: an index lags
/// behind, and clocks disagree. Whoever reads takes a change that comes again for known.
const OVERLAP_MS: u64 = 15_000;

/// A part of what a device needs to work without a line.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub show: Arc<Show>,
    pub title: String,
    /// Asking `since` this moment later gives whatever changed after this snapshot.
    pub version: Millis,
    pub changes: Vec<GateChange>,
    /// Where the rest of this snapshot begins.
    pub next: Option<String>,
}

impl App {
    /// Who may let people in. Nothing else decides it.
    pub(crate) async fn gate_show(&self, caller: &Caller, id: ShowId) -> Result<Arc<Show>> {
        self.check_session(caller).await?;
        let show = self.recent_show(id).await?;
        self.check_at_gate(caller, &show).await?;
        Ok(show)
    }

    /// Who may look at everything that happened at the gates, and undo it: the organiser.
    async fn supervised_show(&self, caller: &Caller, id: ShowId) -> Result<Arc<Show>> {
        self.check_session(caller).await?;
        let show = self.recent_show(id).await?;
        match show.owner == caller.account {
            true => Ok(show),
            false => Err(Error::Forbidden("this show belongs to another organiser")),
        }
    }

    /// How many came in by each gate.
    pub async fn gate_counts(&self, caller: &Caller, show: ShowId) -> Result<Vec<GateCount>> {
        self.gate_show(caller, show).await?;
        Ok(self.store.gate_counts(show).await?)
    }

    /// What a device must know of the tickets of a show: all of it, or what changed since
    /// an earlier snapshot.
    pub async fn gate_snapshot(
        &self,
        caller: &Caller,
        id: ShowId,
        since: Option<Millis>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Snapshot> {
        let show = self.gate_show(caller, id).await?;
        let title = self.title_of(&show).await?;
        let (version, after) = match cursor {
            None => (self.now(), None),
            Some(cursor) => {
                let (version, place) = read_cursor(cursor).ok_or_else(|| {
                    Error::Invalid("cursor: not the next_cursor of a page".into())
                })?;
                (version, Some(place))
            }
        };
        let from = since.unwrap_or_default().saturating_sub(OVERLAP_MS);
        let page = self.store.gate_changes(id, from, after, limit).await?;
        Ok(Snapshot {
            show,
            title,
            version,
            changes: page.items,
            next: page.next.map(|place| format!("{}~{place}", version.0)),
        })
    }

    /// Tickets on which more people came in than should have.
    pub async fn gate_conflicts(
        &self,
        caller: &Caller,
        show: ShowId,
        kind: Conflict,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<Ticket>> {
        self.supervised_show(caller, show).await?;
        Ok(self.store.gate_conflicts(show, kind, after, limit).await?)
    }

    /// Everything that happened to a ticket at the gates of a show.
    pub async fn scans_of(&self, caller: &Caller, show: ShowId, id: TicketId) -> Result<Ticket> {
        self.supervised_show(caller, show).await?;
        Ok(self.ticket_at(show, id).await?.value)
    }

    async fn ticket_at(&self, show: ShowId, id: TicketId) -> Result<Versioned<Ticket>> {
        let ticket = self.store.read::<Ticket>(id).await?;
        ticket
            .filter(|ticket| ticket.value.show_id == show && !ticket.value.code.is_empty())
            .ok_or(Error::NotFound("ticket"))
    }

    /// A supervisor takes back that somebody came in on this ticket: it is good again, and
    /// remembers. With `used_at` only if that is the use that is meant: whoever repeats the
    /// request does not undo what happened in between. Undone twice is undone once.
    pub async fn undo_scans(
        &self,
        caller: &Caller,
        show: ShowId,
        id: TicketId,
        used_at: Option<Millis>,
    ) -> Result<Ticket> {
        self.supervised_show(caller, show).await?;
        for _ in 0..ROUNDS {
            let ticket = self.ticket_at(show, id).await?;
            let now = self.now();
            let Some(value) = ticket.value.without_admissions(caller.account, now) else {
                return Ok(ticket.value);
            };
            if let (TicketState::Used { at, .. }, Some(meant)) = (&ticket.value.state, used_at)
                && *at != meant
            {
                return Err(Error::Conflict("the ticket was used at another time"));
            }
            let version = ticket.version;
            let next = Versioned { version, value };
            if self.store_admission(&ticket.value, &next, None).await? {
                metrics::counter!("onsale_scans_undone_total").increment(1);
                self.note_undone(caller, &next).await;
                return Ok(next.value);
            }
        }
        Err(Error::Unavailable)
    }

    /// The ticket says it too, so a trail that cannot be told is no reason to fail.
    async fn note_undone(&self, caller: &Caller, ticket: &Versioned<Ticket>) {
        let Ticket { id, show_id, .. } = &ticket.value;
        let subject = [&id.as_bytes()[..], &ticket.version.to_be_bytes()].concat();
        let changes = vec![AuditChange::new("ticket", Some(id.to_string()), None)];
        let (action, now) = (AuditAction::AdmissionUndone, self.now());
        let entry = AuditEntry::new(*show_id, caller.account, action, &subject, changes, now);
        if let Err(error) = self.store.note(&entry).await {
            tracing::error!(ticket = %id, %error, "a trail lacks an admission that was undone");
        }
    }

    /// Stores one ticket with its admissions, and counts them. `false`: it has moved on.
    pub(crate) async fn store_admission(
        &self,
        before: &Ticket,
        next: &Versioned<Ticket>,
        scan: Option<&KeptScan>,
    ) -> Result<bool> {
        let known = before.all_admissions();
        let counts = known.count_changes(&next.value.admissions);
        if let Some(scan) = scan {
            let stored = self.store.store_scan(next, &counts, scan, self.now());
            return Ok(stored.await?);
        }
        let tickets = std::slice::from_ref(next);
        let show = before.show_id;
        Ok(self.store.store_admissions(show, tickets, &counts).await?)
    }
}

fn read_cursor(cursor: &str) -> Option<(Millis, &str)> {
    let (version, place) = cursor.split_once('~')?;
    Some((Millis(version.parse().ok()?), place))
}
