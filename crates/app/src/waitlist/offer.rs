//! One offer, from the entry to the hold and the announcement, and back.
//!
//! `waiting → offered(places)` is stored first, then the hold is claimed and recorded,
//! then it is announced, then the entry says so. Whoever finds an entry in between goes
//! on from there: every step can be done again, by anyone.

use std::sync::Arc;

use onsale_domain::announcement::{News, OfferNews};
use onsale_domain::buyer::{Entry, EntryState};
use onsale_domain::ids::{AccountId, OrderId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::order::{Order, Why};
use onsale_domain::show::{Show, StoredStatus};
use onsale_domain::ticket_return::Resale;
use onsale_domain::time::CLOCK_SKEW_MS;
use onsale_domain::waitlist::{Offer, Outcome, Waiting, WaitlistEntry};

use crate::app::App;
use crate::error::{Error, Result};
use onsale_table::TRANSACTION_PARTS;

use crate::ports::{ExpireHold, Versioned, Written};

/// The show that a pass looks at.
pub(super) struct Looking {
    pub show: Arc<Show>,
    pub layout: Arc<Layout>,
    /// How long its offers can be taken.
    pub offer_ms: u64,
}

/// What came of serving somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    Offered,
    /// Somebody else has a place of it. They are still waiting.
    Lost,
    /// They cannot be served now: they left, or their tickets would be too many.
    PassedOver,
}

impl App {
    /// Offers places to somebody who waits.
    pub(super) async fn serve(
        &self,
        looking: &Looking,
        waiting: &Waiting,
        places: Vec<PlaceIndex>,
        resales: Vec<Resale>,
    ) -> Result<Served> {
        // More than can be sold in one piece.
        if places.len() + 2 * resales.len() > TRANSACTION_PARTS {
            return Ok(Served::PassedOver);
        }
        let (show, account) = (&looking.show, waiting.account);
        let stored = self.store.read::<WaitlistEntry>((show.id, account)).await?;
        let Some(entry) = stored.filter(|e| e.value.id == waiting.id && e.value.is_waiting())
        else {
            return Ok(Served::PassedOver);
        };
        let now = self.now();
        let next = entry.value.offered(places, resales, now, looking.offer_ms);
        let buyer = self.store.buyer(show.id, account).await?;
        let (quantity, cap) = (
            waiting.wish.quantity as usize,
            show.max_tickets_per_buyer as usize,
        );
        let may = next
            .offer()
            .map(|offer| buyer.may_begin(offer.hold_id, next.offer_request(), quantity, cap, now));
        if !matches!(may, Some(Ok(()))) {
            return Ok(Served::PassedOver);
        }
        let version = entry.version;
        let next = Versioned {
            version,
            value: next,
        };
        match self.store.replace(&next).await? {
            Written::Done(version) => self.carry_out(looking, Versioned { version, ..next }).await,
            Written::Lost(_) => Ok(Served::PassedOver),
        }
    }

    /// Holds what an entry is offered and tells it, or puts the buyer back in line.
    async fn carry_out(
        &self,
        looking: &Looking,
        entry: Versioned<WaitlistEntry>,
    ) -> Result<Served> {
        let Some(offer) = entry.value.offer() else {
            return Ok(Served::PassedOver);
        };
        let Looking { show, layout, .. } = looking;
        match self
            .hold_for_offer(show, layout, &entry.value, offer)
            .await?
        {
            true => {
                metrics::counter!("onsale_waitlist_offers_total", "result" => "made").increment(1);
                self.tell_offer(looking, &entry, offer).await?;
                Ok(Served::Offered)
            }
            false => {
                self.put_back(&entry).await?;
                Ok(Served::Lost)
            }
        }
    }

    /// Looks what has become of an offer. Whether it is still out.
    pub(super) async fn settle(&self, looking: &Looking, account: AccountId) -> Result<bool> {
        let show = &looking.show;
        let Some(entry) = self.store.read::<WaitlistEntry>((show.id, account)).await? else {
            return Ok(false);
        };
        let Some(offer) = entry.value.offer().cloned() else {
            return Ok(false);
        };
        let buyer = self.store.buyer(show.id, account).await?;
        let hold = buyer.entry(offer.hold_id).map(|hold| (hold.state, hold));
        let now = self.now();
        if show.status == StoredStatus::Cancelled || now >= show.starts_at {
            let state = hold.map(|(state, _)| state);
            return self.settle_after_sale(&entry, state).await;
        }
        match hold {
            // Recorded and told, and ended so long ago that the buyer item forgot it.
            None if offer.told => self.lapse(looking, &entry, &offer).await?,
            None => return Ok(self.carry_out(looking, entry).await? == Served::Offered),
            Some((EntryState::Held, hold)) if now > hold.expiry + CLOCK_SKEW_MS => {
                return self.settle_lapsed(looking, &entry, &offer).await;
            }
            // Somebody keeps the ticket that was offered: the buyer waits for the next.
            Some((EntryState::Held, _)) if !self.stands(&offer).await? => {
                let hold = offer.hold_id;
                match self.release_of(account, show.id, hold, buyer.clone()).await {
                    Ok(()) => self.put_back_from(&entry, &offer).await?,
                    // It is being paid, and its order finds out.
                    Err(Error::Conflict(_)) => return Ok(true),
                    Err(error) => return Err(error),
                }
            }
            Some((EntryState::Held | EntryState::Paying, _)) => {
                self.tell_offer(looking, &entry, &offer).await?;
                return Ok(true);
            }
            Some((EntryState::Sold, _)) => self.end(&entry, Outcome::Taken).await?,
            // Nobody knew of it: the buyer keeps their turn.
            Some((EntryState::Expired, _)) if !offer.told => self.put_back(&entry).await?,
            Some((EntryState::Released | EntryState::Expired | EntryState::Undone, hold)) => {
                self.settle_ended(looking, &entry, &offer, hold).await?;
            }
        }
        Ok(false)
    }

    /// The show is cancelled or has begun, so there are no more offers. Nothing is claimed
    /// any more, and what is being paid is the saga's to end. Whether the offer is still out.
    async fn settle_after_sale(
        &self,
        entry: &Versioned<WaitlistEntry>,
        hold: Option<EntryState>,
    ) -> Result<bool> {
        let outcome = match hold {
            Some(EntryState::Paying) => return Ok(true),
            Some(EntryState::Sold) => Outcome::Taken,
            _ => Outcome::Lapsed,
        };
        self.end(entry, outcome).await?;
        Ok(false)
    }

    /// The time of the hold is over. Whether the offer is still out.
    async fn settle_lapsed(
        &self,
        looking: &Looking,
        entry: &Versioned<WaitlistEntry>,
        offer: &Offer,
    ) -> Result<bool> {
        let message = ExpireHold {
            show_id: looking.show.id,
            account_id: entry.value.account,
            hold_id: offer.hold_id,
        };
        self.end_lapsed_hold(&message).await?;
        // What was decided just now is looked at once more, from what is stored.
        let buyer = self
            .store
            .buyer(message.show_id, message.account_id)
            .await?;
        match buyer.entry(offer.hold_id).map(|e| e.state) {
            Some(EntryState::Expired | EntryState::Released) | None if offer.told => {
                self.lapse(looking, entry, offer).await?;
            }
            Some(EntryState::Expired) => self.put_back(entry).await?,
            _ => return Ok(true),
        }
        Ok(false)
    }

    /// The hold has ended, and with it the offer.
    async fn settle_ended(
        &self,
        looking: &Looking,
        entry: &Versioned<WaitlistEntry>,
        offer: &Offer,
        hold: &Entry,
    ) -> Result<()> {
        // Whoever ended it may have died before the places were free.
        self.free_entry(looking.show.id, hold).await?;
        if self.was_lost(offer).await? {
            return self.put_back_from(entry, offer).await;
        }
        match hold.state {
            EntryState::Expired => self.lapse(looking, entry, offer).await,
            // Its buyer let it go, or bought it and hears of the order: that they came too
            // late would not be true.
            _ => {
                self.release_promises(&offer.resales, offer.hold_id).await?;
                self.end(entry, Outcome::Lapsed).await
            }
        }
    }

    /// Whether the tickets of an offer that others put back are kept for it still.
    async fn stands(&self, offer: &Offer) -> Result<bool> {
        match offer.resales.is_empty() {
            true => Ok(true),
            false => self.are_kept_for(&offer.resales, offer.hold_id).await,
        }
    }

    /// Whether an offer came to nothing because somebody keeps their ticket after all.
    async fn was_lost(&self, offer: &Offer) -> Result<bool> {
        if self.stands(offer).await? {
            return Ok(false);
        }
        let order = self.store.read::<Order>(OrderId::of(offer.hold_id)).await?;
        let why = order
            .and_then(|order| order.value.undo)
            .map(|undo| undo.why);
        Ok(why.is_none_or(|why| why == Why::SeatsLost))
    }

    /// Puts a buyer back in line, and lets the tickets go that were kept for them.
    async fn put_back_from(&self, entry: &Versioned<WaitlistEntry>, offer: &Offer) -> Result<()> {
        self.release_promises(&offer.resales, offer.hold_id).await?;
        self.put_back(entry).await
    }

    /// Announces an offer whose hold is recorded, and then remembers that.
    async fn tell_offer(
        &self,
        looking: &Looking,
        entry: &Versioned<WaitlistEntry>,
        offer: &Offer,
    ) -> Result<()> {
        if offer.told {
            return Ok(());
        }
        self.announce_offer(looking, entry, offer, News::OfferMade)
            .await?;
        self.write(entry, entry.value.told(self.now())).await
    }

    /// The offer was let go: that is announced, and then it is over for this entry.
    async fn lapse(
        &self,
        looking: &Looking,
        entry: &Versioned<WaitlistEntry>,
        offer: &Offer,
    ) -> Result<()> {
        self.release_promises(&offer.resales, offer.hold_id).await?;
        metrics::counter!("onsale_waitlist_offers_total", "result" => "lapsed").increment(1);
        self.announce_offer(looking, entry, offer, News::OfferLapsed)
            .await?;
        self.end(entry, Outcome::Lapsed).await
    }

    async fn announce_offer(
        &self,
        looking: &Looking,
        entry: &Versioned<WaitlistEntry>,
        offer: &Offer,
        news: impl Fn(OfferNews) -> News,
    ) -> Result<()> {
        let (entry, layout) = (&entry.value, &looking.layout);
        let told = news(OfferNews {
            waitlist_id: entry.id,
            show_id: entry.show_id,
            account_id: entry.account,
            hold_id: offer.hold_id,
            seats: offer.places.iter().map(|p| layout.seat_id(*p)).collect(),
            expires_at: offer.expires_at,
        });
        // The same for every repetition, whoever announces it.
        let subject = format!("{}:{}", entry.id, entry.attempt);
        let announcement = told.announce(&subject, entry.changed);
        Ok(self.bus.announce(&[announcement]).await?)
    }

    async fn put_back(&self, entry: &Versioned<WaitlistEntry>) -> Result<()> {
        self.write(entry, entry.value.back_in_line(self.now()))
            .await
    }

    pub(super) async fn end(
        &self,
        entry: &Versioned<WaitlistEntry>,
        outcome: Outcome,
    ) -> Result<()> {
        self.write(entry, entry.value.ended(outcome, self.now()))
            .await
    }

    /// Moves an entry on. When somebody else has moved it, theirs counts.
    async fn write(&self, entry: &Versioned<WaitlistEntry>, value: WaitlistEntry) -> Result<()> {
        let version = entry.version;
        let next = Versioned { version, value };
        self.store.replace(&next).await?;
        Ok(())
    }
}
