//! Best available: the places a group would choose, without sending a crowd to one row.
//!
//! A window of neighbours in one row comes first, then halves of the group. Among
//! windows, those that leave no single seat between neighbours win, then the nearest
//! to the focal point. One of the few best is picked at random by the caller's seed.

use std::cell::OnceCell;
use std::ops::Range;

use crate::block::PlaceState;
use crate::general;
use crate::layout::{Layout, PlaceIndex, Row, Section};
use crate::map::SeatMap;
use crate::money::Cents;
use crate::seed::Seed;

/// How many of the best windows, each in another run of free seats, a crowd spreads over.
const CHOICES: usize = 12;
/// Two neighbours in a row are one apart, two rows are farther than two seats.
const ROW_DISTANCE: u64 = 2;
/// A section away is farther than anything inside a section.
const SECTION_DISTANCE: u64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    Required,
    Preferred,
}

#[derive(Debug, Clone)]
pub struct Wish<'a> {
    pub quantity: usize,
    pub section: Option<&'a str>,
    pub max_price: Option<Cents>,
    pub together: Together,
    pub allow_fewer: bool,
}

/// The best places for the wish on this map, or `None`.
///
/// `prices` are those of the layout's sections, in order.
pub fn choose(
    layout: &Layout,
    map: &SeatMap,
    prices: &[Cents],
    wish: &Wish<'_>,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    let mut search = Search::new(layout, map, prices, wish);
    if let Some(places) = search.group(wish.quantity, wish.together, seed) {
        return Some(places);
    }
    if let Some(places) = search.general(wish.quantity, seed) {
        return Some(places);
    }
    if !wish.allow_fewer {
        return None;
    }
    // The largest group there is; seats, where both are as large.
    let seated = search.most_seats(wish.together).min(wish.quantity - 1);
    let standing = search.most_standing().min(wish.quantity - 1);
    match (seated, standing) {
        (0, 0) => None,
        (seated, standing) if seated >= standing => search.group(seated, wish.together, seed),
        (_, standing) => search.general(standing, seed),
    }
}

/// How good a window is; less is better. The fields are compared in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Accessible places are the last to go to a group that did not ask for them.
    accessible: u32,
    orphans: u32,
    distance: u64,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    first: u32,
    score: Score,
}

/// A row that the wish allows, and what the search has learnt of it.
struct Line<'a> {
    row: &'a Row,
    /// The distance of this row from the focal point: no window in it is nearer.
    distance: u64,
    /// Known once a run of it has been looked at: most rows never are.
    has_accessible: OnceCell<bool>,
    /// No run of free seats in it is longer. It starts as the whole row.
    longest: usize,
}

struct Search<'a> {
    layout: &'a Layout,
    map: &'a SeatMap,
    sections: Vec<usize>,
    /// The nearest first, so that a search ends where nothing better can follow.
    lines: Vec<Line<'a>>,
    /// No run of free seats anywhere is longer.
    longest: usize,
    /// Places this search has already given to another half of the group.
    taken: Vec<PlaceIndex>,
    focal_side: i64,
}

impl<'a> Search<'a> {
    fn new(layout: &'a Layout, map: &'a SeatMap, prices: &[Cents], wish: &Wish<'_>) -> Self {
        let affordable = |i: usize| {
            wish.max_price
                .is_none_or(|max| prices.get(i).is_some_and(|price| *price <= max))
        };
        let wanted = |i: usize| {
            wish.section
                .is_none_or(|name| layout.sections()[i].name == name)
        };
        let sections: Vec<usize> = (0..layout.sections().len())
            .filter(|i| affordable(*i) && wanted(*i))
            .collect();
        let (focal_section, focal_row, focal_side) = focal_position(layout);
        let mut lines = Vec::new();
        for &section in &sections {
            let away = section.abs_diff(focal_section) as u64 * SECTION_DISTANCE;
            for (number, row) in layout.sections()[section].rows().iter().enumerate() {
                lines.push(Line {
                    row,
                    distance: away + number.abs_diff(focal_row) as u64 * 2 * ROW_DISTANCE,
                    has_accessible: OnceCell::new(),
                    longest: row.seats.len(),
                });
            }
        }
        lines.sort_by_key(|line| line.distance);
        Self {
            layout,
            map,
            sections,
            longest: lines.iter().map(|line| line.longest).max().unwrap_or(0),
            lines,
            taken: Vec::new(),
            focal_side,
        }
    }

    /// A window for the whole group, or windows for its halves, all or nothing.
    fn group(
        &mut self,
        quantity: usize,
        together: Together,
        seed: &mut Seed,
    ) -> Option<Vec<PlaceIndex>> {
        self.taken.clear();
        self.window(quantity, seed).or_else(|| match together {
            Together::Required => None,
            Together::Preferred => {
                let places = self.halves(quantity, seed);
                self.taken.clear();
                places
            }
        })
    }

    fn halves(&mut self, quantity: usize, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        if let Some(places) = self.window(quantity, seed) {
            self.taken.extend(&places);
            return Some(places);
        }
        if quantity < 2 {
            return None;
        }
        let mut places = self.halves(quantity.div_ceil(2), seed)?;
        places.extend(self.halves(quantity / 2, seed)?);
        places.sort_unstable();
        Some(places)
    }

    /// One of the best windows of neighbours.
    fn window(&mut self, quantity: usize, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        if quantity > self.longest {
            return None;
        }
        let mut best: Vec<Window> = Vec::with_capacity(CHOICES + 1);
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            if line.longest < quantity {
                continue;
            }
            let nearest = Score {
                accessible: 0,
                orphans: 0,
                distance: line.distance,
            };
            if best.len() == CHOICES && best.last().is_some_and(|last| last.score < nearest) {
                break;
            }
            let runs = self.free_runs(line.row);
            for run in runs.iter().filter(|run| run.len() >= quantity) {
                keep_best(&mut best, self.best_in_run(line, run, quantity));
            }
            if self.taken.is_empty() {
                self.lines[at].longest = runs.iter().map(Range::len).max().unwrap_or(0);
            }
        }
        if best.is_empty() && self.taken.is_empty() {
            self.longest = quantity - 1;
        }
        // Only windows as harmless as the best one are alternatives to it: a random
        // pick must not leave an orphan that could be avoided.
        let harm = best
            .first()
            .map(|w| (w.score.accessible, w.score.orphans))?;
        best.retain(|w| (w.score.accessible, w.score.orphans) == harm);
        let picked = best[seed.below(best.len())?];
        Some(
            (picked.first..picked.first + quantity as u32)
                .map(PlaceIndex)
                .collect(),
        )
    }

    /// The maximal runs of free seats in a row, as positions.
    fn free_runs(&self, row: &Row) -> Vec<Range<usize>> {
        let places = row.first..row.first + row.seats.len() as u32;
        let taken: Vec<u32> = self
            .taken
            .iter()
            .map(|place| place.0)
            .filter(|place| places.contains(place))
            .collect();
        let mut runs = Vec::new();
        let mut start = None;
        for (position, place) in places.enumerate() {
            let free =
                self.map.state(PlaceIndex(place)) == PlaceState::Free && !taken.contains(&place);
            match (free, start) {
                (true, None) => start = Some(position),
                (false, Some(from)) => {
                    runs.push(from..position);
                    start = None;
                }
                _ => {}
            }
        }
        runs.extend(start.map(|from| from..row.seats.len()));
        runs
    }

    /// The largest group that can be seated at all: the longest run for one that stays
    /// together, every free seat for one that may split.
    fn most_seats(&self, together: Together) -> usize {
        let rows = self
            .sections
            .iter()
            .flat_map(|i| self.layout.sections()[*i].rows());
        let runs = rows
            .flat_map(|row| self.free_runs(row))
            .map(|run| run.len());
        match together {
            Together::Required => runs.max().unwrap_or(0),
            Together::Preferred => runs.sum(),
        }
    }

    /// The largest group that one general section has places for.
    fn most_standing(&self) -> usize {
        let free = |section: &Section| {
            let places = section.range().map(PlaceIndex);
            places
                .filter(|place| self.map.state(*place) == PlaceState::Free)
                .count()
        };
        let general = self.general_sections();
        general.map(free).max().unwrap_or(0)
    }

    fn general_sections(&self) -> impl Iterator<Item = &'a Section> {
        let sections = self.sections.iter().map(|i| &self.layout.sections()[*i]);
        sections.filter(|section| section.is_general())
    }

    fn has_accessible(&self, line: &Line<'_>) -> bool {
        *line.has_accessible.get_or_init(|| {
            (line.row.first..line.row.first + line.row.seats.len() as u32)
                .any(|place| self.layout.is_accessible(PlaceIndex(place)))
        })
    }

    fn best_in_run(&self, line: &Line<'_>, run: &Range<usize>, quantity: usize) -> Window {
        let row = line.row;
        let has_accessible = self.has_accessible(line);
        let blocks = self.layout.blocks();
        let mut block = self
            .layout
            .locate(PlaceIndex(row.first + run.start as u32))
            .0
            .0 as usize;
        let window_at = |start: usize| {
            let end = start + quantity;
            let orphans = u32::from(start - run.start == 1) + u32::from(run.end - end == 1);
            let places = row.first + start as u32..row.first + end as u32;
            let accessible = match has_accessible {
                true => places
                    .clone()
                    .filter(|place| self.layout.is_accessible(PlaceIndex(*place)))
                    .count() as u32,
                false => 0,
            };
            while blocks[block].end() <= places.start {
                block += 1;
            }
            // Two blocks mean a transaction of four write units instead of one.
            let crosses = u64::from(places.end > blocks[block].end());
            // Twice the distance of the window's middle from the focal point, in seats.
            let side = side_of_middle(row.seats.len(), start, quantity);
            Window {
                first: places.start,
                score: Score {
                    accessible,
                    orphans,
                    distance: line.distance + side.abs_diff(self.focal_side) + crosses,
                },
            }
        };
        let starts = run.start..=run.end - quantity;
        starts
            .map(window_at)
            .min_by_key(|w| (w.score, w.first))
            .unwrap_or(Window {
                first: row.first + run.start as u32,
                score: Score {
                    accessible: u32::MAX,
                    orphans: 2,
                    distance: u64::MAX,
                },
            })
    }

    /// Free places of a general section, where everybody stands together.
    fn general(&self, quantity: usize, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        self.general_sections()
            .find_map(|section| general::choose(self.layout, section, self.map, quantity, seed))
    }
}

/// Keeps the best few, in order. Equal scores keep the order of the layout.
fn keep_best(best: &mut Vec<Window>, window: Window) {
    let at = best.partition_point(|w| (w.score, w.first) <= (window.score, window.first));
    if at < CHOICES {
        best.insert(at, window);
        best.truncate(CHOICES);
    }
}

/// How far, in half seats, the middle of a window is right of the middle of its row.
fn side_of_middle(row_len: usize, start: usize, quantity: usize) -> i64 {
    (2 * start + quantity) as i64 - row_len as i64
}

/// How far the middle of these neighbours is from the focal point, for comparison only.
pub(crate) fn distance_to_focal(layout: &Layout, first: PlaceIndex, quantity: usize) -> u64 {
    let (focal_section, focal_row, focal_side) = focal_position(layout);
    let section = layout.section_at(first);
    let away = section.abs_diff(focal_section) as u64 * SECTION_DISTANCE;
    let Some((row, position)) = layout.row_at(first) else {
        return away;
    };
    let rows = layout.sections()[section].rows();
    let number = rows.partition_point(|r| r.first < row.first);
    let side = side_of_middle(row.seats.len(), position, quantity);
    away + number.abs_diff(focal_row) as u64 * 2 * ROW_DISTANCE + side.abs_diff(focal_side)
}

/// Section, row and side of the focal point; without one, the middle of the first row.
fn focal_position(layout: &Layout) -> (usize, usize, i64) {
    let named = layout.focal().and_then(|place| {
        let section = layout.section_at(place);
        let (row, position) = layout.row_at(place)?;
        let rows = layout.sections()[section].rows();
        let number = rows.iter().position(|r| r.first == row.first)?;
        Some((
            section,
            number,
            side_of_middle(row.seats.len(), position, 1),
        ))
    });
    named.unwrap_or_else(|| {
        let first_seated = layout.sections().iter().position(|s| !s.is_general());
        (first_seated.unwrap_or(0), 0, 0)
    })
}

#[cfg(test)]
#[path = "best_available_tests.rs"]
mod tests;
