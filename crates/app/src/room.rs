//! The cloud's part in a waiting room: what the edge is told each second, and passes
//! that end before their time.

use onsale_domain::announcement::News as Told;
use onsale_domain::ids::ShowId;
use onsale_domain::map::Counts;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::Order;
use onsale_domain::room::briefing::{Briefing, ENDED_OVERLAP_MS, OnSale, PriceRange};
use onsale_domain::room::controller::{News, Settings};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::MAX_PASS_MS;
use onsale_domain::room::reminder::{TURNS_A_CALL, Turn};
use onsale_domain::show::{RoomMode, Show, StoredStatus};
use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::{Error, Result};

/// A store that takes longer over one briefing is in trouble: a usual one takes some tens of
/// milliseconds, the first one of a new process some hundreds.
const SLOW_READS_MS: u64 = 2_000;
/// The title is for people to read, so a change of it may be this late.
const TITLE_FRESH_MS: u64 = 30_000;
/// A pass that was closed longer ago has lapsed at the edge as well, even if it was closed
/// in its first second: there is nothing left to end.
const ENDED_MATTERS_MS: u64 = MAX_PASS_MS + 60_000;
/// More than one list can take in the time that briefings overlap, at a thousand a second;
/// as text it is 700 KB.
const MAX_ENDED: usize = 20_000;
const _: () = assert!(MAX_ENDED as u64 > ENDED_OVERLAP_MS + 1_000);

/// What those who wait want to know of a show, by the prices and places of its sections.
fn on_sale(show: &Show, prices: &[Cents], counts: &[Counts]) -> OnSale {
    let is_sold = |section: usize| counts.get(section).is_some_and(Counts::all_sold);
    let left = prices.iter().enumerate().filter(|(n, _)| !is_sold(*n));
    let left: Vec<Cents> = left.map(|(_, price)| *price).collect();
    let currency = show.currency;
    let range = left.iter().min().zip(left.iter().max());
    let sold_out = show.prices.iter().enumerate().filter(|(n, _)| is_sold(*n));
    OnSale {
        prices: range.map(|(from, to)| PriceRange {
            from: Money {
                amount: *from,
                currency,
            },
            to: Money {
                amount: *to,
                currency,
            },
        }),
        sold_out_sections: sold_out.map(|(_, (name, _))| name.clone()).collect(),
        message: show.room.message.clone(),
    }
}

impl App {
    /// What the edge wants to know of a room. `since` is the cursor of the last briefing,
    /// or zero.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn briefing(&self, show_id: ShowId, since: u64) -> Result<Briefing> {
        // Before the reads: what changes meanwhile belongs to the next briefing.
        let now = self.now();
        let show = self.recent_show(show_id).await?;
        if show.status == StoredStatus::Draft {
            return Err(Error::NotFound("show"));
        }
        let title = self.title_of(&show).await?;
        let (mut news, on_sale) = self.news(&show, Millis(since), now).await?;
        news.healthy = self.now() - now < SLOW_READS_MS;
        Ok(Briefing {
            title,
            on_sale,
            settings: Settings::of(&show),
            news,
        })
    }

    async fn news(&self, show: &Show, since: Millis, now: Millis) -> Result<(News, OnSale)> {
        let layout = self.layout_of(show).await?;
        // A room must not let people in to a show of which nobody can say what is left.
        let map = self.seat_map(show, &layout).await;
        let map = map.map_err(|_| Error::Unavailable)?;
        let from = since.saturating_sub(ENDED_OVERLAP_MS);
        let from = from.max(now.saturating_sub(ENDED_MATTERS_MS));
        let ended = self.store.passes_ended(show.id, from, MAX_ENDED).await?;
        let cursor = match ended.last() {
            // Cut off: the next briefing goes back by the overlap, and begins with this one.
            Some(last) if ended.len() >= MAX_ENDED => now.min(last.at + ENDED_OVERLAP_MS),
            _ => now,
        };
        let counts = map.counts();
        let prices = self.current_prices(show, &layout).await?.sections;
        let news = News {
            cursor: cursor.0,
            free_seats: Some(counts.free),
            sold_out: counts.all_sold(),
            healthy: true,
            ended: ended.into_iter().map(|ended| ended.pass).collect(),
        };
        Ok((news, on_sale(show, &prices, &map.sections)))
    }

    /// The room lets these people in, who asked to be told. Telling of a turn again tells
    /// nobody anything new: one lot and one address are one mail.
    pub async fn tell_turns(&self, show_id: ShowId, turns: Vec<Turn>) -> Result<()> {
        if turns.len() > TURNS_A_CALL {
            return Err(Error::Invalid(format!("turns: at most {TURNS_A_CALL}")));
        }
        self.recent_show(show_id).await?;
        let now = self.now();
        let told = turns.into_iter().map(|turn| {
            let news = Told::TurnCame {
                show_id,
                lot: turn.lot,
                to_email: turn.email,
                language: turn.language,
                enter_by: turn.enter_by,
            };
            news.announce(&format!("{show_id}:{}", turn.lot), now)
        });
        let told: Vec<_> = told.collect();
        Ok(self.bus.announce(&told).await?)
    }

    pub(crate) async fn title_of(&self, show: &Show) -> Result<String> {
        let card = self.event_card(show.event_id, TITLE_FRESH_MS).await?;
        Ok(card.title.clone())
    }

    /// Ends a pass: no hold begins under it any more, and its place in the room is free.
    /// One that no hold has used yet is closed as well.
    pub async fn close_pass(&self, show_id: ShowId, pass: PassId) -> Result<()> {
        self.recent_show(show_id).await?;
        Ok(self.store.close_pass(pass, show_id, self.now()).await?)
    }

    /// Who has paid needs no pass any more: the next one may come in. Without a room nobody
    /// waits for the place, and nothing is read.
    pub(crate) async fn close_pass_of(&self, order: &Order) -> Result<()> {
        let show = self.recent_show(order.show_id).await?;
        if show.room.mode == RoomMode::Off {
            return Ok(());
        }
        let buyer = self.store.buyer(order.show_id, order.account).await?;
        // The pass that its hold began under: the buyer may shop under another one by now,
        // and a place that was offered from the waitlist needed none.
        match buyer.entry(order.id.hold()).and_then(|entry| entry.pass) {
            Some(pass) => {
                let now = self.now();
                Ok(self.store.close_pass(pass, order.show_id, now).await?)
            }
            None => Ok(()),
        }
    }
}
