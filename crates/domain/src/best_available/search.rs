//! The search for windows of neighbours in the rows that a wish allows.

use std::cell::OnceCell;
use std::ops::Range;

use super::distance::Measure;
use super::tries::Breadth;
use super::windows::{BestWindows, Score, Window};
use super::{House, Together, Wish, wanted_sections};
use crate::block::PlaceState;
use crate::general;
use crate::layout::{Layout, Mark, PlaceIndex, Row, Section};
use crate::map::SeatMap;
use crate::neighbours::singles_left;
use crate::seed::Seed;

/// What becomes of the places that are kept for people who ask for an accessible one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Spared,
    /// They may be given away, where there is nothing else.
    Given,
}

/// What a window must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Any,
    /// At least one accessible place.
    Accessible,
}

/// A row that the wish allows, and what the search has learnt of it.
struct Line<'a> {
    row: &'a Row,
    section: usize,
    /// Its number in its section.
    number: usize,
    /// No window in it is nearer to the focal point.
    distance: u64,
    /// Known once a run of it has been looked at: most rows never are.
    has_marks: OnceCell<bool>,
    /// No run of free seats in it is longer. It starts as the whole row.
    longest: usize,
}

pub(super) struct Search<'a> {
    layout: &'a Layout,
    map: &'a SeatMap,
    breadth: Breadth,
    kept: Kept,
    sections: Vec<usize>,
    /// The nearest first, so that a search ends where nothing better can follow.
    lines: Vec<Line<'a>>,
    /// No run of free seats anywhere is longer.
    longest: usize,
    /// Places this search has already given to another half of the group.
    taken: Vec<PlaceIndex>,
    measure: Measure<'a>,
}

impl<'a> Search<'a> {
    pub(super) fn new(house: House<'a>, wish: &Wish<'_>, breadth: Breadth, kept: Kept) -> Self {
        let House {
            layout,
            map,
            prices,
        } = house;
        let sections = wanted_sections(layout, prices, wish);
        let measure = Measure::of(layout);
        let mut lines = Vec::new();
        for &section in &sections {
            for (number, row) in layout.sections()[section].rows().iter().enumerate() {
                lines.push(Line {
                    row,
                    section,
                    number,
                    distance: measure.of_row(section, number, row),
                    has_marks: OnceCell::new(),
                    longest: row.seats.len(),
                });
            }
        }
        lines.sort_by_key(|line| line.distance);
        Self {
            layout,
            map,
            breadth,
            kept,
            sections,
            longest: lines.iter().map(|line| line.longest).max().unwrap_or(0),
            lines,
            taken: Vec::new(),
            measure,
        }
    }

    /// A window for the whole group, or windows for its halves, all or nothing.
    pub(super) fn group(
        &mut self,
        quantity: usize,
        together: Together,
        need: Need,
        seed: &mut Seed,
    ) -> Option<Vec<PlaceIndex>> {
        self.taken.clear();
        self.window(quantity, need, seed)
            .or_else(|| match together {
                Together::Required => None,
                Together::Preferred => {
                    let places = self.halves(quantity, need, seed);
                    self.taken.clear();
                    places
                }
            })
    }

    /// The larger half has what the group needs.
    fn halves(&mut self, quantity: usize, need: Need, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        if let Some(places) = self.window(quantity, need, seed) {
            self.taken.extend(&places);
            return Some(places);
        }
        if quantity < 2 {
            return None;
        }
        let mut places = self.halves(quantity.div_ceil(2), need, seed)?;
        places.extend(self.halves(quantity / 2, Need::Any, seed)?);
        places.sort_unstable();
        Some(places)
    }

    /// One of the best windows of neighbours.
    fn window(&mut self, quantity: usize, need: Need, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        if quantity > self.longest {
            return None;
        }
        let mut best = BestWindows::new(self.breadth);
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            if line.longest < quantity {
                continue;
            }
            if best.all_beat(Score::at(line.distance)) {
                break;
            }
            if need == Need::Accessible && !self.has_marks(line) {
                continue;
            }
            let runs = self.free_runs(line.row);
            for run in runs.iter().filter(|run| run.len() >= quantity) {
                self.add_windows(&mut best, line, run, quantity, need);
            }
            if self.taken.is_empty() {
                self.lines[at].longest = runs.iter().map(Range::len).max().unwrap_or(0);
            }
        }
        if best.is_empty() && self.taken.is_empty() && need == Need::Any {
            self.longest = quantity - 1;
        }
        let picked = best.pick(seed)?;
        Some(
            (picked.first..picked.first + quantity as u32)
                .map(PlaceIndex)
                .collect(),
        )
    }

    /// The maximal runs of free neighbours in a row, as positions.
    fn free_runs(&self, row: &Row) -> Vec<Range<usize>> {
        let places = row.first..row.first + row.seats.len() as u32;
        let taken: Vec<u32> = self
            .taken
            .iter()
            .map(|place| place.0)
            .filter(|place| places.contains(place))
            .collect();
        let is_free = |position: usize| {
            let place = row.place(position);
            self.map.state(place) == PlaceState::Free && !taken.contains(&place.0)
        };
        let mut runs: Vec<Range<usize>> = Vec::new();
        for part in row.parts() {
            let begins = part.start;
            for position in part.filter(|position| is_free(*position)) {
                match runs.last_mut() {
                    Some(run) if run.end == position && run.start >= begins => run.end += 1,
                    _ => runs.push(position..position + 1),
                }
            }
        }
        runs
    }

    /// The largest group that can be seated at all: the longest run for one that stays
    /// together, every free seat for one that may split.
    pub(super) fn most_seats(&self, together: Together, need: Need) -> usize {
        let rows = self
            .sections
            .iter()
            .flat_map(|i| self.layout.sections()[*i].rows());
        let runs = rows.flat_map(|row| self.free_runs(row).into_iter().map(move |run| (row, run)));
        let serves = |row: &Row, run: &Range<usize>| match need {
            Need::Any => true,
            Need::Accessible => run
                .clone()
                .any(|position| self.layout.is_accessible(row.place(position))),
        };
        match together {
            Together::Required => runs
                .filter(|(row, run)| serves(row, run))
                .map(|(_, run)| run.len())
                .max()
                .unwrap_or(0),
            Together::Preferred => {
                let (mut seats, mut served) = (0, false);
                for (row, run) in runs {
                    served = served || serves(row, &run);
                    seats += run.len();
                }
                if served { seats } else { 0 }
            }
        }
    }

    /// The largest group that one general section has places for.
    pub(super) fn most_standing(&self) -> usize {
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

    /// Whether any seat of the row is special.
    fn has_marks(&self, line: &Line<'_>) -> bool {
        *line.has_marks.get_or_init(|| {
            let seats = 0..line.row.seats.len();
            seats
                .map(|position| line.row.place(position))
                .any(|place| self.layout.is_kept(place) || self.has_restricted_view(place))
        })
    }

    fn has_restricted_view(&self, place: PlaceIndex) -> bool {
        self.layout.has(place, Mark::RestrictedView)
    }

    /// The best window of a run; where more are wanted, also those that begin whole
    /// windows away from it, so that a crowd fills a run without gaps.
    fn add_windows(
        &self,
        best: &mut BestWindows,
        line: &Line<'_>,
        run: &Range<usize>,
        quantity: usize,
        need: Need,
    ) {
        let last = run.end - quantity;
        let all = self.windows_at(line, run, quantity, need, run.start..=last);
        let Some(nicest) = all.min_by_key(|w| (w.score, w.first)) else {
            return;
        };
        if !self.breadth.is_wide() {
            best.keep(nicest);
            return;
        }
        let at = (nicest.first - line.row.first) as usize;
        let starts = (run.start + (at - run.start) % quantity..=last).step_by(quantity);
        for window in self.windows_at(line, run, quantity, need, starts) {
            best.keep(window);
        }
    }

    /// The windows of a run that begin at these positions, which come in order, but for
    /// those that may not be given away.
    fn windows_at(
        &self,
        line: &Line<'_>,
        run: &Range<usize>,
        quantity: usize,
        need: Need,
        starts: impl Iterator<Item = usize>,
    ) -> impl Iterator<Item = Window> {
        let row = line.row;
        let has_marks = self.has_marks(line);
        let blocks = self.layout.blocks();
        let mut block = self.layout.locate(row.place(run.start)).0.0 as usize;
        starts.filter_map(move |start| {
            let window = start..start + quantity;
            let first = row.place(start).0;
            while blocks[block].end() <= first {
                block += 1;
            }
            // Two blocks mean a transaction of four write units instead of one.
            let crosses = row.place(window.end).0 > blocks[block].end();
            let (kept, restricted) = if has_marks {
                self.marks_in(row, &window, need)?
            } else {
                (0, 0)
            };
            let is_kept = |position| has_marks && self.layout.is_kept(row.place(position));
            let middle = self
                .measure
                .of_window(line.section, line.number, row, &window);
            Some(Window {
                first,
                score: Score {
                    kept,
                    orphans: singles_left(run, &window, is_kept),
                    restricted,
                    distance: middle + self.measure.of_crossing(crosses),
                },
            })
        })
    }

    /// How much a window wastes of what is kept, and how many of its seats have a
    /// restricted view; `None` for a window that this search may not give.
    fn marks_in(&self, row: &Row, window: &Range<usize>, need: Need) -> Option<(u32, u32)> {
        let (mut accessible, mut companion, mut restricted) = (0, 0, 0);
        for place in window.clone().map(|position| row.place(position)) {
            if self.layout.is_accessible(place) {
                accessible += 1;
            } else if self.layout.is_kept(place) {
                companion += 1;
            }
            restricted += u32::from(self.has_restricted_view(place));
        }
        let kept = match need {
            Need::Any => accessible + companion,
            // One accessible place and companions beside it; then other neighbours; then
            // accessible places that somebody else may need.
            Need::Accessible if accessible > 0 => {
                let others = window.len() as u32 - accessible - companion;
                2 * (accessible - 1) + others
            }
            Need::Accessible => return None,
        };
        let is_spared = self.kept == Kept::Spared && kept > 0;
        (!is_spared).then_some((kept, restricted))
    }

    /// Free places of a general section, where everybody stands together.
    pub(super) fn general(&self, quantity: usize, seed: &mut Seed) -> Option<Vec<PlaceIndex>> {
        self.general_sections()
            .find_map(|section| general::choose(self.layout, section, self.map, quantity, seed))
    }
}
