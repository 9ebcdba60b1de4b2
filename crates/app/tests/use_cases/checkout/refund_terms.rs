//! Terms that change after the sale.

use onsale_app::ports::Orders;
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

/// Calls an order of one place off, and answers with the percentage that went back.
async fn cancelled(scene: &Scene, id: OrderId) -> u8 {
    let answer = scene.app.cancel_order(&scene.ana, id).await.unwrap();
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
        scene.world.store.replace_order(&order).await.unwrap();
        if percent == 0 {
            take_refunds_away(&scene).await;
        }
        assert_eq!(cancelled(&scene, id).await, percent, "{seat}");
    }
}
