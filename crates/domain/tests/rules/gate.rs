//! Gates report in any order, more than once, and in pieces: everybody ends with the same
//! admissions, and with the same answer to who came first.

use std::collections::BTreeMap;

use onsale_domain::gate::{Admission, Admissions, ShortId, Undone, scanned_at};
use onsale_domain::ids::{AccountId, TicketId};
use onsale_domain::time::Millis;
use proptest::prelude::*;
use proptest::sample::Index;

/// Few names, times and gates, so that reports meet each other.
fn admission() -> impl Strategy<Value = Admission> {
    let undone = proptest::option::weighted(0.3, (0u64..5, 0u8..3));
    (0u8..24, 0u64..12, 0u8..3, undone).prop_map(|(scan, at, gate, undone)| Admission {
        scan: format!("s{scan:02}"),
        at: Millis(at),
        gate: format!("g{gate}"),
        by: Some(AccountId::from_bytes([gate; 16])),
        device: (gate > 0).then(|| format!("d{gate}")),
        undone: undone.map(|(at, by)| Undone {
            at: Millis(at),
            by: AccountId::from_bytes([by; 16]),
        }),
    })
}

fn admissions() -> impl Strategy<Value = Admissions> {
    proptest::collection::vec(admission(), 0..40).prop_map(|all| joined(&all))
}

fn joined(all: &[Admission]) -> Admissions {
    all.iter().fold(Admissions::default(), |known, one| {
        known.join(&one.clone().into())
    })
}

proptest! {
    #[test]
    fn joining_is_commutative_associative_and_idempotent(
        a in admissions(), b in admissions(), c in admissions()
    ) {
        prop_assert_eq!(a.join(&b), b.join(&a));
        prop_assert_eq!(a.join(&b).join(&c), a.join(&b.join(&c)));
        prop_assert_eq!(a.join(&a), a.clone());
        prop_assert_eq!(a.join(&b).join(&b), a.join(&b));
        prop_assert_eq!(a.join(&Admissions::default()), a);
    }

    /// Several gates sync batches of their logs, cut anywhere, sent again, mixed up.
    #[test]
    fn any_order_and_repetition_of_reports_ends_in_the_same(
        all in proptest::collection::vec(admission(), 1..40),
        sent in proptest::collection::vec(any::<Index>(), 0..80),
        turned in any::<bool>(),
    ) {
        let mut reports: Vec<_> = sent.iter().map(|i| i.get(&all).clone()).collect();
        // Whatever was sent in whatever way, in the end each gate has sent its whole log.
        reports.extend(all.iter().cloned());
        if turned {
            reports.reverse();
        }
        prop_assert_eq!(joined(&reports), joined(&all));
    }

    #[test]
    fn the_first_is_the_earliest_that_stands(all in proptest::collection::vec(admission(), 1..12)) {
        let known = joined(&all);
        let undone: Vec<_> = all.iter().filter(|a| a.undone.is_some()).map(|a| &a.scan).collect();
        let standing = all.iter().filter(|a| !undone.contains(&&a.scan));
        let earliest = standing.map(|a| (a.at, a.scan.clone())).min();
        prop_assert_eq!(known.first().map(|a| (a.at, a.scan.clone())), earliest);
    }

    /// The counts of gates are sums of changes, whatever way a ticket went.
    #[test]
    fn counts_follow_the_admissions_that_stand(
        steps in proptest::collection::vec((admission(), proptest::bool::weighted(0.2)), 0..40)
    ) {
        let mut known = Admissions::default();
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for (admission, undo) in steps {
            let next = match undo {
                true => known.undone(AccountId::from_bytes([9; 16]), Millis(99)),
                false => known.join(&admission.into()),
            };
            for (gate, change) in known.count_changes(&next) {
                *counts.entry(gate).or_default() += change;
            }
            known = next;
        }
        counts.retain(|_, count| *count != 0);
        let mut heads: BTreeMap<String, i64> = BTreeMap::new();
        for admission in known.standing() {
            *heads.entry(admission.gate.clone()).or_default() += 1;
        }
        prop_assert_eq!(counts, heads);
    }

    #[test]
    fn a_device_is_believed_how_long_ago_and_never_about_the_future(
        at in any::<u32>(), sent in any::<u32>(), now in any::<u32>()
    ) {
        let wide = |ms: u32| Millis(u64::from(ms));
        let (at, sent, now) = (wide(at), wide(sent), wide(now));
        let corrected = scanned_at(at, sent, now);
        prop_assert!(corrected <= now);
        if at <= sent && sent - at <= now.0 {
            prop_assert_eq!(now - corrected, sent - at);
        }
        // A device whose clock is wrong by any amount says the same.
        prop_assert_eq!(scanned_at(at + 3_600_000, sent + 3_600_000, now), corrected);
    }
}

#[test]
fn a_short_id_has_one_spelling_and_is_half_of_its_ticket() {
    let ticket: TicketId = "tkt_0192f0c1a2b37c4d8e5f60718293a4b5".parse().unwrap();
    let short = ShortId::of(ticket);
    assert_eq!(short.to_string(), "0192f0c1a2b37c4d");
    assert_eq!("0192f0c1a2b37c4d".parse(), Ok(short));
    for wrong in ["0192F0C1A2B37C4D", "+192f0c1a2b37c4d", "0192f0c1", ""] {
        assert!(wrong.parse::<ShortId>().is_err(), "{wrong}");
    }
}
