//! The places of a show: sections, rows and seats, general admission, which places are
//! not for sale, accessible or otherwise special, and where they stand (`layout/shape.rs`).
//!
//! Every place has an index; indices run through the sections in order, so the map
//! of a show is an array. A layout never changes once a show uses it.

mod marks;
mod shape;
mod spec;

pub use marks::Mark;
pub use shape::{
    AISLE_METRES, FloorMetres, FloorShape, MAX_AISLES, Millimetres, Point, RowsMetres, RowsShape,
    ShapeError, Stage, StageMetres, Turn,
};
pub use spec::{LayoutError, SectionSpec, SectionSpecKind};

use std::collections::HashMap;

use crate::block::{BlockIndex, BlockSpan, MAX_BLOCK_PLACES, Slot};

pub const MAX_PLACES: usize = 100_000;
pub const MAX_SECTIONS: usize = 200;
/// Bounds the blocks of a show: each row has at least one.
pub const MAX_ROWS: usize = 10_000;
pub const MAX_SEAT_NUMBER: u16 = 9_999;
/// As many as there are numbers; it bounds the search for a seat in its row.
pub const MAX_ROW_SEATS: usize = MAX_SEAT_NUMBER as usize;
pub const MAX_OVERBOOK_PERCENT: u8 = 5;

/// The index of a place in its show.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct PlaceIndex(pub u32);

impl PlaceIndex {
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// One row as the organiser describes it: its label and the seat numbers in the
/// order they stand. Neighbours in this list are neighbours in the room, unless an aisle
/// parts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub label: String,
    pub first: u32,
    pub seats: Vec<u16>,
    /// An aisle follows after so many of its seats; rising, none at its ends.
    pub aisles: Vec<usize>,
}

impl Row {
    /// The parts of the row between its aisles, as positions. Seats of one part that
    /// follow each other are neighbours.
    pub fn parts(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let ends = self.aisles.iter().copied().chain([self.seats.len()]);
        let mut start = 0;
        ends.map(move |end| std::mem::replace(&mut start, end)..end)
    }

    /// The index of the place at this position.
    pub fn place(&self, position: usize) -> PlaceIndex {
        PlaceIndex(self.first + position as u32)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionKind {
    Seated {
        rows: Vec<Row>,
        shape: Option<RowsShape>,
    },
    General {
        capacity: u32,
        shape: Option<FloorShape>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    pub first: u32,
    pub places: u32,
    pub kind: SectionKind,
}

impl Section {
    pub fn is_general(&self) -> bool {
        matches!(self.kind, SectionKind::General { .. })
    }

    pub fn range(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.places
    }

    pub fn rows(&self) -> &[Row] {
        match &self.kind {
            SectionKind::Seated { rows, .. } => rows,
            SectionKind::General { .. } => &[],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    sections: Vec<Section>,
    places: u32,
    blocks: Vec<BlockSpan>,
    /// The bits of each place's marks.
    marks: Vec<u8>,
    keeps_any: bool,
    stage: Option<Stage>,
    focal: Option<PlaceIndex>,
    section_by_name: HashMap<String, usize>,
    row_by_label: Vec<HashMap<String, usize>>,
}

impl Layout {
    /// Puts validated sections together: indices of blocks and names, no marks yet.
    pub(crate) fn assemble(sections: Vec<Section>) -> Self {
        let places: u32 = sections.iter().map(|s| s.places).sum();
        let mut blocks = Vec::new();
        for section in &sections {
            match &section.kind {
                SectionKind::Seated { rows, .. } => {
                    for row in rows {
                        push_blocks(&mut blocks, row.first, row.seats.len() as u32);
                    }
                }
                SectionKind::General { capacity, .. } => {
                    push_blocks(&mut blocks, section.first, *capacity);
                }
            }
        }
        let section_by_name = sections
            .iter()
            .enumerate()
            .map(|(i, s)| (s.name.clone(), i))
            .collect();
        let row_by_label = sections
            .iter()
            .map(|s| {
                s.rows()
                    .iter()
                    .enumerate()
                    .map(|(i, r)| (r.label.clone(), i))
                    .collect()
            })
            .collect();
        Self {
            marks: vec![0; places as usize],
            keeps_any: false,
            stage: None,
            focal: None,
            sections,
            places,
            blocks,
            section_by_name,
            row_by_label,
        }
    }

    pub(crate) fn set_focal(&mut self, focal: Option<u32>) {
        self.focal = focal.filter(|f| *f < self.places).map(PlaceIndex);
    }

    pub fn with_stage(self, stage: Option<Stage>) -> Self {
        Self { stage, ..self }
    }

    /// The layout of a show in this venue. Overbooking adds places to the general
    /// sections, so every later index moves; seated sections never grow.
    pub fn for_show(&self, overbook_percent: u8) -> Self {
        if overbook_percent == 0 {
            return self.clone();
        }
        let percent = u32::from(overbook_percent.min(MAX_OVERBOOK_PERCENT));
        let mut next = 0u32;
        let mut moved = Vec::with_capacity(self.sections.len());
        let sections = self
            .sections
            .iter()
            .map(|section| {
                let mut section = section.clone();
                let shift = next - section.first;
                section.first = next;
                match &mut section.kind {
                    SectionKind::Seated { rows, .. } => {
                        rows.iter_mut().for_each(|row| row.first += shift);
                    }
                    SectionKind::General { capacity, .. } => {
                        *capacity += *capacity * percent / 100;
                        section.places = *capacity;
                    }
                }
                next += section.places;
                moved.push(shift);
                section
            })
            .collect();
        let mut layout = Self::assemble(sections).with_stage(self.stage);
        let shifted = |place: u32| place + moved[self.section_at(PlaceIndex(place))];
        for place in 0..self.places {
            layout.marks[shifted(place) as usize] = self.marks[place as usize];
        }
        layout.keeps_any = self.keeps_any;
        layout.set_focal(self.focal.map(|f| shifted(f.0)));
        layout
    }

    pub fn places(&self) -> u32 {
        self.places
    }

    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    pub fn section_named(&self, name: &str) -> Option<(usize, &Section)> {
        let index = *self.section_by_name.get(name)?;
        Some((index, &self.sections[index]))
    }

    pub fn focal(&self) -> Option<PlaceIndex> {
        self.focal
    }

    pub fn stage(&self) -> Option<Stage> {
        self.stage
    }

    /// The position in `sections()` of the section this place is in.
    pub fn section_at(&self, place: PlaceIndex) -> usize {
        self.sections
            .partition_point(|s| s.first <= place.0)
            .saturating_sub(1)
    }

    /// The row and the position in it; `None` for a general place.
    pub fn row_at(&self, place: PlaceIndex) -> Option<(&Row, usize)> {
        let rows = self.sections.get(self.section_at(place))?.rows();
        let row = rows.get(
            rows.partition_point(|r| r.first <= place.0)
                .checked_sub(1)?,
        )?;
        Some((row, (place.0 - row.first) as usize))
    }

    /// The place that a seat id such as `A-12-7` or `Floor-GA-3` names.
    pub fn find(&self, seat: &str) -> Option<PlaceIndex> {
        let mut parts = seat.split('-');
        let (section, row, number) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
        if parts.next().is_some() || !plain {
            return None;
        }
        let (index, section) = self.section_named(section)?;
        match &section.kind {
            SectionKind::Seated { rows, .. } => {
                let row = &rows[*self.row_by_label[index].get(row)?];
                let number: u16 = number.parse().ok()?;
                let position = row.seats.iter().position(|n| *n == number)?;
                Some(PlaceIndex(row.first + position as u32))
            }
            SectionKind::General { capacity, .. } => {
                let number: u32 = number.parse().ok()?;
                let named = row == "GA" && (1..=*capacity).contains(&number);
                named.then(|| PlaceIndex(section.first + number - 1))
            }
        }
    }

    /// The seat id of a place.
    pub fn seat_id(&self, place: PlaceIndex) -> String {
        let section = &self.sections[self.section_at(place)];
        match self.row_at(place) {
            Some((row, position)) => {
                format!("{}-{}-{}", section.name, row.label, row.seats[position])
            }
            None => format!("{}-GA-{}", section.name, place.0 - section.first + 1),
        }
    }

    pub fn blocks(&self) -> &[BlockSpan] {
        &self.blocks
    }

    /// The blocks that the places of a section are in.
    pub fn blocks_of(&self, section: &Section) -> Vec<BlockIndex> {
        let range = section.range();
        let first = self.blocks.partition_point(|b| b.first < range.start);
        let end = self.blocks.partition_point(|b| b.first < range.end);
        (first as u32..end as u32).map(BlockIndex).collect()
    }

    /// The block of a place and its slot there.
    pub fn locate(&self, place: PlaceIndex) -> (BlockIndex, Slot) {
        let index = self
            .blocks
            .partition_point(|b| b.first <= place.0)
            .saturating_sub(1);
        let slot = place.0 - self.blocks[index].first;
        (BlockIndex(index as u32), Slot(slot as u8))
    }

    pub fn place_of(&self, block: BlockIndex, slot: Slot) -> PlaceIndex {
        PlaceIndex(self.blocks[block.0 as usize].first + u32::from(slot.0))
    }

    /// Whether these places stand side by side in one row, with no aisle between them.
    /// General places, which have no sides, are together when they share a section.
    pub fn are_together(&self, places: &[PlaceIndex]) -> bool {
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        sorted
            .windows(2)
            .all(|pair| match (self.row_at(pair[0]), self.row_at(pair[1])) {
                (Some((a, _)), Some((b, at))) => {
                    a.first == b.first && pair[1].0 == pair[0].0 + 1 && !b.aisles.contains(&at)
                }
                (None, None) => self.section_at(pair[0]) == self.section_at(pair[1]),
                _ => false,
            })
    }
}

/// Cuts a run of places into the fewest blocks, of lengths as even as possible: an
/// even cut spreads the writes of a long row over its partitions.
fn push_blocks(blocks: &mut Vec<BlockSpan>, first: u32, places: u32) {
    let count = places.div_ceil(MAX_BLOCK_PLACES);
    let mut start = first;
    for i in 0..count {
        let end = first + places * (i + 1) / count;
        blocks.push(BlockSpan {
            first: start,
            len: (end - start) as u8,
        });
        start = end;
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
