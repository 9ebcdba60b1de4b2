//! How a request for the best places goes on where others were faster.
//!
//! The first tries choose on the map, which may be a second old. The first takes the best
//! window, unless somebody was too late in this process lately: then there is a crowd, and
//! it picks from a few. Each further one picks from more windows than the one before, so
//! that those who met at one window do not meet again. Then the blocks themselves are read. That nothing is left is said only of places that
//! were read; whoever is still too late after that is asked to come back.

use super::CHOICES;
use crate::time::Millis;

/// Tries on one knowledge of the blocks. After that it is read anew.
const TRIES_BETWEEN_READS: u64 = 3;
/// And so many in all. In a model, 800 pairs who ask at once for 2,000 free seats, each in
/// a process of their own, need eleven at most.
pub const MOST_TRIES: u64 = 16;
/// A further try picks from so many times as many windows.
const WIDER: usize = 4;
/// For so long after somebody was too late, others in the same process expect a crowd.
pub const LATELY_MS: u64 = 5_000;
/// No try picks from more: a search keeps them in order.
const MOST_WINDOWS: usize = CHOICES * WIDER * WIDER * WIDER;

/// How many windows a try picks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breadth(usize);

impl Breadth {
    /// The best window, and no other.
    pub const BEST: Self = Self(1);
    /// A few of the best windows, for a crowd to spread over.
    pub const FEW: Self = Self(CHOICES);

    pub(super) fn windows(self) -> usize {
        self.0
    }

    /// Whether one run of free seats may have several of the windows.
    pub(super) fn is_wide(self) -> bool {
        self.0 > CHOICES
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Choose again, on what has been learnt.
    Choose,
    /// Read the blocks in question consistently first.
    Read,
    /// Nothing that fits is left, as the blocks were read.
    SayTaken,
    /// Places that fit were there each time, and others were faster each time.
    GiveUp,
}

/// The tries of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tries {
    made: u64,
    in_crowd: bool,
    /// How many had been made when the blocks were last read.
    read_after: Option<u64>,
}

impl Tries {
    /// Of a request that begins now. `conflict` is when somebody was last too late here.
    pub fn begin(now: Millis, conflict: Option<Millis>) -> Self {
        Self {
            in_crowd: conflict.is_some_and(|at| at.until(now) < LATELY_MS),
            ..Self::default()
        }
    }

    pub fn made(&self) -> u64 {
        self.made
    }

    pub fn breadth(&self) -> Breadth {
        if self.made == 0 && !self.in_crowd {
            return Breadth::BEST;
        }
        let wider = (0..self.made).fold(CHOICES, |windows, _| (windows * WIDER).min(MOST_WINDOWS));
        Breadth(wider)
    }

    /// What was chosen went to others.
    pub fn was_late(&mut self) -> Next {
        self.made += 1;
        let on_this_knowledge = self.made - self.read_after.unwrap_or(0);
        if self.made >= MOST_TRIES {
            Next::GiveUp
        } else if on_this_knowledge >= TRIES_BETWEEN_READS {
            Next::Read
        } else {
            Next::Choose
        }
    }

    /// Nothing that fits was seen. While others take places, others may come back: only
    /// what was read since the last loss proves that there is nothing.
    pub fn found_nothing(&self) -> Next {
        match self.read_after {
            Some(tries) if tries == self.made => Next::SayTaken,
            _ => Next::Read,
        }
    }

    /// The blocks in question have been read.
    pub fn have_read(&mut self) {
        self.read_after = Some(self.made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_picks_from_more_windows_than_the_one_before_up_to_a_bound() {
        let mut tries = Tries::default();
        let mut windows = vec![tries.breadth().windows()];
        for _ in 0..4 {
            tries.was_late();
            windows.push(tries.breadth().windows());
        }
        assert_eq!(windows, vec![1, 48, 192, 768, 768]);
        assert!(!Breadth::BEST.is_wide() && !Breadth::FEW.is_wide());
    }

    #[test]
    fn the_first_try_picks_from_a_few_windows_while_others_were_too_late_lately() {
        let now = Millis(1_000_000);
        let first = |conflict| Tries::begin(now, conflict).breadth();
        assert_eq!(first(None), Breadth::BEST);
        assert_eq!(first(Some(now)), Breadth::FEW);
        assert_eq!(first(Some(now.saturating_sub(4_999))), Breadth::FEW);
        assert_eq!(first(Some(now.saturating_sub(5_000))), Breadth::BEST);
    }

    #[test]
    fn nothing_is_said_to_be_taken_before_the_blocks_were_read() {
        let mut tries = Tries::default();
        assert_eq!(tries.found_nothing(), Next::Read);
        tries.was_late();
        assert_eq!(tries.found_nothing(), Next::Read);
        tries.have_read();
        assert_eq!(tries.found_nothing(), Next::SayTaken);
        tries.was_late();
        assert_eq!(tries.found_nothing(), Next::Read, "something was left");
    }

    #[test]
    fn the_blocks_are_read_after_every_third_loss_and_the_last_loss_ends_it() {
        let mut tries = Tries::default();
        let mut reads = Vec::new();
        loop {
            match tries.was_late() {
                Next::Choose => {}
                Next::Read => {
                    tries.have_read();
                    reads.push(tries.made());
                }
                Next::GiveUp => break,
                Next::SayTaken => panic!("there were places each time"),
            }
        }
        assert_eq!(reads, vec![3, 6, 9, 12, 15]);
        assert_eq!(tries.made(), MOST_TRIES);
    }
}
