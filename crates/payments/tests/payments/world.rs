//! A sandbox over a ledger in memory, with one payment that is open.

use std::sync::{Arc, Mutex};

use onsale_app::ports::{Authorisation, Capture, Paid, PaymentFailure, Payments, Refund, Void};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::payment::{Action, PaymentId, PaymentMethod, PaymentState};
use onsale_domain::time::Millis;
use onsale_payments::{Pace, Sandbox};

use crate::ledger::{FixedClock, Ledger};

pub const ORDER: OrderId = OrderId::from_bytes([7; 16]);
pub const NOW: Millis = Millis(1_800_000_000_000);

pub fn total() -> Money {
    Money {
        amount: Cents(4200),
        currency: Currency::parse("EUR").unwrap(),
    }
}

pub struct World {
    pub sandbox: Sandbox,
    pub ledger: Ledger,
    pub clock: Arc<FixedClock>,
    pub payment: PaymentId,
}

impl World {
    pub async fn new() -> Self {
        Self::at_pace(Pace::NONE).await
    }

    pub async fn at_pace(pace: Pace) -> Self {
        let clock = Arc::new(FixedClock(Mutex::new(NOW)));
        let ledger = Ledger::new(clock.clone());
        let sandbox = Sandbox::new(ledger.store.clone(), clock.clone(), pace);
        let opened = sandbox.open(ORDER, total()).await.unwrap();
        let payment = opened.payment().unwrap();
        Self {
            sandbox,
            ledger,
            clock,
            payment,
        }
    }

    pub async fn authorise(&self, attempt: u32, method: &str) -> Paid<Authorisation> {
        let method = PaymentMethod::parse(method).unwrap();
        self.sandbox
            .authorise(&self.payment, ORDER, attempt, &method)
            .await
    }

    pub async fn capture(&self) -> Capture {
        self.sandbox.capture(&self.payment, ORDER).await.unwrap()
    }

    pub async fn void(&self) -> Void {
        self.sandbox.void(&self.payment, ORDER).await.unwrap()
    }

    pub async fn refund(&self, amount: u64) -> Refund {
        let amount = Cents(amount);
        self.sandbox
            .refund(&self.payment, ORDER, Cents(0), amount)
            .await
            .unwrap()
    }

    pub async fn state(&self) -> PaymentState {
        let found = self.sandbox.look_up(&self.payment).await.unwrap();
        found.unwrap().state
    }

    pub async fn writes(&self) -> u64 {
        self.ledger.writes(&self.payment).await
    }
}

pub fn declined() -> Paid<Authorisation> {
    Ok(Authorisation::Refused("The card was declined.".into()))
}

pub const AUTHORISED: Paid<Authorisation> = Ok(Authorisation::Authorised);
pub const ACTION: Paid<Authorisation> = Ok(Authorisation::ActionRequired(Action::ConfirmInSandbox));

pub fn is_unavailable<T>(answer: &Paid<T>) -> bool {
    matches!(answer, Err(PaymentFailure::Unavailable(_)))
}
