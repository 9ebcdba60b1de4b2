//! The payment provider behind a faults: a call can be lost on its way there or back. And a
//! bank behind the provider, which takes back what it is told to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{
    Authorisation, Capture, Opened, Page, Paid, PaymentFailure, Payments, Refund, Void,
};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use onsale_table::faults::Faults;

#[derive(Debug)]
pub struct FaultyPayments<P> {
    provider: P,
    faults: Arc<Faults>,
    taken_back: Mutex<Vec<ChargeBack>>,
}

impl<P> FaultyPayments<P> {
    pub fn new(provider: P, faults: Arc<Faults>) -> Self {
        Self {
            provider,
            faults,
            taken_back: Mutex::default(),
        }
    }

    /// The bank takes the money back, and the provider tells whoever asks.
    pub fn take_back(&self, taken: ChargeBack) {
        self.taken_back().push(taken);
    }

    fn taken_back(&self) -> MutexGuard<'_, Vec<ChargeBack>> {
        let taken_back = self.taken_back.lock();
        taken_back.unwrap_or_else(PoisonError::into_inner)
    }

    async fn pass<T>(&self, name: &'static str, call: impl Future<Output = Paid<T>>) -> Paid<T> {
        let failure = || PaymentFailure::Unavailable("as planned".to_owned());
        self.faults.pass(name, failure, call).await
    }
}

#[async_trait]
impl<P: Payments> Payments for FaultyPayments<P> {
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

    async fn charge_backs(&self, _: Millis, _: Option<&str>) -> Paid<Page<ChargeBack>> {
        let items = self.taken_back().clone();
        let told = async { Ok(Page { items, next: None }) };
        self.pass("charge_backs", told).await
    }

    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        self.pass("confirm_action", self.provider.confirm_action(payment))
            .await
    }
}
