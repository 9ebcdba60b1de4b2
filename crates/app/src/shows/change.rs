//! A show changes, or is published.
//!
//! What may change: everything but `overbook_percent`, which decides the layout, and
//! a layout is cacheable for ever; the currency only while the show is a draft, and
//! only together with new prices. A cancelled or completed show is history.

use std::sync::Arc;

use onsale_domain::audit::AuditEntry;
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::ShowId;
use onsale_domain::layout::Layout;
use onsale_domain::money::Currency;
use onsale_domain::pricing::Pricing;
use onsale_domain::room::beacon::BeaconSetting;
use onsale_domain::room::opening::{Bucket, Opening};
use onsale_domain::show::{
    RefundStep, Room, RoomMode, RoomOrder, Show, ShowStatus, StoredStatus, in_order, order_prices,
};
use onsale_domain::time::Millis;

use super::{Prices, ShowView};
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::events::WRITE_ATTEMPTS;
use crate::ports::ShowNotes;
use crate::venues::invalid;

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
    pub message: Option<Option<String>>,
}

impl RoomChange {
    pub(super) fn apply(&self, room: &Room) -> Room {
        Room {
            mode: self.mode.unwrap_or(room.mode),
            capacity: self.capacity.unwrap_or(room.capacity),
            rate_per_second: self.rate_per_second.unwrap_or(room.rate_per_second),
            order: self.order.unwrap_or(room.order),
            opens_at: self.opens_at.unwrap_or(room.opens_at),
            pass_seconds: self.pass_seconds.unwrap_or(room.pass_seconds),
            beacon: self.beacon.clone().unwrap_or_else(|| room.beacon.clone()),
            message: self.message.clone().unwrap_or_else(|| room.message.clone()),
        }
    }
}

impl App {
    /// Changes a show, or publishes it, and answers with its new state.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn change_show(
        &self,
        caller: &Caller,
        id: ShowId,
        change: &ShowChange,
    ) -> Result<ShowView> {
        for _ in 0..WRITE_ATTEMPTS {
            let mut stored = self
                .store
                .read::<Show>(id)
                .await?
                .ok_or(Error::NotFound("show"))?;
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
            let event = self.store.read::<Event>(stored.value.event_id).await?;
            let mut event = event.ok_or(Error::Corrupt)?;
            event.value.put_show(ShowSummary::of(&stored.value));
            let mailing = self.mailing_of_show(&before, &stored.value, &event);
            let prices = self.fixed_prices(Some(&before), &stored.value).await?;
            let notes = ShowNotes {
                entry: entry.as_ref(),
                prices: prices.as_ref(),
                mailing: mailing.as_ref(),
            };
            let replaced = self.store.replace_show(&stored, &event, notes).await?;
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
}

/// A beacon whose value is known while people join proves nothing, so it is named first and
/// its value entered once the lottery has closed; and no lottery is called after that.
pub(super) fn check_beacon(show: &Show, now: Millis) -> Result<()> {
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
