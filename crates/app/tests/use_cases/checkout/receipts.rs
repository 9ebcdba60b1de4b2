//! Receipts: what was paid and what was paid back, for the buyer alone.

use onsale_app::Error;
use onsale_domain::money::Cents;
use onsale_domain::order::OrderStatus;
use onsale_domain::receipt::PaidBack;

use crate::checkout::scene::Scene;
use crate::checkout::transfers::Friends;

#[tokio::test]
async fn a_receipt_names_the_buyer_and_is_nobody_elses() {
    let friends = Friends::new().await;
    let app = &friends.scene.app;
    let receipt = app.receipt(&friends.scene.ana, friends.order).await;
    let receipt = receipt.unwrap();
    assert_eq!(receipt.buyer, "ana");
    assert_eq!(Some(receipt.paid_at), receipt.order.sold_at);
    assert_eq!(receipt.paid_back, []);
    let foreign = app.receipt(&friends.bo, friends.order).await;
    assert_eq!(foreign.unwrap_err(), Error::NotFound("order"));
}

#[tokio::test]
async fn there_is_no_receipt_before_the_money_was_taken() {
    let scene = Scene::new().await;
    let order = scene.started("pm_card_chargeDeclined").await;
    scene.settle().await;
    let receipt = scene.app.receipt(&scene.ana, order).await;
    assert!(matches!(receipt, Err(Error::Conflict(_))), "{receipt:?}");
}

#[tokio::test]
async fn what_is_paid_back_is_on_the_receipt_once_it_was() {
    let scene = Scene::new().await;
    let order = scene.paid("pay", &["A-1-1"]).await;
    scene.wait_until_hours_before(5);
    let promised = scene.app.cancel_order(&scene.ana, order).await.unwrap();
    let paid_back = async || {
        let receipt = scene.app.receipt(&scene.ana, order).await.unwrap();
        (receipt.order.status(), receipt.paid_back)
    };
    assert_eq!(paid_back().await, (OrderStatus::Cancelling, vec![]));
    scene.settle().await;
    let amount = promised.refund.amount;
    assert!(amount > Cents(0));
    let back = PaidBack { seat: None, amount };
    assert_eq!(paid_back().await, (OrderStatus::Refunded, vec![back]));
}
