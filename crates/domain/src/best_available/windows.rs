//! Windows of neighbours in a row, and which of them is picked.

use super::CHOICES;
use super::tries::Breadth;
use crate::seed::Seed;

/// How good a window is; less is better. The fields are compared in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// What it wastes of the places that are kept for people who ask for them.
    pub kept: u32,
    pub orphans: u32,
    /// How many of its seats do not see all of the stage.
    pub restricted: u32,
    pub distance: u64,
}

impl Score {
    /// The best that a window at this distance can be.
    pub(super) fn at(distance: u64) -> Self {
        Self {
            kept: 0,
            orphans: 0,
            restricted: 0,
            distance,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub first: u32,
    pub score: Score,
}

/// The best windows that a search has met, as many as its try picks from, in order.
pub(super) struct BestWindows {
    breadth: Breadth,
    windows: Vec<Window>,
}

impl BestWindows {
    pub(super) fn new(breadth: Breadth) -> Self {
        Self {
            breadth,
            windows: Vec::with_capacity(breadth.windows() + 1),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Equal scores keep the order of the layout.
    pub(super) fn keep(&mut self, window: Window) {
        let rank = |w: &Window| (w.score, w.first);
        let at = self.windows.partition_point(|w| rank(w) <= rank(&window));
        if at < self.breadth.windows() {
            self.windows.insert(at, window);
            self.windows.truncate(self.breadth.windows());
        }
    }

    /// Whether there are enough, and each is better than this.
    pub(super) fn all_beat(&self, score: Score) -> bool {
        self.windows.len() == self.breadth.windows()
            && self.windows.last().is_some_and(|last| last.score < score)
    }

    /// Only windows as harmless as the best one are alternatives to it: a random pick must
    /// not leave an orphan that could be avoided. Whoever was too late before goes where
    /// there is room, rather than where everybody else is going.
    pub(super) fn pick(mut self, seed: &mut Seed) -> Option<Window> {
        let best = self.windows.first()?.score;
        let is_harmless =
            |w: &Window| w.score.orphans == best.orphans && w.score.restricted == best.restricted;
        self.windows.retain(|w| w.score.kept == best.kept);
        let harmless = self.windows.iter().filter(|w| is_harmless(w)).count();
        if !self.breadth.is_wide() || harmless >= CHOICES {
            self.windows.retain(is_harmless);
        }
        let picked = seed.below(self.windows.len())?;
        self.windows.get(picked).copied()
    }
}
