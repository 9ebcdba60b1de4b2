//! Shows: when, at what prices, under which limits, and whether they are on sale.

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, EventId, ShowId, VenueId};
use crate::layout::{Layout, MAX_OVERBOOK_PERCENT};
use crate::map::Counts;
use crate::money::{Cents, Currency, MAX_PRICE};
use crate::pricing::Pricing;
use crate::room::beacon::{BeaconSetting, MAX_BEACON_NAME_CHARS};
use crate::time::Millis;

pub const HOLD_SECONDS: std::ops::RangeInclusive<u32> = 2..=900;
pub const DEFAULT_HOLD_SECONDS: u32 = 600;
pub const TICKETS_PER_BUYER: std::ops::RangeInclusive<u32> = 1..=50;
pub const DEFAULT_TICKETS_PER_BUYER: u32 = 6;
pub const PASS_SECONDS: std::ops::RangeInclusive<u32> = 10..=900;
pub const DEFAULT_PASS_SECONDS: u32 = 300;
pub const MAX_REFUND_STEPS: usize = 10;
/// A refund step lies at most a leap year before the show.
pub const MAX_REFUND_HOURS: u32 = 24 * 366;
/// What was advertised may fail on the night: until this long after its start a show can be
/// called off, and everybody gets everything back.
pub const CALLED_OFF_AFTER_START_MS: u64 = 24 * 3_600_000;
/// How far ahead a show may start: a hundred years, which catches slips of the pen.
pub const MAX_AHEAD_MS: u64 = 36_525 * 24 * 3_600_000;

/// What the organiser has decided. The rest of a show's status follows from the
/// clock and the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredStatus {
    Draft,
    OnSale,
    Cancelled,
}

impl StoredStatus {
    /// The status everyone sees. Sold out means sold: held places may come back.
    pub fn seen_at(self, now: Millis, starts_at: Millis, counts: Option<Counts>) -> ShowStatus {
        let all_sold = counts.is_some_and(|counts| counts.all_sold());
        match self {
            Self::Draft => ShowStatus::Draft,
            Self::Cancelled => ShowStatus::Cancelled,
            Self::OnSale if now >= starts_at => ShowStatus::Completed,
            Self::OnSale if all_sold => ShowStatus::SoldOut,
            Self::OnSale => ShowStatus::OnSale,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShowStatus {
    Draft,
    OnSale,
    SoldOut,
    Completed,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomMode {
    Off,
    Queue,
    QueueAll,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomOrder {
    Lottery,
    Fifo,
}

/// The waiting room of a show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    pub mode: RoomMode,
    pub capacity: u32,
    pub rate_per_second: u32,
    pub order: RoomOrder,
    pub opens_at: Option<Millis>,
    pub pass_seconds: u32,
    /// Shows from before there were beacons have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beacon: Option<BeaconSetting>,
    /// What the organiser tells those who wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

pub const ROOM_CAPACITY: std::ops::RangeInclusive<u32> = 1..=1_000_000;
pub const ROOM_RATE: std::ops::RangeInclusive<u32> = 1..=100_000;
/// Characters of what an organiser tells those who wait.
pub const MAX_ROOM_MESSAGE: usize = 200;

impl Default for Room {
    fn default() -> Self {
        Self {
            mode: RoomMode::Off,
            capacity: 500,
            rate_per_second: 20,
            order: RoomOrder::Lottery,
            opens_at: None,
            pass_seconds: DEFAULT_PASS_SECONDS,
            beacon: None,
            message: None,
        }
    }
}

/// Cancelling at least this long before the show refunds this much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundStep {
    pub hours_before: u32,
    pub percent: u8,
}

pub fn default_refund_policy() -> Vec<RefundStep> {
    vec![
        RefundStep {
            hours_before: 24,
            percent: 100,
        },
        RefundStep {
            hours_before: 4,
            percent: 50,
        },
        RefundStep {
            hours_before: 0,
            percent: 0,
        },
    ]
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Show {
    pub id: ShowId,
    pub event_id: EventId,
    pub venue_id: VenueId,
    pub owner: AccountId,
    pub starts_at: Millis,
    pub on_sale_at: Option<Millis>,
    pub currency: Currency,
    /// Every section of the venue with the price of a place in it, in layout order.
    pub prices: Vec<(String, Cents)>,
    /// What becomes of these prices while the show sells. Shows from before there was a
    /// choice are sold at them.
    #[serde(default)]
    pub pricing: Pricing,
    pub hold_seconds: u32,
    pub max_tickets_per_buyer: u32,
    pub refund_policy: Vec<RefundStep>,
    pub room: Room,
    pub overbook_percent: u8,
    pub status: StoredStatus,
    pub created: Millis,
    /// Kept beside the document, so that joining a waitlist changes no version.
    #[serde(skip)]
    pub waitlist: Waitlist,
}

/// Whether anybody waits for places of a show to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waitlist {
    #[default]
    Closed,
    Open,
    /// Nobody was found waiting since then. It closes when nobody is a while later, so
    /// that somebody who is joining meanwhile is not forgotten.
    Closing(Millis),
}

/// How long a place that comes back is the waitlist's before anybody else may take it.
/// Offers are made within a second or two; a lost message is made up for by the sweep
/// that runs every minute. Whatever the waitlist has no use for is freed at once.
pub const HEAD_START_MS: u64 = 120_000;

/// Why nothing can be held in a show right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOnSale {
    Draft,
    Cancelled,
    NotYet(Millis),
    Over,
}

impl Show {
    /// Whether new holds may begin.
    pub fn check_on_sale(&self, now: Millis) -> Result<(), NotOnSale> {
        match (self.status, self.on_sale_at) {
            (StoredStatus::Draft, _) => Err(NotOnSale::Draft),
            (StoredStatus::Cancelled, _) => Err(NotOnSale::Cancelled),
            _ if now >= self.starts_at => Err(NotOnSale::Over),
            (_, Some(at)) if now < at => Err(NotOnSale::NotYet(at)),
            _ => Ok(()),
        }
    }

    /// The status everyone sees.
    pub fn status_at(&self, now: Millis, counts: Option<Counts>) -> ShowStatus {
        self.status.seen_at(now, self.starts_at, counts)
    }

    /// Whether it can be called off, or is already: that can be said again at any time.
    pub fn may_be_called_off(&self, now: Millis) -> bool {
        match self.status {
            StoredStatus::OnSale => now < self.starts_at + CALLED_OFF_AFTER_START_MS,
            StoredStatus::Draft | StoredStatus::Cancelled => true,
        }
    }

    /// Whether every setting lies in its range and the dates are in order.
    pub fn check_settings(&self) -> Result<(), SettingError> {
        use SettingError::*;
        let room = &self.room;
        let late = |at: Option<Millis>| at.is_some_and(|at| at > self.starts_at);
        let rules = [
            (late(self.on_sale_at), OnSaleAt),
            (!self.currency.is_exact_by_card(), InexactCurrency),
            (!HOLD_SECONDS.contains(&self.hold_seconds), HoldSeconds),
            (
                !TICKETS_PER_BUYER.contains(&self.max_tickets_per_buyer),
                TicketsPerBuyer,
            ),
            (!is_refund_policy(&self.refund_policy), RefundPolicy),
            (
                self.overbook_percent > MAX_OVERBOOK_PERCENT,
                OverbookPercent,
            ),
            (!ROOM_CAPACITY.contains(&room.capacity), RoomCapacity),
            (!ROOM_RATE.contains(&room.rate_per_second), RoomRate),
            (!PASS_SECONDS.contains(&room.pass_seconds), PassSeconds),
            (late(room.opens_at), RoomOpensAt),
            (
                room.beacon.as_ref().is_some_and(|b| !b.has_sound_name()),
                BeaconName,
            ),
            (
                room.message.as_deref().is_some_and(|m| !is_message(m)),
                RoomMessage,
            ),
        ];
        match rules.into_iter().find(|(broken, _)| *broken) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Whether a show may be set to start at this time.
    pub fn check_start(starts_at: Millis, now: Millis) -> Result<(), SettingError> {
        match starts_at > now && starts_at <= now + MAX_AHEAD_MS {
            true => Ok(()),
            false => Err(SettingError::StartsAt),
        }
    }

    /// The clock by which lapsed cells are free for those who come by. While somebody is
    /// on the waitlist it runs behind, so that the waitlist comes first.
    pub fn claim_clock(&self, now: Millis) -> Millis {
        match self.waitlist {
            Waitlist::Open => now.saturating_sub(HEAD_START_MS),
            Waitlist::Closed | Waitlist::Closing(_) => now,
        }
    }

    /// The version of the show's layout, which never changes: there is one.
    pub fn layout_version(&self) -> u32 {
        1
    }

    /// The prices in the order of the layout's sections.
    pub fn section_prices(&self) -> Vec<Cents> {
        self.prices.iter().map(|(_, price)| *price).collect()
    }

    pub fn hold_ms(&self) -> u64 {
        u64::from(self.hold_seconds) * 1_000
    }

    /// When the items that only serve this show may be tidied away: a year after it, so
    /// that a show put off by months keeps what was written under its old date.
    pub fn forgotten_at(&self) -> Millis {
        self.starts_at + 365 * 24 * 3_600_000
    }
}

fn is_message(text: &str) -> bool {
    let len = text.chars().count();
    !text.trim().is_empty() && len <= MAX_ROOM_MESSAGE && !text.chars().any(char::is_control)
}

/// Which setting of a show is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error("a show must start in the future, at most a hundred years ahead: see starts_at")]
    StartsAt,
    #[error("on_sale_at: the sale begins before the show")]
    OnSaleAt,
    #[error(
        "currency: cards cannot be charged every amount of it; choose another, such as EUR or USD"
    )]
    InexactCurrency,
    #[error("hold_seconds: {} to {}", HOLD_SECONDS.start(), HOLD_SECONDS.end())]
    HoldSeconds,
    #[error("max_tickets_per_buyer: {} to {}", TICKETS_PER_BUYER.start(), TICKETS_PER_BUYER.end())]
    TicketsPerBuyer,
    #[error(
        "refund_policy: at most {MAX_REFUND_STEPS} steps, each hours_before once, and no more percent (0 to 100) the nearer the show is"
    )]
    RefundPolicy,
    #[error("overbook_percent: 0 to {MAX_OVERBOOK_PERCENT}")]
    OverbookPercent,
    #[error("room.capacity: {} to {}", ROOM_CAPACITY.start(), ROOM_CAPACITY.end())]
    RoomCapacity,
    #[error("room.rate_per_second: {} to {}", ROOM_RATE.start(), ROOM_RATE.end())]
    RoomRate,
    #[error("room.pass_seconds: {} to {}", PASS_SECONDS.start(), PASS_SECONDS.end())]
    PassSeconds,
    #[error("room.opens_at: the room opens before the show")]
    RoomOpensAt,
    #[error("room.beacon.name: one line of 1 to {MAX_BEACON_NAME_CHARS} characters, not blank")]
    BeaconName,
    #[error("room.message: 1 to {MAX_ROOM_MESSAGE} characters, none of them a control character")]
    RoomMessage,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PricesError {
    #[error("prices: section {0:?} has no price")]
    Missing(String),
    #[error("prices: {0:?} is not a section of the venue")]
    Unknown(String),
    #[error("prices: the price of {0:?} is above the highest price of {max}", max = MAX_PRICE.0)]
    TooHigh(String),
}

/// Puts prices in layout order; every section has exactly one.
pub fn order_prices(
    layout: &Layout,
    given: &std::collections::BTreeMap<String, Cents>,
) -> Result<Vec<(String, Cents)>, PricesError> {
    if let Some(unknown) = given
        .keys()
        .find(|name| layout.section_named(name).is_none())
    {
        return Err(PricesError::Unknown(unknown.clone()));
    }
    layout
        .sections()
        .iter()
        .map(|section| match given.get(&section.name) {
            None => Err(PricesError::Missing(section.name.clone())),
            Some(price) if *price > MAX_PRICE => Err(PricesError::TooHigh(section.name.clone())),
            Some(price) => Ok((section.name.clone(), *price)),
        })
        .collect()
}

/// The steps from far to near, in whatever order they were given.
pub fn in_order(mut steps: Vec<RefundStep>) -> Vec<RefundStep> {
    steps.sort_by_key(|step| std::cmp::Reverse(step.hours_before));
    steps
}

/// Percentages fall as the show comes nearer, and every step is a share of the price.
/// Without a step nothing is given back.
pub fn is_refund_policy(steps: &[RefundStep]) -> bool {
    steps.len() <= MAX_REFUND_STEPS
        && steps
            .iter()
            .all(|s| s.percent <= 100 && s.hours_before <= MAX_REFUND_HOURS)
        && steps.windows(2).all(|pair| {
            pair[0].hours_before > pair[1].hours_before && pair[0].percent >= pair[1].percent
        })
}
