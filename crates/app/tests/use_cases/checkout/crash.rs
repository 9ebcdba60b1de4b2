//! A process dies, or a call fails, before and after every single port call of every
//! way through both sagas. The list of calls is taken from a run in which nothing goes
//! wrong, so a new call is covered the day it is written.

use onsale_app::ports::Drive;
use onsale_domain::ids::OrderId;
use onsale_domain::order::{Order, OrderStatus};
use onsale_domain::payment::PaymentId;
use onsale_domain::show::RoomMode;
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::checkout::scene::Scene;

/// What comes after the crash: the client repeats its request, or never returns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Client {
    Repeats,
    IsGone,
}

/// What the worker that dies is at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    Pays,
    /// The first card is refused, the second is not.
    PaysAtTheSecondAttempt,
    /// The bank asks the buyer, who confirms.
    Confirms,
    Cancels,
    /// Calls off what was paid for behind the order's back: voiding finds the money taken.
    CancelsUnknowingly,
    /// The bank takes the money back.
    ChargesBack,
    /// The same while the order is being cancelled.
    ChargesBackCancelled,
}

#[derive(Debug, Clone, Copy)]
struct Way {
    course: Course,
    method: &'static str,
    room: RoomMode,
    /// Where it may end: the places are its buyer's and paid, or free and paid back.
    ends: &'static [OrderStatus],
    /// Where it may end as well if nobody asks a second time.
    left: &'static [OrderStatus],
}

const PAYS: Way = Way {
    course: Course::Pays,
    method: "pm_card_visa",
    room: RoomMode::Off,
    ends: &[OrderStatus::Confirmed],
    left: &[],
};

const WAYS: &[Way] = &[
    PAYS,
    Way {
        method: "pm_card_chargeDeclined",
        ends: &[OrderStatus::Declined],
        ..PAYS
    },
    Way {
        method: "pm_sandbox_capture_fails",
        ends: &[OrderStatus::Failed],
        ..PAYS
    },
    Way {
        method: "pm_sandbox_lost_reply",
        ..PAYS
    },
    Way {
        room: RoomMode::Queue,
        ..PAYS
    },
    Way {
        course: Course::PaysAtTheSecondAttempt,
        left: &[OrderStatus::Declined],
        ..PAYS
    },
    Way {
        course: Course::Confirms,
        method: "pm_sandbox_requires_action",
        left: &[OrderStatus::Failed],
        ..PAYS
    },
    Way {
        course: Course::Cancels,
        ends: &[OrderStatus::Refunded],
        left: &[OrderStatus::Confirmed],
        ..PAYS
    },
    Way {
        course: Course::CancelsUnknowingly,
        ends: &[OrderStatus::Refunded],
        left: &[OrderStatus::Confirmed],
        ..PAYS
    },
    Way {
        course: Course::ChargesBack,
        ends: &[OrderStatus::Cancelled],
        left: &[OrderStatus::Confirmed],
        ..PAYS
    },
    Way {
        course: Course::ChargesBackCancelled,
        ends: &[OrderStatus::Cancelled, OrderStatus::Refunded],
        ..PAYS
    },
];

/// One worker's whole share: it dies at the gate, if the gate is armed.
async fn go(scene: &Scene, way: Way) {
    let show = scene.show.show.id;
    let hold = onsale_domain::ids::HoldId::for_key(scene.ana.account, show, "h");
    let order_id = OrderId::of(hold);
    let drive = Drive::Order { order_id, tries: 0 };
    match way.course {
        Course::Pays => {
            let _ = scene.check_out(hold, "pay", way.method).await;
        }
        Course::PaysAtTheSecondAttempt => {
            let _ = scene.check_out(hold, "one", "pm_card_chargeDeclined").await;
            let _ = scene.app.drive(&drive).await;
            let _ = scene.check_out(hold, "pay", way.method).await;
        }
        Course::Confirms => {
            let _ = scene.check_out(hold, "pay", way.method).await;
            let _ = scene.app.drive(&drive).await;
            let _ = scene.app.confirm_action(&scene.ana, order_id).await;
        }
        Course::Cancels | Course::CancelsUnknowingly => {
            let _ = scene.app.cancel_order(&scene.ana, order_id).await;
        }
        Course::ChargesBack | Course::ChargesBackCancelled => {
            // The sandbox names a payment after its order.
            let payment = PaymentId(format!("pi_sandbox_{}", order_id.simple()));
            let _ = scene.app.charge_back(order_id, &payment).await;
        }
    }
    let _ = scene.app.drive(&drive).await;
}

async fn prepared(way: Way) -> (Scene, OrderId) {
    let scene = Scene::with(Plan {
        room: way.room,
        ..Plan::default()
    })
    .await;
    // Two blocks, so that cells move in a transaction.
    let id = match way.course {
        Course::Pays | Course::PaysAtTheSecondAttempt | Course::Confirms => {
            let hold = scene.hold(&scene.ana, "h", &["A-1-1", "A-2-1"]).await;
            OrderId::of(hold.hold_id)
        }
        Course::CancelsUnknowingly => {
            let id = scene.stopped_at("capture").await;
            let payment = scene.order(id).await.payment.unwrap();
            scene.app.payments.capture(&payment, id).await.unwrap();
            scene.world.saga_queue.take_due();
            id
        }
        Course::Cancels | Course::ChargesBack | Course::ChargesBackCancelled => {
            let id = scene.started(way.method).await;
            scene.settle().await;
            id
        }
    };
    if way.course == Course::ChargesBackCancelled {
        scene.app.cancel_order(&scene.ana, id).await.unwrap();
    }
    (scene, id)
}

async fn crash_at(way: Way, nth: usize, fault: Fault, client: Client) {
    let (scene, id) = prepared(way).await;
    scene.world.faults.arm(Some((nth, fault)));
    Scene::until_death(go(&scene, way));
    let calls = scene.world.faults.calls();
    let at = calls.get(nth).map_or("nothing", String::as_str);
    let note = format!("{way:?}, {fault:?} at call {nth} ({at}), the client {client:?}");
    scene.world.faults.arm(None);
    // What the dead worker had not finished is delivered again.
    if client == Client::Repeats {
        go(&scene, way).await;
    }
    scene.reconcile_until_quiet().await;
    let Some(_) = scene.app.store.read::<Order>(id).await.unwrap() else {
        assert_eq!(
            client,
            Client::IsGone,
            "{note}: the order was never written"
        );
        assert!(scene.payments().await.is_empty(), "{note}");
        return;
    };
    scene.assert_consistent(id, &note).await;
    let status = scene.order(id).await.status();
    let left = client == Client::IsGone && way.left.contains(&status);
    assert!(
        way.ends.contains(&status) || left,
        "{note}: ended as {status:?}"
    );
    let payments = scene.payments().await;
    assert!(payments.len() <= 1, "{note}: {payments:?}");
    if way.room != RoomMode::Off {
        let used = scene.world.table.pass_use(scene.show.pass(1).pass);
        assert!(used.is_some_and(|pass| pass.closed), "{note}: {used:?}");
    }
}

#[tokio::test]
async fn whatever_dies_wherever_ends_in_tickets_or_in_nothing_paid() {
    let mut crashes = 0;
    for way in WAYS {
        let (scene, _) = prepared(*way).await;
        scene.world.faults.arm(None);
        go(&scene, *way).await;
        let calls = scene.world.faults.calls();
        assert!(calls.len() > 8, "{way:?} makes {calls:?}");
        for nth in 0..calls.len() {
            for fault in Fault::ALL {
                for client in [Client::Repeats, Client::IsGone] {
                    crash_at(*way, nth, fault, client).await;
                    crashes += 1;
                }
            }
        }
    }
    println!("{crashes} crashes survived");
    assert!(crashes > 500, "{crashes}");
}

/// A second crash while the first is being mended.
#[tokio::test]
async fn a_second_crash_during_the_repair_changes_nothing() {
    for way in WAYS {
        let (scene, _) = prepared(*way).await;
        scene.world.faults.arm(None);
        go(&scene, *way).await;
        let calls = scene.world.faults.calls().len();
        for first in (0..calls).step_by(3) {
            for second in (0..calls).step_by(2) {
                let (scene, id) = prepared(*way).await;
                for nth in [first, second] {
                    scene.world.faults.arm(Some((nth, Fault::DieAfter)));
                    Scene::until_death(go(&scene, *way));
                }
                scene.world.faults.arm(None);
                go(&scene, *way).await;
                scene.reconcile_until_quiet().await;
                let note = format!("{way:?} died at {first} and at {second}");
                scene.assert_consistent(id, &note).await;
            }
        }
    }
}

#[tokio::test]
async fn every_message_may_come_twice_and_in_any_order() {
    for way in WAYS {
        let (scene, id) = prepared(*way).await;
        let order_id = id;
        for tries in [3, 0, 1] {
            let _ = scene.app.drive(&Drive::Order { order_id, tries }).await;
        }
        go(&scene, *way).await;
        for tries in [2, 0, 0] {
            let _ = scene.app.drive(&Drive::Order { order_id, tries }).await;
        }
        scene.reconcile_until_quiet().await;
        scene
            .assert_consistent(id, &format!("{way:?} with repeated messages"))
            .await;
        let confirmed = scene.world.bus.told();
        let ids: std::collections::BTreeSet<_> = confirmed.iter().map(|a| &a.id).collect();
        assert_eq!(ids.len(), confirmed.len(), "{way:?}: nothing is told twice");
    }
}
