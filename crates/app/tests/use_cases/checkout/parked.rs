//! Orders that nobody can carry on for now: tried again, parked, and let go on.

use onsale_app::checkout::MAX_TRIES;
use onsale_app::ports::Drive;
use onsale_app::reconcile::IDLE_MS;
use onsale_app::{Caller, Error};
use onsale_domain::account::Role;
use onsale_domain::announcement::News;
use onsale_domain::buyer::PAY_MS;
use onsale_domain::ids::OrderId;
use onsale_domain::order::{OrderStatus, Stage};

use crate::checkout::scene::{Scene, key};

const NOTHING: [String; 0] = [];

/// An order whose money cannot be taken, tried until it was parked.
async fn parked(scene: &Scene) -> OrderId {
    let id = scene.started("pm_card_visa").await;
    scene.world.faults.fail_always("capture", true);
    scene.settle().await;
    scene.world.faults.fail_always("capture", false);
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
    id
}

fn stuck_steps(scene: &Scene) -> Vec<String> {
    let told = scene.world.bus.told().into_iter();
    told.filter_map(|told| match told.news {
        News::SagaStuck { step, .. } => Some(step),
        _ => None,
    })
    .collect()
}

#[tokio::test]
async fn a_parked_order_waits_until_somebody_lets_it_go_on() {
    let scene = Scene::new().await;
    let id = parked(&scene).await;
    scene.world.faults.arm(None);
    scene.drive(id).await;
    scene.world.clock.advance(IDLE_MS);
    scene.app.reconcile_open().await.unwrap();
    scene.settle().await;
    assert_eq!(scene.world.faults.calls_of("capture"), 0);
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
    assert!(scene.app.resume_order(id).await.unwrap());
    scene.settle().await;
    assert_eq!(scene.world.faults.calls_of("capture"), 1);
    scene.assert_consistent(id, "resumed").await;
}

#[tokio::test]
async fn a_parked_order_that_is_called_off_goes_another_way() {
    let scene = Scene::new().await;
    let id = parked(&scene).await;
    scene.world.faults.fail_always("capture", true);
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.reconcile_until_quiet().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Cancelled);
    scene.assert_consistent(id, "called off while parked").await;
}

#[tokio::test]
async fn only_the_organiser_of_its_show_lets_an_order_go_on() {
    let scene = Scene::new().await;
    let id = parked(&scene).await;
    let stranger = scene.show.buyer(2).await.unwrap();
    let other_organiser = Caller {
        role: Role::Organiser,
        ..stranger
    };
    for caller in [stranger, other_organiser] {
        let refused = scene.app.resume_as_organiser(&caller, id, None).await;
        assert_eq!(refused, Err(Error::NotFound("order")));
    }
    let refused = scene.app.resume_as_organiser(&scene.ana, id, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let organiser = scene.show.organiser().await.unwrap();
    let resumed = scene.app.resume_as_organiser(&organiser, id, None).await;
    assert_eq!(resumed, Ok(OrderStatus::Authorised));
    scene.settle().await;
    scene.assert_consistent(id, "resumed").await;
    let again = scene.app.resume_as_organiser(&organiser, id, None).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
}

#[tokio::test]
async fn a_resumption_under_the_same_key_is_answered_again_and_done_once() {
    let scene = Scene::new().await;
    let id = parked(&scene).await;
    let organiser = scene.show.organiser().await.unwrap();
    let resume = async |k: &str| {
        let key = key(k);
        let app = &scene.app;
        app.resume_as_organiser(&organiser, id, Some(&key)).await
    };
    assert_eq!(resume("once").await, Ok(OrderStatus::Authorised));
    assert_eq!(resume("once").await, Ok(OrderStatus::Authorised));
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert_eq!(resume("once").await, Ok(OrderStatus::Authorised));
    let other = resume("twice").await;
    assert!(matches!(other, Err(Error::Conflict(_))), "{other:?}");
}

/// The tickets are there, and the bus is away for an hour.
#[tokio::test]
async fn an_order_that_only_has_to_be_told_of_is_not_parked() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.world.faults.fail_always("announce", true);
    let away_until = scene.app.now() + 3_600_000;
    while scene.app.now() < away_until {
        for message in scene.world.saga_queue.take_due() {
            scene.deliver(&message).await;
        }
        scene.app.park_order(id, "its message died").await.unwrap();
        scene.world.clock.advance(20_000);
    }
    let order = scene.order(id).await;
    assert_eq!((order.stage, &order.stuck), (Stage::Announcing, &None));
    scene.world.faults.fail_always("announce", false);
    scene.settle().await;
    assert_eq!(scene.order(id).await.stage, Stage::Confirmed);
    assert_eq!(stuck_steps(&scene), NOTHING);
}

#[tokio::test]
async fn a_provider_that_is_away_until_the_hold_lapsed_leaves_nothing_behind() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.world.faults.fail_always("authorise", true);
    scene.settle().await;
    scene.world.faults.fail_always("authorise", false);
    scene.world.clock.advance(3_600_000);
    scene.reconcile_until_quiet().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    scene.assert_consistent(id, "the provider was away").await;
}

/// Ten tries are for one step: whoever came further has ten for the next.
#[tokio::test]
async fn an_order_that_came_further_is_tried_as_often_again() {
    let scene = Scene::new().await;
    let order_id = scene.started("pm_card_visa").await;
    let last_try = Drive::Order {
        order_id,
        tries: MAX_TRIES,
    };
    scene.world.saga_queue.take_due();
    scene.world.faults.fail_always("capture", true);
    scene.app.drive(&last_try).await.unwrap();
    let order = scene.order(order_id).await;
    assert_eq!((order.stage, order.stuck), (Stage::Capturing, None));
    let next = scene.world.saga_queue.waiting().pop().unwrap().1;
    assert_eq!(next, Drive::Order { order_id, tries: 1 });
    scene.app.drive(&last_try).await.unwrap();
    assert_eq!(scene.order(order_id).await.status(), OrderStatus::Stuck);
}

#[tokio::test]
async fn a_message_that_dies_again_and_again_parks_its_order() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("capture").await;
    scene.world.clock.advance(IDLE_MS - 1);
    scene.app.park_order(id, "its message died").await.unwrap();
    assert_eq!(
        scene.order(id).await.status(),
        OrderStatus::Authorised,
        "it moved less than two minutes ago"
    );
    scene.world.clock.advance(1);
    scene.app.park_order(id, "its message died").await.unwrap();
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Stuck);
    assert_eq!(order.stuck.unwrap().reason, "its message died");
    assert_eq!(stuck_steps(&scene), ["capture"]);
}

#[tokio::test]
async fn an_order_that_waits_for_its_buyer_is_not_parked_before_its_hold_lapses() {
    let scene = Scene::new().await;
    let id = scene.started("pm_sandbox_requires_action").await;
    scene.settle().await;
    scene.world.clock.advance(600_000 + PAY_MS - 1);
    scene.app.park_order(id, "its message died").await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::RequiresAction);
    scene.world.clock.advance(1);
    scene.app.park_order(id, "its message died").await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
}

#[tokio::test]
async fn an_order_with_nothing_to_do_is_not_parked() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.world.clock.advance(IDLE_MS);
    scene.app.park_order(id, "its message died").await.unwrap();
    scene.assert_consistent(id, "a late message died").await;
    let nobody = OrderId::from_bytes([9; 16]);
    assert_eq!(scene.app.park_order(nobody, "died").await, Ok(()));
}

/// Reconciling runs every minute while a step fails again and again.
#[tokio::test]
async fn a_step_that_is_put_off_is_not_driven_by_reconciling_as_well() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.settle().await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.world.faults.arm(None);
    scene.world.faults.fail_always("refund", true);
    for second in 0..3_600 {
        for message in scene.world.saga_queue.take_due() {
            scene.deliver(&message).await;
        }
        if second % 60 == 0 {
            scene.app.reconcile_open().await.unwrap();
        }
        scene.world.clock.advance(1_000);
    }
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
    let asked = scene.world.faults.calls_of("refund");
    assert_eq!(asked, MAX_TRIES as usize + 1, "one chain of tries");
}
