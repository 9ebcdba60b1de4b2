//! What may be asked of the function, with every port in memory.

#![allow(clippy::unwrap_used)]

use onsale_app::holds::Wish;
use onsale_app::ports::{Drive, Versioned};
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::{OrderId, ShowId};
use onsale_domain::order::{Order, OrderStatus};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::time::Millis;
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};

const NOW: Millis = Millis(1_800_000_000_000);

async fn ask(world: &MemoryWorld, payload: Value) -> Result<String, String> {
    let request = serde_json::from_value(payload).unwrap();
    reconcile::handle(&world.app, request).await
}

/// An order that has just begun.
async fn begun(world: &MemoryWorld) -> OrderId {
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let (ana, show) = (stage.buyer(1).await.unwrap(), stage.show.id);
    let key = IdempotencyKey::parse("key").unwrap();
    let wish = Wish::Seats(vec!["A-1-1".to_owned()]);
    let held = app.place_hold(&ana, show, &key, &wish, None).await;
    let hold = held.unwrap().hold_id;
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let order = app.check_out(&ana, show, hold, &key, card).await;
    order.unwrap()
}

/// An order that waits for an operator.
async fn stuck(world: &MemoryWorld) -> OrderId {
    let id = begun(world).await;
    let order = world.store.read::<Order>(id).await.unwrap().unwrap();
    let parked = Versioned {
        version: order.version,
        value: order.value.park("nobody answers".to_owned(), NOW),
    };
    world.store.replace(&parked).await.unwrap();
    world.saga_queue.take_due();
    id
}

async fn status(world: &MemoryWorld, id: OrderId) -> OrderStatus {
    let order = world.store.read::<Order>(id).await.unwrap().unwrap();
    order.value.status()
}

#[tokio::test]
async fn an_operator_lets_a_stuck_order_go_on() {
    let world = MemoryWorld::new(NOW);
    let order_id = stuck(&world).await;
    assert_eq!(status(&world, order_id).await, OrderStatus::Stuck);
    let resume = json!({"scope": "resume", "order": order_id});
    let told = ask(&world, resume.clone()).await.unwrap();
    assert_eq!(told, format!("{order_id} goes on."));
    assert_ne!(status(&world, order_id).await, OrderStatus::Stuck);
    let woken = Drive::Order { order_id, tries: 0 };
    assert_eq!(world.saga_queue.take_due(), [woken]);

    let again = ask(&world, resume).await.unwrap();
    assert!(again.contains("is not stuck"), "{again}");
    assert!(world.saga_queue.take_due().is_empty());
}

#[tokio::test]
async fn an_order_that_goes_on_is_named_and_exists() {
    let world = MemoryWorld::new(NOW);
    let unnamed = ask(&world, json!({"scope": "resume"})).await.unwrap_err();
    assert!(unnamed.contains("name the order"), "{unnamed}");
    let order = OrderId::from_bytes([9; 16]);
    let unknown = json!({"scope": "resume", "order": order});
    let unknown = ask(&world, unknown).await.unwrap_err();
    assert_eq!(unknown, "there is no such order");
}

#[tokio::test]
async fn a_run_that_could_not_look_at_everything_fails_when_the_rest_is_done() {
    let world = MemoryWorld::new(NOW);
    begun(&world).await;
    let show = ShowId::from_bytes([7; 16]);
    let cancelled = Cancellation::begin(show, NOW);
    world.store.create(&cancelled).await.unwrap();
    for scope in ["open", "all"] {
        world.faults.fail_always("get CXL", true);
        let failed = ask(&world, json!({"scope": scope})).await.unwrap_err();
        assert!(failed.starts_with("open orders 1,"), "{failed}");
        assert!(failed.contains("ALARM: open cancellations"), "{failed}");
        world.faults.fail_always("get CXL", false);
        let told = ask(&world, json!({"scope": scope})).await.unwrap();
        assert!(told.ends_with("everything agrees"), "{told}");
    }
}
