use super::*;
use crate::ids::{AccountId, EventId, ShowId, VenueId};
use crate::money::Currency;
use crate::show::Room;
use proptest::prelude::*;

const HOUR: u64 = 3_600_000;
const NOW: Millis = Millis(1_800_000_000_000);

fn figures(sold: u32, held: u32, views: u64, hours: u64) -> Figures {
    Figures {
        at: NOW,
        starts_at: NOW + hours * HOUR,
        bounds: Bounds::default(),
        views,
        held,
        places: 1_000,
        sections: vec![SectionFigures {
            base: Cents(4_500),
            sold,
            places: 1_000,
        }],
    }
}

fn price(figures: &Figures) -> Price {
    figures.price(&figures.sections[0])
}

#[test]
fn prices_as_anybody_can_work_them_out() {
    // Half sold, nobody looking, a week ahead: every line is at zero.
    assert_eq!(price(&figures(500, 0, 0, 168)).amount, Cents(4_500));
    // Nothing sold, two months ahead: −20 % and −5 %.
    let empty = price(&figures(0, 0, 0, 1_440));
    assert_eq!((empty.multiplier, empty.amount), (7_500, Cents(3_375)));
    // Sold to 80 %, a tenth held, the day before: +40 %, +10 %, +5 %.
    let busy = price(&figures(800, 100, 0, 24));
    assert_eq!((busy.multiplier, busy.amount), (15_500, Cents(6_975)));
    // Twenty views tell as much as one place that is held.
    assert_eq!(price(&figures(800, 0, 2_000, 24)), busy);
}

/// What the head of the module says of holds that are paid.
#[test]
fn a_rush_that_is_over_no_longer_tells() {
    let rush = price(&figures(0, 100, 0, 168));
    let over = price(&figures(100, 0, 0, 168));
    assert_eq!((rush.multiplier, over.multiplier), (9_000, 8_400));
    let quiet = price(&figures(0, 0, 0, 168));
    assert!(over.multiplier > quiet.multiplier, "what was sold stays");
}

#[test]
fn looking_alone_moves_a_price_by_a_tenth_at_most() {
    let calm = price(&figures(800, 0, 0, 24));
    let crowd = price(&figures(800, 0, u64::MAX, 24));
    assert_eq!(crowd.multiplier - calm.multiplier, 1_000);
    let held = price(&figures(800, 200, u64::MAX, 24));
    assert!(
        held.multiplier > crowd.multiplier,
        "holding moves it further"
    );
}

#[test]
fn the_bounds_are_kept_and_named_as_a_reason() {
    let mut cheap = figures(0, 0, 0, 1_440);
    cheap.bounds.floor = 9_000;
    let kept = price(&cheap);
    assert_eq!((kept.multiplier, kept.reasons.bound), (9_000, 1_500));
    let mut dear = figures(1_000, 500, 0, 0);
    dear.bounds.ceiling = 12_000;
    let kept = price(&dear);
    assert_eq!((kept.multiplier, kept.reasons.bound), (12_000, -16_000));
}

#[test]
fn bounds_are_read_as_people_write_them() {
    let bounds = Bounds::from_multiples(Some(0.85), Some(2.5)).unwrap();
    assert_eq!((bounds.floor, bounds.ceiling), (8_500, 25_000));
    assert_eq!(Bounds::from_multiples(None, None), Ok(Bounds::default()));
    for floor in [0.69, 1.01, -1.0, 0.70001, f64::NAN, f64::INFINITY] {
        let refused = Bounds::from_multiples(Some(floor), None);
        assert_eq!(refused, Err(BoundsError::Floor), "{floor}");
    }
    for ceiling in [0.99, 3.01, 1e300, f64::NAN] {
        let refused = Bounds::from_multiples(None, Some(ceiling));
        assert_eq!(refused, Err(BoundsError::Ceiling), "{ceiling}");
    }
}

#[test]
fn a_log_fills_its_parts_one_after_the_other() {
    let mut log = PriceLog::begin(figures(0, 0, 0, 1));
    let mut stored = Vec::new();
    for _ in 1..100 {
        let (next, full) = log.with(figures(0, 0, 0, 1));
        stored.extend(full);
        log = next;
    }
    assert_eq!(stored.len(), 3);
    for (part, full) in (0..).zip(&stored) {
        assert_eq!((full.part(), full.points.len()), (part, 32));
    }
    assert_eq!((log.part(), log.points.len()), (3, 4));
    let all = stored.iter().chain([&log]).flat_map(|log| &log.points);
    assert!(all.map(|p| p.sequence).eq(0..100));
    assert_eq!(stored[1].point(40).unwrap().sequence, 40);
}

fn show() -> Show {
    Show {
        id: ShowId::from_bytes([1; 16]),
        event_id: EventId::from_bytes([2; 16]),
        venue_id: VenueId::from_bytes([3; 16]),
        owner: AccountId::from_bytes([4; 16]),
        starts_at: NOW + HOUR,
        on_sale_at: None,
        currency: Currency::parse("EUR").unwrap(),
        prices: vec![("A".into(), Cents(4_500)), ("B".into(), Cents(0))],
        pricing: Pricing::Fixed,
        hold_seconds: 600,
        max_tickets_per_buyer: 6,
        refund_policy: vec![],
        room: Room::default(),
        overbook_percent: 0,
        status: StoredStatus::OnSale,
        created: NOW,
        waitlist: Default::default(),
    }
}

#[test]
fn fixed_prices_begin_when_buyers_can_see_them() {
    let sold = show();
    let with = |change: fn(&mut Show)| {
        let mut changed = show();
        change(&mut changed);
        changed
    };
    let draft = with(|s| s.status = StoredStatus::Draft);
    let dynamic = with(|s| s.pricing = Pricing::Dynamic(Bounds::default()));
    let dearer = with(|s| s.prices[1].1 = Cents(1));
    let moved = with(|s| s.starts_at = NOW + 2 * HOUR);
    let cancelled = with(|s| s.status = StoredStatus::Cancelled);
    for (before, after, begin) in [
        (None, &sold, true),
        (None, &draft, false),
        (Some(&draft), &sold, true),
        (Some(&sold), &dearer, true),
        (Some(&dynamic), &sold, true),
        (Some(&sold), &dynamic, false),
        (Some(&dynamic), &dynamic, false),
        (Some(&sold), &sold, false),
        (Some(&sold), &moved, false),
        (Some(&sold), &cancelled, false),
    ] {
        assert_eq!(
            fixes_prices(before, after),
            begin,
            "{before:?} to {after:?}"
        );
    }
}

#[test]
fn a_fixed_point_has_the_prices_of_the_show_and_no_reasons() {
    let show = show();
    let (log, full) = PriceLog::default().with_fixed(&show, NOW);
    let point = log.latest().unwrap();
    assert_eq!((full, point.sequence, point.is_fixed()), (None, 0, true));
    assert_eq!(point.figures.prices(), show.section_prices());
    let price = point.price(&point.figures.sections[0]);
    let asked = (price.amount, price.multiplier, price.reasons);
    assert_eq!(asked, (Cents(4_500), PARITY, Reasons::default()));
    // Even if demand were to change nothing either.
    assert!(!log.stands(&show, Bounds::NO_CHANGE, NOW));
}

#[test]
fn the_times_of_a_log_never_run_backwards() {
    let (first, _) = PriceLog::default().with_fixed(&show(), NOW + 3_000);
    let (behind, _) = first.with_fixed(&show(), NOW);
    let at = |log: &PriceLog| log.latest().unwrap().figures.at;
    assert_eq!((at(&first), at(&behind)), (NOW + 3_000, NOW + 3_000));
}

fn any_figures() -> impl Strategy<Value = Figures> {
    let section = (0..2_000_000_000u64, any::<u32>(), 1..=100_000u32);
    let section = section.prop_map(|(base, sold, places)| SectionFigures {
        base: Cents(base),
        sold: sold % (places + 1),
        places,
    });
    let sections = prop::collection::vec(section, 1..5);
    let bounds = (LOWEST_FLOOR..=PARITY, PARITY..=HIGHEST_CEILING);
    (sections, bounds, any::<u64>(), any::<u32>(), any::<u64>()).prop_map(
        |(sections, (floor, ceiling), views, held, ahead)| {
            let places = sections.iter().map(|s| s.places).sum();
            Figures {
                at: NOW,
                starts_at: NOW + ahead % (20_000 * HOUR),
                bounds: Bounds { floor, ceiling },
                views,
                held: held % (places + 1),
                places,
                sections,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_price_stays_within_its_bounds_to_the_cent(figures in any_figures()) {
        for section in &figures.sections {
            let price = figures.price(section);
            let at = |multiple: u32| u128::from(section.base.0) * u128::from(multiple);
            let scaled = u128::from(price.amount.0) * u128::from(PARITY);
            // Rounding moves it by half a cent at most.
            let half = u128::from(PARITY) / 2;
            prop_assert!(scaled <= at(figures.bounds.ceiling) + half);
            prop_assert!(
                scaled + half >= at(figures.bounds.floor) || price.amount == MAX_PRICE
            );
        }
    }

    #[test]
    fn selling_a_place_never_makes_the_next_one_cheaper(figures in any_figures()) {
        for i in 0..figures.sections.len() {
            let before = figures.price(&figures.sections[i]);
            let mut section = figures.sections[i];
            section.sold = (section.sold + 1).min(section.places);
            prop_assert!(figures.price(&section).amount >= before.amount);
        }
    }

    #[test]
    fn more_interest_and_less_time_never_make_it_cheaper(figures in any_figures(), more in 1..1_000_000u64) {
        let before = figures.prices();
        let mut later = figures.clone();
        later.views = later.views.saturating_add(more);
        prop_assert!(later.prices().iter().zip(&before).all(|(a, b)| a >= b));
        let mut later = figures.clone();
        later.at = (later.at + more * 1_000).min(later.starts_at);
        prop_assert!(later.prices().iter().zip(&before).all(|(a, b)| a >= b));
    }

    #[test]
    fn the_reasons_add_up(figures in any_figures()) {
        for section in &figures.sections {
            let Price { multiplier, reasons, .. } = figures.price(section);
            let Reasons { occupancy, demand, time, bound } = reasons;
            let sum = i64::from(PARITY) + occupancy + demand + time + bound;
            prop_assert_eq!(sum, i64::from(multiplier));
        }
    }
}
