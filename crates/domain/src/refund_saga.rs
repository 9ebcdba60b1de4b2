//! The refund saga, on one page. It also ends every checkout that is undone.
//!
//! ```text
//! stage           step                                          then
//! Voiding         ask the provider: void, or see it captured    Returning or Refunding
//! Revoking        revoke every ticket, issued or not            Refunding
//! Refunding       give back what was decided                    Returning
//! Returning       end the entry, then free the cells            AnnouncingEnd
//! AnnouncingEnd   tell the bus                                  Ended
//! ```
//!
//! How much goes back is fixed when the undo begins. Tickets die first, so that nobody
//! enters on a ticket that is paid back; a ticket that was not issued yet is stored as
//! revoked, so that a worker which comes back late cannot issue it. Places are free
//! again at once, but only after the money is on its way: a sold cell that is freed
//! says that its refund is done.
//!
//! A bank that takes the money back overtakes all of it: what a dispute covers, no provider
//! gives back a second time, so from then on nothing is owed.

use crate::announcement::News;
use crate::money::Cents;
use crate::order::{Order, Stage, Undo, Why};
use crate::time::Millis;

impl Order {
    /// `captured`: the provider says the money was taken after all. It was taken for
    /// nothing, so all of it goes back.
    pub fn voided(&self, captured: bool, now: Millis) -> Self {
        if !captured {
            return self.at(Stage::Returning, now);
        }
        let mut next = self.at(Stage::Refunding, now);
        next.captured = true;
        if let Some(undo) = next.undo.as_mut() {
            undo.percent = 100;
            undo.refund = self.total().amount;
        }
        next
    }

    pub fn tickets_revoked(&self, now: Millis) -> Self {
        self.at(Stage::Refunding, now)
    }

    /// The buyer's bank took the money back, so it was ours, whatever the order knew of it.
    /// `None`: nothing of it is left to decide.
    pub fn charged_back(&self, now: Millis) -> Option<Self> {
        let Some(undo) = &self.undo else {
            let mut paid = self.clone();
            paid.captured = true;
            return Some(paid.undone(Stage::Revoking, Why::ChargedBack, 0, now));
        };
        let stage = match self.stage {
            // Voiding would find the money taken, and ask for what cannot be given.
            Stage::Voiding | Stage::Revoking => Stage::Revoking,
            Stage::Refunding => Stage::Refunding,
            _ => return None,
        };
        if undo.why == Why::ChargedBack {
            return None;
        }
        let mut next = self.at(stage, now);
        next.captured = true;
        next.stuck = None;
        next.undo = Some(Undo {
            why: Why::ChargedBack,
            percent: 0,
            refund: Cents(0),
            ..undo.clone()
        });
        Some(next)
    }

    /// What the provider has to give back now.
    pub fn refund_due(&self) -> Cents {
        match &self.undo {
            Some(undo) if self.captured => undo.refund,
            _ => Cents(0),
        }
    }

    pub fn refunded(&self, now: Millis) -> Self {
        self.at(Stage::Returning, now)
    }

    pub fn seats_returned(&self, now: Millis) -> Self {
        let mut next = self.at(Stage::AnnouncingEnd, now);
        next.ended_at = Some(now);
        next
    }

    pub fn end_announced(&self, now: Millis) -> Self {
        self.at(Stage::Ended, now)
    }

    /// What the end of an order has to tell. `free` are those of its seats that anybody can
    /// have now: somebody may have been quicker.
    pub fn end_news(&self, free: Vec<String>) -> Vec<News> {
        let Some(undo) = &self.undo else {
            return Vec::new();
        };
        let reason = Some(undo.why.as_str().to_owned());
        let mut news = vec![News::OrderCancelled(self.news(reason.clone()))];
        if let Some(refund) = self.refund().filter(|r| r.amount > Cents(0)) {
            let order = self.news(reason);
            news.push(News::RefundIssued { order, refund });
        }
        if !free.is_empty() {
            news.push(News::SeatsReturned {
                order_id: self.id,
                show_id: self.show_id,
                seats: free,
            });
        }
        news
    }
}
