//! A ledger for the sandbox, in memory, that can be told to fail.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use onsale_app::ports::{Clock, Page, SandboxLedger, StoreError, Stored, Versioned};
use onsale_domain::time::Millis;

type Entries = BTreeMap<String, (Millis, Versioned<String>)>;

#[derive(Default)]
pub struct Ledger {
    entries: Mutex<Entries>,
    /// So many writes happen but answer that they do not know.
    pub lost_replies: AtomicU32,
    pub writes: AtomicU32,
}

#[async_trait]
impl SandboxLedger for Ledger {
    async fn sandbox_entry(&self, id: &str) -> Stored<Option<Versioned<String>>> {
        let entry = |entries: &Entries| entries.get(id).map(|(_, entry)| entry.clone());
        let found = entry(&self.entries.lock().unwrap());
        // Lets concurrent calls read the same version before any of them writes.
        tokio::task::yield_now().await;
        Ok(found)
    }

    async fn put_sandbox_entry(
        &self,
        id: &str,
        created: Millis,
        entry: &Versioned<String>,
    ) -> Stored<bool> {
        let mut entries = self.entries.lock().unwrap();
        if entries.get(id).map_or(0, |(_, found)| found.version) != entry.version {
            return Ok(false);
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        let stored = Versioned {
            version: entry.version + 1,
            value: entry.value.clone(),
        };
        entries.insert(id.to_owned(), (created, stored));
        let lost = |n: u32| n.checked_sub(1);
        match self
            .lost_replies
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, lost)
        {
            Ok(_) => Err(StoreError::Unavailable("a lost reply".into())),
            Err(_) => Ok(true),
        }
    }

    async fn sandbox_entries(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<String>> {
        let entries = self.entries.lock().unwrap();
        let mut found: Vec<_> = entries
            .iter()
            .filter(|(_, (created, _))| *created >= since)
            .map(|(id, (created, entry))| (format!("{:020}-{id}", created.0), entry.value.clone()))
            .filter(|(position, _)| after.is_none_or(|after| position.as_str() > after))
            .collect();
        found.sort();
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found
            .last()
            .filter(|_| more)
            .map(|(position, _)| position.clone());
        let items = found.into_iter().map(|(_, value)| value).collect();
        Ok(Page { items, next })
    }
}

pub struct FixedClock(pub Mutex<Millis>);

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        *self.0.lock().unwrap()
    }
}
