//! Terms that change after the sale.

use onsale_app::Error;
use onsale_app::checkout::{Cancelled, Cancelling};
use onsale_app::shows::ShowChange;
use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;

use crate::checkout::scene::{HOUR, Scene};

async fn change(scene: &Scene, change: &ShowChange) {
    let organiser = scene.show.organiser().await.unwrap();
    let changed = scene
        .app
        .change_show(&organiser, scene.show.show.id, change);
    changed.await.unwrap();
}

async fn take_refunds_away(scene: &Scene) {
    let none = ShowChange {
        refund_policy: Some(vec![]),
        ..ShowChange::default()
    };
    change(scene, &none).await;
}

async fn refund_if_cancelled(scene: &Scene, id: OrderId) -> Option<Cancelled> {
    let order = scene.order(id).await;
    scene.app.refund_if_cancelled(&order).await.unwrap()
}

/// Calls an order of one place off, and answers with the percentage that went back.
async fn cancelled(scene: &Scene, id: OrderId) -> u8 {
    let told = refund_if_cancelled(scene, id).await;
    let answer = scene.app.cancel_order(&scene.ana, id).await.unwrap();
    assert_eq!(told, Some(answer), "what was told before is what is done");
    assert_eq!(refund_if_cancelled(scene, id).await, None);
    assert_eq!(
        answer.refund.amount,
        Cents(45 * u64::from(answer.percent)),
        "of 45.00"
    );
    scene.settle().await;
    assert_eq!(scene.order(id).await.refund_due(), answer.refund.amount);
    answer.percent
}

#[tokio::test]
async fn what_was_sold_with_a_refund_keeps_it_when_the_policy_is_taken_away() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    take_refunds_away(&scene).await;
    assert_eq!(cancelled(&scene, id).await, 100);
    scene.assert_consistent(id, "the policy is gone").await;
}

#[tokio::test]
async fn what_was_sold_keeps_its_hours_when_the_show_is_moved_forward() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let soon = ShowChange {
        starts_at: Some(scene.app.now() + 3 * HOUR),
        ..ShowChange::default()
    };
    change(&scene, &soon).await;
    assert_eq!(cancelled(&scene, id).await, 100);
    scene.assert_consistent(id, "the show comes earlier").await;
}

#[tokio::test]
async fn a_show_that_is_put_off_gives_more_time_to_cancel() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.wait_until_hours_before(1);
    let later = ShowChange {
        starts_at: Some(scene.show.show.starts_at + 48 * HOUR),
        ..ShowChange::default()
    };
    change(&scene, &later).await;
    assert_eq!(cancelled(&scene, id).await, 100);
}

#[tokio::test]
async fn what_is_sold_after_the_change_has_the_terms_of_after_the_change() {
    let scene = Scene::new().await;
    take_refunds_away(&scene).await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    assert_eq!(cancelled(&scene, id).await, 0);
    let again = scene.paid("again", &["A-1-2"]).await;
    let always = ShowChange {
        refund_policy: Some(onsale_domain::show::default_refund_policy()),
        ..ShowChange::default()
    };
    change(&scene, &always).await;
    assert_eq!(cancelled(&scene, again).await, 100, "today's are better");
}

#[tokio::test]
async fn an_order_that_does_not_know_its_terms_goes_by_its_show() {
    let scene = Scene::new().await;
    for (seat, percent) in [("A-1-1", 100), ("A-1-2", 0)] {
        let id = scene.paid(seat, &[seat]).await;
        let mut order = scene.stored(id).await;
        order.value.terms = None;
        scene.world.store.replace(&order).await.unwrap();
        if percent == 0 {
            take_refunds_away(&scene).await;
        }
        assert_eq!(cancelled(&scene, id).await, percent, "{seat}");
    }
}

#[tokio::test]
async fn no_refund_is_told_of_where_cancelling_is_refused() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    assert!(refund_if_cancelled(&scene, id).await.is_some());
    scene.wait_until_hours_before(0);
    assert_eq!(refund_if_cancelled(&scene, id).await, None);
    let refused = scene.app.cancel_order(&scene.ana, id).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

#[tokio::test]
async fn an_order_that_is_not_paid_yet_is_told_that_nothing_goes_back() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    let told = refund_if_cancelled(&scene, id).await.unwrap();
    assert_eq!((told.refund.amount, told.percent), (Cents(0), 0));
    let answer = scene.app.cancel_order(&scene.ana, id).await.unwrap();
    assert_eq!(answer, told);
}

#[tokio::test]
async fn an_order_is_not_cancelled_for_less_than_its_buyer_was_told() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.wait_until_hours_before(24);
    let told = refund_if_cancelled(&scene, id).await.unwrap();
    assert_eq!(told.percent, 100);
    // The question is on the screen while the share falls.
    scene.wait_until_hours_before(5);
    let cancel = async |refund| {
        let cancelled = scene.app.cancel_order_for(&scene.ana, id, Some(refund));
        cancelled.await.unwrap()
    };
    let Cancelling::Other(now) = cancel(told.refund).await else {
        panic!("it was cancelled for less");
    };
    assert_eq!((now.refund.amount, now.percent), (Cents(45 * 50), 50));
    assert_eq!(refund_if_cancelled(&scene, id).await, Some(now));
    assert_eq!(cancel(now.refund).await, Cancelling::Done(now));
    // The answer was lost, and the question is repeated later.
    scene.wait_until_hours_before(1);
    assert_eq!(cancel(now.refund).await, Cancelling::Done(now));
    scene.settle().await;
    assert_eq!(scene.order(id).await.refund_due(), now.refund.amount);
}
