//! A provider that takes its time: the world moves on before it has listed the payments,
//! after that and before anybody has read the list, or before it looks one up.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use onsale_app::ports::{Authorisation, Capture, Opened, Page, Paid, Payments, Refund, Void};
use onsale_app::{App, Ports};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use crate::checkout::scene::Scene;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Moment {
    BeforeTheList,
    AfterTheList,
    BeforeTheLookUp,
}

type Plan = Vec<(Moment, BoxFuture<'static, ()>)>;

struct SlowProvider {
    provider: Arc<dyn Payments>,
    plan: Mutex<Plan>,
}

impl Scene {
    /// The application with such a provider; `action` happens at the first such moment.
    pub(crate) fn with_slow_provider(
        &self,
        moment: Moment,
        action: impl Future<Output = ()> + Send + 'static,
    ) -> App {
        self.with_provider_slow_at(vec![(moment, Box::pin(action))])
    }

    /// The same for several moments; each action happens once.
    pub(crate) fn with_provider_slow_at(&self, plan: Plan) -> App {
        let mut ports: Ports = (*self.app).clone();
        ports.payments = Arc::new(SlowProvider {
            provider: ports.payments.clone(),
            plan: Mutex::new(plan),
        });
        App::new(ports)
    }
}

impl SlowProvider {
    async fn reach(&self, moment: Moment) {
        let action = {
            let mut plan = self.plan.lock().unwrap();
            let next = plan.iter().position(|(planned, _)| *planned == moment);
            next.map(|next| plan.remove(next).1)
        };
        if let Some(action) = action {
            action.await;
        }
    }
}

#[async_trait]
impl Payments for SlowProvider {
    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>> {
        self.reach(Moment::BeforeTheList).await;
        let page = self.provider.list(since, after).await;
        self.reach(Moment::AfterTheList).await;
        page
    }

    async fn open(&self, order: OrderId, total: Money) -> Paid<Opened> {
        self.provider.open(order, total).await
    }

    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation> {
        let provider = &self.provider;
        provider.authorise(payment, order, attempt, method).await
    }

    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture> {
        self.provider.capture(payment, order).await
    }

    async fn void(&self, payment: &PaymentId, order: OrderId) -> Paid<Void> {
        self.provider.void(payment, order).await
    }

    async fn refund(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        self.provider.refund(payment, order, already, amount).await
    }

    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>> {
        self.reach(Moment::BeforeTheLookUp).await;
        self.provider.look_up(payment).await
    }

    async fn charge_backs(&self, since: Millis, after: Option<&str>) -> Paid<Page<ChargeBack>> {
        self.provider.charge_backs(since, after).await
    }

    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        self.provider.confirm_action(payment).await
    }
}
