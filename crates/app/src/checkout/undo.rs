//! The steps that take a checkout back. Each can be done again, by anyone, at any time.

use onsale_domain::money::Cents;
use onsale_domain::order::Order;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::transfer::MAX_HANDS;

use super::drive::{Tried, Trouble};
use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Refund, Versioned, Void, Written};

impl App {
    /// Asks the provider what is true: voids what was reserved, or says that the money
    /// was taken after all. A voided payment can never be charged again, so a worker
    /// that comes back late finds it shut.
    pub(super) async fn void(&self, order: &Order) -> Tried<bool> {
        let Some(payment) = &order.payment else {
            return Ok(false);
        };
        let answer = self.payments.void(payment, order.id).await?;
        Ok(answer == Void::Captured)
    }

    /// Revokes every ticket. One that was not issued yet is stored as revoked, so that
    /// nobody can issue it any more.
    pub(super) async fn revoke_tickets(&self, order: &Order) -> Result<()> {
        for seat in &order.seats {
            let mut tombstone = self.ticket_of(order, seat);
            tombstone.state = TicketState::Revoked { at: self.now() };
            let found = match self.store.create(&tombstone).await? {
                Written::Done(_) => continue,
                Written::Lost(found) => found,
            };
            self.revoke_ticket(found).await?;
        }
        Ok(())
    }

    /// Revokes a ticket, or the one that took its place: whoever has it has lost it.
    async fn revoke_ticket(&self, mut found: Versioned<Ticket>) -> Result<()> {
        for _ in 0..ROUNDS + MAX_HANDS {
            if let Some(next) = found.value.hands.passed_on {
                found = self
                    .store
                    .read::<Ticket>(next)
                    .await?
                    .ok_or(Error::Corrupt)?;
                continue;
            }
            if matches!(found.value.state, TicketState::Used { .. }) {
                tracing::warn!(ticket = %found.value.id, "a ticket is revoked after it was used");
            }
            let Some(value) = found.value.revoked(self.now()) else {
                return Ok(());
            };
            let next = Versioned {
                version: found.version,
                value,
            };
            match self.store.replace(&next).await? {
                Written::Done(_) => return Ok(()),
                Written::Lost(current) => found = current,
            }
        }
        Err(Error::Unavailable)
    }

    pub(super) async fn refund(&self, order: &Order) -> Tried<()> {
        let (Some(payment), due) = (&order.payment, order.refund_due()) else {
            return Ok(());
        };
        if due == Cents(0) {
            return Ok(());
        }
        let already = order.repaid_amount();
        let refund = self.payments.refund(payment, order.id, already, due);
        match refund.await? {
            Refund::Refunded => Ok(()),
            Refund::Refused(reason) => Err(Trouble::Refused(format!("refund: {reason}"))),
        }
    }

    /// The entry ends first, so that nobody can lock or sell it any more; then its cells
    /// are freed.
    pub(super) async fn return_seats(&self, order: &Order) -> Result<()> {
        // Ended before, or never recorded: there is nothing to end.
        let _ = self
            .move_entry(order, |buyer, hold| buyer.undo(hold, self.now()))
            .await?;
        self.free_order_cells(order).await?;
        Ok(())
    }

    /// All lines of the order: it may have been called off before its sale was in the books.
    pub(super) async fn announce_end(&self, order: &Order) -> Result<()> {
        self.keep_lines_of(order).await?;
        let subject = order.id.to_string();
        let free = self.free_seats_of(order).await?;
        let announcements: Vec<_> = order
            .end_news(free)
            .into_iter()
            .map(|news| news.announce(&subject, order.changed))
            .collect();
        Ok(self.bus.announce(&announcements).await?)
    }
}
