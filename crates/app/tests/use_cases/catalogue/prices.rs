//! The price log of a show whose prices its organiser sets.

use onsale_app::Caller;
use onsale_app::shows::{NewShow, ShowChange};
use onsale_domain::ids::ShowId;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::pricing::{Bounds, PricePoint, Pricing};
use onsale_domain::time::Millis;
use onsale_test_support::MemoryWorld;

use crate::catalogue::{NOW, evening, key, make_event, make_show, organiser, request, world};

const MINUTE: u64 = 60_000;

fn prices(a: u64, floor: u64) -> ShowChange {
    let prices = [("A".into(), Cents(a)), ("Floor".into(), Cents(floor))];
    ShowChange {
        prices: Some(prices.into()),
        ..ShowChange::default()
    }
}

fn mode(pricing: Pricing) -> ShowChange {
    ShowChange {
        pricing: Some(pricing),
        ..ShowChange::default()
    }
}

/// Changes the show a minute after the last change of it.
async fn change(world: &MemoryWorld, owner: &Caller, show: ShowId, change: ShowChange) {
    world.clock.advance(MINUTE);
    world.app.change_show(owner, show, &change).await.unwrap();
}

/// Every point, oldest first.
async fn points(world: &MemoryWorld, show: ShowId) -> Vec<PricePoint> {
    let (_, page) = world.app.price_history(show, None, 100).await.unwrap();
    page.items.into_iter().rev().collect()
}

/// From when on fixed prices were asked, and which ones.
fn fixed(point: &PricePoint) -> (Millis, bool, Vec<u64>) {
    let figures = &point.figures;
    let prices = figures.prices().iter().map(|price| price.0).collect();
    (figures.at, point.is_fixed(), prices)
}

#[tokio::test]
async fn every_fixed_price_is_a_point_of_the_log() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let show = make_show(&world, &owner, event, evening()).await;
    change(&world, &owner, show, prices(5_000, 2_000)).await;
    // The same prices again, and a change of something else, are no new prices.
    change(&world, &owner, show, prices(5_000, 2_000)).await;
    let moved = ShowChange {
        starts_at: Some(NOW + 50 * 24 * 3_600_000),
        ..ShowChange::default()
    };
    change(&world, &owner, show, moved).await;
    let dearer = ShowChange {
        starts_at: Some(NOW + 51 * 24 * 3_600_000),
        ..prices(6_000, 2_500)
    };
    change(&world, &owner, show, dearer).await;
    let points = points(&world, show).await;
    let points: Vec<_> = points.iter().map(fixed).collect();
    assert_eq!(
        points,
        [
            (NOW, true, vec![4_500, 2_000]),
            (NOW + MINUTE, true, vec![5_000, 2_000]),
            (NOW + 4 * MINUTE, true, vec![6_000, 2_500]),
        ]
    );
}

#[tokio::test]
async fn the_log_says_when_prices_began_and_ceased_to_follow_demand() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let show = make_show(&world, &owner, event, evening()).await;
    change(
        &world,
        &owner,
        show,
        mode(Pricing::Dynamic(Bounds::default())),
    )
    .await;
    // While prices follow demand, a new base is in the next point of demand.
    change(&world, &owner, show, prices(5_000, 2_000)).await;
    change(&world, &owner, show, mode(Pricing::Fixed)).await;
    change(
        &world,
        &owner,
        show,
        mode(Pricing::Dynamic(Bounds::default())),
    )
    .await;
    let points = points(&world, show).await;
    let modes: Vec<_> = points.iter().map(PricePoint::is_fixed).collect();
    assert_eq!(modes, [true, false, false, true, false]);
    assert_eq!(
        fixed(&points[3]),
        (NOW + 3 * MINUTE, true, vec![5_000, 2_000])
    );
    let times = points.iter().map(|point| point.figures.at);
    assert!(times.eq((0..5).map(|n| NOW + n * MINUTE)));
    assert!(points.iter().map(|point| point.sequence).eq(0..5));
}

#[tokio::test]
async fn a_draft_has_no_price_that_a_buyer_saw() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let draft = NewShow {
        draft: true,
        ..evening()
    };
    let show = make_show(&world, &owner, event, draft).await;
    let dollars = ShowChange {
        currency: Currency::parse("USD"),
        ..prices(5_000, 2_000)
    };
    change(&world, &owner, show, dollars).await;
    let publish = ShowChange {
        publish: true,
        ..ShowChange::default()
    };
    change(&world, &owner, show, publish).await;
    let points = points(&world, show).await;
    let points: Vec<_> = points.iter().map(fixed).collect();
    assert_eq!(points, [(NOW + 2 * MINUTE, true, vec![5_000, 2_000])]);
}

#[tokio::test]
async fn a_log_of_fixed_prices_goes_on_in_another_part() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let show = make_show(&world, &owner, event, evening()).await;
    for n in 0..40 {
        change(&world, &owner, show, prices(n, n)).await;
    }
    let points = points(&world, show).await;
    assert!(points.iter().map(|point| point.sequence).eq(0..41));
    assert_eq!(fixed(&points[33]).2, [32, 32]);
}

#[tokio::test]
async fn a_show_that_is_created_twice_has_one_point() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let create = || async {
        let (key, body) = (key("k"), request("x"));
        let made = world
            .app
            .create_show(&owner, event, evening(), Some(&key), body);
        made.await.unwrap()
    };
    let show = create().await;
    world.clock.advance(MINUTE);
    assert_eq!(create().await, show);
    assert_eq!(points(&world, show).await.len(), 1);
}
