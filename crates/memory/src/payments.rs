//! The payment provider behind a gate: a call can be lost on its way there or back.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_app::ports::{
    Authorisation, Capture, Opened, Page, Paid, PaymentFailure, Payments, Refund, Void,
};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use crate::gate::Gate;

#[derive(Debug)]
pub struct GatedPayments<P> {
    provider: P,
    gate: Arc<Gate>,
}

impl<P> GatedPayments<P> {
    pub fn new(provider: P, gate: Arc<Gate>) -> Self {
        Self { provider, gate }
    }

    async fn pass<T>(&self, name: &'static str, call: impl Future<Output = Paid<T>>) -> Paid<T> {
        let failure = || PaymentFailure::Unavailable("as planned".to_owned());
        self.gate.pass(name, failure, call).await
    }
}

#[async_trait]
impl<P: Payments> Payments for GatedPayments<P> {
    async fn open(&self, order: OrderId, total: Money) -> Paid<Opened> {
        self.pass("open", self.provider.open(order, total)).await
    }

    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation> {
        let call = self.provider.authorise(payment, order, attempt, method);
        self.pass("authorise", call).await
    }

    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture> {
        self.pass("capture", self.provider.capture(payment, order))
            .await
    }

    async fn void(&self, payment: &PaymentId, order: OrderId) -> Paid<Void> {
        self.pass("void", self.provider.void(payment, order)).await
    }

    async fn refund(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        let call = self.provider.refund(payment, order, already, amount);
        self.pass("refund", call).await
    }

    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>> {
        self.pass("look_up", self.provider.look_up(payment)).await
    }

    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>> {
        self.pass("list", self.provider.list(since, after)).await
    }

    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        self.pass("confirm_action", self.provider.confirm_action(payment))
            .await
    }
}
