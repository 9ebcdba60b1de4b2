//! Prices that follow demand, within bounds, and can be recomputed by anybody. The log of
//! them also says from when on which fixed prices were asked.
//!
//! A price is a pure function of figures that are published with it. Everything is whole
//! numbers, so every reader gets the same cent. A section's price is its base price times a
//! multiplier in ten-thousandths:
//!
//! ```text
//! multiplier = 10,000 + occupancy + demand + time, kept between floor and ceiling
//! price      = base × multiplier / 10,000, rounded half up
//! ```
//!
//! - *occupancy*: how much of the section is sold;
//! - *demand*: places that are held right now and views of the last ten minutes, beside
//!   the places of the show;
//! - *time*: how long until the show starts.
//!
//! Each is a line through a few points ([`OCCUPANCY`], [`DEMAND`], [`TIME`]) that never
//! falls as its figure rises, so of two moments that differ only in what is sold the later
//! one is never cheaper. A hold that is paid moves two figures: one place more is sold, and
//! one less is held. Where the line of demand is the steeper one, many holds that are paid
//! at once make the next place cheaper again, as a rush that is over does.

use serde::{Deserialize, Serialize};

use crate::map::SeatMap;
use crate::money::{Cents, MAX_PRICE};
use crate::show::{Show, StoredStatus};
use crate::time::Millis;

/// The multiplier that changes nothing.
pub const PARITY: u32 = 10_000;
/// The lowest floor and the highest ceiling, which are also what a show gets unless told.
pub const LOWEST_FLOOR: u32 = 7_000;
pub const HIGHEST_CEILING: u32 = 30_000;
/// Prices stand for so long at least, whatever happens.
pub const POINT_MS: u64 = 60_000;
/// Views count for so many minutes.
pub const VIEW_MINUTES: u64 = 10;
/// One place that somebody holds tells as much as so many views.
pub const VIEWS_PER_HELD: u64 = 20;
/// Views tell at most as much as a tenth of the show being held. Anybody can look, as often
/// as they like, so looking alone must not move a price far.
pub const VIEWS_AT_MOST: u64 = 10;
/// The formula of this file. Another one gets another number, and this one stays.
pub const FORMULA: u8 = 1;
/// No formula: a point with prices as the organiser set them.
pub const FIXED: u8 = 0;

/// From thousandths of the section that are sold, to ten-thousandths of the price.
pub const OCCUPANCY: [(i64, i64); 4] = [(0, -2_000), (500, 0), (800, 4_000), (1_000, 12_000)];
/// From thousandths of the show that are held, or viewed as much as if they were.
pub const DEMAND: [(i64, i64); 3] = [(0, 0), (100, 1_000), (500, 5_000)];
/// From whole hours until the show.
pub const TIME: [(i64, i64); 4] = [(0, 1_000), (24, 500), (168, 0), (1_440, -500)];

/// How the prices of a show are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum Pricing {
    /// As the organiser set them.
    #[default]
    Fixed,
    Dynamic(Bounds),
}

/// Between which multiples of its base a price stays, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub floor: u32,
    pub ceiling: u32,
}

impl Bounds {
    /// A price between these is its base.
    const NO_CHANGE: Self = Self {
        floor: PARITY,
        ceiling: PARITY,
    };
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            floor: LOWEST_FLOOR,
            ceiling: HIGHEST_CEILING,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    #[error("floor: a number from 0.7 to 1, with at most four decimals")]
    Floor,
    #[error("ceiling: a number from 1 to 3, with at most four decimals")]
    Ceiling,
}

impl Bounds {
    /// From multiples as people write them: 0.7 and 3.
    pub fn from_multiples(floor: Option<f64>, ceiling: Option<f64>) -> Result<Self, BoundsError> {
        let read = |multiple: Option<f64>, default: u32| match multiple {
            None => Some(default),
            Some(multiple) => ten_thousandths(multiple),
        };
        let floor = read(floor, LOWEST_FLOOR).filter(|f| (LOWEST_FLOOR..=PARITY).contains(f));
        let ceiling = read(ceiling, HIGHEST_CEILING);
        let ceiling = ceiling.filter(|c| (PARITY..=HIGHEST_CEILING).contains(c));
        Ok(Self {
            floor: floor.ok_or(BoundsError::Floor)?,
            ceiling: ceiling.ok_or(BoundsError::Ceiling)?,
        })
    }
}

fn ten_thousandths(multiple: f64) -> Option<u32> {
    let scaled = multiple * f64::from(PARITY);
    let whole = scaled.round();
    let exact = (scaled - whole).abs() < 1e-6 && (0.0..=1e9).contains(&whole);
    exact.then_some(whole as u32)
}

/// Ten-thousandths as a multiple.
pub fn multiple(ten_thousandths: u32) -> f64 {
    f64::from(ten_thousandths) / f64::from(PARITY)
}

/// One section of a show, as its price sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionFigures {
    pub base: Cents,
    pub sold: u32,
    /// Places for sale, sold ones included.
    pub places: u32,
}

/// All that the prices of a show depend on, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    pub at: Millis,
    pub starts_at: Millis,
    pub bounds: Bounds,
    /// Views in the last [`VIEW_MINUTES`].
    pub views: u64,
    /// Places of the show that somebody holds.
    pub held: u32,
    /// Places of the show that are for sale, sold ones included.
    pub places: u32,
    /// In layout order.
    pub sections: Vec<SectionFigures>,
}

impl Figures {
    /// The figures of a show as its map has them.
    pub fn of(show: &Show, bounds: Bounds, map: &SeatMap, views: u64, now: Millis) -> Self {
        let all = map.counts();
        let sections = show.prices.iter().zip(&map.sections);
        Self {
            at: now,
            starts_at: show.starts_at,
            bounds,
            views,
            held: all.held,
            places: all.total(),
            sections: sections
                .map(|((_, base), counts)| SectionFigures {
                    base: *base,
                    sold: counts.sold,
                    places: counts.total(),
                })
                .collect(),
        }
    }

    /// The prices that the organiser set. Nothing is counted, as nothing follows from it.
    fn fixed(show: &Show, now: Millis) -> Self {
        let sections = show.prices.iter().map(|(_, base)| SectionFigures {
            base: *base,
            sold: 0,
            places: 0,
        });
        Self {
            at: now,
            starts_at: show.starts_at,
            bounds: Bounds::NO_CHANGE,
            views: 0,
            held: 0,
            places: 0,
            sections: sections.collect(),
        }
    }

    /// Whether the organiser's part of the figures is still what the show says.
    pub fn are_of(&self, show: &Show, bounds: Bounds) -> bool {
        let bases = self.sections.iter().map(|section| section.base);
        self.bounds == bounds
            && self.starts_at == show.starts_at
            && bases.eq(show.prices.iter().map(|(_, base)| *base))
    }

    /// The prices of the sections, in layout order.
    pub fn prices(&self) -> Vec<Cents> {
        let each = self.sections.iter();
        each.map(|section| self.price(section).amount).collect()
    }

    pub fn price(&self, section: &SectionFigures) -> Price {
        let sold = thousandths(u64::from(section.sold), u64::from(section.places));
        let occupancy = along(&OCCUPANCY, sold);
        let demand = along(&DEMAND, self.interest());
        let hours = self.at.until(self.starts_at) / 3_600_000;
        let time = along(&TIME, i64::try_from(hours).unwrap_or(i64::MAX));
        let wanted = i64::from(PARITY) + occupancy + demand + time;
        let (floor, ceiling) = (self.bounds.floor, self.bounds.ceiling);
        let kept = wanted.clamp(i64::from(floor), i64::from(ceiling));
        let multiplier = u32::try_from(kept).unwrap_or(PARITY);
        Price {
            amount: scaled(section.base, multiplier),
            multiplier,
            reasons: Reasons {
                occupancy,
                demand,
                time,
                bound: kept - wanted,
            },
        }
    }

    /// Held places and views beside the places of the show, in thousandths.
    fn interest(&self) -> i64 {
        let all = u64::from(self.places).saturating_mul(VIEWS_PER_HELD);
        let held = u64::from(self.held).saturating_mul(VIEWS_PER_HELD);
        let views = self.views.min(all / VIEWS_AT_MOST);
        thousandths(held.saturating_add(views), all)
    }
}

/// The price of a place in one section, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    pub amount: Cents,
    /// In ten-thousandths of the base price.
    pub multiplier: u32,
    pub reasons: Reasons,
}

/// What each figure adds to a multiplier or takes from it, in ten-thousandths. Together
/// with [`PARITY`] they are the multiplier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reasons {
    pub occupancy: i64,
    pub demand: i64,
    pub time: i64,
    /// What the floor adds or the ceiling takes.
    pub bound: i64,
}

/// How many thousandths of the whole a part is, at most all of it.
fn thousandths(part: u64, whole: u64) -> i64 {
    let share = part.saturating_mul(1_000).checked_div(whole).unwrap_or(0);
    i64::try_from(share.min(1_000)).unwrap_or(1_000)
}

/// The value of a line through these points at `x`; before the first and after the last
/// it stays level. Rounds towards the earlier point, so a rising line never falls.
fn along(points: &[(i64, i64)], x: i64) -> i64 {
    let mut before: Option<(i64, i64)> = None;
    for &(px, py) in points {
        if x <= px {
            return match before {
                Some((bx, by)) => by + (py - by) * (x - bx) / (px - bx),
                None => py,
            };
        }
        before = Some((px, py));
    }
    before.map_or(0, |(_, y)| y)
}

/// Rounded half up, to the cent, and never above the highest price there is.
fn scaled(base: Cents, multiplier: u32) -> Cents {
    let parity = u128::from(PARITY);
    let exact = u128::from(base.0) * u128::from(multiplier);
    let rounded = (exact + parity / 2) / parity;
    Cents(u64::try_from(rounded).unwrap_or(u64::MAX)).min(MAX_PRICE)
}

/// How many points one part of a log has.
pub const POINTS_A_PART: u32 = 32;

/// Prices as they stood from one moment to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricePoint {
    /// Counts the points of a show, from 0.
    pub sequence: u32,
    /// [`FORMULA`] or [`FIXED`].
    pub formula: u8,
    pub figures: Figures,
}

impl PricePoint {
    pub fn is_fixed(&self) -> bool {
        self.formula == FIXED
    }

    /// The price of a place in a section of this point, and why.
    pub fn price(&self, section: &SectionFigures) -> Price {
        match self.is_fixed() {
            false => self.figures.price(section),
            true => Price {
                amount: section.base,
                multiplier: PARITY,
                reasons: Reasons::default(),
            },
        }
    }
}

/// Whether buyers see the fixed prices of a show from this change of it on. Nobody but its
/// organiser sees a draft.
pub fn fixes_prices(before: Option<&Show>, after: &Show) -> bool {
    let asked = |show: &Show| show.status == StoredStatus::OnSale && show.pricing == Pricing::Fixed;
    let as_before = |before: &Show| asked(before) && before.prices == after.prices;
    asked(after) && !before.is_some_and(as_before)
}

/// A part of the prices of a show: at most [`POINTS_A_PART`] points, oldest first. The
/// newest part grows; the others are history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceLog {
    pub points: Vec<PricePoint>,
}

impl PriceLog {
    pub fn begin(figures: Figures) -> Self {
        Self::default().with(figures).0
    }

    pub fn latest(&self) -> Option<&PricePoint> {
        self.points.last()
    }

    /// Which part of the log this is, from 0.
    pub fn part(&self) -> u32 {
        self.points.first().map_or(0, |p| part_of(p.sequence))
    }

    pub fn point(&self, sequence: u32) -> Option<&PricePoint> {
        self.points.iter().find(|p| p.sequence == sequence)
    }

    /// Whether the latest prices may stand: young enough, and made of what the organiser
    /// says now. Prices from a clock ahead of ours stand until they are old.
    pub fn stands(&self, show: &Show, bounds: Bounds, now: Millis) -> bool {
        let latest = self.latest();
        latest.is_some_and(|p| {
            !p.is_fixed()
                && now.saturating_sub(POINT_MS) < p.figures.at
                && p.figures.are_of(show, bounds)
        })
    }

    /// The log with one more point, and the part that is full and must be stored first.
    pub fn with(&self, figures: Figures) -> (Self, Option<Self>) {
        self.with_point(FORMULA, figures)
    }

    /// The same, with the prices that the organiser set.
    pub fn with_fixed(&self, show: &Show, now: Millis) -> (Self, Option<Self>) {
        self.with_point(FIXED, Figures::fixed(show, now))
    }

    fn with_point(&self, formula: u8, mut figures: Figures) -> (Self, Option<Self>) {
        // Clocks disagree; a price is asked from its point on until the next.
        figures.at = self
            .latest()
            .map_or(figures.at, |p| p.figures.at.max(figures.at));
        let sequence = self.latest().map_or(0, |p| p.sequence + 1);
        let new = PricePoint {
            sequence,
            formula,
            figures,
        };
        if part_of(sequence) == self.part() {
            let mut points = self.points.clone();
            points.push(new);
            return (Self { points }, None);
        }
        (Self { points: vec![new] }, Some(self.clone()))
    }
}

/// The part of a log that has this point.
pub fn part_of(sequence: u32) -> u32 {
    sequence / POINTS_A_PART
}

#[cfg(test)]
#[path = "pricing_tests.rs"]
mod tests;
