//! A search index that only remembers what was put in, for tests of who writes it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{IndexDraft, SearchIndex, Stored, Versioned};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;

use crate::no_answer;
use onsale_table::faults::Faults;

type Known = BTreeMap<EventId, Versioned<Event>>;

#[derive(Debug, Default)]
struct Published {
    /// Rises with every publication.
    number: u64,
    events: Option<Known>,
}

#[derive(Debug)]
pub struct MemoryIndex {
    faults: Arc<Faults>,
    published: Arc<Mutex<Published>>,
}

fn lock(published: &Mutex<Published>) -> MutexGuard<'_, Published> {
    published.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryIndex {
    pub fn new(faults: Arc<Faults>) -> Self {
        Self {
            faults,
            published: Arc::default(),
        }
    }

    /// What is published; `None`: there is no index.
    pub fn events(&self) -> Option<BTreeMap<EventId, Versioned<Event>>> {
        lock(&self.published).events.clone()
    }

    /// Loses the index, as an accident or another format does.
    pub fn lose(&self) {
        lock(&self.published).events = None;
    }

    fn draft(&self, number: u64, known: Known) -> Box<dyn IndexDraft> {
        Box::new(MemoryDraft {
            faults: self.faults.clone(),
            published: self.published.clone(),
            number,
            next: known.clone(),
            known,
        })
    }
}

#[async_trait]
impl SearchIndex for MemoryIndex {
    async fn open(&self) -> Stored<Option<Box<dyn IndexDraft>>> {
        let open = async {
            let published = lock(&self.published);
            let known = published.events.clone();
            Ok(known.map(|known| self.draft(published.number, known)))
        };
        self.faults.pass("open_index", no_answer, open).await
    }

    async fn create(&self) -> Stored<Box<dyn IndexDraft>> {
        let create = async {
            let number = lock(&self.published).number;
            Ok(self.draft(number, Known::new()))
        };
        self.faults.pass("create_index", no_answer, create).await
    }
}

#[derive(Debug)]
struct MemoryDraft {
    faults: Arc<Faults>,
    published: Arc<Mutex<Published>>,
    number: u64,
    known: Known,
    next: Known,
}

#[async_trait]
impl IndexDraft for MemoryDraft {
    fn version_of(&self, event: EventId) -> Stored<Option<u64>> {
        Ok(self.known.get(&event).map(|known| known.version))
    }

    async fn put(&mut self, events: Vec<Versioned<Event>>) -> Stored<()> {
        let events = events.into_iter().map(|event| (event.value.id, event));
        self.next.extend(events);
        Ok(())
    }

    async fn publish(self: Box<Self>) -> Stored<bool> {
        let publish = async {
            let mut published = lock(&self.published);
            if published.number != self.number {
                return Ok(false);
            }
            published.number += 1;
            published.events = Some(self.next.clone());
            Ok(true)
        };
        self.faults.pass("publish_index", no_answer, publish).await
    }
}
