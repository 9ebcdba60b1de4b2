//! A pass over the waitlist of a show: settle the offers that are out, then make new ones
//! of what is free, in order.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::ShowId;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::show::{NotOnSale, Show, Waitlist};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{
    OFFER_MS, Outcome, Passes, Places, Waiting, WaitlistEntry, match_offers,
};

use super::offer::{Looking, Served};
use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::needs_pass;
use crate::ports::{MAX_DELAY_S, OfferPlaces, Reads, Versioned};

/// Offers that one pass makes; more are left to the next.
const OFFERS_A_PASS: usize = 200;
/// Entries of a show that is over which one pass ends.
const ENDED_A_PASS: usize = 500;
/// How often a pass looks anew when somebody was faster.
const RACES: usize = 4;
const AT_ONCE: usize = 8;
/// While somebody else is at it, the message comes again.
const BUSY_S: u32 = 2;
/// A waitlist on which nobody waits is closed after this time.
const CLOSED_AFTER_MS: u64 = 60_000;

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// A pass was made, with so many new offers.
    Passed { offers: usize },
    /// Somebody is at it: the message was sent again.
    Requeued,
    /// Nobody waits, or a pass has seen what the message is about.
    LeftAlone,
}

impl App {
    pub async fn offer_places(&self, message: &OfferPlaces) -> Result<Looked> {
        self.offer_places_for(message, OFFER_MS).await
    }

    /// The same with offers that can be taken for so long.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn offer_places_for(&self, message: &OfferPlaces, offer_ms: u64) -> Result<Looked> {
        let id = message.show_id;
        let Some(show) = self.store.read::<Show>(id).await? else {
            return Ok(Looked::LeftAlone);
        };
        if show.value.waitlist == Waitlist::Closed {
            return Ok(Looked::LeftAlone);
        }
        let stored = self.store.read::<Passes>(id).await?;
        let passes = stored.unwrap_or(Versioned {
            version: 0,
            value: Passes::none(id),
        });
        if passes.value.has_seen(message.since) {
            return Ok(Looked::LeftAlone);
        }
        let began = self.now();
        let begun = Versioned {
            version: passes.version,
            value: passes.value.begun(began),
        };
        if passes.value.is_busy(began) || !self.store.replace_waitlist_passes(&begun).await? {
            let again = self.waitlist_queue.send_offer_places(message, BUSY_S);
            again.await?;
            return Ok(Looked::Requeued);
        }
        let passed = self.pass_over(Arc::new(show.value), offer_ms).await;
        let value = match &passed {
            Ok(_) => begun.value.ended(began),
            Err(_) => begun.value.ended(Millis(0)),
        };
        let version = begun.version + 1;
        // Whoever lost this right by taking too long leaves it to the one who has it.
        self.store
            .replace_waitlist_passes(&Versioned { version, value })
            .await?;
        let offers = passed?;
        Ok(Looked::Passed { offers })
    }

    async fn pass_over(&self, show: Arc<Show>, offer_ms: u64) -> Result<usize> {
        let layout = self.layout_of(&show).await?;
        let looking = Looking {
            show,
            layout,
            offer_ms,
        };
        let show = &looking.show;
        let (out, failed) = self.settle_all(&looking).await?;
        let line = self.store.waiting(show.id).await?;
        let made = match show.check_on_sale(self.now()) {
            Ok(()) => self.make_offers(&looking, line.clone()).await?,
            Err(NotOnSale::Cancelled | NotOnSale::Over) => {
                self.end_line(show.id, &line).await?;
                0
            }
            Err(NotOnSale::Draft | NotOnSale::NotYet(_)) => 0,
        };
        self.mark(show, !line.is_empty() || out).await?;
        match failed {
            Some(error) => Err(error),
            None => Ok(made),
        }
    }

    async fn make_offers(&self, looking: &Looking, mut line: Vec<Waiting>) -> Result<usize> {
        let Looking { show, layout, .. } = looking;
        let all: Vec<_> = (0..layout.blocks().len() as u32).map(BlockIndex).collect();
        let (mut made, mut races) = (0, 0);
        while races < RACES {
            let now = self.now();
            let blocks = self
                .store
                .read_blocks(show.id, &all, Reads::Consistent)
                .await?;
            let put_back = self.returned_tickets(show.id).await?;
            let mut places =
                Places::read(layout, &blocks, now).with_put_back(layout, &blocks, &put_back, now);
            if needs_pass(show) {
                places = places.with_room(layout, &blocks, show.claim_clock(now));
            }
            let matched = match_offers(layout, &places, &line, now, OFFERS_A_PASS);
            let served = self
                .serve_all(looking, &line, &matched.offers, &places)
                .await?;
            let lost = served.iter().any(|(_, served)| *served == Served::Lost);
            made += served.iter().filter(|(_, s)| *s == Served::Offered).count();
            let passed_over = served.iter().any(|(_, s)| *s == Served::PassedOver);
            let done: HashSet<usize> = served
                .into_iter()
                .filter(|(_, served)| *served != Served::Lost)
                .map(|(at, _)| at)
                .collect();
            let mut at = 0;
            line.retain(|_| {
                at += 1;
                !done.contains(&(at - 1))
            });
            if lost || passed_over {
                // Who is passed over is out of the line for now, so this comes to an end.
                races += usize::from(lost);
                continue;
            }
            if matched.more {
                self.look_at_waitlist(show.id, 0).await;
                return Ok(made);
            }
            if let Some(at) = matched.look_again {
                let delay_s = now.until(at).div_ceil(1_000);
                let delay_s = u32::try_from(delay_s).unwrap_or(MAX_DELAY_S);
                self.look_at_waitlist(show.id, delay_s.min(MAX_DELAY_S))
                    .await;
            }
            let offered = matched.offers.iter().flat_map(|(_, offered)| offered);
            let kept: HashSet<_> = offered.chain(&matched.kept_back).copied().collect();
            self.let_go(looking, &places, &kept).await?;
            return Ok(made);
        }
        // There is a crowd about. The next pass begins with what it left.
        self.look_at_waitlist(show.id, BUSY_S).await;
        Ok(made)
    }

    /// Looks at every offer that is out. Whether any still is, and what failed: one that
    /// cannot be settled keeps nobody else from an offer, and the message comes again.
    async fn settle_all(&self, looking: &Looking) -> Result<(bool, Option<Error>)> {
        let offered = self.store.offered(looking.show.id).await?;
        let settling = offered
            .into_iter()
            .map(|account| self.settle(looking, account));
        let settling: Vec<_> = settling.collect();
        let out: Vec<Result<bool>> = stream::iter(settling).buffered(AT_ONCE).collect().await;
        let is_out = |settled: &Result<bool>| !matches!(settled, Ok(false));
        let any = out.iter().any(is_out);
        let failed = out.into_iter().find_map(Result::err);
        Ok((any, failed))
    }

    /// Serves everybody who was matched. One that fails stops nobody else.
    async fn serve_all(
        &self,
        looking: &Looking,
        line: &[Waiting],
        offers: &[(usize, Vec<PlaceIndex>)],
        places: &Places,
    ) -> Result<Vec<(usize, Served)>> {
        let serving = offers.iter().map(|(at, offered)| async move {
            let resales = offered.iter().filter_map(|place| places.resales.get(place));
            let resales = resales.copied().collect();
            let served = self.serve(looking, &line[*at], offered.clone(), resales);
            let served = served.await;
            served.map(|served| (*at, served))
        });
        let serving: Vec<_> = serving.collect();
        let served: Vec<Result<_>> = stream::iter(serving).buffered(AT_ONCE).collect().await;
        served.into_iter().collect()
    }

    /// Frees what came back and nobody on the list has a use for.
    async fn let_go(
        &self,
        looking: &Looking,
        places: &Places,
        kept: &HashSet<PlaceIndex>,
    ) -> Result<()> {
        for (place, cell) in &places.returned {
            if !kept.contains(place) {
                let (block, slot) = looking.layout.locate(*place);
                let wanted = onsale_domain::claim::BlockSlots {
                    block,
                    slots: vec![slot],
                };
                self.store.release(looking.show.id, &wanted, *cell).await?;
            }
        }
        Ok(())
    }

    /// The show is over or called off, and so is waiting for it.
    async fn end_line(&self, show: ShowId, line: &[Waiting]) -> Result<()> {
        for waiting in line.iter().take(ENDED_A_PASS) {
            let stored = self
                .store
                .read::<WaitlistEntry>((show, waiting.account))
                .await?;
            if let Some(entry) = stored.filter(|entry| entry.value.is_waiting()) {
                self.end(&entry, Outcome::Lapsed).await?;
            }
        }
        if line.len() > ENDED_A_PASS {
            self.look_at_waitlist(show, 0).await;
        }
        Ok(())
    }

    /// Keeps the mark of the show true. It is taken away only when nobody was found
    /// twice, a minute apart: a list may lag, and somebody may be joining just now.
    async fn mark(&self, show: &Show, anybody: bool) -> Result<()> {
        let now = self.now();
        let to = match (show.waitlist, anybody) {
            (Waitlist::Open, true) | (Waitlist::Closed, _) => return Ok(()),
            (Waitlist::Closing(_), true) => Waitlist::Open,
            (Waitlist::Open, false) => Waitlist::Closing(now),
            (Waitlist::Closing(since), false) if now < since + CLOSED_AFTER_MS => return Ok(()),
            (Waitlist::Closing(_), false) => Waitlist::Closed,
        };
        self.store.mark_waitlist(show.id, show.waitlist, to).await?;
        self.forget_show(show.id);
        Ok(())
    }
}
