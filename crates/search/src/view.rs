//! An index as it is at one moment, ready to be asked.

use std::path::Path;
use std::sync::Arc;

use onsale_app::events::{EventFilter, EventQuery};
use onsale_app::ports::{Facets, SearchPage, StoreError, Stored};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocSet, Index, ReloadPolicy, Searcher, TERMINATED, TantivyDocument, TantivyError};

use crate::collect::{Collecting, Place};
use crate::facets::FacetTables;
use crate::query::wanted;
use crate::schema::{Fields, VERSION};

pub(crate) struct IndexView {
    fields: Fields,
    searcher: Searcher,
    tables: Arc<FacetTables>,
}

impl std::fmt::Debug for IndexView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IndexView of {} events", self.events())
    }
}

pub(crate) fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("the search index: {error}"))
}

impl IndexView {
    pub(crate) fn open(folder: &Path) -> tantivy::Result<Self> {
        Self::of(&Index::open_in_dir(folder)?)
    }

    pub(crate) fn of(index: &Index) -> tantivy::Result<Self> {
        let fields = Fields::new();
        if index.schema() != fields.schema {
            let reason = "the index has another schema".to_owned();
            return Err(TantivyError::SchemaError(reason));
        }
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let searcher = reader.searcher();
        let tables = Arc::new(FacetTables::read(&searcher)?);
        Ok(Self {
            fields,
            searcher,
            tables,
        })
    }

    pub(crate) fn events(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// A page of events. The query was checked before; one that was not finds nothing.
    pub(crate) fn search(
        &self,
        query: &EventQuery,
        noted: &[EventId],
        now: Millis,
    ) -> Stored<SearchPage> {
        let filter = EventFilter::new(query, now).map_err(corrupt)?;
        let wanted = wanted(&self.fields, &filter);
        let collecting = Collecting {
            filter,
            sort: query.sort,
            behind: query.cursor.as_ref().and_then(Place::of_cursor),
            keep: query.limit.saturating_add(1),
            words: wanted.words,
            tables: self.tables.clone(),
        };
        let mut found = self
            .searcher
            .search(&wanted.query, &collecting)
            .map_err(corrupt)?;
        let more = found.first.len() > query.limit;
        found.first.truncate(query.limit);
        let places = found
            .first
            .iter()
            .map(|(place, _)| place.cursor(query.sort));
        let places: Vec<_> = places.collect();
        let events = found.first.iter().map(|(_, at)| self.event(*at));
        let mut known = Vec::new();
        for event in noted {
            let version = self.version_of(*event).map_err(corrupt)?;
            known.extend(version.map(|version| (*event, version)));
        }
        Ok(SearchPage {
            events: events.collect::<Stored<_>>()?,
            next: places.last().filter(|_| more).cloned(),
            places,
            known,
            facets: Facets {
                cities: self.tables.cities.told(&found.cities),
                categories: self.tables.categories.told(&found.categories),
            },
        })
    }

    fn event(&self, at: tantivy::DocAddress) -> Stored<Event> {
        let doc: TantivyDocument = self.searcher.doc(at).map_err(corrupt)?;
        let stored = doc
            .get_first(self.fields.stored)
            .and_then(|value| value.as_bytes());
        let stored = stored.ok_or_else(|| corrupt("an event without its card"))?;
        serde_json::from_slice(stored).map_err(corrupt)
    }

    /// The version of an event that the index has.
    pub(crate) fn version_of(&self, event: EventId) -> tantivy::Result<Option<u64>> {
        let term = self.fields.id_term(event);
        for segment in self.searcher.segment_readers() {
            let terms = segment.inverted_index(term.field())?;
            let Some(mut docs) = terms.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let versions = segment.fast_fields().u64(VERSION)?;
            while docs.doc() != TERMINATED {
                if !segment.is_deleted(docs.doc()) {
                    return Ok(versions.first(docs.doc()));
                }
                docs.advance();
            }
        }
        Ok(None)
    }
}
