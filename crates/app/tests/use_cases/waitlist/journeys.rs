//! What somebody on a waitlist lives through.

use onsale_app::Error;
use onsale_app::ports::OfferPlaces;
use onsale_app::waitlist::{Looked, WaitFor, WaitlistStatus};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::waitlist::OFFER_MS;
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::waitlist::scene::{Scene, key, wait_for};

#[tokio::test]
async fn a_cancelled_order_becomes_an_offer_that_is_paid() {
    let scene = Scene::row(2).await;
    let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
    let bo = scene.buyer().await;
    let joined = scene.join(&bo, &wait_for(2)).await;
    assert_eq!(joined.position, 1);
    scene.wait(2_000).await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Waiting);
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    let view = scene.view(&bo, joined.id).await.unwrap();
    assert_eq!(view.status, WaitlistStatus::Offered);
    let offer = view.offer.unwrap();
    assert_eq!(offer.expires_at, scene.app.now() + OFFER_MS);
    let seats: Vec<_> = offer.seats.iter().map(|(seat, _)| seat.as_str()).collect();
    assert_eq!(seats, ["A-1-1", "A-1-2"]);
    assert_eq!(
        scene.told_of(joined.id),
        [format!("OfferMade:{}:1", joined.id)]
    );
    scene.pay(&bo, offer.hold_id).await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Taken);
    scene.recover().await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Taken);
    let left = scene.app.leave_waitlist(&bo, scene.show(), joined.id).await;
    assert!(matches!(left, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn a_lapsed_offer_goes_to_the_next_and_a_released_one_too() {
    let scene = Scene::row(1).await;
    let (ana, order) = scene.sold(&["A-1-1"]).await;
    let mut waiting = Vec::new();
    for n in 1..=4 {
        let buyer = scene.buyer().await;
        let joined = scene.join(&buyer, &wait_for(1)).await;
        assert_eq!(joined.position, n);
        scene.wait(1_000).await;
        waiting.push((buyer, joined.id));
    }
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    let [first, second, third, fourth] = &waiting[..] else {
        panic!("four wait");
    };
    assert_eq!(
        scene.status(&first.0, first.1).await,
        WaitlistStatus::Offered
    );
    let position = scene.view(&third.0, third.1).await.unwrap().position;
    assert_eq!(position, Some(2));
    // It lapses by its own message, in pieces of the longest delay of a queue.
    for _ in 0..4 {
        scene.wait(OFFER_MS / 4 + 3_000).await;
    }
    assert_eq!(
        scene.status(&first.0, first.1).await,
        WaitlistStatus::Lapsed
    );
    let lapsed = ["OfferMade", "OfferLapsed"].map(|kind| format!("{kind}:{}:1", first.1));
    assert_eq!(scene.told_of(first.1), lapsed);
    let hold = scene.offer(&second.0, second.1).await;
    scene
        .app
        .release_hold(&second.0, scene.show(), hold)
        .await
        .unwrap();
    scene.deliver().await;
    assert_eq!(
        scene.status(&second.0, second.1).await,
        WaitlistStatus::Lapsed
    );
    assert_eq!(
        scene.status(&third.0, third.1).await,
        WaitlistStatus::Offered
    );
    for _ in 0..2 {
        let left = scene
            .app
            .leave_waitlist(&third.0, scene.show(), third.1)
            .await;
        left.unwrap();
    }
    scene.deliver().await;
    let gone = scene.view(&third.0, third.1).await;
    assert!(matches!(gone, Err(Error::NotFound(_))));
    assert_eq!(
        scene.status(&fourth.0, fourth.1).await,
        WaitlistStatus::Offered
    );
}

#[tokio::test]
async fn a_waitlist_that_nobody_waits_on_is_closed_after_a_while() {
    let scene = Scene::row(1).await;
    scene.sold(&["A-1-1"]).await;
    let bo = scene.buyer().await;
    let joined = scene.join(&bo, &wait_for(1)).await;
    let mark = || async {
        let show = scene.app.store.read::<Show>(scene.show()).await.unwrap();
        show.unwrap().value.waitlist
    };
    scene.recover().await;
    assert_eq!(mark().await, Waitlist::Open);
    scene
        .app
        .leave_waitlist(&bo, scene.show(), joined.id)
        .await
        .unwrap();
    scene.world.clock.advance(61_000);
    scene.app.reconcile_open().await.unwrap();
    scene.deliver().await;
    assert!(matches!(mark().await, Waitlist::Closing(_)));
    scene.recover().await;
    assert_eq!(mark().await, Waitlist::Closed);
    let again = scene.join(&bo, &wait_for(1)).await;
    assert_ne!(again.id, joined.id);
    assert_eq!(mark().await, Waitlist::Open);
}

#[tokio::test]
async fn one_entry_a_head_and_keys_are_remembered() {
    let scene = Scene::row(6).await;
    let (ana, show) = (scene.buyer().await, scene.show());
    let join = |k: Option<&'static str>, wanted: WaitFor| {
        let (scene, ana) = (scene.clone(), ana);
        async move {
            let k = k.map(key);
            scene
                .app
                .join_waitlist(&ana, show, k.as_ref(), &wanted)
                .await
        }
    };
    let first = join(Some("k"), wait_for(2)).await.unwrap();
    assert_eq!(join(Some("k"), wait_for(2)).await, Ok(first));
    assert_eq!(join(None, wait_for(2)).await, Ok(first));
    let other = join(Some("k"), wait_for(3)).await;
    assert_eq!(other, Err(Error::IdempotencyMismatch));
    assert!(matches!(
        join(None, wait_for(3)).await,
        Err(Error::Conflict(_))
    ));
    scene
        .app
        .leave_waitlist(&ana, show, first.id)
        .await
        .unwrap();
    assert_eq!(
        join(Some("k"), wait_for(2)).await,
        Ok(first),
        "the first answer again"
    );
    let second = join(Some("l"), wait_for(3)).await.unwrap();
    assert_eq!(
        join(Some("k"), wait_for(2)).await,
        Ok(first),
        "even after the next"
    );
    assert_ne!(second.id, first.id);
    let stranger = scene.buyer().await;
    let read = scene.app.waitlist_entry(&stranger, show, second.id).await;
    assert!(matches!(read, Err(Error::NotFound(_))));
    let left = scene.app.leave_waitlist(&stranger, show, second.id).await;
    assert!(matches!(left, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn a_wish_has_limits() {
    let scene = Scene::with(Plan {
        rows: vec![3],
        floor: 4,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer().await;
    let join = |quantity, sections: &[&str], together| {
        let wanted = WaitFor {
            quantity,
            sections: sections.iter().map(|s| (*s).to_owned()).collect(),
            together,
        };
        let scene = scene.clone();
        async move {
            scene
                .app
                .join_waitlist(&ana, scene.show(), None, &wanted)
                .await
        }
    };
    assert!(matches!(join(0, &[], true).await, Err(Error::Invalid(_))));
    assert!(matches!(
        join(7, &[], true).await,
        Err(Error::LimitExceeded { .. })
    ));
    assert!(matches!(
        join(1, &["B"], true).await,
        Err(Error::Invalid(_))
    ));
    assert!(matches!(
        join(4, &["A"], true).await,
        Err(Error::Invalid(_))
    ));
    assert!(matches!(
        join(4, &["A"], false).await,
        Err(Error::Invalid(_))
    ));
    assert!(join(4, &["A", "Floor", "A"], false).await.is_ok());
    scene.world.clock.advance(40 * 24 * 3_600_000);
    let late = scene.stage.buyer(2).await.unwrap();
    let wanted = wait_for(1);
    let over = scene.app.join_waitlist(&late, scene.show(), None, &wanted);
    assert!(matches!(over.await, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn the_cap_counts_for_offers_and_those_behind_are_served() {
    let scene = Scene::with(Plan {
        rows: vec![4],
        floor: 0,
        cap: 2,
        ..Plan::default()
    })
    .await;
    let bo = scene.buyer().await;
    let own = scene.try_hold(&bo, "own", &["A-1-4"]).await.unwrap();
    let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
    scene.sold(&["A-1-3"]).await;
    let first = scene.join(&bo, &wait_for(2)).await;
    scene.wait(1_000).await;
    let cy = scene.buyer().await;
    let second = scene.join(&cy, &wait_for(2)).await;
    scene.wait(1_000).await;
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    assert_eq!(scene.status(&bo, first.id).await, WaitlistStatus::Waiting);
    assert_eq!(scene.status(&cy, second.id).await, WaitlistStatus::Offered);
    // Bo gives the other seat up and leaves room for two.
    let left = scene.app.leave_waitlist(&cy, scene.show(), second.id);
    scene
        .app
        .release_hold(&bo, scene.show(), own)
        .await
        .unwrap();
    left.await.unwrap();
    scene.deliver().await;
    assert_eq!(scene.status(&bo, first.id).await, WaitlistStatus::Offered);
}

#[tokio::test]
async fn a_cancelled_show_ends_the_wait() {
    let scene = Scene::row(2).await;
    let (ana, order) = scene.sold(&["A-1-1"]).await;
    scene.sold(&["A-1-2"]).await;
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let first = scene.join(&bo, &wait_for(1)).await;
    scene.wait(2_000).await;
    let second = scene.join(&cy, &wait_for(1)).await;
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    assert_eq!(scene.status(&bo, first.id).await, WaitlistStatus::Offered);
    let organiser = scene.stage.organiser().await.unwrap();
    scene
        .app
        .cancel_show(&organiser, scene.show())
        .await
        .unwrap();
    scene.recover().await;
    for (buyer, id) in [(&bo, first.id), (&cy, second.id)] {
        assert_eq!(scene.status(buyer, id).await, WaitlistStatus::Lapsed);
    }
    let wanted = wait_for(1);
    let joined = scene.app.join_waitlist(&bo, scene.show(), None, &wanted);
    assert!(matches!(joined.await, Err(Error::NotOnSale { .. })));
    let show = scene
        .app
        .store
        .read::<Show>(scene.show())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(show.value.waitlist, Waitlist::Closed);
}

#[tokio::test]
async fn one_pass_at_a_time_and_none_for_what_was_seen() {
    let scene = Scene::row(1).await;
    scene.sold(&["A-1-1"]).await;
    let bo = scene.buyer().await;
    scene.join(&bo, &wait_for(1)).await;
    let look = |since| {
        let (app, show_id) = (scene.app.clone(), scene.show());
        async move {
            app.offer_places(&OfferPlaces { show_id, since })
                .await
                .unwrap()
        }
    };
    let happened = scene.app.now();
    assert_eq!(look(happened).await, Looked::Passed { offers: 0 });
    assert_eq!(
        look(happened).await,
        Looked::Passed { offers: 0 },
        "clocks disagree"
    );
    scene.world.clock.advance(11_000);
    assert_eq!(look(scene.app.now()).await, Looked::Passed { offers: 0 });
    assert_eq!(look(happened).await, Looked::LeftAlone);
    // A worker dies and keeps the right for half a minute.
    scene
        .world
        .faults
        .arm(Some((3, onsale_test_support::Fault::DieBefore)));
    let now = scene.app.now();
    assert!(!Scene::until_death(async {
        look(now).await;
    }));
    scene.world.faults.arm(None);
    assert_eq!(look(now).await, Looked::Requeued);
    scene.world.clock.advance(30_000);
    assert_eq!(look(now).await, Looked::Passed { offers: 0 });
}

#[tokio::test]
async fn only_whoever_came_too_late_is_told_so() {
    let scene = Scene::row(2).await;
    let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let first = scene.join(&bo, &wait_for(1)).await.id;
    scene.wait(1_000).await;
    let second = scene.join(&cy, &wait_for(1)).await.id;
    scene.wait(2_000).await;
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    // One lets it go, the other buys it and cancels before any pass has seen that.
    let (released, bought) = (
        scene.offer(&bo, first).await,
        scene.offer(&cy, second).await,
    );
    let app = &scene.app;
    app.release_hold(&bo, scene.show(), released).await.unwrap();
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let pay = key("pay");
    let paid = app.check_out(&cy, scene.show(), bought, &pay, card);
    let order = paid.await.unwrap();
    scene.drive().await;
    scene.cancel(&cy, order).await;
    scene.deliver().await;
    for (caller, id) in [(&bo, first), (&cy, second)] {
        assert_eq!(scene.status(caller, id).await, WaitlistStatus::Lapsed);
        assert_eq!(scene.told_of(id), [format!("OfferMade:{id}:1")]);
    }
}

/// What fails for one entry keeps nobody else from an offer, and is tried again.
#[tokio::test]
async fn an_offer_that_cannot_be_settled_stops_no_other() {
    let scene = Scene::row(2).await;
    let (ana, order) = scene.sold(&["A-1-1"]).await;
    let (di, other) = scene.sold(&["A-1-2"]).await;
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let first = scene.join(&bo, &wait_for(1)).await.id;
    scene.wait(1_000).await;
    let second = scene.join(&cy, &wait_for(1)).await.id;
    scene.wait(2_000).await;
    scene.cancel(&ana, order).await;
    scene.deliver().await;
    assert_eq!(scene.status(&bo, first).await, WaitlistStatus::Offered);
    scene.world.clock.advance(OFFER_MS + 6_000);
    scene.cancel(&di, other).await;
    let message = OfferPlaces {
        show_id: scene.show(),
        since: scene.app.now(),
    };
    // The show, the right to look, the list of offers; then Bo's lapsed offer.
    scene.world.faults.arm(Some((4, Fault::FailBefore)));
    let looked = scene.app.offer_places(&message).await;
    let calls = scene.world.faults.calls();
    scene.world.faults.arm(None);
    assert_eq!(looked, Err(Error::Unavailable), "{calls:?}");
    assert_eq!(
        scene.status(&cy, second).await,
        WaitlistStatus::Offered,
        "{calls:?}"
    );
    scene.app.offer_places(&message).await.unwrap();
    assert_eq!(scene.status(&bo, first).await, WaitlistStatus::Lapsed);
}
