//! The free places of a show in runs, from which groups are served.

use std::cmp::Reverse;

use super::entry::Wish;
use super::places::{Places, Standing};
use crate::best_available::Measure;
use crate::layout::{Layout, PlaceIndex};

/// Free places that count as together: neighbours of one row, or all of one general
/// section. Never empty.
#[derive(Debug, Clone)]
struct Run {
    section: usize,
    seated: bool,
    /// Rising.
    places: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Stock<'a> {
    layout: &'a Layout,
    runs: Vec<Run>,
    free: Vec<bool>,
    measure: Measure<'a>,
}

/// Which end of a run a group gets, so that the rest stays whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

impl<'a> Stock<'a> {
    pub(super) fn new(layout: &'a Layout, places: &Places) -> Self {
        Self::of(layout, |place| {
            matches!(places.standing(place), Standing::Free { .. })
        })
    }

    /// What a show with a waiting room sells through it.
    pub(super) fn behind_room(layout: &'a Layout, places: &Places) -> Option<Self> {
        let free = places.behind_room.as_ref()?;
        Some(Self::of(layout, |place| free[place as usize]))
    }

    pub(super) fn of(layout: &'a Layout, is_free: impl Fn(u32) -> bool + Copy) -> Self {
        let free: Vec<bool> = (0..layout.places()).map(is_free).collect();
        let mut runs = Vec::new();
        for (number, section) in layout.sections().iter().enumerate() {
            if section.is_general() {
                push_run(
                    &mut runs,
                    number,
                    false,
                    section.range().filter(|p| is_free(*p)),
                );
                continue;
            }
            for row in section.rows() {
                for part in row.parts() {
                    let places = row.place(part.start).0..row.place(part.end).0;
                    for run in split(places, is_free) {
                        push_run(&mut runs, number, true, run.into_iter());
                    }
                }
            }
        }
        Self {
            layout,
            runs,
            free,
            measure: Measure::of(layout),
        }
    }

    pub(super) fn is_free(&self, place: u32) -> bool {
        self.free.get(place as usize).copied().unwrap_or(false)
    }

    /// Whether there is room for a wish.
    pub(super) fn fits(&self, wish: &Wish) -> bool {
        let quantity = wish.quantity as usize;
        let runs = self.runs.iter().filter(|run| wish.takes(run.section));
        let mut rooms = runs.map(|run| run.places.len());
        match wish.together || quantity == 1 {
            true => rooms.any(|room| room >= quantity),
            false => rooms.sum::<usize>() >= quantity,
        }
    }

    /// Takes places for a wish out of the stock, or nothing.
    pub(super) fn take(&mut self, wish: &Wish) -> Option<Vec<PlaceIndex>> {
        let quantity = wish.quantity as usize;
        let mut places = match wish.together || quantity == 1 {
            true => self.take_together(wish, quantity)?,
            false => self.take_anywhere(wish, quantity)?,
        };
        places.sort_unstable();
        for place in &places {
            self.free[*place as usize] = false;
        }
        self.runs.retain(|run| !run.places.is_empty());
        Some(places.into_iter().map(PlaceIndex).collect())
    }

    /// From the shortest run that has room, at the end of it that lies better, sparing
    /// kept places: what is left serves the largest groups that it can.
    fn take_together(&mut self, wish: &Wish, quantity: usize) -> Option<Vec<u32>> {
        let fitting = self.runs.iter().enumerate().filter(|(_, run)| {
            quantity > 0 && run.places.len() >= quantity && wish.takes(run.section)
        });
        let ends = fitting.flat_map(|(at, run)| {
            [End::Front, End::Back].map(|end| {
                let window = run.window(quantity, end);
                let kept = self.kept(window);
                let distance = self.measure.of_places(self.layout, window);
                let score = (kept, run.places.len(), distance, window[0]);
                (score, at, end)
            })
        });
        let (_, at, end) = ends.min_by_key(|(score, _, _)| *score)?;
        Some(self.runs[at].take(quantity, end))
    }

    /// From a run of just that length, else from the shortest runs, so that long ones
    /// stay whole for those who want to sit together.
    fn take_anywhere(&mut self, wish: &Wish, quantity: usize) -> Option<Vec<u32>> {
        let mut order: Vec<usize> = (0..self.runs.len())
            .filter(|at| wish.takes(self.runs[*at].section))
            .collect();
        let room: usize = order.iter().map(|at| self.runs[*at].places.len()).sum();
        if room < quantity {
            return None;
        }
        order.sort_by_key(|at| {
            let run = &self.runs[*at];
            let keeps = self.kept(&run.places) > 0;
            let exact = run.places.len() == quantity;
            (keeps, Reverse(exact), run.places.len(), run.places[0])
        });
        let mut taken = Vec::with_capacity(quantity);
        for at in order {
            let run = &mut self.runs[at];
            let some = run.places.len().min(quantity - taken.len());
            taken.extend(run.take(some, End::Front));
            if taken.len() == quantity {
                break;
            }
        }
        Some(taken)
    }

    /// Puts these places out of reach.
    pub(super) fn set_aside(&mut self, places: &[u32]) {
        for place in places {
            self.free[*place as usize] = false;
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in std::mem::take(&mut self.runs) {
            let whole = run.places.iter().all(|place| self.free[*place as usize]);
            match (whole, run.seated) {
                (true, _) => runs.push(run),
                (false, true) => {
                    let is_free = |place: u32| self.free[place as usize];
                    for part in split(run.places.into_iter(), is_free) {
                        push_run(&mut runs, run.section, true, part.into_iter());
                    }
                }
                (false, false) => {
                    let left = run.places.into_iter().filter(|p| self.free[*p as usize]);
                    push_run(&mut runs, run.section, false, left);
                }
            }
        }
        self.runs = runs;
    }

    /// How many of these are kept for people who ask for an accessible place.
    fn kept(&self, places: &[u32]) -> usize {
        let is_kept = |place: &&u32| self.layout.is_kept(PlaceIndex(**place));
        places.iter().filter(is_kept).count()
    }
}

impl Run {
    fn window(&self, quantity: usize, end: End) -> &[u32] {
        match end {
            End::Front => &self.places[..quantity],
            End::Back => &self.places[self.places.len() - quantity..],
        }
    }

    fn take(&mut self, quantity: usize, end: End) -> Vec<u32> {
        match end {
            End::Front => self.places.drain(..quantity).collect(),
            End::Back => self.places.split_off(self.places.len() - quantity),
        }
    }
}

fn push_run(runs: &mut Vec<Run>, section: usize, seated: bool, places: impl Iterator<Item = u32>) {
    let places: Vec<u32> = places.collect();
    if !places.is_empty() {
        runs.push(Run {
            section,
            seated,
            places,
        });
    }
}

/// The maximal stretches in which every place is kept.
fn split(places: impl Iterator<Item = u32>, keep: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let mut runs = vec![Vec::new()];
    for place in places {
        match keep(place) {
            true => runs.last_mut().into_iter().for_each(|run| run.push(place)),
            false if runs.last().is_some_and(|run| !run.is_empty()) => runs.push(Vec::new()),
            false => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}
