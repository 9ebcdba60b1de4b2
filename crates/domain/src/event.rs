//! Events and what their shows make of them.

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, EventId, ShowId, VenueId};
use crate::map::Counts;
use crate::money::Money;
use crate::show::{Show, ShowStatus, StoredStatus};
use crate::time::Millis;
use crate::venue::Location;

pub const MAX_SHOWS: usize = 500;

/// What a list needs to know of a show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowSummary {
    pub id: ShowId,
    pub starts_at: Millis,
    #[serde(default)]
    pub on_sale_at: Option<Millis>,
    pub from_price: Money,
    pub status: StoredStatus,
    /// As it was when the show was last counted.
    #[serde(default)]
    pub sold_out: bool,
}

impl ShowSummary {
    pub fn of(show: &Show) -> Self {
        let amount = show.prices.iter().map(|p| p.1).min().unwrap_or_default();
        Self {
            id: show.id,
            starts_at: show.starts_at,
            on_sale_at: show.on_sale_at,
            from_price: Money {
                amount,
                currency: show.currency,
            },
            status: show.status,
            sold_out: false,
        }
    }

    /// With counts: as they say. Without: as they were when the show was last counted.
    pub fn status_at(&self, now: Millis, counts: Option<Counts>) -> ShowStatus {
        match self.status.seen_at(now, self.starts_at, counts) {
            ShowStatus::OnSale if counts.is_none() && self.sold_out => ShowStatus::SoldOut,
            status => status,
        }
    }

    /// Still to come and not cancelled.
    pub fn is_coming(&self, now: Millis) -> bool {
        self.status == StoredStatus::OnSale && self.starts_at > now
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub id: EventId,
    pub owner: AccountId,
    pub title: String,
    pub description: Option<String>,
    pub category: String,
    pub venue_id: VenueId,
    pub venue: String,
    pub city: String,
    /// Where the venue is, so that a list can search around a point.
    #[serde(default)]
    pub location: Option<Location>,
    /// The clocks of the venue, by their IANA name; events from before it was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    pub poster_url: Option<String>,
    pub shows: Vec<ShowSummary>,
    pub created: Millis,
}

impl Event {
    /// Whether anyone but its owner may see it.
    pub fn is_public(&self) -> bool {
        self.shows.iter().any(|s| s.status != StoredStatus::Draft)
    }

    /// The next show that is still to come and not cancelled.
    pub fn next_show(&self, now: Millis) -> Option<&ShowSummary> {
        self.shows
            .iter()
            .filter(|s| s.is_coming(now))
            .min_by_key(|s| s.starts_at)
    }

    /// The lowest price among the shows that can still be bought; when there is none,
    /// among those that took place or are sold out. A cancelled show has no price.
    pub fn from_price(&self, now: Millis) -> Option<Money> {
        let for_sale = |s: &&ShowSummary| s.is_coming(now) && !s.sold_out;
        let was_for_sale = |s: &&ShowSummary| s.status == StoredStatus::OnSale;
        let lowest = |shows: &mut dyn Iterator<Item = &ShowSummary>| {
            shows.map(|s| s.from_price).min_by_key(|m| m.amount)
        };
        lowest(&mut self.shows.iter().filter(for_sale))
            .or_else(|| lowest(&mut self.shows.iter().filter(was_for_sale)))
    }

    /// Puts a show's summary in, in place of its older one.
    pub fn put_show(&mut self, summary: ShowSummary) {
        match self.shows.iter_mut().find(|s| s.id == summary.id) {
            Some(known) => {
                *known = ShowSummary {
                    sold_out: known.sold_out,
                    ..summary
                }
            }
            None => self.shows.push(summary),
        }
    }
}

/// The status of an event from those of its shows: the liveliest one counts.
pub fn status_of(shows: impl Iterator<Item = ShowStatus>) -> ShowStatus {
    let liveliness = |status: &ShowStatus| match status {
        ShowStatus::OnSale => 4,
        ShowStatus::SoldOut => 3,
        ShowStatus::Completed => 2,
        ShowStatus::Cancelled => 1,
        ShowStatus::Draft => 0,
    };
    shows.max_by_key(liveliness).unwrap_or(ShowStatus::Draft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Cents, Currency};

    #[test]
    fn the_lowest_price_is_of_shows_that_can_still_be_bought() {
        let now = Millis(1_000);
        let show =
            |n: u8, price: u64, status: StoredStatus, starts_at: u64, sold_out: bool| ShowSummary {
                id: ShowId::from_bytes([n; 16]),
                starts_at: Millis(starts_at),
                on_sale_at: None,
                from_price: Money {
                    amount: Cents(price),
                    currency: Currency::parse("EUR").unwrap(),
                },
                status,
                sold_out,
            };
        use StoredStatus::{Cancelled, Draft, OnSale};
        let mut event = Event {
            id: EventId::from_bytes([1; 16]),
            owner: AccountId::from_bytes([1; 16]),
            title: String::new(),
            description: None,
            category: String::new(),
            venue_id: VenueId::from_bytes([1; 16]),
            venue: String::new(),
            city: String::new(),
            location: None,
            timezone: None,
            poster_url: None,
            shows: vec![
                show(1, 1, Draft, 2_000, false),
                show(2, 2, Cancelled, 2_000, false),
                show(3, 3, OnSale, 2_000, true),
                show(4, 4, OnSale, 500, false),
                show(5, 5, OnSale, 2_000, false),
                show(6, 6, OnSale, 2_000, false),
            ],
            created: Millis(0),
        };
        let mut lowest = |shows: usize| {
            event.shows.truncate(shows);
            event.from_price(now).map(|money| money.amount.0)
        };
        assert_eq!(lowest(6), Some(5));
        assert_eq!(lowest(4), Some(3), "nothing is left to buy");
        assert_eq!(lowest(2), None);
    }

    #[test]
    fn an_event_is_as_lively_as_its_liveliest_show() {
        use ShowStatus::*;
        let of = |statuses: &[ShowStatus]| status_of(statuses.iter().copied());
        assert_eq!(of(&[]), Draft);
        assert_eq!(of(&[Draft, Cancelled]), Cancelled);
        assert_eq!(of(&[Completed, SoldOut, Cancelled]), SoldOut);
        assert_eq!(of(&[SoldOut, OnSale]), OnSale);
    }
}
