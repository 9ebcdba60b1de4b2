//! Tickets that are put back: sold to those who wait, and kept by those who change their
//! mind.

use onsale_app::Error;
use onsale_app::waitlist::WaitlistStatus;
use onsale_domain::account::Email;
use onsale_domain::announcement::News;
use onsale_domain::event::Event;
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::{Order, OrderStatus};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::pricing::{Bounds, POINT_MS, Pricing};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::Show;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::OFFER_MS;
use onsale_test_support::stage::Plan;

use crate::waitlist::returns_scene::{Return, check};
use crate::waitlist::scene::{Scene, key, wait_for};

#[tokio::test]
async fn a_ticket_is_kept_until_it_is_resold_and_paid_back_then() {
    let life = Return::offered().await;
    let scene = &life.scene;
    assert_eq!(life.status().await, WaitlistStatus::Offered);
    assert!(life.ticket().await.is_valid(), "it is Ana's still");
    life.check("before it is paid").await;
    let bought = scene.pay(&life.bo, life.hold()).await;
    assert_eq!(life.status().await, WaitlistStatus::Taken);
    let (sold, new) = (life.order_of(life.order).await, life.order_of(bought).await);
    assert_eq!(new.status(), OrderStatus::Confirmed);
    assert_eq!(new.seat_ids(), ["A-1-1"]);
    assert!(life.ticket().await.is_resold_to(bought));
    assert_eq!(sold.status(), OrderStatus::Confirmed, "one is left");
    assert_eq!(sold.repaid_amount(), Cents(4_500));
    life.check("after").await;
    let told = scene.world.bus.told();
    let resold = told.iter().filter_map(|told| match &told.news {
        News::TicketResold(news) => Some((news.account_id, news.refund.amount)),
        _ => None,
    });
    let resold: Vec<_> = resold.collect();
    assert_eq!(resold, [(life.ana.account, Cents(4_500))]);
    // The rest of the order is cancelled for the rest of the money.
    let cancelled = scene.app.cancel_order(&life.ana, life.order).await.unwrap();
    assert_eq!(cancelled.refund.amount, Cents(4_500));
    scene.deliver().await;
    life.check("cancelled").await;
    let receipt = scene.app.receipt(&life.ana, life.order).await.unwrap();
    let back = receipt.paid_back.iter();
    let back: Vec<_> = back.map(|it| (it.seat.as_deref(), it.amount)).collect();
    assert_eq!(back, [(Some("A-1-1"), Cents(4_500)), (None, Cents(4_500))]);
}

#[tokio::test]
async fn an_order_of_which_everything_was_resold_is_refunded() {
    let scene = Scene::row(2).await;
    let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
    let bo = scene.buyer().await;
    let entry = scene.join(&bo, &wait_for(2)).await.id;
    scene.wait(2_000).await;
    for ticket in scene.app.tickets_of(&ana, order).await.unwrap() {
        let put_back = scene.app.return_ticket(&ana, ticket.id, None);
        put_back.await.unwrap();
    }
    scene.deliver().await;
    // Both are bought together, so they are paid back together.
    let hold = scene.offer(&bo, entry).await;
    scene.pay(&bo, hold).await;
    let stored = scene
        .app
        .store
        .read::<Order>(order)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(stored.status(), OrderStatus::Refunded);
    assert_eq!(stored.given_back(), Some(stored.total()));
    let cancelled = scene.app.cancel_order(&ana, order).await;
    assert!(matches!(cancelled, Err(Error::Conflict(_))));
    check(&scene, &[&ana, &bo], "all of it").await;
}

#[tokio::test]
async fn free_places_and_those_of_two_sellers_make_one_offer() {
    let scene = Scene::row(3).await;
    let (ana, first) = scene.sold(&["A-1-1"]).await;
    let (cy, third) = scene.sold(&["A-1-3"]).await;
    let (di, second) = scene.sold(&["A-1-2"]).await;
    let bo = scene.buyer().await;
    let entry = scene.join(&bo, &wait_for(3)).await.id;
    scene.wait(2_000).await;
    scene.cancel(&di, second).await;
    for (caller, order) in [(&ana, first), (&cy, third)] {
        let ticket = scene.app.tickets_of(caller, order).await.unwrap()[0].id;
        let put_back = scene.app.return_ticket(caller, ticket, None);
        put_back.await.unwrap();
        scene.deliver().await;
    }
    let hold = scene.offer(&bo, entry).await;
    let bought = scene.pay(&bo, hold).await;
    let stored = scene
        .app
        .store
        .read::<Order>(bought)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(stored.seat_ids(), ["A-1-1", "A-1-2", "A-1-3"]);
    assert_eq!(stored.status(), OrderStatus::Confirmed);
    check(&scene, &[&ana, &bo, &cy, &di], "three").await;
}

#[tokio::test]
async fn what_nobody_pays_for_stays_its_owners_and_goes_to_the_next() {
    let life = Return::offered().await;
    let scene = &life.scene;
    let cy = scene.buyer().await;
    let next = scene.join(&cy, &wait_for(1)).await.id;
    for _ in 0..4 {
        scene.wait(OFFER_MS / 4 + 3_000).await;
    }
    scene.recover().await;
    assert_eq!(life.status().await, WaitlistStatus::Lapsed);
    assert!(life.ticket().await.is_valid());
    assert_eq!(scene.status(&cy, next).await, WaitlistStatus::Offered);
    // Cy lets it go, and nobody is left: it is on offer still.
    scene
        .app
        .leave_waitlist(&cy, scene.show(), next)
        .await
        .unwrap();
    scene.deliver().await;
    assert!(life.ticket().await.for_sale(scene.app.now()).is_some());
    check(scene, &[&life.ana, &life.bo, &cy], "nobody paid").await;
}

#[tokio::test]
async fn a_declined_card_sells_nothing() {
    let life = Return::offered().await;
    let scene = &life.scene;
    for (k, card) in [
        ("1", "pm_card_chargeDeclined"),
        ("2", "pm_sandbox_capture_fails"),
    ] {
        let card = PaymentMethod::parse(card).unwrap();
        let (show, hold, key) = (scene.show(), life.hold(), key(k));
        let paid = scene.app.check_out(&life.bo, show, hold, &key, card);
        paid.await.unwrap();
        scene.deliver().await;
        if k == "1" {
            assert!(life.ticket().await.is_valid());
            life.check("declined").await;
        }
    }
    // It was sold before the bank refused: Ana is paid back, and the place is free again.
    let bought = life.order_of(OrderId::of(life.hold())).await;
    assert_eq!(bought.status(), OrderStatus::Failed);
    assert!(life.ticket().await.is_resold_to(bought.id));
    let place = bought.seats[0].place;
    assert!(scene.cell(place).await.is_none_or(|cell| !cell.is_sold()));
    life.check("the capture was refused").await;
}

#[tokio::test]
async fn the_key_of_a_return_puts_back_once() {
    let life = Return::begin().await;
    let (app, id, k) = (&life.scene.app, life.ticket_id(), key("back"));
    let first = app.return_ticket(&life.ana, id, Some(&k)).await.unwrap();
    let again = app.return_ticket(&life.ana, id, Some(&k)).await.unwrap();
    assert_eq!(again, first);
    app.keep_ticket(&life.ana, id).await.unwrap();
    app.keep_ticket(&life.ana, id).await.unwrap();
    let late = app.return_ticket(&life.ana, id, Some(&k)).await.unwrap();
    assert!(!late.is_put_back(), "it was taken back since");
    let anew = app.return_ticket(&life.ana, id, Some(&key("new"))).await;
    assert!(anew.unwrap().is_put_back());
}

#[tokio::test]
async fn only_the_owner_of_a_ticket_may_put_it_back() {
    let life = Return::begin().await;
    let (app, id) = (&life.scene.app, life.ticket_id());
    let missing = Error::NotFound("ticket");
    assert_eq!(
        app.return_ticket(&life.bo, id, None).await.unwrap_err(),
        missing
    );
    life.put_back().await;
    assert_eq!(app.keep_ticket(&life.bo, id).await.unwrap_err(), missing);
    assert!(life.ticket().await.is_put_back());
}

/// Whoever has it puts it back; the money goes to the payment it came from.
#[tokio::test]
async fn a_ticket_that_was_passed_on_is_put_back_by_whoever_has_it() {
    let life = Return::begin().await;
    let (scene, cy) = (&life.scene, life.scene.buyer().await);
    life.register(&life.ana, "ana").await;
    life.register(&cy, "cy").await;
    let to = Email::parse("cy@example.org").unwrap();
    let (app, id, request) = (&scene.app, life.ticket_id(), RequestHash::of(b"cy"));
    let offer = app.offer_transfer(&life.ana, id, &to, None, request);
    let offer = offer.await.unwrap();
    let open = app.return_ticket(&life.ana, id, None).await;
    assert!(
        matches!(open, Err(Error::Conflict(_))),
        "it is on offer to Cy"
    );
    let new = app.accept_transfer(&cy, offer.id).await.unwrap();
    let gone = app.return_ticket(&life.ana, id, None).await;
    assert!(matches!(gone, Err(Error::Conflict(_))), "it is not Ana's");
    app.return_ticket(&cy, new.id, None).await.unwrap();
    scene.deliver().await;
    let bought = scene.pay(&life.bo, life.hold()).await;
    let sold = life.order_of(life.order).await;
    assert_eq!(sold.repaid_amount(), Cents(4_500), "Ana paid for it");
    assert_eq!(sold.resold[0].seller, cy.account, "Cy is told");
    let dead = app
        .store
        .read::<Ticket>(new.id)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert!(dead.is_resold_to(bought));
    life.check("passed on").await;
}

/// The books would tell if a seller were owed money.
#[tokio::test]
async fn reconciling_compares_what_was_resold_with_what_went_back() {
    let life = Return::offered().await;
    life.scene.pay(&life.bo, life.hold()).await;
    let store = &life.scene.app.store;
    let mut order = store.read::<Order>(life.order).await.unwrap().unwrap();
    order.value.resold.clear();
    store.replace(&order).await.unwrap();
    let report = life.scene.app.reconcile_all().await.unwrap();
    let about = |what: &str| report.alarms.iter().any(|alarm| alarm.contains(what));
    assert!(about("but 4500 went back"), "{:?}", report.alarms);
    assert!(
        about("1 tickets are missing or revoked"),
        "{:?}",
        report.alarms
    );
    assert!(
        about("1 of its 2 places are not sold to it"),
        "{:?}",
        report.alarms
    );
}

/// Nobody waits yet: whoever joins is offered it.
#[tokio::test]
async fn whoever_joins_later_is_offered_what_was_put_back() {
    let scene = Scene::row(1).await;
    let (ana, order) = scene.sold(&["A-1-1"]).await;
    let ticket = scene.app.tickets_of(&ana, order).await.unwrap()[0].id;
    scene.app.return_ticket(&ana, ticket, None).await.unwrap();
    scene.wait(3_600_000).await;
    let bo = scene.buyer().await;
    let entry = scene.join(&bo, &wait_for(1)).await.id;
    scene.wait(2_000).await;
    let hold = scene.offer(&bo, entry).await;
    scene.pay(&bo, hold).await;
    check(&scene, &[&ana, &bo], "later").await;
}

/// The price of a place has moved since: whoever buys it pays what was paid for it.
#[tokio::test]
async fn it_is_resold_at_face_value() {
    let life = Return::begin().await;
    let scene = &life.scene;
    let stored = scene
        .app
        .store
        .read::<Show>(scene.show())
        .await
        .unwrap()
        .unwrap();
    let event = scene.app.store.read::<Event>(stored.value.event_id).await;
    let event = event.unwrap().unwrap();
    let mut show = stored;
    for (_, price) in &mut show.value.prices {
        *price = Cents(9_900);
    }
    let replaced = scene
        .app
        .store
        .replace_show(&show, &event, Default::default());
    assert!(replaced.await.unwrap());
    scene.wait(2_000).await;
    life.put_back().await;
    scene.deliver().await;
    let bought = scene.pay(&life.bo, life.hold()).await;
    let bought = life.order_of(bought).await;
    assert_eq!(bought.total().amount, Cents(4_500));
    life.check("face value").await;
}

/// One place of the offer is free, at a price that follows demand; the other was put back.
#[tokio::test]
async fn each_price_of_an_offer_of_both_kinds_is_explained_and_exactly_that_is_paid() {
    let scene = Scene::with(Plan {
        rows: vec![2],
        floor: 0,
        pricing: Pricing::Dynamic(Bounds::default()),
        ..Plan::default()
    })
    .await;
    let (app, show) = (&scene.app, scene.show());
    let (ana, first) = scene.sold(&["A-1-1"]).await;
    let (di, second) = scene.sold(&["A-1-2"]).await;
    let paid = app.store.read::<Order>(first).await.unwrap().unwrap();
    let paid = paid.value.total();
    let bo = scene.buyer().await;
    let entry = scene.join(&bo, &wait_for(2)).await.id;
    scene.wait(POINT_MS).await;
    scene.cancel(&di, second).await;
    let ticket = app.tickets_of(&ana, first).await.unwrap()[0].id;
    app.return_ticket(&ana, ticket, None).await.unwrap();
    scene.deliver().await;

    let offered = scene.view(&bo, entry).await.unwrap().offer.unwrap();
    let held = app.hold(&bo, show, offered.hold_id).await.unwrap();
    let point = app.price_point(show, held.point.unwrap()).await.unwrap();
    let listed = Money {
        amount: point.figures.prices()[0],
        ..paid
    };
    assert_ne!(listed, paid, "the price has moved since");
    let (put_back, free) = ("A-1-1".to_owned(), "A-1-2".to_owned());
    assert_eq!(held.seats, [(put_back.clone(), paid), (free, listed)]);
    assert_eq!(held.face_values, [(put_back, paid)]);
    assert_eq!(held.total.amount.0, paid.amount.0 + listed.amount.0);
    assert_eq!(
        (&offered.seats, &offered.face_values),
        (&held.seats, &held.face_values)
    );

    scene.wait(POINT_MS).await;
    let bought = scene.pay(&bo, offered.hold_id).await;
    let order = app
        .store
        .read::<Order>(bought)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(order.status(), OrderStatus::Confirmed);
    assert_eq!(order.total(), held.total);
    let payments = app.payments.list(Millis(0), None).await.unwrap().items;
    let charged = payments.iter().find(|p| p.order == Some(bought));
    assert_eq!(charged.map(|payment| payment.total), Some(held.total));
    let later = app.hold(&bo, show, offered.hold_id).await.unwrap();
    assert_eq!(
        (later.seats, later.face_values, later.point),
        (held.seats, held.face_values, held.point)
    );
    check(&scene, &[&ana, &bo, &di], "both kinds").await;
}

/// A limit counts what somebody has, not what they had.
#[tokio::test]
async fn what_was_resold_no_longer_counts_for_its_seller() {
    let scene = Scene::with(Plan {
        rows: vec![3],
        floor: 0,
        cap: 2,
        ..Plan::default()
    })
    .await;
    let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
    let full = scene.try_hold(&ana, "more", &["A-1-3"]).await;
    assert!(matches!(full, Err(Error::LimitExceeded { .. })));
    let (cy, _) = scene.sold(&["A-1-3"]).await;
    let bo = scene.buyer().await;
    let entry = scene.join(&bo, &wait_for(1)).await.id;
    scene.wait(2_000).await;
    let ticket = scene.app.tickets_of(&ana, order).await.unwrap()[0].id;
    scene.app.return_ticket(&ana, ticket, None).await.unwrap();
    scene.deliver().await;
    let hold = scene.offer(&bo, entry).await;
    scene.pay(&bo, hold).await;
    let buyer = scene
        .app
        .store
        .buyer(scene.show(), ana.account)
        .await
        .unwrap();
    assert_eq!(buyer.live_places(scene.app.now()), 1);
    check(&scene, &[&ana, &bo, &cy], "one less").await;
}
