use proptest::prelude::*;

use super::*;
use crate::block::{BlockState, Cell};
use crate::ids::{AccountId, HoldId, WaitlistId};
use crate::layout::{SectionSpec, SectionSpecKind};

const NOW: Millis = Millis(1_800_000_000_000);

/// Rows of section A, and a general section `Floor` of six.
fn layout(rows: &[u16]) -> Layout {
    let section = |name: &str, kind| SectionSpec {
        name: name.into(),
        kind,
        ..SectionSpec::default()
    };
    let rows = rows.iter().enumerate();
    let rows = rows.map(|(i, seats)| ((i + 1).to_string(), (1..=*seats).collect()));
    let seated = SectionSpecKind::Seated(rows.collect());
    let sections = vec![
        section("A", seated),
        section("Floor", SectionSpecKind::General(6)),
    ];
    Layout::build(sections, None).unwrap()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Was {
    Free,
    /// Came back so many ms ago.
    Back(u64),
    /// Held for so many ms more.
    Held(u64),
    Sold,
}

fn places(layout: &Layout, all: &[Was], now: Millis) -> Places {
    let hold = HoldId::from_bytes([9; 16]);
    let mut blocks = vec![BlockState::default(); layout.blocks().len()];
    for (i, was) in all.iter().enumerate() {
        let (block, slot) = layout.locate(PlaceIndex(i as u32));
        let cell = match *was {
            Was::Free => None,
            Was::Back(ago) => Some(Cell::returned(NOW.saturating_sub(ago))),
            Was::Held(ms) => Some(Cell {
                expiry: NOW + ms,
                hold,
            }),
            Was::Sold => Some(Cell::sold(hold)),
        };
        blocks[block.0 as usize].set(slot, cell);
    }
    let read: Vec<_> = (0..).map(crate::block::BlockIndex).zip(blocks).collect();
    Places::read(layout, &read, now)
}

fn wish(quantity: u32) -> Wish {
    Wish {
        quantity,
        together: true,
        sections: vec![0],
    }
}

fn line(wishes: impl IntoIterator<Item = Wish>) -> Vec<Waiting> {
    let waiting = |(i, wish): (usize, Wish)| Waiting {
        joined: NOW + i as u64,
        id: WaitlistId::from_bytes([i as u8; 16]),
        account: AccountId::from_bytes([i as u8; 16]),
        wish,
    };
    wishes.into_iter().enumerate().map(waiting).collect()
}

/// Whether a wish fits these free places, found by trying everything.
fn fits(layout: &Layout, free: &[bool], wish: &Wish) -> bool {
    let quantity = wish.quantity as usize;
    let free_at = |place: &u32| free[*place as usize];
    let sections = layout.sections().iter().enumerate();
    let allowed: Vec<_> = sections.filter(|(i, _)| wish.takes(*i)).collect();
    if !wish.together || quantity == 1 {
        let places = allowed.iter().flat_map(|(_, section)| section.range());
        return places.filter(free_at).count() >= quantity;
    }
    allowed.iter().any(|(_, section)| {
        let general = section.is_general() && section.range().filter(free_at).count() >= quantity;
        let in_row = |row: &Row| {
            let places: Vec<u32> = places_of(row).collect();
            places.windows(quantity).any(|w| w.iter().all(free_at))
        };
        general || section.rows().iter().any(in_row)
    })
}

fn free_now(layout: &Layout, places: &Places) -> Vec<bool> {
    let free = |p| matches!(places.standing(p), Standing::Free { .. });
    (0..layout.places()).map(free).collect()
}

#[test]
fn the_first_who_fits_is_served_and_nobody_blocks_those_behind() {
    let layout = layout(&[4]);
    let mut all = [Was::Sold; 10];
    all[1] = Was::Free;
    all[2] = Was::Free;
    let places = places(&layout, &all, NOW);
    let line = line([wish(3), wish(2), wish(1)]);
    let matched = match_offers(&layout, &places, &line, NOW, 10);
    assert_eq!(
        matched.offers,
        vec![(1, vec![PlaceIndex(1), PlaceIndex(2)])]
    );
}

#[test]
fn a_single_leaves_the_run_of_four_to_the_four_behind() {
    let layout = layout(&[4, 4]);
    let mut all = [Was::Sold; 14];
    all[..4].fill(Was::Free);
    all[6] = Was::Free;
    let places = places(&layout, &all, NOW);
    let line = line([wish(1), wish(4)]);
    let matched = match_offers(&layout, &places, &line, NOW, 10);
    let four: Vec<_> = (0..4).map(PlaceIndex).collect();
    assert_eq!(matched.offers, vec![(0, vec![PlaceIndex(6)]), (1, four)]);
}

#[test]
fn those_who_may_sit_apart_leave_long_runs_whole() {
    let layout = layout(&[4, 5]);
    let mut all = [Was::Sold; 15];
    all[..4].fill(Was::Free);
    all[4] = Was::Free;
    all[7] = Was::Free;
    let places = places(&layout, &all, NOW);
    let apart = Wish {
        together: false,
        ..wish(2)
    };
    let line = line([apart, wish(4)]);
    let matched = match_offers(&layout, &places, &line, NOW, 10);
    assert_eq!(matched.offers[0].1, vec![PlaceIndex(4), PlaceIndex(7)]);
    assert_eq!(matched.offers.len(), 2);
}

#[test]
fn seats_beside_holds_that_end_soon_are_kept_for_a_group_that_came_first() {
    let layout = layout(&[4, 4]);
    let mut all = [Was::Sold; 14];
    all[0] = Was::Back(10_000);
    all[1] = Was::Back(5_000);
    all[2] = Was::Held(50_000);
    all[3] = Was::Held(55_000);
    let line_of_two = line([wish(4), wish(1)]);
    let matched = match_offers(&layout, &places(&layout, &all, NOW), &line_of_two, NOW, 10);
    assert_eq!(matched.offers, vec![]);
    assert_eq!(matched.kept_back, vec![PlaceIndex(0), PlaceIndex(1)]);
    let again = NOW.saturating_sub(10_000) + KEEP_BACK_MS + 1;
    assert_eq!(matched.look_again, Some(again));

    // With another seat for the single, nobody waits.
    let mut more = all;
    more[6] = Was::Free;
    let matched = match_offers(&layout, &places(&layout, &more, NOW), &line_of_two, NOW, 10);
    assert_eq!(matched.offers, vec![(1, vec![PlaceIndex(6)])]);

    // A single who came first is not kept waiting by a group behind.
    let single_first = line([wish(1), wish(4)]);
    let matched = match_offers(&layout, &places(&layout, &all, NOW), &single_first, NOW, 10);
    assert_eq!(matched.offers.len(), 1);

    // The holds end: the group gets its four.
    all[2] = Was::Held(0);
    all[3] = Was::Held(0);
    let later = NOW + 6_000;
    let lapsed = places(&layout, &all, later);
    let matched = match_offers(&layout, &lapsed, &line_of_two, later, 10);
    assert_eq!(matched.offers.len(), 1);
    assert_eq!(matched.offers[0].1.len(), 4);

    // They are paid instead: the place goes to the single, and it does in any case once
    // it was kept for long enough.
    all[2] = Was::Sold;
    let matched = match_offers(&layout, &places(&layout, &all, NOW), &line_of_two, NOW, 10);
    assert_eq!(matched.offers.len(), 1);
    all[2] = Was::Held(140_000);
    all[3] = Was::Held(140_000);
    let held_on = places(&layout, &all, again);
    let matched = match_offers(&layout, &held_on, &line_of_two, again, 10);
    assert_eq!(matched.offers, vec![(1, vec![PlaceIndex(0)])]);
}

#[test]
fn general_places_are_kept_for_a_group_too() {
    let layout = layout(&[1]);
    let mut all = [Was::Sold; 7];
    all[1] = Was::Back(0);
    all[2] = Was::Held(30_000);
    let floor = |quantity| Wish {
        sections: vec![1],
        ..wish(quantity)
    };
    let line = line([floor(2), floor(1)]);
    let matched = match_offers(&layout, &places(&layout, &all, NOW), &line, NOW, 10);
    assert_eq!(matched.kept_back, vec![PlaceIndex(1)]);
    assert_eq!(matched.offers, vec![]);
}

#[test]
fn no_more_than_asked_for_and_it_says_so() {
    let layout = layout(&[4]);
    let all = [Was::Free; 10];
    let places = places(&layout, &all, NOW);
    let wishes = || (0..5).map(|_| wish(1));
    let matched = match_offers(&layout, &places, &line(wishes()), NOW, 3);
    assert_eq!((matched.offers.len(), matched.more), (3, true));
    let matched = match_offers(&layout, &places, &line(wishes()), NOW, 4);
    assert_eq!((matched.offers.len(), matched.more), (4, false));
}

#[test]
fn what_can_never_fit_is_known() {
    let layout = layout(&[3, 5]);
    assert!(could_ever_fit(&layout, &wish(5)));
    assert!(!could_ever_fit(&layout, &wish(6)));
    let anywhere = Wish {
        sections: vec![],
        ..wish(6)
    };
    assert!(could_ever_fit(&layout, &anywhere), "six on the floor");
    let apart = Wish {
        together: false,
        ..wish(8)
    };
    assert!(could_ever_fit(&layout, &apart));
}

fn any_was() -> impl Strategy<Value = Was> {
    prop_oneof![
        2 => Just(Was::Free),
        3 => (0u64..200_000).prop_map(Was::Back),
        3 => (0u64..120_000).prop_map(Was::Held),
        4 => Just(Was::Sold),
    ]
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let sections = prop_oneof![Just(vec![]), Just(vec![0]), Just(vec![1]), Just(vec![0, 1])];
    (1u32..6, any::<bool>(), sections).prop_map(|(quantity, together, sections)| Wish {
        quantity,
        together,
        sections,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Offers are free places, each once, as wished; whoever is not offered any does not
    /// fit what those before them left, apart from what is kept back for a bounded time.
    #[test]
    fn nobody_who_fits_is_passed_over(
        rows in prop::collection::vec(1u16..9, 1..4),
        seed in prop::collection::vec(any_was(), 40),
        wishes in prop::collection::vec(any_wish(), 0..12),
    ) {
        let layout = layout(&rows);
        let all: Vec<Was> = (0..layout.places() as usize).map(|i| seed[i]).collect();
        let places = places(&layout, &all, NOW);
        let line = line(wishes);
        let matched = match_offers(&layout, &places, &line, NOW, usize::MAX);
        let mut free = free_now(&layout, &places);
        for kept in &matched.kept_back {
            prop_assert!(free[kept.at()]);
            let Standing::Free { since: Some(since) } = places.standing(kept.0) else {
                return Err(TestCaseError::fail("kept back without knowing since when"));
            };
            prop_assert!(since + KEEP_BACK_MS >= NOW);
            prop_assert!(matched.look_again.is_some_and(|at| at <= since + KEEP_BACK_MS + 1));
        }
        let mut without_kept = free.clone();
        for kept in &matched.kept_back {
            without_kept[kept.at()] = false;
        }
        for (at, waiting) in line.iter().enumerate() {
            match matched.offers.iter().find(|(i, _)| *i == at) {
                Some((_, offered)) => {
                    prop_assert_eq!(offered.len(), waiting.wish.quantity as usize);
                    for place in offered {
                        prop_assert!(free[place.at()], "offered twice, or not free");
                        prop_assert!(waiting.wish.takes(layout.section_at(*place)));
                        free[place.at()] = false;
                        without_kept[place.at()] = false;
                    }
                    prop_assert!(!waiting.wish.together || layout.are_together(offered));
                }
                None => prop_assert!(
                    !fits(&layout, &without_kept, &waiting.wish),
                    "{:?} fits and was passed over", waiting.wish
                ),
            }
        }
    }

    /// Once everything was free for longer than it may be kept back, nothing is.
    #[test]
    fn nothing_is_kept_back_for_good(
        rows in prop::collection::vec(1u16..9, 1..4),
        seed in prop::collection::vec(any_was(), 40),
        wishes in prop::collection::vec(any_wish(), 0..12),
    ) {
        let layout = layout(&rows);
        let all: Vec<Was> = (0..layout.places() as usize).map(|i| seed[i]).collect();
        let later = NOW + 120_000 + KEEP_BACK_MS + 6_000;
        let places = places(&layout, &all, later);
        let matched = match_offers(&layout, &places, &line(wishes), later, usize::MAX);
        prop_assert_eq!(matched.kept_back, vec![]);
    }
}
