//! Reconciling: what must be true is looked at, mended where that is safe, reported
//! where it is not.

use onsale_app::ports::Versioned;
use onsale_domain::block::Cell;
use onsale_domain::claim::by_block;
use onsale_domain::event::Event;
use onsale_domain::ids::HoldId;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::Cents;
use onsale_domain::order::OrderStatus;
use onsale_domain::show::ShowStatus;
use onsale_domain::ticket::Ticket;
use onsale_test_support::stage::Plan;

use crate::checkout::scene::Scene;

#[tokio::test]
async fn a_healthy_platform_agrees_with_itself() {
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1", "A-1-2"]).await;
    let cancelled = scene.paid("two", &["A-1-3"]).await;
    scene.app.cancel_order(&scene.ana, cancelled).await.unwrap();
    scene.settle().await;
    scene.hold(&scene.ana, "held", &["A-2-1"]).await;
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms, Vec::<String>::new());
    assert_eq!(report.repairs, Vec::<String>::new());
    assert_eq!((report.shows, report.held, report.sold), (1, 1, 2));
    assert_eq!(report.free + report.held + report.sold, report.capacity);
    assert_eq!(report.capacity, 160);
    assert_eq!(
        (report.captured, report.refunded),
        (Cents(13_500), Cents(4_500))
    );
    assert_eq!(report.orphan_payments, 0);
    assert!(report.to_string().ends_with("everything agrees"));
}

/// A run has minutes for all that was sold: what agrees costs one read for many, and
/// nothing at the provider but the list.
#[tokio::test]
async fn orders_that_agree_with_their_payments_are_read_together_and_looked_at_once() {
    let scene = Scene::new().await;
    for seat in ["A-1-1", "A-1-2", "A-1-3", "A-2-1", "A-2-2"] {
        scene.paid(seat, &[seat]).await;
    }
    scene.world.faults.arm(None);
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!((report.sold, report.payments), (5, 5));
    assert_eq!(report.alarms, Vec::<String>::new());
    let gate = &scene.world.faults;
    assert_eq!(gate.calls_of("list"), 1);
    assert_eq!((gate.calls_of("look_up"), gate.calls_of("get ORD")), (0, 0));
}

#[tokio::test]
async fn an_order_that_nobody_drives_is_driven_after_two_minutes() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    scene.world.faults.fail_always("send_drive", true);
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.world.faults.fail_always("send_drive", false);
    scene.world.clock.advance(119_000);
    assert_eq!(scene.app.reconcile_open().await.unwrap().driven_again, 0);
    scene.world.clock.advance(1_000);
    assert_eq!(scene.app.reconcile_open().await.unwrap().driven_again, 1);
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
}

#[tokio::test]
async fn places_that_are_sold_to_nobody_raise_an_alarm() {
    let scene = Scene::new().await;
    let show = scene.show.show.id;
    let wanted = by_block(&scene.show.layout, &[PlaceIndex(3)]);
    let stranger = HoldId::from_bytes([9; 16]);
    let now = scene.app.now();
    let store = &scene.world.store;
    store
        .claim(show, &wanted, Cell::sold(stranger), now)
        .await
        .unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms.len(), 1, "{report}");
    assert!(report.to_string().contains("ALARM"));
}

#[tokio::test]
async fn places_of_an_order_that_has_ended_are_freed() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    let wanted = by_block(&scene.show.layout, &[PlaceIndex(0)]);
    let show = scene.show.show.id;
    let now = scene.app.now();
    let store = &scene.world.store;
    store
        .claim(show, &wanted, Cell::sold(id.hold()), now)
        .await
        .unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(
        (report.repairs.len(), report.alarms.len()),
        (1, 0),
        "{report}"
    );
    assert_eq!(scene.cells().await, []);
}

#[tokio::test]
async fn a_paid_order_whose_places_are_gone_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let wanted = by_block(&scene.show.layout, &[PlaceIndex(0)]);
    let store = &scene.world.store;
    let show = scene.show.show.id;
    store
        .release(show, &wanted[0], Cell::sold(id.hold()))
        .await
        .unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms.len(), 1, "{report}");
}

#[tokio::test]
async fn a_paid_order_that_lost_a_part_of_its_places_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1", "A-2-1"]).await;
    let wanted = by_block(&scene.show.layout, &scene.order(id).await.places());
    let store = &scene.world.store;
    let show = scene.show.show.id;
    store
        .release(show, &wanted[1], Cell::sold(id.hold()))
        .await
        .unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    let alarm = "1 of its 2 places are not sold to it";
    assert!(report.alarms.iter().any(|a| a.contains(alarm)), "{report}");
}

/// The cell says that the place is the order's, and the order does not.
#[tokio::test]
async fn a_place_that_is_sold_to_an_order_which_never_had_it_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let wanted = by_block(&scene.show.layout, &[PlaceIndex(7)]);
    let show = scene.show.show.id;
    let now = scene.app.now();
    let store = &scene.world.store;
    store
        .claim(show, &wanted, Cell::sold(id.hold()), now)
        .await
        .unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    let alarm = format!("places are sold to order {id}, which does not say so");
    assert!(report.alarms.iter().any(|a| a.contains(&alarm)), "{report}");
    assert_eq!(report.repairs, Vec::<String>::new());
}

#[tokio::test]
async fn a_confirmed_order_with_a_revoked_ticket_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let store = &scene.world.store;
    let ticket = scene.order(id).await.ticket_ids()[0];
    let ticket = store.read::<Ticket>(ticket).await.unwrap().unwrap();
    let revoked = Versioned {
        version: ticket.version,
        value: ticket.value.revoked(scene.app.now()).unwrap(),
    };
    store.replace(&revoked).await.unwrap();
    let report = scene.app.reconcile_all().await.unwrap();
    let alarm = format!("order {id} is confirmed, but 1 tickets are missing or revoked");
    assert!(report.alarms.contains(&alarm), "{report}");
}

#[tokio::test]
async fn a_confirmed_order_without_one_of_its_tickets_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1", "A-1-2"]).await;
    let lost = scene.order(id).await.ticket_ids()[1];
    scene.world.table.lose_ticket(lost);
    let report = scene.app.reconcile_all().await.unwrap();
    let alarm = format!("order {id} is confirmed, but 1 tickets are missing or revoked");
    assert!(report.alarms.contains(&alarm), "{report}");
}

#[tokio::test]
async fn lists_learn_that_a_show_is_sold_out_and_that_it_is_not_any_more() {
    let plan = Plan {
        rows: vec![2],
        floor: 0,
        ..Plan::default()
    };
    let scene = Scene::with(plan).await;
    let status = async || {
        let event = scene
            .world
            .store
            .read::<Event>(scene.show.show.event_id)
            .await;
        let event = event.unwrap().unwrap().value;
        event.shows[0].status_at(scene.app.now(), None)
    };
    let id = scene.paid("one", &["A-1-1", "A-1-2"]).await;
    assert_eq!(status().await, ShowStatus::OnSale);
    scene.app.reconcile_all().await.unwrap();
    assert_eq!(status().await, ShowStatus::SoldOut);
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    scene.app.reconcile_all().await.unwrap();
    assert_eq!(status().await, ShowStatus::OnSale);
}

#[tokio::test]
async fn lists_follow_the_places_as_soon_as_anybody_looks_at_the_show() {
    let plan = Plan {
        rows: vec![2],
        floor: 0,
        ..Plan::default()
    };
    let scene = Scene::with(plan).await;
    let (app, show) = (&scene.app, &scene.show.show);
    let status = async || {
        let event = app
            .store
            .read::<Event>(show.event_id)
            .await
            .unwrap()
            .unwrap();
        event.value.shows[0].status_at(app.now(), None)
    };
    app.show(show.id, None).await.unwrap();
    let id = scene.paid("one", &["A-1-1", "A-1-2"]).await;
    scene.world.clock.advance(1_000);
    assert_eq!(status().await, ShowStatus::OnSale, "nobody has looked");
    app.show(show.id, None).await.unwrap();
    assert_eq!(status().await, ShowStatus::SoldOut);
    let version = async || {
        app.store
            .read::<Event>(show.event_id)
            .await
            .unwrap()
            .unwrap()
            .version
    };
    let marked = version().await;
    app.show(show.id, None).await.unwrap();
    assert_eq!(version().await, marked, "it is written once");

    app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    scene.world.clock.advance(1_000);
    app.event(show.event_id, None).await.unwrap();
    assert_eq!(status().await, ShowStatus::OnSale);
    // Somebody else wrote what an older map said; it stands for a minute at most.
    let mut event = app
        .store
        .read::<Event>(show.event_id)
        .await
        .unwrap()
        .unwrap();
    event.value.shows[0].sold_out = true;
    app.store.replace(&event).await.unwrap();
    scene.world.clock.advance(60_000);
    app.show(show.id, None).await.unwrap();
    assert_eq!(status().await, ShowStatus::OnSale);
}
