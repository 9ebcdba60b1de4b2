use onsale_app::Error;
use onsale_app::shows::ShowChange;
use onsale_domain::room::beacon::BeaconSetting;
use onsale_domain::show::{RefundStep, RoomMode, Show, ShowStatus, default_refund_policy};

use super::*;

fn beacon(name: &str, value: Option<&str>) -> BeaconSetting {
    BeaconSetting {
        name: name.to_owned(),
        value: value.map(|text| text.parse().unwrap()),
    }
}

#[tokio::test]
async fn a_new_show_has_its_defaults_and_an_all_free_map() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let id = make_show(
        &world,
        &owner,
        event,
        NewShow {
            overbook_percent: 5,
            ..evening()
        },
    )
    .await;
    let map = world.store.map(id).await.unwrap().unwrap();
    assert_eq!((map.version, map.counts().free), (NOW, 112));
    let view = world.app.show(id, None).await.unwrap();
    assert_eq!(view.status, ShowStatus::OnSale);
    let show = &view.show;
    assert_eq!((show.hold_seconds, show.max_tickets_per_buyer), (600, 6));
    assert_eq!(
        (show.room.mode, show.refund_policy.clone()),
        (RoomMode::Off, default_refund_policy())
    );
    let names: Vec<_> = show.prices.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["A", "Floor"]);
    world.clock.advance(7 * DAY);
    assert_eq!(
        world.app.show(id, None).await.unwrap().status,
        ShowStatus::Completed
    );
    let event = world.app.event(event, None).await.unwrap();
    assert_eq!(event.status, ShowStatus::Completed);
}

fn policy(steps: &[(u32, u8)]) -> Vec<RefundStep> {
    let step = |&(hours_before, percent)| RefundStep {
        hours_before,
        percent,
    };
    steps.iter().map(step).collect()
}

/// Nobody says in which order the steps have to come.
#[tokio::test]
async fn the_steps_of_a_refund_policy_are_put_in_order() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let given = policy(&[(0, 0), (24, 100), (4, 50)]);
    let mut show = evening();
    show.refund_policy = Some(given.clone());
    let show = make_show(&world, &owner, event, show).await;
    let stored = async || {
        let show = world.app.store.read::<Show>(show).await.unwrap();
        show.unwrap().value.refund_policy
    };
    assert_eq!(stored().await, default_refund_policy());
    let change = |refund_policy| ShowChange {
        refund_policy: Some(refund_policy),
        ..ShowChange::default()
    };
    for (given, kept) in [
        (vec![], vec![]),
        (policy(&[(1, 10), (2, 20)]), policy(&[(2, 20), (1, 10)])),
    ] {
        let changed = world.app.change_show(&owner, show, &change(given)).await;
        changed.unwrap();
        assert_eq!(stored().await, kept);
    }
}

#[tokio::test]
async fn settings_out_of_range_are_refused() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let spoil: [fn(&mut NewShow); 17] = [
        |s| s.starts_at = NOW,
        |s| s.starts_at = NOW + 37_000 * DAY,
        |s| s.on_sale_at = Some(s.starts_at + 1),
        |s| s.hold_seconds = Some(1),
        |s| s.hold_seconds = Some(901),
        |s| s.max_tickets_per_buyer = Some(51),
        |s| s.refund_policy = Some(policy(&[(24, 100), (4, 50), (24, 100)])),
        |s| s.refund_policy = Some(policy(&[(24, 50), (4, 100)])),
        |s| s.refund_policy = Some(policy(&[(1, 10); 11])),
        |s| {
            s.refund_policy = Some(vec![RefundStep {
                hours_before: 1,
                percent: 101,
            }])
        },
        |s| s.overbook_percent = 6,
        |s| s.currency = Currency::parse("KWD").unwrap(),
        |s| s.room.pass_seconds = Some(9),
        |s| s.room.opens_at = Some(Some(s.starts_at + 1)),
        |s| s.room.beacon = Some(Some(beacon(" ", None))),
        |s| s.prices.retain(|section, _| section != "A"),
        |s| s.prices.extend([("B".into(), Cents(1))]),
    ];
    for (n, spoil) in spoil.iter().enumerate() {
        let mut show = evening();
        spoil(&mut show);
        let made = world
            .app
            .create_show(&owner, event, show, None, request("x"))
            .await;
        assert!(matches!(made, Err(Error::Invalid(_))), "{n}: {made:?}");
    }
}

#[tokio::test]
async fn a_foreign_organiser_neither_adds_nor_changes_a_show() {
    let (world, owner, foreign) = (world(), organiser(1), organiser(2));
    let event = make_event(&world, &owner).await;
    let show = make_show(&world, &owner, event, evening()).await;
    let added = world
        .app
        .create_show(&foreign, event, evening(), None, request("x"))
        .await;
    assert!(matches!(added, Err(Error::Forbidden(_))));
    let changed = world
        .app
        .change_show(&foreign, show, &ShowChange::default())
        .await;
    assert!(matches!(changed, Err(Error::Forbidden(_))));
    let nowhere = EventId::from_bytes([9; 16]);
    let missing = world
        .app
        .create_show(&owner, nowhere, evening(), None, request("x"))
        .await;
    assert_eq!(missing, Err(Error::NotFound("event")));
}

#[tokio::test]
async fn a_repeated_creation_gets_its_first_answer_even_after_the_show_began() {
    let (world, owner, key) = (world(), organiser(1), key("k"));
    let event = make_event(&world, &owner).await;
    let create = |body| {
        world
            .app
            .create_show(&owner, event, evening(), Some(&key), request(body))
    };
    let first = create("one").await.unwrap();
    world.clock.advance(8 * DAY);
    assert_eq!(create("one").await, Ok(first));
    assert_eq!(create("two").await, Err(Error::IdempotencyMismatch));
    assert_eq!(world.app.event(event, None).await.unwrap().shows.len(), 1);
    assert_eq!(world.store.map(first).await.unwrap().unwrap().version, NOW);
}

#[tokio::test]
async fn a_change_reaches_the_show_and_its_event() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let id = make_show(&world, &owner, event, evening()).await;
    let prices = [("A".into(), Cents(900)), ("Floor".into(), Cents(700))].into();
    let change = ShowChange {
        starts_at: Some(NOW + 9 * DAY),
        on_sale_at: Some(Some(NOW + DAY)),
        prices: Some(prices),
        hold_seconds: Some(2),
        ..ShowChange::default()
    };
    world.app.change_show(&owner, id, &change).await.unwrap();
    let show = world.app.show(id, None).await.unwrap().show;
    assert_eq!((show.hold_seconds, show.on_sale_at), (2, Some(NOW + DAY)));
    let summary = world.app.event(event, None).await.unwrap().shows[0]
        .summary
        .clone();
    assert_eq!(
        (summary.starts_at, summary.from_price.amount),
        (NOW + 9 * DAY, Cents(700))
    );
    let clear = ShowChange {
        on_sale_at: Some(None),
        ..ShowChange::default()
    };
    let view = world.app.change_show(&owner, id, &clear).await.unwrap();
    assert_eq!((view.show.on_sale_at, view.show.hold_seconds), (None, 2));
}

#[tokio::test]
async fn the_currency_is_fixed_once_published_and_comes_with_prices() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let id = make_show(
        &world,
        &owner,
        event,
        NewShow {
            draft: true,
            ..evening()
        },
    )
    .await;
    let dollars = ShowChange {
        currency: Currency::parse("USD"),
        ..ShowChange::default()
    };
    let bare = world.app.change_show(&owner, id, &dollars).await;
    assert!(matches!(bare, Err(Error::Invalid(_))));
    let priced = ShowChange {
        prices: Some(evening().prices),
        ..dollars.clone()
    };
    world.app.change_show(&owner, id, &priced).await.unwrap();
    let publish = ShowChange {
        publish: true,
        ..ShowChange::default()
    };
    world.app.change_show(&owner, id, &publish).await.unwrap();
    world.app.change_show(&owner, id, &priced).await.unwrap();
    let euros = ShowChange {
        currency: Currency::parse("EUR"),
        ..priced
    };
    let fixed = world.app.change_show(&owner, id, &euros).await;
    assert!(matches!(fixed, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn a_show_that_is_over_does_not_change_and_a_late_draft_is_not_published() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let over = make_show(&world, &owner, event, evening()).await;
    let draft = make_show(
        &world,
        &owner,
        event,
        NewShow {
            draft: true,
            ..evening()
        },
    )
    .await;
    world.clock.advance(7 * DAY);
    let publish = ShowChange {
        publish: true,
        ..ShowChange::default()
    };
    let changed = world.app.change_show(&owner, over, &publish).await;
    assert!(matches!(changed, Err(Error::Conflict(_))));
    let late = world.app.change_show(&owner, draft, &publish).await;
    assert!(matches!(late, Err(Error::Invalid(_))));
    let moved = ShowChange {
        starts_at: Some(NOW + 20 * DAY),
        ..publish
    };
    assert!(world.app.change_show(&owner, draft, &moved).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn shows_created_at_once_are_all_in_their_event() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let app = world.app.clone();
            tokio::spawn(async move {
                app.create_show(&owner, event, evening(), None, request("show"))
                    .await
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(error) => assert!(matches!(error, Error::Conflict(_)), "{error}"),
        }
    }
    assert!(made > 0);
    assert_eq!(
        world.app.event(event, None).await.unwrap().shows.len(),
        made
    );
}

#[tokio::test]
async fn a_beacon_is_named_then_known_and_then_stays() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let id = make_show(&world, &owner, event, evening()).await;
    let set = async |wanted: Option<BeaconSetting>| {
        let room = RoomChange {
            beacon: Some(wanted),
            ..RoomChange::default()
        };
        let change = ShowChange {
            room,
            ..ShowChange::default()
        };
        let changed = world.app.change_show(&owner, id, &change).await;
        changed.map(|view| view.show.room.beacon.clone())
    };
    let known = beacon("drand 7", Some("0aff"));
    let early = set(Some(known.clone())).await;
    assert!(matches!(early, Err(Error::Conflict(_))), "{early:?}");
    world.clock.advance(3_000);
    for wanted in [
        Some(beacon("drand 6", None)),
        None,
        Some(beacon("drand 7", None)),
        Some(known.clone()),
        Some(known.clone()),
    ] {
        assert_eq!(set(wanted.clone()).await, Ok(wanted));
    }
    for wanted in [
        None,
        Some(beacon("drand 7", None)),
        Some(beacon("drand 7", Some("0afe"))),
        Some(beacon("drand 8", Some("0aff"))),
    ] {
        let refused = set(wanted).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    }
    // Nor is a lottery called under a value that everybody knows.
    let lottery = RoomChange {
        opens_at: Some(Some(world.app.now() + 60_000)),
        ..RoomChange::default()
    };
    let change = ShowChange {
        room: lottery,
        ..ShowChange::default()
    };
    let refused = world.app.change_show(&owner, id, &change).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    // Other settings of the room still change.
    let change = ShowChange {
        room: RoomChange {
            mode: Some(RoomMode::Queue),
            ..RoomChange::default()
        },
        ..ShowChange::default()
    };
    let view = world.app.change_show(&owner, id, &change).await.unwrap();
    assert_eq!(view.show.room.beacon, Some(known));
    assert_eq!(view.show.room.mode, RoomMode::Queue);
}
