//! A show is called off.

use onsale_app::Error;
use onsale_app::ports::Drive;
use onsale_app::tickets::ScanAnswer;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::order::{OrderStatus, Stage, Why};
use onsale_domain::payment::PaymentState;
use onsale_domain::show::{RoomMode, Show, StoredStatus};
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::checkout::scene::{HOUR, Scene, key, seats};

const BUYERS: u8 = 12;

async fn sold_show() -> (Scene, Vec<onsale_domain::ids::OrderId>) {
    let scene = Scene::with(Plan {
        rows: vec![40; 3],
        ..Plan::default()
    })
    .await;
    let mut orders = Vec::new();
    for n in 0..BUYERS {
        let buyer = scene.show.buyer(n).await.unwrap();
        let (row, seat) = (n % 3 + 1, n + 1);
        let ids = [format!("A-{row}-{seat}"), format!("A-{row}-{}", seat + 20)];
        let hold = scene.hold(&buyer, "h", &[&ids[0], &ids[1]]).await.hold_id;
        let id = scene
            .check_out_as(&buyer, hold, "pay", "pm_card_visa")
            .await;
        orders.push(id.unwrap());
    }
    scene.settle().await;
    (scene, orders)
}

#[tokio::test]
async fn everyone_is_refunded_in_full_and_nothing_is_sold_any_more() {
    let (scene, orders) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    // An hour before the show the policy would give nothing back.
    scene.wait_until_hours_before(1);
    let held = scene.hold(&scene.ana, "held", &["A-1-40"]).await;
    let due = scene.app.cancel_show(&organiser, show).await.unwrap();
    assert_eq!(due, u64::from(BUYERS));
    let before = scene
        .app
        .cancellation_progress(&organiser, show)
        .await
        .unwrap();
    assert_eq!((before.refunds_due, before.refunds_done), (due, 0));
    let late = scene.check_out(held.hold_id, "late", "pm_card_visa").await;
    assert!(matches!(late, Err(Error::NotOnSale { .. })), "{late:?}");
    scene.settle().await;
    let after = scene
        .app
        .cancellation_progress(&organiser, show)
        .await
        .unwrap();
    assert_eq!((after.refunds_due, after.refunds_done), (due, due));
    for id in orders {
        assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    }
    for payment in scene.payments().await {
        let refunded = payment.total.amount;
        assert_eq!(payment.state, PaymentState::Captured { refunded });
    }
    assert!(!scene.sold().await);
    let ben = scene.show.buyer(99).await.unwrap();
    let refused = scene
        .app
        .place_hold(&ben, show, &key("b"), &seats(&["A-1-1"]), None)
        .await;
    assert!(matches!(refused, Err(Error::NotOnSale { .. })));
    assert_eq!(
        scene.app.cancel_show(&organiser, show).await,
        Ok(due),
        "asked again"
    );
    let stored = scene
        .world
        .store
        .read::<Cancellation>(show)
        .await
        .unwrap()
        .unwrap();
    assert!(!stored.value.is_open());
}

#[tokio::test]
async fn a_cancellation_that_dies_anywhere_is_carried_through() {
    let (scene, _) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.world.faults.arm(None);
    scene.app.cancel_show(&organiser, show).await.unwrap();
    for message in scene.world.saga_queue.take_due() {
        scene.app.drive(&message).await.unwrap();
    }
    let calls = scene.world.faults.calls();
    for nth in 0..calls.len() {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let (scene, orders) = sold_show().await;
            let organiser = scene.show.organiser().await.unwrap();
            let show = scene.show.show.id;
            scene.world.faults.arm(Some((nth, fault)));
            let work = async {
                let _ = scene.app.cancel_show(&organiser, show).await;
                for message in scene.world.saga_queue.take_due() {
                    let _ = scene.app.drive(&message).await;
                }
            };
            Scene::until_death(work);
            let note = format!("{fault:?} at {nth} ({:?})", calls.get(nth));
            scene.world.faults.arm(None);
            if scene
                .world
                .store
                .read::<Cancellation>(show)
                .await
                .unwrap()
                .is_none()
            {
                continue;
            }
            for _ in 0..4 {
                scene.world.clock.advance(125_000);
                scene.app.reconcile_open().await.unwrap();
                scene.settle().await;
            }
            for id in orders {
                assert_eq!(
                    scene.order(id).await.status(),
                    OrderStatus::Refunded,
                    "{note}"
                );
            }
            assert!(!scene.sold().await, "{note}");
            let marked = scene.world.store.read::<Show>(show).await.unwrap().unwrap();
            assert_eq!(marked.value.status, StoredStatus::Cancelled, "{note}");
            let done = scene
                .app
                .cancellation_progress(&organiser, show)
                .await
                .unwrap();
            assert_eq!(done.refunds_done, u64::from(BUYERS), "{note}");
            for payment in scene.payments().await {
                let refunded = payment.total.amount;
                assert_eq!(payment.state, PaymentState::Captured { refunded }, "{note}");
            }
        }
    }
}

#[tokio::test]
async fn only_its_organiser_cancels_a_show() {
    let (scene, _) = sold_show().await;
    let show = scene.show.show.id;
    let refused = scene.app.cancel_show(&scene.ana, show).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))));
    let organiser = scene.show.organiser().await.unwrap();
    assert_eq!(
        scene.app.cancellation_progress(&organiser, show).await,
        Err(Error::NotFound("cancellation"))
    );
}

/// The act fails on the night: those who are in get their money back as well.
#[tokio::test]
async fn everyone_is_refunded_when_a_show_is_called_off_an_hour_after_its_start() {
    let (scene, orders) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.wait_until_hours_before(0);
    let entered = scene.order(orders[0]).await;
    let code = scene.tickets(&entered).await.remove(0).code;
    let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
    let (app, gate) = (&scene.app, "north");
    let scan = app.scan(&organiser, show, &keys, &code, gate, None).await;
    let scan = scan.unwrap();
    assert!(matches!(scan, ScanAnswer::Admitted(_)), "{scan:?}");
    scene.world.clock.advance(HOUR);
    let due = scene.app.cancel_show(&organiser, show).await;
    assert_eq!(due, Ok(u64::from(BUYERS)));
    scene.settle().await;
    for id in orders {
        let order = scene.order(id).await;
        assert_eq!(order.status(), OrderStatus::Refunded);
        let tickets = scene.tickets(&order).await;
        assert!(!tickets.iter().any(Ticket::is_valid), "{tickets:?}");
    }
    for payment in scene.payments().await {
        let refunded = payment.total.amount;
        assert_eq!(payment.state, PaymentState::Captured { refunded });
    }
    assert!(!scene.sold().await);
    let mails = scene.world.table.all_mails();
    let told = mails.iter().filter(|mail| mail.kind() == "show_cancelled");
    assert_eq!(told.count(), usize::from(BUYERS));
    let room = scene.app.briefing(show, 0).await.unwrap().settings;
    assert_eq!(room.mode, RoomMode::Closed);
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms, Vec::<String>::new());
}

#[tokio::test]
async fn a_show_that_began_more_than_a_day_ago_is_called_off_by_nobody() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.wait_until_hours_before(0);
    scene.world.clock.advance(25 * HOUR);
    let late = scene.app.cancel_show(&organiser, show).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert!(scene.sold().await);
}

/// Blocks are closed before the answer comes: a checkout that is under way sells nothing
/// more, even if nobody has got to its order yet.
#[tokio::test]
async fn an_order_that_was_about_to_sell_finds_the_show_closed() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("write BLK").await;
    assert_eq!(scene.order(id).await.stage, Stage::Selling);
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    assert_eq!(scene.app.cancel_show(&organiser, show).await, Ok(0));
    scene.drive(id).await;
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    assert_eq!(order.undo.unwrap().why, Why::ShowCancelled);
    assert_eq!(scene.payments().await[0].state, PaymentState::Voided);
    scene.assert_consistent(id, "closed under it").await;
}

#[tokio::test]
async fn a_buyer_who_is_with_the_bank_is_let_go_at_once() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_requires_action").await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::RequiresAction);
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    let cancelled = scene.app.now();
    scene.app.cancel_show(&organiser, show).await.unwrap();
    scene.settle().await;
    let took = cancelled.until(scene.app.now());
    assert!(
        took <= 2_000,
        "{took} ms: nobody waited for the bank or the hold"
    );
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    assert_eq!(order.undo.unwrap().why, Why::ShowCancelled);
    assert_eq!(scene.payments().await[0].state, PaymentState::Voided);
    scene.assert_consistent(id, "voided with its show").await;
}

#[tokio::test]
async fn a_cancellation_is_not_done_while_places_are_sold() {
    let (scene, _) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    let is_open = async || {
        let stored = scene.world.store.read::<Cancellation>(show).await.unwrap();
        stored.unwrap().value.is_open()
    };
    // Every order is called off, and none of them is driven yet.
    let message = Drive::Cancellation {
        show_id: show,
        from_block: 0,
    };
    scene.app.drive(&message).await.unwrap();
    assert!(scene.sold().await && is_open().await);
    scene.settle().await;
    assert!(!scene.sold().await && !is_open().await);
}

/// One message works through a hundred blocks; a row of forty seats has two.
#[tokio::test]
async fn a_large_show_is_cancelled_to_its_last_row() {
    let scene = Scene::with(Plan {
        rows: vec![40; 60],
        floor: 0,
        ..Plan::default()
    })
    .await;
    assert_eq!(scene.show.layout.blocks().len(), 120);
    let first = scene.paid("first", &["A-1-1"]).await;
    let last = scene.paid("last", &["A-60-40"]).await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    assert_eq!(scene.app.cancel_show(&organiser, show).await, Ok(2));
    scene.settle().await;
    for id in [first, last] {
        assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    }
    assert!(!scene.sold().await);
}

/// A worker dies anywhere in its share of a cancellation, and the message comes again: no
/// order has to wait until it is reconciled.
#[tokio::test]
async fn a_share_that_comes_again_leaves_no_order_behind() {
    let begun = async |scene: &Scene| {
        let organiser = scene.show.organiser().await.unwrap();
        let show = scene.show.show.id;
        scene.app.cancel_show(&organiser, show).await.unwrap();
        scene.world.saga_queue.take_due().remove(0)
    };
    let (scene, _) = sold_show().await;
    let share = begun(&scene).await;
    scene.world.faults.arm(None);
    scene.deliver(&share).await;
    let calls = scene.world.faults.calls();
    for nth in 0..calls.len() {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let (scene, orders) = sold_show().await;
            let share = begun(&scene).await;
            scene.world.faults.arm(Some((nth, fault)));
            Scene::until_death(scene.app.drive(&share));
            scene.world.faults.arm(None);
            scene.deliver(&share).await;
            for _second in 0..60 {
                scene.world.clock.advance(1_000);
                for message in scene.world.saga_queue.take_due() {
                    scene.deliver(&message).await;
                }
            }
            let note = format!("{fault:?} at {nth} ({:?})", calls.get(nth));
            for id in orders {
                let status = scene.order(id).await.status();
                assert_eq!(status, OrderStatus::Refunded, "{note}");
            }
        }
    }
}

/// A refund that cannot be given for hours: somebody keeps looking, and it stays one.
#[tokio::test]
async fn messages_of_a_cancellation_with_a_stuck_order_do_not_multiply() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let organiser = scene.show.organiser().await.unwrap();
    scene.world.faults.fail_always("refund", true);
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    let waiting = || {
        let messages = scene.world.saga_queue.waiting().into_iter();
        let is_ours = |message: &Drive| matches!(message, Drive::Cancellation { .. });
        messages.filter(|(_, message)| is_ours(message)).count()
    };
    let mut most_waiting = 0;
    for _minute in 0..360 {
        scene.app.reconcile_open().await.unwrap();
        for _ten_seconds in 0..6 {
            scene.world.clock.advance(10_000);
            for message in scene.world.saga_queue.take_due() {
                scene.deliver(&message).await;
            }
            most_waiting = most_waiting.max(waiting());
        }
    }
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
    assert!(most_waiting <= 2, "{most_waiting} messages wait");
    assert_eq!(scene.world.saga_queue.waiting(), [], "it is parked");
    scene.world.faults.fail_always("refund", false);
    assert!(scene.app.resume_order(id).await.unwrap());
    scene.reconcile_until_quiet().await;
    scene.world.clock.advance(125_000);
    scene.app.reconcile_open().await.unwrap();
    scene.settle().await;
    let stored = scene.world.store.read::<Cancellation>(show).await.unwrap();
    assert!(!stored.unwrap().value.is_open());
}
