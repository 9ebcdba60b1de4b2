//! One show: free + held + sold = capacity, and every sold cell has an order that wants
//! it, with tickets.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::block::{BlockIndex, BlockState, Cell, MAX_BLOCK_PLACES, Slot};
use onsale_domain::claim::by_block;
use onsale_domain::event::Event;
use onsale_domain::ids::{OrderId, ShowId, TicketId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::map::SeatMap;
use onsale_domain::order::{Order, Stage};
use onsale_domain::show::StoredStatus;
use onsale_domain::ticket::{Ticket, TicketState};

use super::{Report, SHOWS_BACK_MS};
use crate::app::App;
use crate::error::Result;
use crate::ports::Reads;

/// Orders that are read in one request.
const ORDERS_A_READ: usize = 100;
/// Such reads that are under way at once.
const AT_ONCE: usize = 16;

/// Sold places and the order that their cells name.
type Sold = (OrderId, Vec<PlaceIndex>);

impl App {
    pub(super) async fn check_event(&self, event: &Event, report: &mut Report) {
        let now = self.now();
        for show in &event.shows {
            if show.status == StoredStatus::Draft || show.starts_at + SHOWS_BACK_MS < now {
                continue;
            }
            let checked = match self.check_show(show.id, report).await {
                Ok(all_sold) if all_sold != show.sold_out => {
                    self.mark_sold_out(event.id, show.id, all_sold).await
                }
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = checked {
                report.missed(format!("show {} could not be checked: {error}", show.id));
            }
        }
    }

    /// Whether every place is sold.
    async fn check_show(&self, id: ShowId, report: &mut Report) -> Result<bool> {
        let show = self.recent_show(id).await?;
        let layout = self.layout_of(&show).await?;
        let now = self.now();
        let all: Vec<_> = (0..layout.blocks().len() as u32).map(BlockIndex).collect();
        let blocks = self.store.read_blocks(id, &all, Reads::Consistent).await?;
        let map = SeatMap::build(&layout, blocks.iter().map(|(i, b)| (*i, b)), now);
        let counts = map.counts();
        let capacity = (0..layout.places())
            .filter(|place| layout.is_for_sale(PlaceIndex(*place)))
            .count() as u64;
        report.shows += 1;
        report.free += u64::from(counts.free);
        report.held += u64::from(counts.held);
        report.sold += u64::from(counts.sold);
        report.capacity += capacity;
        if u64::from(counts.total()) != capacity {
            let total = counts.total();
            report.alarm(format!("show {id} counts {total} places of {capacity}"));
        }
        let sold: Vec<Sold> = sold_cells(&layout, &blocks, id, report)
            .into_iter()
            .collect();
        let parts = sold.chunks(ORDERS_A_READ).map(<[Sold]>::to_vec);
        let parts: Vec<_> = parts.map(|part| self.check_part(id, part)).collect();
        let mut parts = stream::iter(parts).buffered(AT_ONCE);
        while let Some(part) = parts.try_next().await? {
            report.absorb(part);
        }
        Ok(counts.all_sold())
    }

    /// Orders and tickets are read many at a time. An order that has everything needs no
    /// second look; any other is looked at by itself, for it may just be moving.
    async fn check_part(&self, show: ShowId, sold: Vec<Sold>) -> Result<Report> {
        let mut part = Report::default();
        let ids: Vec<OrderId> = sold.iter().map(|(id, _)| *id).collect();
        let orders = self.store.read_many::<Order>(&ids).await?;
        let orders: BTreeMap<OrderId, Order> =
            orders.into_iter().map(|o| (o.value.id, o.value)).collect();
        let tickets: Vec<TicketId> = orders.values().flat_map(Order::ticket_ids).collect();
        let tickets = self.store.read_many::<Ticket>(&tickets).await?;
        let good = tickets.iter().filter(|t| !is_revoked(&t.value.state));
        let good: BTreeSet<TicketId> = good.map(|ticket| ticket.value.id).collect();
        for (id, places) in sold {
            let order = orders.get(&id).filter(|order| order.show_id == show);
            match order.filter(|order| has_everything(order, &places, &good)) {
                Some(order) => part.looked_at(order),
                None => self.check_sold(show, id, &places, &mut part).await?,
            }
        }
        Ok(part)
    }

    /// The places of one owner that were sold when they were read.
    async fn check_sold(
        &self,
        show: ShowId,
        id: OrderId,
        places: &[PlaceIndex],
        report: &mut Report,
    ) -> Result<()> {
        let Some(order) = self.store.read::<Order>(id).await? else {
            let n = places.len();
            report.alarm(format!(
                "show {show}: {n} places are sold to {id}, which is no order"
            ));
            return Ok(());
        };
        let order = order.value;
        if order.stage == Stage::Ended {
            // Whoever should have freed them died; the order says that they are nobody's.
            if self.free_order_cells(&order).await? {
                report.repaired(format!("freed places of the ended order {id}"));
            }
            return Ok(());
        }
        let strange = places.iter().any(|place| !order.places().contains(place));
        let sells = !matches!(
            order.stage,
            Stage::Locking | Stage::Authorising | Stage::Declined | Stage::Declining
        );
        if strange || !sells || order.show_id != show {
            report.alarm(format!(
                "show {show}: places are sold to order {id}, which does not say so"
            ));
        } else {
            report.looked_at(&order);
            self.check_order(&order, report).await?;
        }
        Ok(())
    }

    /// A confirmed order has all of its places and all of its tickets, whoever has them now,
    /// except for those that were resold. Both are read afresh, and count only if the order
    /// has not moved meanwhile.
    pub(super) async fn check_order(&self, order: &Order, report: &mut Report) -> Result<()> {
        if order.stage != Stage::Confirmed {
            return Ok(());
        }
        let id = order.id;
        let kept = order.kept().count();
        let tickets = self.current_tickets(order).await?;
        let good = tickets.iter().filter(|t| !is_revoked(&t.value.state));
        let good = good.count();
        let sold = self.places_sold_to(order).await?;
        let now = self.store.read::<Order>(id).await?;
        let stands =
            |now: &Order| now.stage == Stage::Confirmed && now.resold.len() == order.resold.len();
        if now.is_none_or(|now| !stands(&now.value)) {
            return Ok(());
        }
        if good < kept {
            let missing = kept - good;
            report.alarm(format!(
                "order {id} is confirmed, but {missing} tickets are missing or revoked"
            ));
        }
        if sold < kept {
            let (n, of) = (kept - sold, kept);
            report.alarm(format!(
                "order {id} is paid, but {n} of its {of} places are not sold to it"
            ));
        }
        Ok(())
    }

    async fn places_sold_to(&self, order: &Order) -> Result<usize> {
        let show = self.recent_show(order.show_id).await?;
        let layout = self.layout_of(&show).await?;
        let wanted = by_block(&layout, &order.places());
        let blocks: Vec<_> = wanted.iter().map(|group| group.block).collect();
        let read = self
            .store
            .read_blocks(order.show_id, &blocks, Reads::Consistent)
            .await?;
        let sold = Cell::sold(order.id.hold());
        let is_sold = |block: BlockIndex, slot: Slot| {
            let state = read.iter().find(|(index, _)| *index == block);
            state.is_some_and(|(_, state)| state.cell(slot) == Some(sold))
        };
        let cells = wanted
            .iter()
            .flat_map(|group| group.slots.iter().map(move |slot| (group.block, *slot)));
        Ok(cells.filter(|(block, slot)| is_sold(*block, *slot)).count())
    }
}

fn is_revoked(state: &TicketState) -> bool {
    matches!(state, TicketState::Revoked { .. })
}

/// Whether exactly the places that a confirmed order kept are sold to it, each with a
/// ticket that is good.
fn has_everything(order: &Order, places: &[PlaceIndex], good: &BTreeSet<TicketId>) -> bool {
    order.stage == Stage::Confirmed
        && order.kept().count() == places.len()
        && order.kept().all(|seat| {
            let ticket = TicketId::of(order.id, seat.place);
            places.contains(&seat.place) && good.contains(&ticket)
        })
}

/// Sold cells by their owner; cells where none can be are reported.
fn sold_cells(
    layout: &Layout,
    blocks: &[(BlockIndex, BlockState)],
    show: ShowId,
    report: &mut Report,
) -> BTreeMap<OrderId, Vec<PlaceIndex>> {
    let mut sold: BTreeMap<OrderId, Vec<PlaceIndex>> = BTreeMap::new();
    for (index, block) in blocks {
        let Some(span) = layout.blocks().get(index.0 as usize) else {
            report.alarm(format!("show {show}: block {} is in no layout", index.0));
            continue;
        };
        for slot in (0..MAX_BLOCK_PLACES as u8).map(Slot) {
            let Some(cell) = block.cell(slot) else {
                continue;
            };
            let place = PlaceIndex(span.first + u32::from(slot.0));
            if place.0 >= span.end() || !layout.is_for_sale(place) {
                report.alarm(format!(
                    "show {show}: a cell where no place is for sale, block {} slot {}",
                    index.0, slot.0
                ));
            } else if cell.is_sold() {
                sold.entry(OrderId::of(cell.hold)).or_default().push(place);
            }
        }
    }
    sold
}
