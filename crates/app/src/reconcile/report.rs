//! What a run says when it is over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::order::{Order, Stage};
use onsale_domain::payment::PaymentId;
use onsale_domain::time::Millis;

use crate::error::Result;
use crate::ports::{StoreError, Stored};

/// What was checked, what was repaired, and what somebody has to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub open_orders: u64,
    pub driven_again: u64,
    pub stuck_orders: u64,
    pub open_cancellations: u64,
    /// Mails and mailings that were forgotten or let go, and are sent now.
    pub mails_woken: u64,
    /// Mails that nobody sends any more, until somebody lets them go.
    pub parked_mails: u64,
    pub open_exports: u64,
    /// Shows whose waitlist is open; each is looked at again.
    pub open_waitlists: u64,
    pub shows: u64,
    pub free: u64,
    pub held: u64,
    pub sold: u64,
    pub capacity: u64,
    pub payments: u64,
    pub captured: Cents,
    pub refunded: Cents,
    /// Payments with money in them and no order that wants it, after repairs.
    pub orphan_payments: u64,
    pub repairs: Vec<String>,
    pub alarms: Vec<String>,
    /// How many of the alarms say that something could not be looked at: a run with any of
    /// them has failed, however much it did.
    pub missed: u64,
    /// The payments of confirmed orders, until the provider lists them.
    pub(super) unpaid: BTreeMap<PaymentId, (OrderId, Millis)>,
    /// Confirmed orders whose places and tickets were looked at: once a run is enough.
    pub(super) checked: BTreeSet<OrderId>,
    /// Orders that nobody can read: what they say of their money is not known.
    pub(super) unreadable: BTreeSet<OrderId>,
}

impl Report {
    /// Of a run that only sent parked mails again.
    pub fn resent(mails: u64) -> Self {
        Self {
            mails_woken: mails,
            ..Self::default()
        }
    }

    /// Somebody has to look. It is logged at once: the rest of the run may take long.
    pub(super) fn alarm(&mut self, what: String) {
        tracing::error!(what, "reconciling found something that needs a look");
        self.alarms.push(what);
    }

    /// Something could not be looked at. Whatever else there is to look at comes next.
    pub(super) fn missed(&mut self, what: String) {
        self.missed += 1;
        self.alarm(what);
    }

    /// What a part of the run found, or `None` if it could not come to its end.
    pub(super) fn unless_missed<T>(&mut self, part: &str, found: Result<T>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(error) => {
                self.missed(format!("{part} could not be looked at: {error}"));
                None
            }
        }
    }

    /// A document of a list. One that cannot be read keeps no other from being looked at; a
    /// store that does not answer does.
    pub(crate) fn readable<T>(
        &mut self,
        what: impl fmt::Display,
        read: Stored<Option<T>>,
    ) -> Stored<Option<T>> {
        match read {
            Err(StoreError::Corrupt(why)) => {
                self.missed(format!("{what} cannot be read: {why}"));
                Ok(None)
            }
            read => read,
        }
    }

    pub(super) fn repaired(&mut self, what: String) {
        tracing::warn!(what, "reconciling repaired something");
        self.repairs.push(what);
    }

    /// A confirmed order has its places and tickets, or the report says what it lacks.
    pub(super) fn looked_at(&mut self, order: &Order) {
        if order.stage != Stage::Confirmed {
            return;
        }
        self.checked.insert(order.id);
        if let Some(payment) = &order.payment {
            let known = (order.id, order.created);
            self.unpaid.insert(payment.clone(), known);
        }
    }

    /// Takes over what was found about orders that were looked at beside others.
    pub(super) fn absorb(&mut self, part: Self) {
        self.missed += part.missed;
        self.repairs.extend(part.repairs);
        self.alarms.extend(part.alarms);
        self.unpaid.extend(part.unpaid);
        self.checked.extend(part.checked);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            open_orders,
            driven_again,
            stuck_orders,
            open_cancellations,
            ..
        } = self;
        writeln!(
            f,
            "open orders {open_orders}, driven again {driven_again}, stuck {stuck_orders}, cancellations under way {open_cancellations}"
        )?;
        writeln!(
            f,
            "shows {}: free {} + held {} + sold {} = {} of {} places",
            self.shows,
            self.free,
            self.held,
            self.sold,
            self.free + self.held + self.sold,
            self.capacity
        )?;
        writeln!(
            f,
            "payments {}: captured {}, refunded {} (minor units), orphans {}",
            self.payments, self.captured.0, self.refunded.0, self.orphan_payments
        )?;
        let (woken, parked) = (self.mails_woken, self.parked_mails);
        if woken + parked > 0 {
            writeln!(f, "mails sent again {woken}, parked {parked}")?;
        }
        for repair in &self.repairs {
            writeln!(f, "repaired: {repair}")?;
        }
        for alarm in &self.alarms {
            writeln!(f, "ALARM: {alarm}")?;
        }
        match self.alarms.len() {
            0 => write!(f, "everything agrees"),
            n => write!(f, "{n} things need somebody to look at them"),
        }
    }
}
