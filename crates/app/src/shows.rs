//! Shows: created under an event, changed until they are over, and seen by everyone
//! once they are published.
//!
//! What may change: everything but `overbook_percent`, which decides the layout, and
//! a layout is cacheable for ever; the currency only while the show is a draft, and
//! only together with new prices. A cancelled or completed show is history.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_domain::audit::AuditEntry;
use onsale_domain::event::{Event, MAX_SHOWS, ShowSummary};
use onsale_domain::ids::{AccountId, EventId, ShowId};
use onsale_domain::layout::Layout;
use onsale_domain::map::SeatMap;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::pricing::Pricing;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::room::beacon::BeaconSetting;
use onsale_domain::room::opening::{Bucket, Opening};
use onsale_domain::show::{
    DEFAULT_HOLD_SECONDS, DEFAULT_TICKETS_PER_BUYER, RefundStep, Room, RoomMode, RoomOrder, Show,
    ShowStatus, StoredStatus, default_refund_policy, in_order, order_prices,
};
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::events::{WRITE_ATTEMPTS, require_owner};
use crate::ports::{ShowNotes, Versioned};
use crate::venues::{invalid, require_organiser, settle};

pub type Prices = BTreeMap<String, Cents>;

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

/// What to change; an inner `None` takes the time away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShowChange {
    pub starts_at: Option<Millis>,
    pub on_sale_at: Option<Option<Millis>>,
    pub currency: Option<Currency>,
    pub prices: Option<Prices>,
    pub hold_seconds: Option<u32>,
    pub max_tickets_per_buyer: Option<u32>,
    pub refund_policy: Option<Vec<RefundStep>>,
    pub room: RoomChange,
    pub pricing: Option<Pricing>,
    pub publish: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoomChange {
    pub mode: Option<RoomMode>,
    pub capacity: Option<u32>,
    pub rate_per_second: Option<u32>,
    pub order: Option<RoomOrder>,
    pub opens_at: Option<Option<Millis>>,
    pub pass_seconds: Option<u32>,
    pub beacon: Option<Option<BeaconSetting>>,
}

impl RoomChange {
    fn apply(&self, room: &Room) -> Room {
        Room {
            mode: self.mode.unwrap_or(room.mode),
            capacity: self.capacity.unwrap_or(room.capacity),
            rate_per_second: self.rate_per_second.unwrap_or(room.rate_per_second),
            order: self.order.unwrap_or(room.order),
            opens_at: self.opens_at.unwrap_or(room.opens_at),
            pass_seconds: self.pass_seconds.unwrap_or(room.pass_seconds),
            beacon: self.beacon.clone().unwrap_or_else(|| room.beacon.clone()),
        }
    }
}

/// A show as everyone sees it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowView {
    pub show: Arc<Show>,
    pub status: ShowStatus,
    /// What a place costs right now, by section.
    pub prices: Vec<(String, Money)>,
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
            Some(_) => self.store.show(id).await?.map(|stored| stored.value),
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

    /// Changes a show, or publishes it, and answers with its new state.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn change_show(
        &self,
        caller: &Caller,
        id: ShowId,
        change: &ShowChange,
    ) -> Result<ShowView> {
        for _ in 0..WRITE_ATTEMPTS {
            let mut stored = self.store.show(id).await?.ok_or(Error::NotFound("show"))?;
            if stored.value.owner != caller.account {
                return Err(Error::Forbidden("this show belongs to another organiser"));
            }
            let layout = self.layout_of(&stored.value).await?;
            let now = self.now();
            let before = stored.value.clone();
            stored.value = changed_show(&before, change, &layout, now)?;
            let version = stored.version + 1;
            let entry =
                AuditEntry::show_changed(&before, &stored.value, version, caller.account, now);
            let event = self.store.event(stored.value.event_id).await?;
            let mut event = event.ok_or(Error::Corrupt)?;
            event.value.put_show(ShowSummary::of(&stored.value));
            let mailing = self.mailing_of_show(&before, &stored.value, &event);
            let prices = self.fixed_prices(Some(&before), &stored.value).await?;
            let notes = ShowNotes {
                entry: entry.as_ref(),
                prices: prices.as_ref(),
            };
            let store = &self.store;
            let replaced = match &mailing {
                Some(mailing) => {
                    store
                        .replace_show_and_tell(&stored, &event, notes, mailing)
                        .await?
                }
                None => store.replace_show(&stored, &event, notes).await?,
            };
            self.forget_show(id);
            if replaced {
                if let Some(mailing) = mailing {
                    self.wake_mailing(mailing.id).await;
                }
                self.announce_change(&event).await;
                return self.show_view(Arc::new(stored.value)).await;
            }
        }
        Err(Error::Conflict(
            "the show is being changed by others; try again",
        ))
    }

    pub async fn show(&self, id: ShowId, viewer: Option<AccountId>) -> Result<ShowView> {
        let show = self.visible_show(id, viewer).await?;
        if viewer != Some(show.owner) {
            self.count_view(&show).await;
        }
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
            let stored = self.store.show(id).await?.ok_or(Error::NotFound("show"))?;
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

    async fn own_event(&self, caller: &Caller, id: EventId) -> Result<Versioned<Event>> {
        let event = self
            .store
            .event(id)
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

/// A beacon whose value is known while people join proves nothing, so it is named first and
/// its value entered once the lottery has closed; and no lottery is called after that.
fn check_beacon(show: &Show, now: Millis) -> Result<()> {
    let beacon = show.room.beacon.as_ref();
    let is_known = beacon.is_some_and(|beacon| beacon.value.is_some());
    match is_known && !Opening::of(show).is_closed(Bucket::LOTTERY, now) {
        true => Err(Error::Conflict(
            "name the beacon now, and enter its value once the room has opened and the lottery is closed",
        )),
        false => Ok(()),
    }
}

/// The show after a change, or why it cannot be made.
fn changed_show(show: &Show, change: &ShowChange, layout: &Layout, now: Millis) -> Result<Show> {
    match show.status_at(now, None) {
        ShowStatus::Cancelled => return Err(Error::Conflict("the show is cancelled")),
        ShowStatus::Completed => return Err(Error::Conflict("the show is over")),
        ShowStatus::Draft | ShowStatus::OnSale | ShowStatus::SoldOut => {}
    }
    let mut changed = show.clone();
    let publishes = change.publish && show.status == StoredStatus::Draft;
    if publishes {
        changed.status = StoredStatus::OnSale;
    }
    changed.starts_at = change.starts_at.unwrap_or(show.starts_at);
    if publishes || changed.starts_at != show.starts_at {
        Show::check_start(changed.starts_at, now).map_err(invalid)?;
    }
    changed.on_sale_at = change.on_sale_at.unwrap_or(show.on_sale_at);
    changed.hold_seconds = change.hold_seconds.unwrap_or(show.hold_seconds);
    changed.max_tickets_per_buyer = change
        .max_tickets_per_buyer
        .unwrap_or(show.max_tickets_per_buyer);
    if let Some(policy) = &change.refund_policy {
        changed.refund_policy = in_order(policy.clone());
    }
    changed.room = change.room.apply(&show.room);
    changed.pricing = change.pricing.unwrap_or(show.pricing);
    let beacon = show.room.beacon.as_ref();
    if beacon.is_some_and(|known| !known.may_become(changed.room.beacon.as_ref())) {
        return Err(Error::Conflict(
            "the value of the beacon is known, and stays as it is",
        ));
    }
    check_beacon(&changed, now)?;
    if let Some(currency) = change
        .currency
        .filter(|currency| *currency != show.currency)
    {
        if show.status != StoredStatus::Draft {
            return Err(Error::Conflict("the currency of a published show is fixed"));
        }
        if change.prices.is_none() {
            return Err(invalid("currency: another currency needs new prices"));
        }
        changed.currency = currency;
    }
    if let Some(prices) = &change.prices {
        changed.prices = order_prices(layout, prices).map_err(invalid)?;
    }
    changed.check_settings().map_err(invalid)?;
    Ok(changed)
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
