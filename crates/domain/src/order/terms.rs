//! What a buyer is promised for the case that they cancel.
//!
//! The organiser of a show may change its policy and its start while it sells. Whoever has
//! bought by then keeps what they bought under, unless what came after is better for them.

use serde::{Deserialize, Serialize};

use super::{Order, refund_percent};
use crate::show::{RefundStep, Show};
use crate::time::Millis;

/// The refund policy of a show and its start, as they were at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Compact", into = "Compact")]
pub struct RefundTerms {
    pub policy: Vec<RefundStep>,
    pub starts_at: Millis,
}

/// As it is stored: every order carries it, and most of them fit one write unit with it.
type Compact = (Millis, Vec<(u32, u8)>);

impl From<Compact> for RefundTerms {
    fn from((starts_at, steps): Compact) -> Self {
        let step = |(hours_before, percent)| RefundStep {
            hours_before,
            percent,
        };
        Self {
            policy: steps.into_iter().map(step).collect(),
            starts_at,
        }
    }
}

impl From<RefundTerms> for Compact {
    fn from(terms: RefundTerms) -> Self {
        let steps = terms.policy.iter();
        let steps = steps.map(|step| (step.hours_before, step.percent));
        (terms.starts_at, steps.collect())
    }
}

impl RefundTerms {
    pub fn of(show: &Show) -> Self {
        Self {
            policy: show.refund_policy.clone(),
            starts_at: show.starts_at,
        }
    }

    /// What goes back for what was sold under these terms, now that the show has those of
    /// `today`: the larger share of the two. A policy counts the hours before the show, so
    /// the one that was promised goes by the later start: a show that is put off takes
    /// nothing away, and neither does one that is moved forward.
    pub fn percent(&self, today: &Self, now: Millis) -> u8 {
        let starts_at = self.starts_at.max(today.starts_at);
        let promised = refund_percent(&self.policy, starts_at, now);
        promised.max(refund_percent(&today.policy, today.starts_at, now))
    }
}

impl Order {
    /// The same order, sold under these terms.
    #[must_use]
    pub fn under(mut self, terms: RefundTerms) -> Self {
        self.terms = Some(terms);
        self
    }

    /// What goes back if its buyer cancels now. An order of old does not know what it was
    /// sold under, and goes by its show.
    pub fn refund_percent(&self, show: &Show, now: Millis) -> u8 {
        let today = RefundTerms::of(show);
        let terms = self.terms.as_ref().unwrap_or(&today);
        terms.percent(&today, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::default_refund_policy;

    const HOUR: u64 = 3_600_000;
    const START: Millis = Millis(1_000 * HOUR);

    fn terms(policy: Vec<RefundStep>, starts_at: Millis) -> RefundTerms {
        RefundTerms { policy, starts_at }
    }

    fn always(percent: u8) -> Vec<RefundStep> {
        vec![RefundStep {
            hours_before: 0,
            percent,
        }]
    }

    fn before_start(hours: u64) -> Millis {
        Millis(START.0 - hours * HOUR)
    }

    #[test]
    fn the_larger_share_of_what_was_promised_and_what_is_offered_now_goes_back() {
        let sold = terms(default_refund_policy(), START);
        let cases = [
            ("nothing changed", default_refund_policy(), 30, 100),
            ("nothing changed, nearer", default_refund_policy(), 5, 50),
            ("nothing is offered any more", vec![], 30, 100),
            ("nothing is offered any more, nearer", vec![], 5, 50),
            ("less is offered", always(20), 30, 100),
            ("less is offered, and more than so late", always(20), 1, 20),
            ("more is offered", always(80), 5, 80),
        ];
        for (name, policy, hours, percent) in cases {
            let today = terms(policy, START);
            let share = sold.percent(&today, before_start(hours));
            assert_eq!(share, percent, "{name}");
        }
    }

    #[test]
    fn a_show_that_moves_takes_nothing_away() {
        let sold = terms(default_refund_policy(), START);
        let forward = terms(default_refund_policy(), before_start(48));
        assert_eq!(sold.percent(&forward, before_start(50)), 100);
        let put_off = START + 48 * HOUR;
        let later = terms(default_refund_policy(), put_off);
        assert_eq!(sold.percent(&later, before_start(1)), 100);
        let later_for_nothing = terms(vec![], put_off);
        assert_eq!(sold.percent(&later_for_nothing, before_start(1)), 100);
        assert_eq!(sold.percent(&later_for_nothing, put_off), 0);
    }

    #[test]
    fn what_was_sold_without_a_refund_gets_what_is_offered_by_the_start_of_today() {
        let sold = terms(vec![], START);
        let today = terms(default_refund_policy(), before_start(48));
        assert_eq!(sold.percent(&today, before_start(80)), 100);
        assert_eq!(sold.percent(&today, before_start(49)), 0);
    }

    #[test]
    fn terms_are_stored_in_few_bytes() {
        let start = Millis(1_800_000_000_000);
        let stored = r#"["2027-01-15T08:00:00Z",[[24,100],[4,50],[0,0]]]"#;
        let terms = terms(default_refund_policy(), start);
        assert_eq!(serde_json::to_string(&terms).unwrap(), stored);
        assert_eq!(serde_json::from_str::<RefundTerms>(stored).unwrap(), terms);
    }
}
