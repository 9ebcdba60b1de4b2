//! Gates: admissions that are stored together with their counts, and the log of what
//! changed.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::AttributeValue;
use onsale_app::ports::{
    GateChange, GateCount, Gates, KeptScan, Page, StoreError, Stored, Versioned,
};
use onsale_domain::gate::Conflict;
use onsale_domain::ids::ShowId;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;

use crate::attributes::{Item, bytes, get_bytes, get_number, get_text, seconds, text};
use crate::conditions::{Change, SCAN_IS_NEW_OR_THE_SAME};
use crate::documents::new_mark;
use crate::keys::{self, BY_BUYER, BY_LIST, BY_WORK, Key, PK};
use crate::lists::{List, named};
use crate::table::DynamoStore;

/// What a scan was asked with.
const REQUEST: &str = "req";
/// Gates read by one request.
const LIST_PAGE: usize = 100;

/// Adds to the count of a gate. It needs no condition: it is one part of a transaction
/// whose tickets have theirs, so it happens once for each of them.
fn count(show: ShowId, gate: &str, change: i64) -> Change {
    let (list, place) = (BY_BUYER.pk, BY_BUYER.sk);
    Change {
        update: format!("ADD n :change SET {list} = :list, {place} = :gate"),
        condition: None,
        values: Item::from([
            (":change".to_owned(), AttributeValue::N(change.to_string())),
            (":list".to_owned(), text(keys::gates_of(show))),
            (":gate".to_owned(), text(gate)),
        ]),
    }
}

/// Keeps what a scan was asked with.
fn keep(scan: &KeptScan, now: Millis) -> Change {
    Change {
        update: format!("SET {REQUEST} = :request, forget_at = :until"),
        condition: Some(SCAN_IS_NEW_OR_THE_SAME.to_owned()),
        values: Item::from([
            (":request".to_owned(), bytes(scan.request.0)),
            (":until".to_owned(), seconds(scan.until)),
            (":now".to_owned(), seconds(now)),
        ]),
    }
}

#[async_trait]
impl Gates for DynamoStore {
    async fn kept_scan(&self, id: &str, now: Millis) -> Stored<Option<RequestHash>> {
        let Some(item) = self.get(&Key::scan(id)).await? else {
            return Ok(None);
        };
        if get_number(&item, "forget_at")? * 1_000 <= now.0 {
            return Ok(None);
        }
        let request = get_bytes(&item, REQUEST)?.try_into();
        let request = request.map_err(|_| StoreError::Corrupt("a scan".into()))?;
        Ok(Some(RequestHash(request)))
    }

    async fn store_scan(
        &self,
        ticket: &Versioned<Ticket>,
        counts: &[(String, i64)],
        scan: &KeptScan,
        now: Millis,
    ) -> Stored<bool> {
        let (mark, show) = (new_mark()?, ticket.value.show_id);
        let mut parts = vec![
            self.document_part(mark, ticket.version, &ticket.value)?,
            self.update_part(&Key::scan(&scan.id), keep(scan, now))?,
        ];
        for (gate, change) in counts {
            let key = Key::gate_count(show, gate);
            parts.push(self.update_part(&key, count(show, gate, *change))?);
        }
        self.transact_documents(mark, parts).await
    }

    async fn store_admissions(
        &self,
        show: ShowId,
        tickets: &[Versioned<Ticket>],
        counts: &[(String, i64)],
    ) -> Stored<bool> {
        let mark = new_mark()?;
        let mut parts = Vec::with_capacity(tickets.len() + counts.len());
        for ticket in tickets {
            parts.push(self.document_part(mark, ticket.version, &ticket.value)?);
        }
        for (gate, change) in counts {
            let key = Key::gate_count(show, gate);
            parts.push(self.update_part(&key, count(show, gate, *change))?);
        }
        self.transact_documents(mark, parts).await
    }

    async fn gate_counts(&self, show: ShowId) -> Stored<Vec<GateCount>> {
        let list = List::oldest_first(BY_BUYER, keys::gates_of(show));
        let (mut keys, mut after) = (Vec::new(), None);
        loop {
            let page = self.list(&list, after.as_deref(), LIST_PAGE).await?;
            keys.extend(named(&page.items, |pk| {
                Key::counted_gate(pk).map(|gate| Key::gate_count(show, gate))
            })?);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let mut counts = Vec::with_capacity(keys.len());
        for item in self.get_many(&keys, true).await? {
            let gate = Key::counted_gate(get_text(&item, PK)?);
            let gate = gate.ok_or_else(|| StoreError::Corrupt("the count of a gate".into()))?;
            counts.push(GateCount {
                gate: gate.to_owned(),
                admitted: get_number(&item, "n")?,
            });
        }
        counts.sort_by(|one, other| one.gate.cmp(&other.gate));
        Ok(counts)
    }

    async fn gate_changes(
        &self,
        show: ShowId,
        from: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<GateChange>> {
        let list = List::oldest_first(BY_WORK, keys::gate_log(show));
        // Every change of that very millisecond comes after the place without a ticket.
        let from = keys::by_time(from, "");
        let after = after.filter(|after| *after > from.as_str());
        let page = self
            .list(&list, Some(after.unwrap_or(&from)), limit)
            .await?;
        let read = |item| {
            let place = get_text(item, BY_WORK.sk)?;
            keys::read_gate_place(place)
                .ok_or_else(|| StoreError::Corrupt("a place in the log of gates".into()))
        };
        Ok(Page {
            items: page.items.iter().map(read).collect::<Stored<_>>()?,
            next: page.next,
        })
    }

    async fn gate_conflicts(
        &self,
        show: ShowId,
        kind: Conflict,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let list = List::oldest_first(BY_LIST, keys::conflicts_of(show, kind));
        let mut page = self.list_tickets(&list, after, limit).await?;
        page.items.retain(|ticket| ticket.conflict() == Some(kind));
        Ok(page)
    }
}
