//! Reconciling beside a platform that goes on selling: what it read a moment ago is no
//! reason for an alarm, and none to move money.

use onsale_domain::money::Cents;
use onsale_domain::order::{OrderStatus, Stage};
use onsale_domain::payment::PaymentState;

use crate::checkout::scene::Scene;
use crate::checkout::slow_provider::Moment;

const NOTHING: [String; 0] = [];

#[tokio::test]
async fn a_sale_between_the_count_and_the_payments_is_no_alarm() {
    let scene = Scene::new().await;
    let other = scene.clone();
    let app = scene.with_slow_provider(Moment::BeforeTheList, async move {
        other.paid("pay", &["A-1-1"]).await;
    });
    let report = app.reconcile_all().await.unwrap();
    assert_eq!((report.sold, report.payments), (0, 1), "sold in between");
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}

#[tokio::test]
async fn an_order_that_is_confirmed_after_its_payment_was_listed_is_no_alarm() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("authorise").await;
    let other = scene.clone();
    let app = scene.with_slow_provider(Moment::AfterTheList, async move {
        other.settle().await;
    });
    let report = app.reconcile_all().await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}

/// Listed as authorised, captured and cancelled since: nothing is owed, and nothing may
/// be paid back because the list is old.
#[tokio::test]
async fn an_order_that_is_cancelled_at_0_percent_after_the_list_keeps_its_money() {
    let scene = Scene::new().await;
    scene.wait_until_hours_before(1);
    let id = scene.stopped_at("write BLK").await;
    assert_eq!(scene.order(id).await.stage, Stage::Selling);
    let other = scene.clone();
    let app = scene.with_slow_provider(Moment::AfterTheList, async move {
        other.settle().await;
        let answer = other.app.cancel_order(&other.ana, id).await.unwrap();
        assert_eq!(answer.percent, 0);
        other.settle().await;
    });
    let report = app.reconcile_all().await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Cancelled);
    let kept = PaymentState::Captured { refunded: Cents(0) };
    assert_eq!(scene.payments().await[0].state, kept);
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}

#[tokio::test]
async fn what_a_saga_pays_back_meanwhile_is_not_reported_as_a_repair() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let other = scene.clone();
    let app = scene.with_slow_provider(Moment::AfterTheList, async move {
        other.app.cancel_order(&other.ana, id).await.unwrap();
        other.settle().await;
    });
    let report = app.reconcile_all().await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}

/// The payment was listed as reserved, the order read as confirmed, and the payment looked
/// up after it was paid back.
#[tokio::test]
async fn an_order_that_is_cancelled_before_its_payment_is_looked_up_is_no_alarm() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("capture").await;
    let (paying, leaving) = (scene.clone(), scene.clone());
    let pays = async move { paying.settle().await };
    let leaves = async move {
        let order = leaving.order(id).await;
        assert_eq!(order.status(), OrderStatus::Confirmed);
        leaving.app.cancel_order(&leaving.ana, id).await.unwrap();
        leaving.settle().await;
    };
    let app = scene.with_provider_slow_at(vec![
        (Moment::AfterTheList, Box::pin(pays)),
        (Moment::BeforeTheLookUp, Box::pin(leaves)),
    ]);
    let report = app.reconcile_all().await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}

/// The order was read as confirmed, and its tickets and places after they were given up.
#[tokio::test]
async fn an_order_that_is_cancelled_while_its_tickets_are_counted_is_no_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let other = scene.clone();
    scene.world.faults.before_next("get_many TKT", async move {
        other.app.cancel_order(&other.ana, id).await.unwrap();
        other.settle().await;
    });
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    assert_eq!(report.alarms, NOTHING);
    assert_eq!(report.repairs, NOTHING);
}
