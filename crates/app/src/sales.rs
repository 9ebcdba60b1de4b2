//! What a show has sold, as its organiser watches it.
//!
//! The saga of an order writes its line before the order moves on, so no line is lost by
//! a crash and none depends on a message. Reading costs what happened since the book was
//! closed, never a walk over all orders.

use std::sync::Arc;

use onsale_domain::ids::ShowId;
use onsale_domain::layout::Layout;
use onsale_domain::map::SeatMap;
use onsale_domain::order::Order;
use onsale_domain::sales::{RoomFigures, SaleLine, Sales, SalesBook};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::Result;
use crate::ports::Versioned;

/// However many look, sales are added up at most so often in one process.
const FRESH_MS: u64 = 1_000;
/// The book is written when so many lines can be added, or when those that can are this old.
/// Until then they are read again, which costs less.
const WORTH_FOLDING: usize = 200;
const LONG_UNFOLDED_MS: u64 = 5 * 60_000;
/// The edge tells the figures of a room every second; they are stored this often.
const STORE_FIGURES_MS: u64 = 5_000;

/// What an organiser sees. The places are as old as the map, the rest is of this second.
#[derive(Debug, Clone)]
pub struct SalesView {
    pub at: Millis,
    pub show: Arc<Show>,
    pub layout: Arc<Layout>,
    pub map: Arc<SeatMap>,
    pub sales: Sales,
    /// As the edge last told; `None`: it never did.
    pub room: Option<RoomFigures>,
}

impl App {
    /// Writes what this order has sold or given back to the lines of its show.
    pub(crate) async fn keep_lines_of(&self, order: &Order) -> Result<()> {
        self.keep_lines(order.show_id, &order.sale_lines()).await
    }

    pub(crate) async fn keep_lines(&self, show: ShowId, lines: &[SaleLine]) -> Result<()> {
        for line in lines {
            self.store.keep_sale_line(show, line).await?;
            if line.came_late(self.now()) {
                self.store.count_late_line(show).await?;
            }
        }
        Ok(())
    }

    /// The sales of a show of the caller.
    pub async fn sales(&self, caller: &Caller, id: ShowId) -> Result<Arc<SalesView>> {
        let show = self.own_show(caller, id).await?;
        let now = self.now();
        if let Some(view) = self.sales.get(&id)
            && now - view.at < FRESH_MS
        {
            return Ok(view);
        }
        let layout = self.layout_of(&show).await?;
        let map = self.seat_map(&show, &layout).await?;
        let view = Arc::new(SalesView {
            at: now,
            show: Arc::new(show),
            layout,
            map,
            sales: self.add_up(id, now).await?,
            room: self.store.room_figures(id).await?,
        });
        self.sales.put(id, view.clone());
        Ok(view)
    }

    /// The book and what came since. `now` is a time before this.
    async fn add_up(&self, show: ShowId, now: Millis) -> Result<Sales> {
        let (stored, late) = self.store.sales_book(show).await?;
        let (version, book) = match stored {
            Some(stored) if stored.value.late >= late => (stored.version, stored.value),
            // A line came after its time was closed: all of them are counted again.
            Some(stored) => (stored.version, SalesBook::begin(show, late)),
            None => (0, SalesBook::begin(show, late)),
        };
        let lines = self.store.sale_lines_from(show, book.until).await?;
        let until = book.may_fold_until(now);
        if is_worth_folding(&lines, until) {
            let value = book.fold(&lines, until);
            // Whoever wrote before us closed it as well as we would have.
            let next = Versioned { version, value };
            if let Err(error) = self.store.put_sales_book(&next).await {
                tracing::warn!(%show, %error, "the book of sales could not be stored");
            }
        }
        Ok(book.with(&lines))
    }

    /// Takes in what the edge counted in a room, and stores it now and then.
    pub async fn hear_room(&self, show: ShowId, figures: RoomFigures) {
        let known = self.room_figures.get(&show);
        if known.is_some_and(|known| figures.at - known < STORE_FIGURES_MS) {
            return;
        }
        self.room_figures.put(show, figures.at);
        metrics::gauge!("onsale_queue_size", "show" => show.to_string())
            .set(figures.waiting as f64);
        if let Err(error) = self.store.put_room_figures(show, &figures).await {
            tracing::warn!(%show, %error, "the figures of a room could not be stored");
        }
    }
}

fn is_worth_folding(lines: &[SaleLine], until: Millis) -> bool {
    let old = lines.iter().filter(|line| line.at < until);
    let long_ago = until.saturating_sub(LONG_UNFOLDED_MS);
    old.clone().count() >= WORTH_FOLDING || old.clone().any(|line| line.at < long_ago)
}
