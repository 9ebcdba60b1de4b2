//! Best available: the places a group would choose, without sending a crowd to one row.
//!
//! A window of neighbours in one row comes first, then halves of the group. Among
//! windows, those that leave no single seat between neighbours win, then the nearest
//! to the focal point. One of the few best is picked at random by the caller's seed;
//! `tries.rs` says how it goes on where others were faster.

mod distance;
mod reading;
mod tries;
mod windows;

pub(crate) use distance::distance_to_focal;
pub use reading::blocks_in_question;
pub use tries::{Breadth, MOST_TRIES, Next, Tries};

use std::cell::OnceCell;
use std::ops::Range;

use self::distance::{focal_position, row_away, section_away, side_of_middle};
use self::windows::{BestWindows, Score, Window};
use crate::block::PlaceState;
use crate::general;
use crate::layout::{Layout, PlaceIndex, Row, Section};
use crate::map::SeatMap;
use crate::money::Cents;
use crate::seed::Seed;

/// How many of the best windows, each in another run of free seats, a crowd spreads over.
const CHOICES: usize = 12;

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
    choose_among(layout, map, prices, wish, Breadth::FIRST, seed)
}

/// The same for a try that picks from as many windows as this.
pub fn choose_among(
    layout: &Layout,
    map: &SeatMap,
    prices: &[Cents],
    wish: &Wish<'_>,
    breadth: Breadth,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    let mut search = Search::new(layout, map, prices, wish, breadth);
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
    breadth: Breadth,
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
    fn new(
        layout: &'a Layout,
        map: &'a SeatMap,
        prices: &[Cents],
        wish: &Wish<'_>,
        breadth: Breadth,
    ) -> Self {
        let sections = wanted_sections(layout, prices, wish);
        let (focal_section, focal_row, focal_side) = focal_position(layout);
        let mut lines = Vec::new();
        for &section in &sections {
            let away = section_away(section, focal_section);
            for (number, row) in layout.sections()[section].rows().iter().enumerate() {
                lines.push(Line {
                    row,
                    distance: away + row_away(number, focal_row),
                    has_accessible: OnceCell::new(),
                    longest: row.seats.len(),
                });
            }
        }
        lines.sort_by_key(|line| line.distance);
        Self {
            layout,
            map,
            breadth,
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
        let mut best = BestWindows::new(self.breadth);
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
            if best.all_beat(nearest) {
                break;
            }
            let runs = self.free_runs(line.row);
            for run in runs.iter().filter(|run| run.len() >= quantity) {
                self.add_windows(&mut best, line, run, quantity);
            }
            if self.taken.is_empty() {
                self.lines[at].longest = runs.iter().map(Range::len).max().unwrap_or(0);
            }
        }
        if best.is_empty() && self.taken.is_empty() {
            self.longest = quantity - 1;
        }
        let picked = best.pick(seed)?;
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

    /// The best window of a run; where more are wanted, also those that begin whole
    /// windows away from it, so that a crowd fills a run without gaps.
    fn add_windows(
        &self,
        best: &mut BestWindows,
        line: &Line<'_>,
        run: &Range<usize>,
        quantity: usize,
    ) {
        let last = run.end - quantity;
        let all = self.windows_at(line, run, quantity, run.start..=last);
        let Some(nicest) = all.min_by_key(|w| (w.score, w.first)) else {
            return;
        };
        if !self.breadth.is_wide() {
            best.keep(nicest);
            return;
        }
        let at = (nicest.first - line.row.first) as usize;
        let starts = (run.start + (at - run.start) % quantity..=last).step_by(quantity);
        for window in self.windows_at(line, run, quantity, starts) {
            best.keep(window);
        }
    }

    /// The windows of a run that begin at these positions, which come in order.
    fn windows_at(
        &self,
        line: &Line<'_>,
        run: &Range<usize>,
        quantity: usize,
        starts: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = Window> {
        let row = line.row;
        let has_accessible = self.has_accessible(line);
        let blocks = self.layout.blocks();
        let first = self.layout.locate(PlaceIndex(row.first + run.start as u32));
        let mut block = first.0.0 as usize;
        starts.map(move |start| {
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
        })
    }

    /// Free places of a general section, where everybody stands together.
    fn general(&self, quantity: usize, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        self.general_sections()
            .find_map(|section| general::choose(self.layout, section, self.map, quantity, seed))
    }
}

/// The sections that the wish names and can pay for.
fn wanted_sections(layout: &Layout, prices: &[Cents], wish: &Wish<'_>) -> Vec<usize> {
    let affordable = |i: usize| {
        wish.max_price
            .is_none_or(|max| prices.get(i).is_some_and(|price| *price <= max))
    };
    let wanted = |i: usize| {
        wish.section
            .is_none_or(|name| layout.sections()[i].name == name)
    };
    (0..layout.sections().len())
        .filter(|i| affordable(*i) && wanted(*i))
        .collect()
}

#[cfg(test)]
#[path = "best_available_tests.rs"]
mod tests;
