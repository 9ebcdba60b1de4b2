//! What the cloud tells the edge about a room, about once a second.

use serde::{Deserialize, Serialize};

use super::controller::{News, Settings};
use crate::money::Money;

/// Each briefing goes back this much before the time it was asked from. A list of ended
/// passes may lag behind by a moment, and the clocks that date them may disagree by five
/// seconds; so passes are named several times rather than never.
pub const ENDED_OVERLAP_MS: u64 = 15_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Briefing {
    /// What is on: the title of the event.
    pub title: String,
    /// What those who wait want to know.
    #[serde(default)]
    pub on_sale: OnSale,
    pub settings: Settings,
    pub news: News,
}

/// What is sold, and what the organiser has to say, for everybody who waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OnSale {
    pub prices: Option<PriceRange>,
    /// Sections of which every place is sold, in layout order.
    pub sold_out_sections: Vec<String>,
    pub message: Option<String>,
}

/// The lowest and the highest price of a place that is not sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceRange {
    pub from: Money,
    pub to: Money,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::{Cents, Currency};
    use crate::room::draw::Beacon;
    use crate::room::opaque::PassId;
    use crate::room::opening::Opening;
    use crate::show::{RoomMode, RoomOrder};
    use crate::time::Millis;

    fn money(cents: u64) -> Money {
        Money {
            amount: Cents(cents),
            currency: Currency::parse("EUR").unwrap(),
        }
    }

    #[test]
    fn a_briefing_is_read_as_it_was_written() {
        let briefing = Briefing {
            title: "Nacht in Köln".to_owned(),
            on_sale: OnSale {
                prices: Some(PriceRange {
                    from: money(3_900),
                    to: money(7_800),
                }),
                sold_out_sections: vec!["Loge".to_owned()],
                message: Some("Einlass ab sieben.".to_owned()),
            },
            settings: Settings {
                mode: RoomMode::QueueAll,
                capacity: 500,
                rate_per_second: 20,
                pass_seconds: 300,
                opening: Opening {
                    opens: Some(Millis(1_800_000_000_000)),
                    order: RoomOrder::Lottery,
                    since: Millis(1_700_000_000_000),
                },
                beacon: Beacon::Known {
                    name: "drand 7".to_owned(),
                    value: vec![1, 2],
                },
                ends: Millis(1_900_000_000_000),
            },
            news: News {
                cursor: 1_800_000_000_001,
                free_seats: Some(7),
                sold_out: false,
                healthy: true,
                ended: vec![PassId([3; 16])],
            },
        };
        let text = serde_json::to_string(&briefing).unwrap();
        assert_eq!(serde_json::from_str::<Briefing>(&text).unwrap(), briefing);
    }
}
