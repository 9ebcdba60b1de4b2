//! Stands in for a port that a function has no use for. Using it is a mistake in how
//! the function was put together, and is answered as one: nothing is pretended.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use onsale_domain::announcement::Announcement;
use onsale_domain::ids::{EventId, OrderId};
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::ticket_code::TicketClaims;
use onsale_domain::time::Millis;

use crate::events::EventQuery;
use crate::ports::{
    Authorisation, Bus, Capture, Drive, ExpireHold, ExpiryQueue, ExportQueue, Fetched, IndexDraft,
    Notify, NotifyQueue, ObjectEntry, Objects, OfferPlaces, Opened, Page, Paid, PaymentFailure,
    Payments, Refund, SagaQueue, Search, SearchIndex, SearchPage, StoreError, Stored, Tag,
    TicketSigner, Void, WaitlistQueue, WriteExport,
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
impl NotifyQueue for Unplugged {
    async fn send_notify(&self, _: &Notify, _: u32) -> Stored<()> {
        missing("the queue of notifications")
    }
}

#[async_trait]
impl ExportQueue for Unplugged {
    async fn send_export(&self, _: &WriteExport) -> Stored<()> {
        missing("the queue of exports")
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
    async fn open(&self, _: OrderId, _: Money) -> Paid<Opened> {
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

    async fn refund(&self, _: &PaymentId, _: OrderId, _: Cents, _: Cents) -> Paid<Refund> {
        no_provider()
    }

    async fn look_up(&self, _: &PaymentId) -> Paid<Option<Payment>> {
        no_provider()
    }

    async fn list(&self, _: Millis, _: Option<&str>) -> Paid<Page<Payment>> {
        no_provider()
    }

    async fn charge_backs(&self, _: Millis, _: Option<&str>) -> Paid<Page<ChargeBack>> {
        no_provider()
    }

    async fn confirm_action(&self, _: &PaymentId) -> Paid<bool> {
        no_provider()
    }
}

#[async_trait]
impl Objects for Unplugged {
    async fn get(&self, _: &str, _: Option<&Tag>) -> Stored<Fetched> {
        missing("the object storage")
    }

    async fn replace(&self, _: &str, _: Vec<u8>, _: Option<&Tag>) -> Stored<Option<Tag>> {
        missing("the object storage")
    }

    async fn upload(&self, _: &str, _: &Path, _: &str) -> Stored<()> {
        missing("the object storage")
    }

    async fn download(&self, _: &str, _: &Path) -> Stored<bool> {
        missing("the object storage")
    }

    async fn list(&self, _: &str, _: Option<&str>) -> Stored<Page<ObjectEntry>> {
        missing("the object storage")
    }

    async fn delete(&self, _: &str) -> Stored<()> {
        missing("the object storage")
    }

    async fn link(&self, _: &str, _: &str, _: Duration) -> Stored<String> {
        missing("the object storage")
    }
}

/// Without an index lists are read from the table, which is slower and forgives no
/// typing mistake, but as true.
#[async_trait]
impl Search for Unplugged {
    async fn search(&self, _: &EventQuery, _: &[EventId], _: Millis) -> Stored<Option<SearchPage>> {
        Ok(None)
    }
}

#[async_trait]
impl SearchIndex for Unplugged {
    async fn open(&self) -> Stored<Option<Box<dyn IndexDraft>>> {
        missing("the search index")
    }

    async fn create(&self) -> Stored<Box<dyn IndexDraft>> {
        missing("the search index")
    }
}
