//! The hold of an offer from the waitlist: the same claim and the same record as of any
//! hold, for places and an expiry that were stored beforehand.

use std::sync::Arc;

use onsale_domain::block::Cell;
use onsale_domain::ids::{AccountId, HoldId, ShowId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::show::Show;
use onsale_domain::waitlist::{Offer, WaitlistEntry};

use super::ROUNDS;
use super::choose::Claimed;
use super::place::{Attempt, ClaimClock};
use super::record::Recorded;
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::Replaced;

impl App {
    /// Holds the places of an offer, or takes the hold back so that nobody can record it
    /// any more. Any number of workers may do this for one offer, at any time. Whether
    /// the hold is recorded.
    pub(crate) async fn hold_for_offer(
        &self,
        show: &Arc<Show>,
        layout: &Arc<Layout>,
        entry: &WaitlistEntry,
        offer: &Offer,
    ) -> Result<bool> {
        let prices = self.current_prices(show, layout).await?;
        let attempt = Attempt {
            prices,
            account: entry.account,
            show: show.clone(),
            layout: layout.clone(),
            hold: offer.hold_id,
            request: entry.offer_request(),
            pass: None,
            clock: ClaimClock::Waitlist,
            resales: &offer.resales,
        };
        match self.try_to_hold(&attempt, offer).await? {
            Some(recorded) => Ok(recorded),
            None => {
                let (account, hold) = (entry.account, offer.hold_id);
                self.withdraw_hold(show.id, layout, account, hold, offer)
                    .await
            }
        }
    }

    /// `None`: it cannot be held, and somebody has to see to it that it never is.
    async fn try_to_hold(&self, attempt: &Attempt<'_>, offer: &Offer) -> Result<Option<bool>> {
        let buyer = self.store.buyer(attempt.show.id, attempt.account).await?;
        if buyer.entry(attempt.hold).is_some() {
            return Ok(Some(true));
        }
        let (now, quantity) = (self.now(), offer.places.len());
        let may = buyer.may_begin(attempt.hold, attempt.request, quantity, attempt.cap(), now);
        if offer.is_late(now) || may.is_err() {
            return Ok(None);
        }
        let meant = Cell {
            expiry: offer.expires_at,
            hold: attempt.hold,
        };
        let free = offer.free_places();
        let cell = match self.claim_places(attempt, &free, meant).await {
            Ok(Claimed::Mine(cell)) => cell,
            Ok(Claimed::Taken(..)) | Err(Error::NotOnSale { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // What others put back is theirs still: it is kept for the hold, not claimed.
        let promise = offer.promise();
        if !self.promise_tickets(&offer.resales, promise).await? {
            return Ok(None);
        }
        match self.record(attempt, buyer, cell, &offer.places).await {
            Ok(Recorded::New(entry)) => {
                metrics::counter!("onsale_holds_total", "result" => "offered").increment(1);
                self.ask_for_expiry(attempt.account, attempt.show.id, &entry)
                    .await;
                Ok(Some(true))
            }
            Ok(Recorded::Before(_)) => Ok(Some(true)),
            Ok(Recorded::GivenBack(_)) => {
                self.release_promises(&offer.resales, attempt.hold).await?;
                Ok(Some(false))
            }
            Err(error @ (Error::Unavailable | Error::Corrupt)) => Err(error),
            // The cap, which another hold has filled meanwhile.
            Err(_) => Ok(None),
        }
    }

    /// Sees to it that the hold of an offer is never recorded, and frees its places.
    /// `true`: too late, it is recorded.
    pub(crate) async fn withdraw_hold(
        &self,
        show: ShowId,
        layout: &Layout,
        account: AccountId,
        hold: HoldId,
        offer: &Offer,
    ) -> Result<bool> {
        let (expiry, places): (_, &[PlaceIndex]) = (offer.expires_at, &offer.places);
        let mut buyer = self.store.buyer(show, account).await?;
        for _ in 0..ROUNDS {
            if buyer.entry(hold).is_some() {
                return Ok(true);
            }
            if buyer.is_given_back(hold, expiry) {
                let cell = Cell { expiry, hold };
                self.free_cells(show, layout, places, cell).await?;
                self.release_promises(&offer.resales, hold).await?;
                return Ok(false);
            }
            let next = buyer.give_back(hold, expiry, self.now());
            buyer = match self.store.replace_buyer(show, account, &next).await? {
                Replaced::Done => next,
                Replaced::Lost(current) => current,
            };
        }
        Err(Error::Unavailable)
    }
}
