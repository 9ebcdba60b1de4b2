//! Stands in for a port that a function has no use for. Using it is a mistake in how
//! the function was put together, and is answered as one: nothing is pretended.

use async_trait::async_trait;
use onsale_domain::announcement::Announcement;
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{Payment, PaymentId, PaymentMethod};
use onsale_domain::ticket_code::TicketClaims;
use onsale_domain::time::Millis;

use crate::ports::{
    Authorisation, Bus, Capture, Drive, ExpireHold, ExpiryQueue, OfferPlaces, Page, Paid,
    PaymentFailure, Payments, Refund, SagaQueue, StoreError, Stored, TicketSigner, Void,
    WaitlistQueue,
};

#[derive(Debug, Clone, Copy, Default)]
pub struct Unplugged;

fn missing<T>(what: &str) -> Stored<T> {
    Err(StoreError::Unavailable(format!("{what} is not configured")))
}

fn no_provider<T>() -> Paid<T> {
    Err(PaymentFailure::Ours("no provider is configured".to_owned()))
}

#[async_trait]
impl ExpiryQueue for Unplugged {
    async fn send(&self, _: &ExpireHold, _: u32) -> Stored<()> {
        missing("the queue of expiries")
    }
}

#[async_trait]
impl SagaQueue for Unplugged {
    async fn send_drive(&self, _: &Drive, _: u32) -> Stored<()> {
        missing("the queue of sagas")
    }
}

#[async_trait]
impl WaitlistQueue for Unplugged {
    async fn send_offer_places(&self, _: &OfferPlaces, _: u32) -> Stored<()> {
        missing("the queue of waitlists")
    }
}

#[async_trait]
impl Bus for Unplugged {
    async fn announce(&self, _: &[Announcement]) -> Stored<()> {
        missing("the event bus")
    }
}

impl TicketSigner for Unplugged {
    fn sign(&self, _: &TicketClaims) -> Stored<String> {
        missing("the key of tickets")
    }
}

#[async_trait]
impl Payments for Unplugged {
    async fn open(&self, _: OrderId, _: Money) -> Paid<PaymentId> {
        no_provider()
    }

    async fn authorise(
        &self,
        _: &PaymentId,
        _: OrderId,
        _: u32,
        _: &PaymentMethod,
    ) -> Paid<Authorisation> {
        no_provider()
    }

    async fn capture(&self, _: &PaymentId, _: OrderId) -> Paid<Capture> {
        no_provider()
    }

    async fn void(&self, _: &PaymentId, _: OrderId) -> Paid<Void> {
        no_provider()
    }

    async fn refund(&self, _: &PaymentId, _: OrderId, _: Cents) -> Paid<Refund> {
        no_provider()
    }

    async fn look_up(&self, _: &PaymentId) -> Paid<Option<Payment>> {
        no_provider()
    }

    async fn list(&self, _: Millis, _: Option<&str>) -> Paid<Page<Payment>> {
        no_provider()
    }

    async fn confirm_action(&self, _: &PaymentId) -> Paid<bool> {
        no_provider()
    }
}
