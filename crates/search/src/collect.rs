//! Goes through what a query matches: judges shows and distances exactly, counts cities
//! and categories, and keeps the first few behind a cursor.

use std::collections::BinaryHeap;
use std::sync::Arc;

use onsale_app::events::{EventCursor, EventFilter, EventSort, ShowFilter};
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

use crate::facets::FacetTables;
use crate::schema::{
    CATEGORY, CITY, CREATED, ID_HIGH, ID_LOW, LAT, LON, Offer, SHOW_AT, SHOW_OFFER, TITLE_WORDS,
    currency_number,
};

/// What a title gains that is about as long as the query; less for every word that it
/// has more or less. Below one step of the words' scores.
const LENGTH_BONUS: u64 = 15;

/// Where an event stands in a list; the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    first: u64,
    second: u64,
    id: u128,
}

impl Place {
    /// The best first, among equals the newest.
    fn ranked(score: u64, created: u64, id: u128) -> Self {
        Self {
            first: !score,
            second: !created,
            id: !id,
        }
    }

    fn sorted(by: u64, id: u128) -> Self {
        Self {
            first: by,
            second: 0,
            id,
        }
    }

    pub(crate) fn of_cursor(cursor: &EventCursor) -> Option<Self> {
        let number = |id: EventId| u128::from_be_bytes(*id.as_bytes());
        Some(match cursor {
            EventCursor::Ranked { score, created, id } => {
                Self::ranked(*score, created.0, number(*id))
            }
            EventCursor::Dated { at, id } => Self::sorted(at.0, number(*id)),
            EventCursor::Distant { metres, id } => Self::sorted(*metres, number(*id)),
            // Of the table, not of an index.
            EventCursor::Newest { .. } => return None,
        })
    }

    pub(crate) fn cursor(self, sort: EventSort) -> EventCursor {
        let id = |number: u128| EventId::from_bytes(number.to_be_bytes());
        match sort {
            EventSort::Relevance => EventCursor::Ranked {
                score: !self.first,
                created: Millis(!self.second),
                id: id(!self.id),
            },
            EventSort::Date => EventCursor::Dated {
                at: Millis(self.first),
                id: id(self.id),
            },
            EventSort::Distance => EventCursor::Distant {
                metres: self.first,
                id: id(self.id),
            },
        }
    }
}

/// What there is to collect.
#[derive(Debug, Clone)]
pub(crate) struct Collecting {
    pub filter: EventFilter,
    pub sort: EventSort,
    /// Only what stands behind this place.
    pub behind: Option<Place>,
    /// So many are kept.
    pub keep: usize,
    /// How many words were asked for.
    pub words: usize,
    pub tables: Arc<FacetTables>,
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// In the order of the list.
    pub first: Vec<(Place, DocAddress)>,
    pub cities: Vec<u32>,
    pub categories: Vec<u32>,
}

impl Collector for Collecting {
    type Fruit = Collected;
    type Child = SegmentWork;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<SegmentWork> {
        let columns = reader.fast_fields();
        let texts = |name| -> tantivy::Result<Column<u64>> {
            let column = columns.str(name)?;
            Ok(column.map_or_else(
                || Column::build_empty_column(reader.max_doc()),
                |column| column.ords().clone(),
            ))
        };
        Ok(SegmentWork {
            segment,
            asked: self.clone(),
            first: BinaryHeap::with_capacity(self.keep + 1),
            city_counts: vec![0; self.tables.cities.names.len()],
            category_counts: vec![0; self.tables.categories.names.len()],
            id_high: columns.u64(ID_HIGH)?,
            id_low: columns.u64(ID_LOW)?,
            created: columns.u64(CREATED)?,
            title_words: columns.u64(TITLE_WORDS)?,
            cities: texts(CITY)?,
            categories: texts(CATEGORY)?,
            lat: columns.f64(LAT)?,
            lon: columns.f64(LON)?,
            show_at: columns.u64(SHOW_AT)?,
            show_offer: columns.u64(SHOW_OFFER)?,
        })
    }

    fn requires_scoring(&self) -> bool {
        self.words > 0
    }

    fn merge_fruits(&self, parts: Vec<Collected>) -> tantivy::Result<Collected> {
        let mut all = Collected {
            first: Vec::new(),
            cities: vec![0; self.tables.cities.names.len()],
            categories: vec![0; self.tables.categories.names.len()],
        };
        for part in parts {
            all.first.extend(part.first);
            for (sums, counts) in [
                (&mut all.cities, part.cities),
                (&mut all.categories, part.categories),
            ] {
                for (sum, count) in sums.iter_mut().zip(counts) {
                    *sum += count;
                }
            }
        }
        all.first.sort();
        all.first.truncate(self.keep);
        Ok(all)
    }
}

pub(crate) struct SegmentWork {
    segment: SegmentOrdinal,
    asked: Collecting,
    /// The last of those kept is on top.
    first: BinaryHeap<(Place, DocAddress)>,
    city_counts: Vec<u32>,
    category_counts: Vec<u32>,
    id_high: Column<u64>,
    id_low: Column<u64>,
    created: Column<u64>,
    title_words: Column<u64>,
    cities: Column<u64>,
    categories: Column<u64>,
    lat: Column<f64>,
    lon: Column<f64>,
    show_at: Column<u64>,
    show_offer: Column<u64>,
}

impl SegmentWork {
    fn shows(&self, doc: DocId) -> impl Iterator<Item = (Millis, Offer)> + '_ {
        let times = self.show_at.values_for_doc(doc).map(Millis);
        times.zip(self.show_offer.values_for_doc(doc).map(Offer::unpacked))
    }

    fn has_show(&self, doc: DocId, wanted: &ShowFilter) -> bool {
        let currency = wanted.currency.map(currency_number);
        self.shows(doc).any(|(at, offer)| {
            !offer.cancelled
                && (wanted.from..=wanted.to).contains(&at)
                && wanted.max_price.is_none_or(|max| offer.price <= max.0)
                && currency.is_none_or(|currency| offer.currency == currency)
        })
    }

    fn location(&self, doc: DocId) -> Option<Location> {
        Some(Location {
            lat: self.lat.first(doc)?,
            lon: self.lon.first(doc)?,
        })
    }

    /// Whether the event is what was asked for, its words aside.
    fn matches(&self, doc: DocId) -> bool {
        let filter = &self.asked.filter;
        filter
            .show
            .as_ref()
            .is_none_or(|show| self.has_show(doc, show))
            && filter
                .near
                .is_none_or(|near| self.location(doc).is_some_and(|at| near.covers(at)))
    }

    fn count(&mut self, doc: DocId) {
        let tables = &self.asked.tables;
        for (table, ords, counts) in [
            (&tables.cities, &self.cities, &mut self.city_counts),
            (
                &tables.categories,
                &self.categories,
                &mut self.category_counts,
            ),
        ] {
            let number = ords
                .first(doc)
                .and_then(|ord| table.number(self.segment, ord));
            if let Some(count) = number.and_then(|number| counts.get_mut(number)) {
                *count += 1;
            }
        }
    }

    /// The two parts of an event's place that come before its id.
    fn rank(&self, doc: DocId, score: Score) -> (u64, u64) {
        match self.asked.sort {
            EventSort::Relevance => {
                let created = self.created.first(doc).unwrap_or_default();
                (!self.score(doc, score), !created)
            }
            EventSort::Date => {
                let now = self.asked.filter.now;
                let coming = self
                    .shows(doc)
                    .filter(|(at, offer)| !offer.cancelled && *at > now);
                (coming.map(|(at, _)| at.0).min().unwrap_or(u64::MAX), 0)
            }
            EventSort::Distance => {
                let near = self.asked.filter.near.zip(self.location(doc));
                (near.map_or(u64::MAX, |(near, at)| near.metres(at)), 0)
            }
        }
    }

    fn score(&self, doc: DocId, score: Score) -> u64 {
        if self.asked.words == 0 {
            return 0;
        }
        let length = self.title_words.first(doc).unwrap_or_default();
        let apart = length.abs_diff(self.asked.words as u64);
        score.round() as u64 * (LENGTH_BONUS + 1) + LENGTH_BONUS.saturating_sub(apart)
    }

    fn id(&self, doc: DocId) -> u128 {
        let part = |column: &Column<u64>| u128::from(column.first(doc).unwrap_or_default());
        part(&self.id_high) << 64 | part(&self.id_low)
    }
}

impl SegmentCollector for SegmentWork {
    type Fruit = Collected;

    fn collect(&mut self, doc: DocId, score: Score) {
        if !self.matches(doc) {
            return;
        }
        self.count(doc);
        let (first, second) = self.rank(doc, score);
        let full = self.first.len() >= self.asked.keep;
        // Most events are out here already, before their id is looked up.
        if let Some((last, _)) = self.first.peek()
            && full
            && (first, second) > (last.first, last.second)
        {
            return;
        }
        let id = self.id(doc);
        let id = match self.asked.sort {
            EventSort::Relevance => !id,
            EventSort::Date | EventSort::Distance => id,
        };
        let place = Place { first, second, id };
        if self.asked.behind.is_some_and(|behind| place <= behind) {
            return;
        }
        self.first.push((place, DocAddress::new(self.segment, doc)));
        if full {
            self.first.pop();
        }
    }

    fn harvest(self) -> Collected {
        Collected {
            first: self.first.into_vec(),
            cities: self.city_counts,
            categories: self.category_counts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_its_cursor_are_one() {
        let id = EventId::from_bytes([200; 16]);
        let (at, created) = (Millis(9), Millis(7));
        for (cursor, sort) in [
            (
                EventCursor::Ranked {
                    score: 5,
                    created,
                    id,
                },
                EventSort::Relevance,
            ),
            (EventCursor::Dated { at, id }, EventSort::Date),
            (EventCursor::Distant { metres: 3, id }, EventSort::Distance),
        ] {
            assert_eq!(Place::of_cursor(&cursor).unwrap().cursor(sort), cursor);
        }
    }
}
