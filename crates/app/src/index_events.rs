//! Keeps the search index true to the catalogue.
//!
//! Every write of a public event leaves a note in the table that the index has to follow
//! (`IndexWork`), and is announced. The announcement makes it quick; the note makes it
//! certain: whoever comes by, by a message or by the clock, works through all notes. A
//! note stays some seconds longer than the index needs it: readers of the index are a
//! moment behind, and lists show what is noted from the table. An
//! event is always read from the table after the draft of the index was begun, and a
//! draft is published only if nobody published in between. So an older state can never
//! take the place of a newer one.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::announcement::News;
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;

use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::Versioned;

/// Notes that are worked through at once.
pub(crate) const NOTES_AT_ONCE: usize = 1_000;
/// How often a draft is begun again after somebody else published first.
const ROUNDS: usize = 8;
/// Events that are read at the same time.
const READS_AT_ONCE: usize = 8;
/// Readers look for a newer index every second, and take a moment to copy it.
const READERS_FOLLOW_MS: u64 = 5_000;
const REBUILD_PAGE: usize = 100;
/// How long somebody who builds the index may be silent before another begins.
const REBUILD_LEASE_MS: u64 = 60_000;
const RENEW_AFTER_MS: u64 = 15_000;
/// How often the log says how far a rebuild is.
const PROGRESS_EVERY: usize = 10_000;

impl App {
    /// Tells that a public event was written, after the version that was read. A change
    /// is made whether it can be told or not: its note is in the table.
    pub(crate) async fn announce_change(&self, event: &Versioned<Event>) {
        if !event.value.is_public() {
            return;
        }
        let event_id = event.value.id;
        let subject = format!("{event_id}:{}", event.version + 1);
        let news = News::EventChanged { event_id }.announce(&subject, self.now());
        if let Err(error) = self.bus.announce(&[news]).await {
            tracing::warn!(event = %event_id, %error, "a change was not announced; the sweep finds it");
        }
    }

    /// Brings the index up to these events and to every event with a note, and says how
    /// many of them were new to it. Without an index it is built first.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn index_events(&self, hints: &[EventId]) -> Result<usize> {
        let mut indexed = 0;
        for _ in 0..ROUNDS {
            let Some(mut draft) = self.search_index.open().await? else {
                match self.rebuild_index().await? {
                    Some(events) => indexed += events,
                    // Somebody builds it. Every note is kept until they are done.
                    None => return Ok(indexed),
                }
                continue;
            };
            let notes = self.store.unindexed_events(NOTES_AT_ONCE).await?;
            let wanted: BTreeSet<_> = hints.iter().chain(&notes).copied().collect();
            let mut read = self.public_events_of(wanted).await?;
            let mut news = Vec::new();
            for event in &read {
                if draft.version_of(event.value.id)? != Some(event.version) {
                    news.push(event.clone());
                }
            }
            if !news.is_empty() {
                let count = news.len();
                draft.put(news).await?;
                if !draft.publish().await? {
                    continue;
                }
                indexed += count;
            }
            read.retain(|event| notes.contains(&event.value.id));
            // A backlog is worked off; else readers are given the time to follow.
            let backlog = notes.len() >= NOTES_AT_ONCE;
            for event in &read {
                if backlog || self.is_indexed_for_all(event) {
                    let (id, version) = (event.value.id, event.version);
                    self.store.mark_indexed(id, version).await?;
                }
            }
            if notes.len() < NOTES_AT_ONCE {
                return Ok(indexed);
            }
        }
        // Nothing is lost: the notes are there for the next one.
        tracing::warn!(indexed, "the index is not up to date yet");
        Ok(indexed)
    }

    /// Whether the index has had this version for so long that every reader has followed.
    /// Until then a list needs the note to show the event as it is.
    fn is_indexed_for_all(&self, event: &Versioned<Event>) -> bool {
        let (id, now) = (event.value.id, self.now());
        match self.indexed.get(&id) {
            Some((version, since)) if version == event.version => now - since >= READERS_FOLLOW_MS,
            _ => {
                self.indexed.put(id, (event.version, now));
                false
            }
        }
    }

    async fn public_events_of(&self, ids: BTreeSet<EventId>) -> Result<Vec<Versioned<Event>>> {
        let reads: Vec<_> = ids
            .into_iter()
            .map(|id| self.store.read::<Event>(id))
            .collect();
        let read: Vec<_> = stream::iter(reads)
            .buffer_unordered(READS_AT_ONCE)
            .try_collect()
            .await?;
        let public = |event: &Versioned<Event>| event.value.is_public();
        Ok(read.into_iter().flatten().filter(public).collect())
    }

    /// Builds the index from the whole catalogue; how many events it has then. `None`:
    /// somebody else is at it. What changes meanwhile leaves its note.
    async fn rebuild_index(&self) -> Result<Option<usize>> {
        let mut holder = [0; 16];
        self.entropy.fill(&mut holder);
        if !self.lease_rebuild(holder).await? {
            return Ok(None);
        }
        tracing::info!("building the search index anew");
        let mut draft = self.search_index.create().await?;
        let (mut events, mut told) = (0, 0);
        let mut renewed = self.now();
        let mut after: Option<String> = None;
        loop {
            let page = self
                .store
                .public_events(after.as_deref(), REBUILD_PAGE)
                .await?;
            events += page.items.len();
            draft.put(page.items).await?;
            if self.now() - renewed >= RENEW_AFTER_MS {
                renewed = self.now();
                if !self.lease_rebuild(holder).await? {
                    return Ok(None);
                }
            }
            if events - told >= PROGRESS_EVERY {
                told = events;
                tracing::info!(events, "building the search index");
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if !draft.publish().await? {
            return Err(Error::Conflict("another index was published meanwhile"));
        }
        let now = self.now();
        self.store.lease_rebuild(holder, now, now).await?;
        tracing::info!(events, "the search index is built");
        Ok(Some(events))
    }

    async fn lease_rebuild(&self, holder: [u8; 16]) -> Result<bool> {
        let now = self.now();
        let until = now + REBUILD_LEASE_MS;
        Ok(self.store.lease_rebuild(holder, now, until).await?)
    }
}
