//! A process dies, or a call fails, before and after every single port call of every
//! way through both sagas. The list of calls is taken from a run in which nothing goes
//! wrong, so a new call is covered the day it is written.

use onsale_app::ports::Drive;
use onsale_domain::ids::OrderId;
use onsale_domain::order::OrderStatus;
use onsale_domain::show::RoomMode;
use onsale_memory::Fault;
use onsale_memory::stage::Plan;

use crate::scene::Scene;

/// What comes after the crash: the client repeats its request, or never returns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Client {
    Repeats,
    IsGone,
}

#[derive(Debug, Clone, Copy)]
struct Way {
    method: &'static str,
    cancels: bool,
    room: RoomMode,
    /// Where it may end: the places are its buyer's and paid, or free and paid back.
    ends: &'static [OrderStatus],
}

const WAYS: &[Way] = &[
    Way {
        method: "pm_card_visa",
        cancels: false,
        room: RoomMode::Off,
        ends: &[OrderStatus::Confirmed],
    },
    Way {
        method: "pm_card_chargeDeclined",
        cancels: false,
        room: RoomMode::Off,
        ends: &[OrderStatus::Declined],
    },
    Way {
        method: "pm_sandbox_capture_fails",
        cancels: false,
        room: RoomMode::Off,
        ends: &[OrderStatus::Failed],
    },
    Way {
        method: "pm_sandbox_lost_reply",
        cancels: false,
        room: RoomMode::Off,
        ends: &[OrderStatus::Confirmed],
    },
    Way {
        method: "pm_card_visa",
        cancels: true,
        room: RoomMode::Off,
        ends: &[OrderStatus::Refunded],
    },
    Way {
        method: "pm_card_visa",
        cancels: false,
        room: RoomMode::Queue,
        ends: &[OrderStatus::Confirmed],
    },
];

/// One worker's whole share: it dies at the gate, if the gate is armed.
async fn go(scene: &Scene, way: Way) {
    let show = scene.show.show.id;
    let hold = onsale_domain::ids::HoldId::for_key(scene.ana.account, show, "h");
    let id = OrderId::of(hold);
    if !way.cancels {
        let _ = scene.check_out(hold, "pay", way.method).await;
    } else {
        let _ = scene.app.cancel_order(&scene.ana, id).await;
    }
    let tries = 0;
    let order_id = id;
    let _ = scene.app.drive(&Drive::Order { order_id, tries }).await;
}

async fn prepared(way: Way) -> (Scene, OrderId) {
    let scene = Scene::with(Plan {
        room: way.room,
        ..Plan::default()
    })
    .await;
    // Two blocks, so that cells move in a transaction.
    let hold = scene.hold(&scene.ana, "h", &["A-1-1", "A-2-1"]).await;
    let id = OrderId::of(hold.hold_id);
    if way.cancels {
        scene
            .check_out(hold.hold_id, "pay", way.method)
            .await
            .unwrap();
        scene.settle().await;
    }
    (scene, id)
}

async fn crash_at(way: Way, nth: usize, fault: Fault, client: Client) {
    let (scene, id) = prepared(way).await;
    scene.world.gate.arm(Some((nth, fault)));
    Scene::until_death(go(&scene, way));
    let calls = scene.world.gate.calls();
    let at = calls.get(nth).copied().unwrap_or("nothing");
    let note = format!("{way:?}, {fault:?} at call {nth} ({at}), the client {client:?}");
    scene.world.gate.arm(None);
    // What the dead worker had not finished is delivered again.
    if client == Client::Repeats {
        go(&scene, way).await;
    }
    scene.reconcile_until_quiet().await;
    let Some(_) = scene.app.store.order(id).await.unwrap() else {
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
    let unharmed = way.cancels && status == OrderStatus::Confirmed && client == Client::IsGone;
    assert!(
        way.ends.contains(&status) || unharmed,
        "{note}: ended as {status:?}"
    );
    let payments = scene.payments().await;
    assert!(payments.len() <= 1, "{note}: {payments:?}");
    if way.room != RoomMode::Off {
        let used = scene.world.store.pass_use(scene.show.pass(1).pass);
        assert!(used.is_some_and(|pass| pass.closed), "{note}: {used:?}");
    }
}

#[tokio::test]
async fn whatever_dies_wherever_ends_in_tickets_or_in_nothing_paid() {
    let mut crashes = 0;
    for way in WAYS {
        let (scene, _) = prepared(*way).await;
        scene.world.gate.arm(None);
        go(&scene, *way).await;
        let calls = scene.world.gate.calls();
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
        scene.world.gate.arm(None);
        go(&scene, *way).await;
        let calls = scene.world.gate.calls().len();
        for first in (0..calls).step_by(3) {
            for second in (0..calls).step_by(2) {
                let (scene, id) = prepared(*way).await;
                for nth in [first, second] {
                    scene.world.gate.arm(Some((nth, Fault::DieAfter)));
                    Scene::until_death(go(&scene, *way));
                }
                scene.world.gate.arm(None);
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
