//! The ways an order can go when nothing breaks.

use onsale_app::Error;
use onsale_domain::announcement::News;
use onsale_domain::block::Cell;
use onsale_domain::buyer::{EntryState, PAY_MS};
use onsale_domain::order::{OrderStatus, Stage};
use onsale_domain::payment::PaymentState;
use onsale_test_support::stage::Plan;

use crate::checkout::scene::{Scene, key, method};

fn kinds(scene: &Scene) -> Vec<&'static str> {
    let told = scene.world.bus.told();
    told.iter().map(|a| a.news.kind()).collect()
}

#[tokio::test]
async fn a_paid_hold_becomes_tickets() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1", "A-1-2"]).await;
    let id = scene
        .check_out(hold.hold_id, "pay", "pm_card_visa")
        .await
        .unwrap();
    assert_eq!(id.as_bytes(), hold.hold_id.as_bytes());
    assert_eq!(scene.order(id).await.status(), OrderStatus::Pending);
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    scene.assert_consistent(id, "paid").await;
    assert_eq!(kinds(&scene), ["OrderConfirmed"]);
    let tickets = scene.app.tickets_of(&scene.ana, id).await.unwrap();
    let seats: Vec<_> = tickets.iter().map(|t| t.seat.as_str()).collect();
    assert_eq!(seats, ["A-1-1", "A-1-2"]);
}

#[tokio::test]
async fn a_checkout_locks_the_hold_while_its_buyer_waits() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    scene
        .check_out(hold.hold_id, "pay", "pm_card_visa")
        .await
        .unwrap();
    let entry = scene.entry(&scene.ana, hold.hold_id).await;
    assert_eq!(entry.state, EntryState::Paying);
    let paying = Cell {
        expiry: hold.expires_at + PAY_MS,
        hold: hold.hold_id,
    };
    assert_eq!(scene.cells_of(hold.hold_id).await, [paying]);
}

#[tokio::test]
async fn a_lapsed_hold_is_refused_at_once_and_nobody_is_charged() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    scene.world.clock.advance(600_000);
    for _ in 0..2 {
        let refused = scene.check_out(hold.hold_id, "pay", "pm_card_visa").await;
        assert_eq!(refused, Err(Error::HoldExpired));
    }
    scene.settle().await;
    assert!(scene.payments().await.is_empty());
}

#[tokio::test]
async fn the_same_key_gives_the_same_order_and_another_waits_for_the_first() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let first = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    assert_eq!(
        scene.check_out(hold, "pay", "pm_card_visa").await,
        Ok(first)
    );
    assert_eq!(
        scene.check_out(hold, "pay", "pm_card_chargeDeclined").await,
        Err(Error::IdempotencyMismatch)
    );
    assert_eq!(
        scene.check_out(hold, "other", "pm_card_visa").await,
        Err(Error::RequestInFlight)
    );
    scene.settle().await;
    assert_eq!(
        scene.check_out(hold, "pay", "pm_card_visa").await,
        Ok(first)
    );
    assert!(matches!(
        scene.check_out(hold, "other", "pm_card_visa").await,
        Err(Error::Conflict(_))
    ));
    scene.assert_consistent(first, "asked five times").await;
}

#[tokio::test]
async fn a_declined_card_leaves_the_hold_for_another() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let id = scene
        .check_out(hold, "one", "pm_card_chargeDeclined")
        .await
        .unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Declined);
    assert_eq!(scene.entry(&scene.ana, hold).await.state, EntryState::Held);
    scene.assert_consistent(id, "declined").await;
    assert_eq!(scene.check_out(hold, "two", "pm_card_visa").await, Ok(id));
    assert_eq!(scene.order(id).await.status(), OrderStatus::Pending);
    scene.settle().await;
    scene.assert_consistent(id, "second card").await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert_eq!(kinds(&scene), ["OrderDeclined", "OrderConfirmed"]);
}

#[tokio::test]
async fn declines_every_few_minutes_do_not_hold_a_seat_for_ever() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    let mut attempts = 0;
    loop {
        let k = format!("pay{attempts}");
        match scene
            .check_out(hold.hold_id, &k, "pm_card_chargeDeclined")
            .await
        {
            Ok(_) => attempts += 1,
            Err(refused) => {
                assert_eq!(refused, Error::HoldExpired);
                break;
            }
        }
        scene.settle().await;
        scene.world.clock.advance(120_000);
    }
    assert_eq!(attempts, 8, "fifteen minutes, one attempt every two");
    scene.world.clock.advance(10_000);
    let ben = scene.show.buyer(2).await.unwrap();
    scene.hold(&ben, "h", &["A-1-1"]).await;
    // The message about the lapse comes after somebody else has the seat.
    for message in scene.world.queue.take_due() {
        scene.app.expire_hold(&message).await.unwrap();
    }
    assert_eq!(
        scene.entry(&scene.ana, hold.hold_id).await.state,
        EntryState::Expired
    );
    assert_eq!(scene.cells().await.len(), 1);
}

#[tokio::test]
async fn a_declined_hold_lapses_like_any_other_and_gives_the_cap_back() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    scene
        .check_out(hold.hold_id, "one", "pm_card_chargeDeclined")
        .await
        .unwrap();
    scene.settle().await;
    scene.world.clock.advance(600_000 + PAY_MS + 6_000);
    for _ in 0..3 {
        for message in scene.world.queue.take_due() {
            scene.app.expire_hold(&message).await.unwrap();
        }
        scene.world.clock.advance(1_000);
    }
    assert_eq!(
        scene.entry(&scene.ana, hold.hold_id).await.state,
        EntryState::Expired
    );
    assert_eq!(scene.cells().await, []);
}

#[tokio::test]
async fn three_d_secure_waits_for_the_buyer_and_goes_on() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_requires_action").await;
    scene.settle().await;
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::RequiresAction);
    assert!(order.action.is_some());
    let confirm = || scene.app.confirm_action(&scene.ana, id);
    assert_eq!(confirm().await, Ok(OrderStatus::Pending));
    scene.settle().await;
    scene.assert_consistent(id, "confirmed with the bank").await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    // Whoever did not hear the answer asks again.
    assert_eq!(confirm().await, Ok(OrderStatus::Confirmed));
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert_eq!(confirm().await, Ok(scene.order(id).await.status()));
    scene.assert_consistent(id, "confirmed again").await;
}

#[tokio::test]
async fn an_action_that_nobody_waits_for_is_not_confirmed() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_requires_action").await;
    let refused = || async {
        let answer = scene.app.confirm_action(&scene.ana, id).await;
        matches!(answer, Err(Error::Conflict(_)))
    };
    assert!(refused().await, "nothing was asked for yet");
    scene.settle().await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    assert!(refused().await, "the order is called off");
    scene.settle().await;
    assert!(refused().await, "the payment is voided");
    scene.assert_consistent(id, "never confirmed").await;
    let other = Scene::new().await;
    let paid = other.paid("pay", &["A-1-1"]).await;
    let answer = other.app.confirm_action(&other.ana, paid).await;
    assert!(matches!(answer, Err(Error::Conflict(_))), "{answer:?}");
}

#[tokio::test]
async fn three_d_secure_that_never_comes_ends_with_the_hold() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_requires_action").await;
    scene.settle().await;
    scene.world.clock.advance(600_000);
    scene.app.reconcile_open().await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::RequiresAction);
    scene.world.clock.advance(PAY_MS);
    scene.app.reconcile_open().await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    scene.assert_consistent(id, "never confirmed").await;
}

#[tokio::test]
async fn a_capture_that_fails_charges_nobody_and_frees_the_seats() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_capture_fails").await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    scene.assert_consistent(id, "capture fails").await;
    assert_eq!(scene.payments().await[0].state, PaymentState::Voided);
    assert_eq!(kinds(&scene), ["OrderCancelled", "SeatsReturned"]);
}

#[tokio::test]
async fn a_lost_reply_of_the_provider_is_one_charge() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_lost_reply").await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    scene.assert_consistent(id, "lost reply").await;
}

#[tokio::test]
async fn a_place_without_a_price_needs_no_payment() {
    let plan = Plan {
        price: 0,
        ..Plan::default()
    };
    let scene = Scene::with(plan).await;
    let id = scene.started("pm_card_visa").await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert!(scene.payments().await.is_empty());
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Cancelled);
    assert_eq!(scene.cells().await, []);
}

#[tokio::test]
async fn an_order_is_its_buyers_alone() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.settle().await;
    let ben = scene.show.buyer(2).await.unwrap();
    let show = scene.show.show.id;
    let app = &scene.app;
    assert_eq!(app.order(&ben, id).await, Err(Error::NotFound("order")));
    assert_eq!(
        app.cancel_order(&ben, id).await,
        Err(Error::NotFound("order"))
    );
    assert_eq!(
        app.tickets_of(&ben, id).await,
        Err(Error::NotFound("order"))
    );
    let paid = app
        .check_out(&ben, show, hold, &key("k"), method("pm_card_visa"))
        .await;
    assert_eq!(paid, Err(Error::NotFound("hold")));
    assert!(app.orders(&ben, None, 10).await.unwrap().items.is_empty());
    assert_eq!(
        app.orders(&scene.ana, None, 10).await.unwrap().items.len(),
        1
    );
}

#[tokio::test]
async fn a_provider_that_stays_away_parks_the_order_and_an_operator_lets_it_go_on() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.settle().await;
    // The refund finds nobody at the provider.
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.world.faults.fail_always("refund", true);
    scene.settle().await;
    let order = scene.order(id).await;
    assert_eq!(
        (order.status(), order.stage),
        (OrderStatus::Stuck, Stage::Refunding)
    );
    let stuck = scene
        .world
        .bus
        .told()
        .into_iter()
        .filter(|a| matches!(&a.news, News::SagaStuck { step, .. } if step == "refund"));
    assert_eq!(stuck.count(), 1);
    let report = scene.app.reconcile_open().await.unwrap();
    assert_eq!((report.stuck_orders, report.driven_again), (1, 0));
    scene.world.faults.fail_always("refund", false);
    assert!(scene.app.resume_order(id).await.unwrap());
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    scene.assert_consistent(id, "resumed").await;
    assert!(!scene.app.resume_order(id).await.unwrap());
}
