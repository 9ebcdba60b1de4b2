//! Gates: admissions with their counts, and what changed since.

use async_trait::async_trait;
use onsale_app::ports::{
    EntryRight, GateChange, GateCount, Gates, KeptScan, Page, Stored, Versioned,
};
use onsale_domain::gate::Conflict;
use onsale_domain::ids::ShowId;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;

use crate::orders::page;
use crate::{Items, MemoryStore, Step};

/// Whether each of the tickets is still at its version.
pub(crate) fn stand(items: &Items, tickets: &[Versioned<Ticket>]) -> bool {
    let stands = |ticket: &Versioned<Ticket>| {
        let stored = items.tickets.get(&ticket.value.id);
        stored.is_some_and(|stored| stored.version == ticket.version)
    };
    tickets.iter().all(stands)
}

pub(crate) fn put(items: &mut Items, ticket: &Versioned<Ticket>) {
    let next = Versioned {
        version: ticket.version + 1,
        value: ticket.value.clone(),
    };
    items.tickets.insert(ticket.value.id, next);
}

#[async_trait]
impl Gates for MemoryStore {
    async fn kept_scan(&self, id: &str, now: Millis) -> Stored<Option<RequestHash>> {
        let items = self.items();
        let kept = items.scans.get(id).filter(|scan| scan.until > now);
        Ok(kept.map(|scan| scan.request))
    }

    async fn store_scan(
        &self,
        ticket: &Versioned<Ticket>,
        counts: &[(String, i64)],
        scan: &KeptScan,
        now: Millis,
    ) -> Stored<bool> {
        self.reach(Step::ReplaceTicket).await;
        self.pass("store_scan", async {
            let mut items = self.items();
            let kept = items.scans.get(&scan.id).filter(|kept| kept.until > now);
            let is_other = kept.is_some_and(|kept| kept.request != scan.request);
            if is_other || !stand(&items, std::slice::from_ref(ticket)) {
                return Ok(false);
            }
            put(&mut items, ticket);
            for (gate, change) in counts {
                let gate = (ticket.value.show_id, gate.clone());
                *items.gates.entry(gate).or_default() += change;
            }
            items.scans.insert(scan.id.clone(), scan.clone());
            Ok(true)
        })
        .await
    }

    async fn store_admissions(
        &self,
        show: ShowId,
        tickets: &[Versioned<Ticket>],
        counts: &[(String, i64)],
    ) -> Stored<bool> {
        self.reach(Step::ReplaceTicket).await;
        self.pass("store_admissions", async {
            let mut items = self.items();
            if !stand(&items, tickets) {
                return Ok(false);
            }
            for ticket in tickets {
                put(&mut items, ticket);
            }
            for (gate, change) in counts {
                *items.gates.entry((show, gate.clone())).or_default() += change;
            }
            Ok(true)
        })
        .await
    }

    async fn gate_counts(&self, show: ShowId) -> Stored<Vec<GateCount>> {
        let items = self.items();
        let of_show = items.gates.iter().filter(|((of, _), _)| *of == show);
        let count = |((_, gate), n): (&(ShowId, String), &i64)| {
            let admitted = u64::try_from(*n).map_err(|_| crate::corrupt("n"))?;
            let gate = gate.clone();
            Ok(GateCount { gate, admitted })
        };
        of_show.map(count).collect()
    }

    async fn gate_changes(
        &self,
        show: ShowId,
        from: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<GateChange>> {
        let items = self.items();
        let changed = items.tickets.values().map(|ticket| &ticket.value);
        let changed = changed.filter(|ticket| ticket.show_id == show && ticket.changed >= from);
        let mut sorted: Vec<_> = changed
            .filter_map(|ticket| {
                let change = GateChange {
                    ticket: ticket.id,
                    right: EntryRight::of(ticket)?,
                };
                Some((format!("{:020}#{}", ticket.changed.0, ticket.id), change))
            })
            .collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }

    async fn gate_conflicts(
        &self,
        show: ShowId,
        kind: Conflict,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let items = self.items();
        let tickets = items.tickets.values().map(|ticket| &ticket.value);
        let found = tickets.filter(|t| t.show_id == show && t.conflict() == Some(kind));
        let key = |ticket: &Ticket| format!("{:020}#{}", ticket.changed.0, ticket.id);
        let mut sorted: Vec<_> = found.map(|t| (key(t), t.clone())).collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }
}
