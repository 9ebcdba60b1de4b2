//! Prices that follow demand, and a hold that keeps its own.

use onsale_app::ports::{ShowNotes, Versioned};
use onsale_app::shows::ShowChange;
use onsale_domain::event::Event;
use onsale_domain::money::Cents;
use onsale_domain::order::Order;
use onsale_domain::payment::PaymentMethod;
use onsale_domain::pricing::{Bounds, POINT_MS, Pricing};
use onsale_domain::show::Show;
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;
use proptest::prelude::*;

use crate::holds::scene::{Scene, best, key, seats};

async fn dynamic() -> Scene {
    Scene::new(Plan {
        pricing: Pricing::Dynamic(Bounds::default()),
        cap: 50,
        ..Plan::default()
    })
    .await
}

#[tokio::test]
async fn a_hold_keeps_its_price_while_prices_rise() {
    let scene = dynamic().await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let first = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    assert_eq!(first.point, Some(0));
    assert!(first.total.amount.0 < 4_500, "nobody has bought anything");
    for wish in ["1", "2", "3", "4", "5"] {
        scene.clock.advance(1_500); // for a new map
        scene.hold(&ana, wish, &best(8)).await.unwrap();
    }
    let same = scene.hold(&bo, "k", &seats(&["A-2-40"])).await.unwrap();
    assert_eq!(same.point, Some(0), "prices stand for a minute");
    assert_eq!(same.total, first.total);
    scene.clock.advance(POINT_MS);
    let later = scene.hold(&bo, "l", &seats(&["A-2-39"])).await.unwrap();
    assert_eq!(later.point, Some(1));
    assert!(
        later.total.amount > first.total.amount,
        "41 places are held"
    );
    let again = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    assert_eq!((again.total, again.point), (first.total, Some(0)));
    let show = scene.stage.show.id;
    let read = scene.app.hold(&ana, show, first.hold_id).await.unwrap();
    assert_eq!((read.total, read.point), (first.total, Some(0)));
}

/// What may happen while somebody holds a place.
#[derive(Debug, Clone)]
enum Meanwhile {
    Minutes(u64),
    OthersHold(usize),
    OthersLetGo,
    Views(u8),
    /// The organiser sets another base price.
    Price(u64),
    Mode(Pricing),
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    let mode = prop_oneof![
        Just(Pricing::Fixed),
        Just(Pricing::Dynamic(Bounds::default()))
    ];
    prop_oneof![
        (1..=2u64).prop_map(Meanwhile::Minutes),
        (1..=8usize).prop_map(Meanwhile::OthersHold),
        Just(Meanwhile::OthersLetGo),
        (1..=40u8).prop_map(Meanwhile::Views),
        (100..=20_000u64).prop_map(Meanwhile::Price),
        mode.prop_map(Meanwhile::Mode),
    ]
}

/// Holds a place, lets all of it happen, and looks after each what the place costs.
async fn stays_the_same(all: Vec<Meanwhile>) {
    let scene = dynamic().await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let (app, show) = (&scene.app, scene.stage.show.id);
    let organiser = scene.stage.organiser().await.unwrap();
    let first = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    let mut others = Vec::new();
    for (n, this) in all.iter().enumerate() {
        let change = |change: ShowChange| async move {
            app.change_show(&organiser, show, &change).await.unwrap();
        };
        match this {
            Meanwhile::Minutes(minutes) => scene.clock.advance(minutes * 60_000),
            Meanwhile::OthersHold(quantity) => {
                let held = scene.hold(&bo, &n.to_string(), &best(*quantity)).await;
                others.extend(held.map(|held| held.hold_id));
            }
            Meanwhile::OthersLetGo => {
                for hold in others.drain(..) {
                    let _ = app.release_hold(&bo, show, hold).await;
                }
            }
            Meanwhile::Views(views) => {
                for _ in 0..*views {
                    app.show(show, None).await.unwrap();
                }
            }
            Meanwhile::Price(price) => {
                let sections = ["A", "Floor"].map(|name| (name.to_owned(), Cents(*price)));
                change(ShowChange {
                    prices: Some(sections.into()),
                    ..ShowChange::default()
                })
                .await;
            }
            Meanwhile::Mode(pricing) => {
                change(ShowChange {
                    pricing: Some(*pricing),
                    ..ShowChange::default()
                })
                .await;
            }
        }
        let read = app.hold(&ana, show, first.hold_id).await.unwrap();
        let again = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
        for seen in [read, again] {
            assert_eq!((&seen.seats, seen.total), (&first.seats, first.total));
            assert_eq!(seen.point, first.point, "{this:?}");
        }
    }
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let pay = key("pay");
    let order = app.check_out(&ana, show, first.hold_id, &pay, card);
    let order = app.store.read::<Order>(order.await.unwrap()).await.unwrap();
    assert_eq!(order.unwrap().value.total(), first.total);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // At most four times two minutes: the hold lasts ten.
    #[test]
    fn a_price_never_changes_during_a_hold(all in prop::collection::vec(meanwhile(), 1..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(stays_the_same(all));
    }
}

#[tokio::test]
async fn a_price_that_was_paid_can_be_made_again_from_the_log() {
    let scene = dynamic().await;
    let ana = scene.buyer(1).await;
    let show = scene.stage.show.id;
    let mut holds = Vec::new();
    for n in 0..40u32 {
        scene.clock.advance(POINT_MS);
        let held = scene.hold(&ana, &n.to_string(), &best(1)).await.unwrap();
        assert_eq!(held.point, Some(n));
        holds.push(held);
        let id = holds[n as usize].hold_id;
        scene.app.release_hold(&ana, show, id).await.unwrap();
    }
    for held in &holds {
        let point = scene.app.price_point(show, held.point.unwrap()).await;
        let figures = point.unwrap().figures;
        assert_eq!(figures.prices()[0], held.total.amount);
    }
    let mut cursor = None;
    let mut sequences = Vec::new();
    loop {
        let (_, page) = scene.app.price_history(show, cursor, 7).await.unwrap();
        sequences.extend(page.items.iter().map(|p| p.sequence));
        match page.next {
            Some(next) => cursor = Some(next.parse().unwrap()),
            None => break,
        }
    }
    assert!(sequences.into_iter().eq((0..40).rev()));
}

#[tokio::test]
async fn a_minute_has_one_point_though_replies_are_lost() {
    let scene = dynamic().await;
    for round in 0..34u8 {
        scene.clock.advance(POINT_MS);
        // Whatever was done, and not answered: the next one to ask goes on from there.
        let lost = (usize::from(round) % 4, Fault::FailAfter);
        let unlucky = scene.buyer(100 + round).await;
        scene.faults.arm(Some(lost));
        let _ = scene.hold(&unlucky, "k", &best(1)).await;
        scene.faults.arm(None);
        let buyer = scene.buyer(round).await;
        let held = scene.hold(&buyer, "k", &best(1)).await.unwrap();
        assert_eq!(held.point, Some(u32::from(round)));
    }
}

#[tokio::test]
async fn views_of_the_show_count_and_looks_at_the_log_do_not() {
    let scene = dynamic().await;
    let show = scene.stage.show.id;
    let minute = |scene: &Scene| scene.app.now().0 / 60_000;
    for _ in 0..10 {
        scene.clock.advance(5_000);
        scene.app.price_history(show, None, 1).await.unwrap();
    }
    let seen = async || {
        let minutes = minute(&scene) - 5..=minute(&scene);
        scene.store.views(show, minutes).await
    };
    assert_eq!(seen().await.unwrap(), 0);
    for _ in 0..2 {
        scene.app.show(show, None).await.unwrap();
        scene.clock.advance(5_000);
    }
    let owner = Some(scene.stage.show.owner);
    scene.app.show(show, owner).await.unwrap();
    assert_eq!(
        seen().await.unwrap(),
        2,
        "and not the look of its organiser"
    );
    for _ in 0..2 {
        scene.clock.advance(5_000);
        scene.app.show_uncounted(show, None).await.unwrap();
    }
    assert_eq!(seen().await.unwrap(), 2, "nor that of a program for a page");
}

#[tokio::test]
async fn fixed_prices_ask_nobody() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    assert_eq!((held.total.amount.0, held.point), (4_500, None));
    let log = scene.store.price_log(scene.stage.show.id).await;
    assert_eq!(log.unwrap(), None);
}

/// Another process makes the prices of the show fixed.
async fn fixed_elsewhere(scene: &Scene) {
    let store = &scene.app.store;
    let mut show = store
        .read::<Show>(scene.stage.show.id)
        .await
        .unwrap()
        .unwrap();
    let event = store
        .read::<Event>(show.value.event_id)
        .await
        .unwrap()
        .unwrap();
    let log = store.price_log(show.value.id).await.unwrap().unwrap();
    show.value.pricing = Pricing::Fixed;
    let (value, _) = log.value.with_fixed(&show.value, scene.app.now());
    let log = Versioned {
        version: log.version,
        value,
    };
    let notes = ShowNotes {
        prices: Some(&log),
        ..ShowNotes::default()
    };
    assert!(store.replace_show(&show, &event, notes).await.unwrap());
}

#[tokio::test]
async fn no_price_of_demand_comes_after_prices_were_fixed_elsewhere() {
    let scene = dynamic().await;
    let ana = scene.buyer(1).await;
    scene.hold(&ana, "1", &seats(&["A-1-1"])).await.unwrap();
    scene.clock.advance(POINT_MS - 500);
    scene.hold(&ana, "2", &seats(&["A-1-2"])).await.unwrap();
    fixed_elsewhere(&scene).await;
    // This process read the show half a second ago, and its last point is a minute old.
    scene.clock.advance(600);
    let held = scene.hold(&ana, "3", &seats(&["A-1-3"])).await.unwrap();
    assert_eq!((held.total.amount.0, held.point), (4_500, None));
    let show = scene.stage.show.id;
    let (_, log) = scene.app.price_history(show, None, 9).await.unwrap();
    let modes: Vec<_> = log.items.iter().map(|point| point.is_fixed()).collect();
    assert_eq!(modes, [true, false], "newest first");
}

#[tokio::test]
async fn a_point_that_another_process_made_just_now_is_found() {
    let scene = dynamic().await;
    let (ana, show) = (scene.buyer(1).await, scene.stage.show.id);
    scene.hold(&ana, "1", &seats(&["A-1-1"])).await.unwrap();
    fixed_elsewhere(&scene).await;
    let point = scene.app.price_point(show, 1).await.unwrap();
    assert_eq!((point.sequence, point.is_fixed()), (1, true));
}
