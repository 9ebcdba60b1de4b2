//! A show is created under an event, with a map on which every place is free.

use onsale_domain::audit::AuditEntry;
use onsale_domain::event::{Event, MAX_SHOWS, ShowSummary};
use onsale_domain::ids::{EventId, ShowId};
use onsale_domain::map::SeatMap;
use onsale_domain::money::Currency;
use onsale_domain::pricing::Pricing;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::{
    DEFAULT_HOLD_SECONDS, DEFAULT_TICKETS_PER_BUYER, RefundStep, Room, Show, StoredStatus,
    default_refund_policy, in_order, order_prices,
};
use onsale_domain::time::Millis;

use super::Prices;
use super::change::{RoomChange, check_beacon};
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::events::{WRITE_ATTEMPTS, require_owner};
use crate::ports::{ShowNotes, Versioned};
use crate::venues::{invalid, require_organiser, settle};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewShow {
    pub starts_at: Millis,
    pub on_sale_at: Option<Millis>,
    pub currency: Currency,
    pub prices: Prices,
    pub hold_seconds: Option<u32>,
    pub max_tickets_per_buyer: Option<u32>,
    pub refund_policy: Option<Vec<RefundStep>>,
    pub room: RoomChange,
    pub overbook_percent: u8,
    pub draft: bool,
}

impl App {
    /// Creates a show under an event of the caller. A show with a hundred thousand
    /// places is two writes: an all-free map, then the show with its event.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn create_show(
        &self,
        caller: &Caller,
        event_id: EventId,
        new: NewShow,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<ShowId> {
        require_organiser(caller)?;
        let mut event = self.own_event(caller, event_id).await?;
        let now = self.now();
        let request = key.map(|_| request);
        let id = match key {
            Some(key) => ShowId::derived(&[
                caller.account.as_bytes(),
                b"show",
                event_id.as_bytes(),
                key.as_str().as_bytes(),
            ]),
            None => ShowId::new(now, self.id_entropy()),
        };
        // A repeated request gets its first answer, even when its dates have passed.
        let known = match key {
            Some(_) => self
                .store
                .read::<Show>(id)
                .await?
                .map(|stored| stored.value),
            None => None,
        };
        let show = match known {
            Some(known) => known,
            None => self.prepare_show(id, &event.value, new, now).await?,
        };
        let entry = AuditEntry::show_created(&show, caller.account, now);
        let prices = self.fixed_prices(None, &show).await?;
        let notes = ShowNotes {
            entry: Some(&entry),
            prices: prices.as_ref(),
            mailing: None,
        };
        for _ in 0..WRITE_ATTEMPTS {
            put_summary(&mut event.value, &show)?;
            let created = self
                .store
                .create_show(&show, &event, request, notes)
                .await?;
            if let Some(creation) = created {
                settle(creation, request)?;
                self.forget_show(id);
                self.announce_change(&event).await;
                tracing::info!(show = %id, event = %event_id, "show created");
                return Ok(id);
            }
            event = self.own_event(caller, event_id).await?;
        }
        Err(Error::Conflict(
            "the event is being changed by others; try again",
        ))
    }

    /// Checks a new show and stores its all-free map, without which the first look
    /// at the availability would read every block.
    async fn prepare_show(
        &self,
        id: ShowId,
        event: &Event,
        new: NewShow,
        now: Millis,
    ) -> Result<Show> {
        Show::check_start(new.starts_at, now).map_err(invalid)?;
        let prices = new.prices.clone();
        let mut show = new_show(id, event, new, now);
        show.check_settings().map_err(invalid)?;
        check_beacon(&show, now)?;
        if event.shows.len() >= MAX_SHOWS {
            return Err(too_many_shows());
        }
        let layout = self.layout_of(&show).await?;
        show.prices = order_prices(&layout, &prices).map_err(invalid)?;
        tracing::info!(show = %id, places = layout.places(), "laying out a show");
        let map = SeatMap::build(&layout, std::iter::empty(), now);
        self.store.put_map(id, &map, show.forgotten_at()).await?;
        tracing::info!(show = %id, places = layout.places(), "the map of a show is stored");
        Ok(show)
    }

    pub(crate) async fn own_event(&self, caller: &Caller, id: EventId) -> Result<Versioned<Event>> {
        let event = self
            .store
            .read::<Event>(id)
            .await?
            .ok_or(Error::NotFound("event"))?;
        require_owner(caller, &event.value)?;
        Ok(event)
    }
}

fn new_show(id: ShowId, event: &Event, new: NewShow, now: Millis) -> Show {
    Show {
        id,
        event_id: event.id,
        venue_id: event.venue_id,
        owner: event.owner,
        starts_at: new.starts_at,
        on_sale_at: new.on_sale_at,
        currency: new.currency,
        prices: Vec::new(),
        pricing: Pricing::Fixed,
        hold_seconds: new.hold_seconds.unwrap_or(DEFAULT_HOLD_SECONDS),
        max_tickets_per_buyer: new
            .max_tickets_per_buyer
            .unwrap_or(DEFAULT_TICKETS_PER_BUYER),
        refund_policy: new
            .refund_policy
            .map_or_else(default_refund_policy, in_order),
        room: new.room.apply(&Room::default()),
        overbook_percent: new.overbook_percent,
        status: if new.draft {
            StoredStatus::Draft
        } else {
            StoredStatus::OnSale
        },
        created: now,
        waitlist: Default::default(),
    }
}

fn put_summary(event: &mut Event, show: &Show) -> Result<()> {
    event.put_show(ShowSummary::of(show));
    match event.shows.len() > MAX_SHOWS {
        true => Err(too_many_shows()),
        false => Ok(()),
    }
}

fn too_many_shows() -> Error {
    Error::LimitExceeded {
        limit: MAX_SHOWS as u64,
        of: "shows per event",
    }
}
