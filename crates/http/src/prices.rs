//! A point of the price log as everybody reads it: what the prices were made of, and what
//! came out. It is in the public log and in every quote, and the prices can be made again
//! from it.

use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::pricing::{Bounds, Figures, PricePoint, Reasons, SectionFigures, multiple};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schemas::{MoneyValue, Timestamp};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PricingMode {
    /// As the organiser set them.
    Fixed,
    /// By demand, within bounds.
    #[default]
    Dynamic,
}

/// Prices from `at` on, until the next point, and all that they follow from. `price` =
/// `base` × `multiplier`, rounded half up to the minor unit; `multiplier` = 1 + the sum of
/// `reasons`. Fixed prices follow from nothing: their multiplier is 1, and what would be
/// counted is 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PricePoint)]
pub struct PointView {
    /// Counts the points of a show, from 0.
    pub sequence: u32,
    /// Whether the organiser set these prices, or demand.
    #[serde(default)]
    #[schema(required = true)]
    pub mode: PricingMode,
    /// The number of the formula; 0: none, the prices are fixed.
    pub formula: u8,
    #[schema(value_type = Timestamp)]
    pub at: Millis,
    #[schema(value_type = Timestamp)]
    pub starts_at: Millis,
    /// The lowest multiplier.
    pub floor: f64,
    /// The highest multiplier.
    pub ceiling: f64,
    /// Views of the show in the last ten minutes.
    pub views: u64,
    /// Places of the show that were held.
    pub held: u32,
    /// Places of the show.
    pub places: u32,
    pub sections: Vec<SectionView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = SectionPrice)]
pub struct SectionView {
    pub section: String,
    #[schema(value_type = MoneyValue)]
    pub base: Money,
    pub sold: u32,
    pub places: u32,
    pub multiplier: f64,
    #[schema(value_type = MoneyValue)]
    pub price: Money,
    pub reasons: ReasonsView,
}

/// What each figure adds to the multiplier 1, or takes from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PriceReasons)]
pub struct ReasonsView {
    /// How much of the section is sold.
    pub occupancy: f64,
    /// How many look at the show and hold places.
    pub demand: f64,
    /// How near the show is.
    pub time: f64,
    /// What the floor adds or the ceiling takes.
    pub bound: f64,
}

impl From<Reasons> for ReasonsView {
    fn from(reasons: Reasons) -> Self {
        let part = |ten_thousandths: i64| ten_thousandths as f64 / 10_000.0;
        Self {
            occupancy: part(reasons.occupancy),
            demand: part(reasons.demand),
            time: part(reasons.time),
            bound: part(reasons.bound),
        }
    }
}

impl PointView {
    /// The point with those of its sections that `wanted` names.
    pub fn of(point: &PricePoint, show: &Show, wanted: impl Fn(&str) -> bool) -> Self {
        let figures = &point.figures;
        let money = |amount| Money {
            amount,
            currency: show.currency,
        };
        let sections = show.prices.iter().zip(&figures.sections);
        let sections = sections.filter(|((name, _), _)| wanted(name));
        Self {
            sequence: point.sequence,
            mode: match point.is_fixed() {
                true => PricingMode::Fixed,
                false => PricingMode::Dynamic,
            },
            formula: point.formula,
            at: figures.at,
            starts_at: figures.starts_at,
            floor: multiple(figures.bounds.floor),
            ceiling: multiple(figures.bounds.ceiling),
            views: figures.views,
            held: figures.held,
            places: figures.places,
            sections: sections
                .map(|((name, _), section)| {
                    let price = point.price(section);
                    SectionView {
                        section: name.clone(),
                        base: money(section.base),
                        sold: section.sold,
                        places: section.places,
                        multiplier: multiple(price.multiplier),
                        price: money(price.amount),
                        reasons: price.reasons.into(),
                    }
                })
                .collect(),
        }
    }

    /// Makes the prices again, from the figures alone. The answer is what differs.
    pub fn check(&self) -> Result<(), String> {
        let bounds = Bounds::from_multiples(Some(self.floor), Some(self.ceiling));
        let mut figures = Figures {
            at: self.at,
            starts_at: self.starts_at,
            bounds: bounds.map_err(|e| e.to_string())?,
            views: self.views,
            held: self.held,
            places: self.places,
            sections: vec![],
        };
        for view in &self.sections {
            let section = SectionFigures {
                base: view.base.amount,
                sold: view.sold,
                places: view.places,
            };
            figures.sections = vec![section];
            let price = figures.price(&section);
            if price.amount != view.price.amount || view.price.currency != view.base.currency {
                return Err(format!(
                    "{}: {} was asked where the figures give {}",
                    view.section,
                    view.price,
                    Money {
                        amount: price.amount,
                        currency: view.base.currency
                    }
                ));
            }
        }
        Ok(())
    }

    /// The price of a place in this section.
    pub fn price_in(&self, section: &str) -> Option<(Cents, Currency)> {
        let found = self.sections.iter().find(|s| s.section == section)?;
        Some((found.price.amount, found.price.currency))
    }
}
