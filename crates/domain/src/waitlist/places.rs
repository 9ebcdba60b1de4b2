//! What a pass over the waitlist knows of every place.

use std::collections::BTreeMap;

use crate::block::{BlockIndex, BlockState, Cell, Slot};
use crate::layout::{Layout, PlaceIndex};
use crate::ticket::Ticket;
use crate::ticket_return::Resale;
use crate::time::Millis;

use super::matching::SOON_MS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Anybody may have it. `since`, where a lapsed cell still tells.
    Free {
        since: Option<Millis>,
    },
    /// A hold on it ends within `SOON_MS`, unless it is paid.
    Soon,
    Gone,
}

#[derive(Debug, Clone)]
pub struct Places {
    pub(super) standings: Vec<Standing>,
    /// Places that were given back and carry a mark that keeps others away from them.
    pub returned: Vec<(PlaceIndex, Cell)>,
    /// Places whose owners put their tickets back, as if they were free.
    pub resales: BTreeMap<PlaceIndex, Resale>,
    /// Of a show with a waiting room: places that anybody with a pass may hold.
    pub(super) behind_room: Option<Vec<bool>>,
}

impl Places {
    /// From a reading of every block of the show at `now`; one that was never written is
    /// missing and free.
    pub fn read(layout: &Layout, blocks: &[(BlockIndex, BlockState)], now: Millis) -> Self {
        let free = Standing::Free { since: None };
        let mut places = Self {
            standings: vec![free; layout.places() as usize],
            returned: Vec::new(),
            resales: BTreeMap::new(),
            behind_room: None,
        };
        for (index, block) in blocks {
            let Some(span) = layout.blocks().get(index.0 as usize) else {
                continue;
            };
            for slot in (0..span.len).map(Slot) {
                let place = layout.place_of(*index, slot);
                let cell = block.cell(slot);
                places.returned.extend(
                    cell.filter(Cell::is_returned)
                        .map(|returned| (place, returned)),
                );
                places.standings[place.at()] = match block.closed {
                    true => Standing::Gone,
                    false => standing(cell, now),
                };
            }
        }
        for place in (0..layout.places()).map(PlaceIndex) {
            if !layout.is_for_sale(place) {
                places.standings[place.at()] = Standing::Gone;
            }
        }
        places
    }

    /// The same with places of tickets that were put back and are kept for nobody. `blocks`
    /// must say that each is sold to the order of its ticket still.
    #[must_use]
    pub fn with_put_back(
        mut self,
        layout: &Layout,
        blocks: &[(BlockIndex, BlockState)],
        tickets: &[Ticket],
        now: Millis,
    ) -> Self {
        for ticket in tickets {
            let (Some(resale), Some(put_back)) = (ticket.for_sale(now), &ticket.put_back) else {
                continue;
            };
            let (index, slot) = layout.locate(ticket.place);
            let block = blocks.iter().find(|(known, _)| *known == index);
            let sold = Some(Cell::sold(ticket.order_id.hold()));
            if block.is_some_and(|(_, block)| !block.closed && block.cell(slot) == sold) {
                let since = Some(put_back.since);
                self.standings[ticket.place.at()] = Standing::Free { since };
                self.resales.insert(ticket.place, resale);
            }
        }
        self
    }

    /// The same for a show with a waiting room, by the clock of those who come by. What
    /// they may hold is sold through the room, and no offer goes past it.
    #[must_use]
    pub fn with_room(
        mut self,
        layout: &Layout,
        blocks: &[(BlockIndex, BlockState)],
        walk_up: Millis,
    ) -> Self {
        let theirs = Self::read(layout, blocks, walk_up).standings;
        let is_free = |standing: &Standing| matches!(standing, Standing::Free { .. });
        self.behind_room = Some(theirs.iter().map(is_free).collect());
        self
    }

    pub fn standing(&self, place: u32) -> Standing {
        let standing = self.standings.get(place as usize);
        standing.copied().unwrap_or(Standing::Gone)
    }
}

fn standing(cell: Option<Cell>, now: Millis) -> Standing {
    match cell {
        None => Standing::Free { since: None },
        Some(cell) if cell.is_sold() => Standing::Gone,
        Some(cell) if cell.is_claimable(now) => Standing::Free {
            since: Some(cell.free_since()),
        },
        Some(cell) if cell.expiry <= now + SOON_MS => Standing::Soon,
        Some(_) => Standing::Gone,
    }
}
