//! Waitlists.

use async_trait::async_trait;
use onsale_app::ports::{Page, Stored, Versioned, Waitlists, Written};
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::show::Waitlist;
use onsale_domain::waitlist::{Passes, Waiting, WaitlistEntry};

use crate::orders::{create, page, replace};
use crate::{Items, MemoryStore, Step};

impl Items {
    fn entries_of(&self, show: ShowId) -> impl Iterator<Item = &WaitlistEntry> {
        let first = (show, AccountId::from_bytes([0; 16]));
        let last = (show, AccountId::from_bytes([0xff; 16]));
        let entries = self.waitlist.range(first..=last);
        entries.map(|(_, entry)| &entry.value)
    }
}

#[async_trait]
impl Waitlists for MemoryStore {
    async fn waitlist_entry(
        &self,
        show: ShowId,
        account: AccountId,
    ) -> Stored<Option<Versioned<WaitlistEntry>>> {
        Ok(self.items().waitlist.get(&(show, account)).cloned())
    }

    async fn create_waitlist_entry(&self, entry: &WaitlistEntry) -> Stored<Written<WaitlistEntry>> {
        let key = (entry.show_id, entry.account);
        self.pass("create_waitlist_entry", async {
            Ok(create(&mut self.items().waitlist, key, entry))
        })
        .await
    }

    async fn replace_waitlist_entry(
        &self,
        entry: &Versioned<WaitlistEntry>,
    ) -> Stored<Written<WaitlistEntry>> {
        self.reach(Step::ReplaceWaitlistEntry).await;
        let key = (entry.value.show_id, entry.value.account);
        self.pass("replace_waitlist_entry", async {
            replace(&mut self.items().waitlist, key, entry)
        })
        .await
    }

    async fn waitlist_entries_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<WaitlistEntry>>> {
        let items = self.items();
        let all = items.waitlist.values();
        let theirs = all.filter(|entry| entry.value.account == account);
        // Newest first: the key counts down.
        let place = |e: &WaitlistEntry| format!("{:020}#{}", u64::MAX - e.joined.0, e.id);
        let mut sorted: Vec<_> = theirs.map(|e| (place(&e.value), e.clone())).collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }

    async fn waiting(&self, show: ShowId) -> Stored<Vec<Waiting>> {
        let items = self.items();
        let waiting = items.entries_of(show).filter_map(WaitlistEntry::waiting);
        let mut line: Vec<_> = waiting.collect();
        line.sort_by_key(Waiting::turn);
        Ok(line)
    }

    async fn offered(&self, show: ShowId) -> Stored<Vec<AccountId>> {
        let items = self.items();
        let offered = items.entries_of(show).filter(|e| e.offer().is_some());
        Ok(offered.map(|entry| entry.account).collect())
    }

    async fn mark_waitlist(&self, show: ShowId, from: Waitlist, to: Waitlist) -> Stored<bool> {
        self.pass("mark_waitlist", async {
            let mut items = self.items();
            if !items.shows.contains_key(&show) {
                return Ok(false);
            }
            let mark = items.waitlist_marks.entry(show).or_default();
            let found = *mark == from;
            if found {
                *mark = to;
            }
            Ok(found)
        })
        .await
    }

    async fn open_waitlists(&self) -> Stored<Vec<ShowId>> {
        let items = self.items();
        let marked = items.waitlist_marks.iter();
        let open = marked.filter(|(_, mark)| **mark != Waitlist::Closed);
        Ok(open.map(|(show, _)| *show).collect())
    }

    async fn waitlist_passes(&self, show: ShowId) -> Stored<Option<Versioned<Passes>>> {
        Ok(self.items().waitlist_passes.get(&show).cloned())
    }

    async fn replace_waitlist_passes(&self, passes: &Versioned<Passes>) -> Stored<bool> {
        self.pass("replace_waitlist_passes", async {
            let mut items = self.items();
            let show = passes.value.show_id;
            let stored = items.waitlist_passes.get(&show).map_or(0, |p| p.version);
            let current = stored == passes.version;
            if current {
                let version = stored + 1;
                let value = passes.value;
                let next = Versioned { version, value };
                items.waitlist_passes.insert(show, next);
            }
            Ok(current)
        })
        .await
    }
}
