//! Holds: places that are one buyer's for some minutes.
//!
//! `place` is the whole path of a hold: use the pass if the show wants one, claim the
//! cells, then record them on the buyer item. A hold is acknowledged only once it is
//! recorded. `release` and `expire` go the other way: first the entry, then the cells.

mod choose;
mod expire;
mod offer;
mod pass;
mod place;
mod read;
mod record;
mod release;

pub use expire::Expiry;
pub(crate) use pass::needs_pass;
pub(crate) use place::{expiry_delay_s, not_on_sale};

use onsale_domain::best_available::Together;
use onsale_domain::block::Cell;
use onsale_domain::buyer::{Buyer, Entry, EntryState};
use onsale_domain::claim::{by_block, still_to_release};
use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::money::Money;
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::time::Millis;
use serde::Serialize;

use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::CellsWrite;

/// What a buyer wants to hold. Its serialised form is what an Idempotency-Key stands
/// for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Wish {
    Seats(Vec<String>),
    Best {
        quantity: usize,
        section: Option<String>,
        max_price: Option<Money>,
        #[serde(serialize_with = "serialize_together")]
        together: Together,
        allow_fewer: bool,
        /// Left out of the serialised form unless it is asked for, as in requests from before
        /// it could be.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        accessible: bool,
    },
    General {
        section: String,
        quantity: usize,
    },
}

fn serialize_together<S: serde::Serializer>(
    together: &Together,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_bool(*together == Together::Required)
}

/// A hold as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldView {
    pub hold_id: HoldId,
    pub show_id: ShowId,
    pub seats: Vec<(String, Money)>,
    /// Those of the seats that others put back, with what was paid for them.
    pub face_values: Vec<(String, Money)>,
    pub together: bool,
    pub total: Money,
    pub expires_at: Millis,
    /// The point of the price log that the other prices come from, where they follow demand.
    pub point: Option<u32>,
    pub state: EntryState,
}

impl HoldView {
    pub(crate) fn of(entry: &Entry, show: &Show, layout: &Layout, now: Millis) -> Self {
        let money = |amount| Money {
            amount,
            currency: show.currency,
        };
        let seat = |(place, amount)| (layout.seat_id(place), money(amount));
        Self {
            hold_id: entry.hold,
            show_id: show.id,
            seats: entry.priced().map(seat).collect(),
            face_values: entry.face_values.iter().copied().map(seat).collect(),
            together: layout.are_together(&entry.places),
            total: money(entry.total()),
            expires_at: entry.expiry,
            point: entry.point,
            state: entry.state_at(now),
        }
    }
}

/// How often a conditional write is repeated after losing a race before the caller is
/// asked to come back. Each round somebody else got through, so it takes as many rounds as
/// there are requests for one item at once: 256 of one buyer are no person.
pub(crate) const ROUNDS: usize = 256;

/// How long a hold lasted, by how it ended.
pub(crate) fn record_hold_duration(outcome: &'static str, ms: u64) {
    metrics::histogram!("onsale_hold_duration_seconds", "outcome" => outcome)
        .record(ms as f64 / 1_000.0);
}

/// A held entry has ended unpaid. It lasted until its time was up, however late that was
/// noticed; after a refused payment it counts from there.
fn count_hold_end(held: &Entry, next: &Buyer) {
    let Some(ended) = next.entry(held.hold) else {
        return;
    };
    match ended.state {
        EntryState::Expired => record_hold_duration("expired", held.expiry - held.changed),
        _ => record_hold_duration("released", ended.changed - held.changed),
    }
}

impl App {
    /// Frees those of the places that are exactly this cell. Cells that moved on are
    /// left alone. While a waitlist is open it gets the places first: they are marked as
    /// nobody's instead, and free for everyone a little later, or once it has looked.
    /// Blocks are freed one by one: freeing some of them is harmless, and a plain write
    /// costs half of a transaction's.
    pub(crate) async fn free_cells(
        &self,
        show: ShowId,
        layout: &Layout,
        places: &[PlaceIndex],
        cell: Cell,
    ) -> Result<()> {
        let left = self.left_behind(show).await?;
        for mut wanted in by_block(layout, places) {
            for _ in 0..ROUNDS {
                let freed = match left {
                    None => self.store.release(show, &wanted, cell).await?,
                    Some(left) => self.store.leave(show, &wanted, cell, left).await?,
                };
                match freed {
                    CellsWrite::Done => break,
                    CellsWrite::Refused(found) => {
                        let state = found.into_iter().find(|(block, _)| *block == wanted.block);
                        wanted.slots = state
                            .map(|(_, state)| still_to_release(&wanted, &state, cell))
                            .unwrap_or_default();
                    }
                }
                if wanted.slots.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// What stays in the cell of a place that is given back.
    async fn left_behind(&self, id: ShowId) -> Result<Option<Cell>> {
        let show = match self.recent_show(id).await {
            Err(Error::NotFound(_)) => return Ok(None),
            found => found?,
        };
        let mut waitlist = show.waitlist;
        // What is simply free belongs to the room, and whoever joined a moment ago would miss it.
        if waitlist != Waitlist::Open && needs_pass(&show) {
            let stored = self.store.read::<Show>(id).await?;
            waitlist = stored.map_or(waitlist, |stored| stored.value.waitlist);
        }
        let open = waitlist == Waitlist::Open;
        Ok(open.then(|| Cell::returned(self.now())))
    }
}
