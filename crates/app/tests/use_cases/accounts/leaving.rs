//! Somebody deletes their account.

use onsale_app::holds::Wish;
use onsale_app::ports::List;
use onsale_app::{Caller, Error};
use onsale_domain::account::Role;
use onsale_domain::buyer::EntryState;
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::OrderId;
use onsale_domain::money::Currency;
use onsale_domain::order::{Attempt, Order, Stage as OrderStage};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::room::fan_code::{FanKeyId, FanSerial};
use onsale_domain::room::fans::Fan;
use onsale_domain::time::{CLOCK_SKEW_MS, Millis};
use onsale_test_support::stage::{Plan, Stage};
use onsale_test_support::{Fault, MemoryWorld};

use super::{IDLE_MS, NOW, drain, email, somebody, with_fault};

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

/// Ana holds a seat, has paid for another, and is a fan.
async fn ana(world: &MemoryWorld, stage: &Stage) -> (Caller, OrderId) {
    let app = &world.app;
    let ana = somebody(app, "ana", Role::Buyer).await;
    let show = stage.show.id;
    for seat in ["A-1-1", "A-1-2"] {
        let wish = Wish::Seats(vec![seat.to_owned()]);
        app.place_hold(&ana, show, &key(seat), &wish, None)
            .await
            .unwrap();
    }
    let buyer = app.store.buyer(show, ana.account).await.unwrap();
    let paid = buyer.entries[1].clone();
    let request = RequestHash::of(b"pay");
    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let attempt = Attempt::new(&key("anas-own-words"), request, method);
    let currency = Currency::parse("EUR").unwrap();
    let seat = |place| stage.layout.seat_id(place);
    let mut order = Order::begin(&paid, seat, show, ana.account, currency, attempt, NOW);
    order.stage = OrderStage::Confirmed;
    app.store.create(&order).await.unwrap();
    let locked = buyer.lock(paid.hold, 1, NOW).unwrap();
    app.store
        .replace_buyer(show, ana.account, &locked)
        .await
        .unwrap();
    let sold = locked.sell(paid.hold, 1, NOW).unwrap();
    app.store
        .replace_buyer(show, ana.account, &sold)
        .await
        .unwrap();
    let fan = Fan {
        email: email("ana"),
        key: FanKeyId(1),
        serial: FanSerial(0),
        registered: NOW,
    };
    app.store.add_fan(show, &fan).await.unwrap();
    (ana, order.id)
}

async fn leave(world: &MemoryWorld, ana: &Caller) -> Result<(), Error> {
    let app = &world.app;
    let found = app.store.credentials_of(ana.account).await?;
    let Some(found) = found else { return Ok(()) };
    let deletion = Deletion::begin(&found.account, None, app.now());
    app.store.begin_deletion(&deletion, found.epoch).await?;
    Ok(())
}

#[tokio::test]
async fn everything_is_tidied_up_whatever_dies_on_the_way() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
            let (ana, order) = ana(&world, &stage).await;
            leave(&world, &ana).await.unwrap();
            world.clock.advance(IDLE_MS);
            let work = async {
                world.app.reconcile_open().await?;
                for message in world.saga_queue.take_due() {
                    world.app.drive(&message).await?;
                }
                Ok::<_, Error>(())
            };
            let reached = with_fault(&world, nth, fault, work).await;
            world.clock.advance(IDLE_MS);
            world.app.reconcile_open().await.unwrap();
            drain(&world).await;
            check_gone(
                &world,
                &stage,
                &ana,
                order,
                &format!("{fault:?} at call {nth}"),
            )
            .await;
            if !reached {
                break;
            }
        }
    }
}

/// A fan keeps one registration per show, so this one is for another.
#[tokio::test]
async fn whoever_registers_anew_after_leaving_stays_registered() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let other = Stage::set(app, &Plan::default()).await.unwrap();
    let (ana, _) = ana(&world, &stage).await;
    leave(&world, &ana).await.unwrap();
    world.clock.advance(IDLE_MS);
    let anew = Fan {
        email: email("ana"),
        key: FanKeyId(1),
        serial: FanSerial(1),
        registered: app.now(),
    };
    app.store.add_fan(other.show.id, &anew).await.unwrap();
    app.reconcile_open().await.unwrap();
    drain(&world).await;
    let fans = app.store.fan_of(&email("ana"), None, 10).await.unwrap();
    let shows: Vec<_> = fans.items.iter().map(|(show, _)| *show).collect();
    assert_eq!(shows, [other.show.id]);
}

/// Registering proves no address: whoever takes somebody's and leaves again is told nothing
/// of their registrations, and removes none.
#[tokio::test]
async fn a_registration_from_before_an_account_is_neither_told_nor_removed() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let (before, since) = (
        Stage::set(app, &Plan::default()).await.unwrap(),
        Stage::set(app, &Plan::default()).await.unwrap(),
    );
    let fan = |registered: Millis| Fan {
        email: email("ana"),
        key: FanKeyId(1),
        serial: FanSerial(0),
        registered,
    };
    let first = NOW.saturating_sub(CLOCK_SKEW_MS);
    let earlier = fan(first.saturating_sub(1));
    app.store.add_fan(before.show.id, &earlier).await.unwrap();
    app.store.add_fan(since.show.id, &fan(first)).await.unwrap();
    let stranger = somebody(app, "ana", Role::Buyer).await;
    let export = app.export_account(&stranger, None).await.unwrap();
    assert_eq!(export.fan_registrations, [(since.show.id, first)]);
    leave(&world, &stranger).await.unwrap();
    world.clock.advance(IDLE_MS);
    app.reconcile_open().await.unwrap();
    drain(&world).await;
    let fans = app.store.fan_of(&email("ana"), None, 10).await.unwrap();
    assert_eq!(fans.items, [(before.show.id, earlier)]);
}

async fn check_gone(world: &MemoryWorld, stage: &Stage, ana: &Caller, order: OrderId, when: &str) {
    let (app, show) = (&world.app, stage.show.id);
    assert_eq!(app.check_session(ana).await, Err(Error::Unauthenticated));
    let deletion = app
        .store
        .read::<Deletion>(ana.account)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert!(
        !deletion.is_open() && deletion.email.is_none(),
        "{when}: {deletion:?}"
    );
    assert!(
        app.store
            .ids_in::<Deletion>(&List::OpenDeletions)
            .await
            .unwrap()
            .is_empty(),
        "{when}"
    );
    let buyer = app.store.buyer(show, ana.account).await.unwrap();
    let states: Vec<_> = buyer.entries.iter().map(|entry| entry.state).collect();
    assert_eq!(states, [EntryState::Released, EntryState::Sold], "{when}");
    let order = app.store.read::<Order>(order).await.unwrap().unwrap().value;
    assert_eq!(order.stage, OrderStage::Confirmed);
    let text = serde_json::to_string(&order).unwrap();
    assert!(
        !text.contains("anas-own-words") && !text.contains("pm_card"),
        "{when}: {text}"
    );
    let fans = app.store.fan_of(&email("ana"), None, 10).await.unwrap();
    assert!(fans.items.is_empty(), "{when}");
    // The seat that was held can be had by others.
    let bo = stage.buyer(2).await.unwrap();
    let wish = Wish::Seats(vec!["A-1-1".to_owned()]);
    app.place_hold(&bo, show, &key("k"), &wish, None)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_order_under_way_is_anonymised_once_it_is_not() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let (ana, order) = ana(&world, &stage).await;
    let mut stored = app.store.read::<Order>(order).await.unwrap().unwrap();
    stored.value.stage = OrderStage::AwaitingAction;
    app.store.replace(&stored).await.unwrap();
    leave(&world, &ana).await.unwrap();
    let sweep = async || {
        world.clock.advance(IDLE_MS);
        app.reconcile_open().await.unwrap();
        let messages = world.saga_queue.take_due();
        for message in messages {
            if matches!(message, onsale_app::ports::Drive::Deletion { .. }) {
                app.drive(&message).await.unwrap();
            }
        }
        app.store
            .read::<Deletion>(ana.account)
            .await
            .unwrap()
            .unwrap()
            .value
    };
    assert!(sweep().await.is_open());
    let mut stored = app.store.read::<Order>(order).await.unwrap().unwrap();
    assert_eq!(stored.value.method().unwrap().as_str(), "pm_card_visa");
    stored.value.stage = OrderStage::Confirmed;
    app.store.replace(&stored).await.unwrap();
    assert!(!sweep().await.is_open());
}

#[tokio::test]
async fn an_organiser_with_a_show_to_come_stays() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let request = RequestHash::of(b"r");
    let account = app
        .register(
            "org@example.org",
            "correct horse",
            "Org",
            Role::Organiser,
            None,
            request,
        )
        .await
        .unwrap();
    let (session, _) = app
        .log_in("org@example.org", "correct horse", None, None)
        .await
        .unwrap();
    let caller = Caller {
        account: account.id,
        session: session.id,
        role: Role::Organiser,
    };
    for wrong in [None, Some("wrong horse")] {
        let refused = app.delete_account(&caller, wrong).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    let stage = Stage::set_for(app, &Plan::default(), account.id)
        .await
        .unwrap();
    let refused = app.delete_account(&caller, Some("correct horse")).await;
    assert!(matches!(refused, Err(Error::Conflict(why)) if why.contains("not over")));
    app.check_session(&caller).await.unwrap();
    // For a day after it began it can be called off, by nobody but them.
    world.clock.advance(30 * 24 * 3_600_000);
    let begun = app.delete_account(&caller, Some("correct horse")).await;
    assert!(matches!(begun, Err(Error::Conflict(_))), "{begun:?}");
    let caller = stage.organiser().await.unwrap();
    app.cancel_show(&caller, stage.show.id).await.unwrap();
    drain(&world).await;
    app.delete_account(&caller, Some("correct horse"))
        .await
        .unwrap();
    assert_eq!(app.me(&caller).await, Err(Error::Unauthenticated));
    // The address is free, even for the same request.
    let again = app
        .register(
            "org@example.org",
            "correct horse",
            "Org",
            Role::Organiser,
            None,
            request,
        )
        .await
        .unwrap();
    assert_ne!(again.id, account.id);
}

#[tokio::test]
async fn an_organiser_stays_until_the_refunds_of_a_cancelled_show_are_done() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let org = somebody(app, "org", Role::Organiser).await;
    let stage = Stage::set_for(app, &Plan::default(), org.account).await;
    let show = stage.unwrap().show.id;
    app.cancel_show(&org, show).await.unwrap();
    let refused = app.delete_account(&org, None).await;
    assert!(matches!(refused, Err(Error::Conflict(why)) if why.contains("refunds")));
    app.check_session(&org).await.unwrap();
    drain(&world).await;
    app.delete_account(&org, None).await.unwrap();
    assert_eq!(app.me(&org).await, Err(Error::Unauthenticated));
}
