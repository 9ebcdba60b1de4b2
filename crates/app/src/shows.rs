//! Shows: created under an event, changed until they are over, and seen by everyone
//! once they are published.

mod about;
mod change;
mod create;

pub use about::{AboutShow, EventCard};
pub use change::{RoomChange, ShowChange};
pub use create::NewShow;

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::layout::Layout;
use onsale_domain::money::{Cents, Money};
use onsale_domain::show::{Show, ShowStatus, StoredStatus};

use crate::app::App;
use crate::error::{Error, Result};

pub type Prices = BTreeMap<String, Cents>;

/// A show as everyone sees it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowView {
    pub show: Arc<Show>,
    pub status: ShowStatus,
    /// What a place costs right now, by section.
    pub prices: Vec<(String, Money)>,
}

impl App {
    /// The show, for somebody who looks at it: counted as a view, unless it is their own.
    pub async fn show(&self, id: ShowId, viewer: Option<AccountId>) -> Result<ShowView> {
        let show = self.visible_show(id, viewer).await?;
        if viewer != Some(show.owner) {
            self.count_view(&show).await;
        }
        self.show_view(show).await
    }

    /// Like `show`, for a program that reads on behalf of a page: not counted as a view.
    pub async fn show_uncounted(&self, id: ShowId, viewer: Option<AccountId>) -> Result<ShowView> {
        let show = self.visible_show(id, viewer).await?;
        self.show_view(show).await
    }

    /// A show and its places, in the layout that never changes.
    pub async fn show_layout(
        &self,
        id: ShowId,
        viewer: Option<AccountId>,
    ) -> Result<(Arc<Show>, Arc<Layout>)> {
        let show = self.visible_show(id, viewer).await?;
        let layout = self.layout_of(&show).await?;
        Ok((show, layout))
    }

    /// The show, unless it is a draft of somebody else. Its owner reads it afresh, to
    /// see a change at once that another process may have made.
    async fn visible_show(&self, id: ShowId, viewer: Option<AccountId>) -> Result<Arc<Show>> {
        let show = self.recent_show(id).await?;
        if viewer == Some(show.owner) {
            let stored = self
                .store
                .read::<Show>(id)
                .await?
                .ok_or(Error::NotFound("show"))?;
            return Ok(Arc::new(stored.value));
        }
        match show.status {
            StoredStatus::Draft => Err(Error::NotFound("show")),
            StoredStatus::OnSale | StoredStatus::Cancelled => Ok(show),
        }
    }

    async fn show_view(&self, show: Arc<Show>) -> Result<ShowView> {
        let now = self.now();
        let (counts, prices) = match show.status_at(now, None) {
            ShowStatus::OnSale => {
                let layout = self.layout_of(&show).await?;
                let map = self.seat_map(&show, &layout).await?;
                self.follow_sold_out(&show, &map).await;
                let counts = map.counts();
                let prices = self.current_prices(&show, &layout).await?;
                (Some(counts), prices.sections)
            }
            _ => (None, show.section_prices()),
        };
        let sections = show.prices.iter().zip(prices);
        let prices = sections
            .map(|((section, _), amount)| {
                let currency = show.currency;
                (section.clone(), Money { amount, currency })
            })
            .collect();
        Ok(ShowView {
            status: show.status_at(now, counts),
            prices,
            show,
        })
    }
}
