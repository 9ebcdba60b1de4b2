//! The cities and categories of an index, numbered across its segments, so that counting
//! them is adding to a list of numbers.

use std::collections::BTreeMap;

use onsale_app::events::facet_key;
use onsale_app::ports::FacetCount;
use tantivy::{Searcher, SegmentOrdinal};

use crate::schema::{CATEGORY, CITY};

/// How many values of a field are told.
const VALUES_TOLD: usize = 20;

#[derive(Debug)]
pub(crate) struct FacetTables {
    pub cities: FacetTable,
    pub categories: FacetTable,
}

#[derive(Debug)]
pub(crate) struct FacetTable {
    /// As it is written, by its number. `Berlin` and `berlin` are one.
    pub names: Vec<String>,
    /// For each segment, the number of each of its own values.
    numbers: Vec<Vec<u32>>,
}

impl FacetTables {
    pub(crate) fn read(searcher: &Searcher) -> tantivy::Result<Self> {
        Ok(Self {
            cities: FacetTable::read(searcher, CITY)?,
            categories: FacetTable::read(searcher, CATEGORY)?,
        })
    }
}

impl FacetTable {
    fn read(searcher: &Searcher, field: &str) -> tantivy::Result<Self> {
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let mut numbers = Vec::new();
        for segment in searcher.segment_readers() {
            let mut own = Vec::new();
            if let Some(column) = segment.fast_fields().str(field)? {
                let mut values = column.dictionary().stream()?;
                while values.advance() {
                    let name = String::from_utf8_lossy(values.key()).into_owned();
                    let number = *known.entry(facet_key(&name)).or_insert_with(|| {
                        names.push(name);
                        names.len() as u32 - 1
                    });
                    own.push(number);
                }
            }
            numbers.push(own);
        }
        Ok(Self { names, numbers })
    }

    pub(crate) fn number(&self, segment: SegmentOrdinal, value: u64) -> Option<usize> {
        let own = self.numbers.get(segment as usize)?;
        own.get(value as usize).map(|number| *number as usize)
    }

    /// The most frequent values first, equal ones by name.
    pub(crate) fn told(&self, counts: &[u32]) -> Vec<FacetCount> {
        let mut met: Vec<(u32, &String)> = counts
            .iter()
            .zip(&self.names)
            .filter(|(count, _)| **count > 0)
            .map(|(count, name)| (*count, name))
            .collect();
        met.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
        met.truncate(VALUES_TOLD);
        met.into_iter()
            .map(|(count, name)| FacetCount {
                value: name.clone(),
                count: u64::from(count),
            })
            .collect()
    }
}
