//! Whether the functions answer those who shop. While most of their calls fail, letting
//! more people in helps nobody: a circuit breaker, which the controller asks.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::time::Millis;

/// What happened longer ago says nothing about now.
const WINDOW_MS: u64 = 10_000;
/// Fewer calls may fail by chance.
const ENOUGH_CALLS: u64 = 20;
/// After an illness fewer people are risked: the first who are let in again decide.
const ENOUGH_ON_TRIAL: u64 = 5;
/// Where few people shop, time proves it well too.
const TRIAL_MS: u64 = 300_000;

/// Calls of people with a pass, by what became of them. A refusal is an answer too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Calls {
    pub answered: u64,
    /// By an error of ours, by silence, or because nobody was there.
    pub failed: u64,
}

impl Calls {
    pub fn none(self) -> bool {
        self == Self::default()
    }

    pub fn add(&mut self, more: Self) {
        self.answered = self.answered.saturating_add(more.answered);
        self.failed = self.failed.saturating_add(more.failed);
    }

    fn all(self) -> u64 {
        self.answered.saturating_add(self.failed)
    }

    fn mostly_failed(self) -> bool {
        self.failed > 0 && self.failed >= self.answered
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backend {
    recent: VecDeque<(Millis, Calls)>,
    is_ill: bool,
    ill_last: Option<Millis>,
}

impl Backend {
    pub fn hear(&mut self, calls: Calls, now: Millis) {
        if !calls.none() {
            self.recent.push_back((now, calls));
        }
    }

    /// Half of the calls of the last ten seconds are enough to call it ill. It is so until
    /// fewer fail, or nobody has called for that long: then only people who are let in
    /// again can tell, and a few of them do.
    pub fn judge(&mut self, now: Millis) {
        self.recent.retain(|(at, _)| *at + WINDOW_MS > now);
        let mut lately = Calls::default();
        for (_, calls) in &self.recent {
            lately.add(*calls);
        }
        let on_trial = self.ill_last.is_some_and(|ill| ill + TRIAL_MS > now);
        let enough = match on_trial {
            true => ENOUGH_ON_TRIAL,
            false => ENOUGH_CALLS,
        };
        self.is_ill = lately.mostly_failed() && (self.is_ill || lately.all() >= enough);
        if self.is_ill {
            self.ill_last = Some(now);
        } else if !lately.mostly_failed() && lately.all() >= ENOUGH_CALLS {
            self.ill_last = None;
        }
    }

    pub fn is_ill(&self) -> bool {
        self.is_ill
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn calls(answered: u64, failed: u64) -> Calls {
        Calls { answered, failed }
    }

    /// What is thought at each of these moments, in seconds, after these calls.
    fn judged(told: &[(u64, Calls)]) -> Vec<bool> {
        let mut backend = Backend::default();
        let judge = |(second, calls): &(u64, Calls)| {
            let now = NOW + second * 1_000;
            backend.hear(*calls, now);
            backend.judge(now);
            backend.is_ill()
        };
        told.iter().map(judge).collect()
    }

    #[test]
    fn half_of_twenty_calls_make_it_ill_and_fewer_of_either_do_not() {
        assert_eq!(judged(&[(0, calls(10, 10))]), [true]);
        assert_eq!(judged(&[(0, calls(11, 9))]), [false]);
        assert_eq!(judged(&[(0, calls(0, 19))]), [false]);
        assert_eq!(judged(&[(0, calls(0, 0))]), [false]);
        let spread = [(0, calls(3, 4)), (4, calls(3, 4)), (9, calls(3, 3))];
        assert_eq!(judged(&spread), [false, false, true]);
        let long_ago = [(0, calls(0, 10)), (10, calls(0, 10))];
        assert_eq!(judged(&long_ago), [false, false]);
    }

    #[test]
    fn it_stays_ill_while_those_inside_fail_and_is_well_when_they_are_answered() {
        let inside = [
            (0, calls(0, 20)),
            (9, calls(0, 1)),
            (15, calls(0, 1)),
            (24, calls(0, 1)),
            (25, calls(2, 0)),
        ];
        assert_eq!(judged(&inside), [true, true, true, true, false]);
    }

    #[test]
    fn after_a_silence_people_are_let_in_again_and_the_first_few_decide() {
        let ill = (0, calls(0, 20));
        let silence = (10, calls(0, 0));
        let again = [ill, silence, (12, calls(1, 3)), (13, calls(0, 1))];
        assert_eq!(judged(&again), [true, false, false, true]);
        // Whoever has proven well is trusted as before.
        let well = [ill, silence, (12, calls(20, 0)), (25, calls(0, 19))];
        assert_eq!(judged(&well), [true, false, false, false]);
        let quiet = [ill, silence, (299, calls(0, 5)), (310, calls(0, 0))];
        assert_eq!(judged(&quiet), [true, false, true, false]);
        let later = [ill, silence, (300, calls(0, 19))];
        assert_eq!(judged(&later), [true, false, false]);
    }
}
