//! A provider that takes no such amount: nothing is opened, so nothing can be charged.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_app::App;
use onsale_app::ports::{Authorisation, Capture, Opened, Page, Paid, Payments, Refund, Void};
use onsale_app::unplugged::Unplugged;
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::OrderStatus;
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use crate::checkout::scene::Scene;

struct TakesNoSuchAmount;

#[async_trait]
impl Payments for TakesNoSuchAmount {
    async fn open(&self, _: OrderId, _: Money) -> Paid<Opened> {
        Ok(Opened::Refused("too little for a card".into()))
    }

    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation> {
        Unplugged.authorise(payment, order, attempt, method).await
    }

    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture> {
        Unplugged.capture(payment, order).await
    }

    async fn void(&self, payment: &PaymentId, order: OrderId) -> Paid<Void> {
        Unplugged.void(payment, order).await
    }

    async fn refund(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        Unplugged.refund(payment, order, already, amount).await
    }

    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>> {
        Unplugged.look_up(payment).await
    }

    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>> {
        Unplugged.list(since, after).await
    }

    async fn charge_backs(&self, since: Millis, after: Option<&str>) -> Paid<Page<ChargeBack>> {
        Unplugged.charge_backs(since, after).await
    }

    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        Unplugged.confirm_action(payment).await
    }
}

#[tokio::test]
async fn an_amount_that_cannot_be_paid_is_declined_at_once_and_its_seat_comes_back() {
    let mut scene = Scene::new().await;
    let mut ports = (*scene.app).clone();
    ports.payments = Arc::new(TakesNoSuchAmount);
    scene.app = App::new(ports);
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    // However often it is tried, and its message comes.
    for key in ["one", "two"] {
        let id = scene.check_out(hold, key, "pm_card_visa").await.unwrap();
        for _ in 0..2 {
            scene.drive(id).await;
        }
        let order = scene.order(id).await;
        assert_eq!(order.status(), OrderStatus::Declined);
        assert_eq!(order.payment, None);
        let refusal = order.attempts.last().and_then(|it| it.refusal.as_deref());
        assert_eq!(refusal, Some("too little for a card"));
    }
    scene.world.clock.advance(3_600_000);
    let bo = scene.show.buyer(1).await.unwrap();
    scene.hold(&bo, "h", &["A-1-1"]).await;
}
