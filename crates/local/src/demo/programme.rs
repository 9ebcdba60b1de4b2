//! What is on in the demo: eight events of the next weeks, in four cities.

use onsale_app::shows::{Prices, RoomChange};
use onsale_domain::money::Cents;
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;

use super::houses::{LOWER, UPPER, block_name};

/// A house of `houses::all`, by its place there.
#[derive(Clone, Copy)]
pub(super) enum House {
    ConcertHall,
    Theatre,
    Arena,
    Club,
}

/// When a show starts: days after the demo was planted, and the hour of that day in UTC.
pub(super) type Start = (u64, u64);

pub(super) struct Entry {
    /// Names it for good: its ids come from this.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) category: &'static str,
    pub(super) house: House,
    pub(super) starts: &'static [Start],
    /// The sale begins so many days after the planting; at once if there is none.
    pub(super) on_sale_after: Option<u64>,
    /// How its waiting room lets people in; there is none if nobody has to wait.
    pub(super) room: Option<RoomOrder>,
}

/// The first is the one that the README's tour walks through.
pub(super) const PROGRAMME: [Entry; 8] = [
    Entry {
        key: "demo",
        title: "Opening Night",
        description: "The season opens at the harbour: two evenings, one orchestra without a \
                      conductor, and a floor on which nobody has to sit still.\n\nDoors open an \
                      hour before. The bar in the foyer takes cards only.",
        category: "concert",
        house: House::ConcertHall,
        starts: &[(30, 19), (31, 19)],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-lighthouse",
        title: "The Lighthouse Keeper",
        description: "A light that has to burn every night, a relief that does not come, and a \
                      radio that answers in a voice too many. A play for three actors and a lot \
                      of weather.\n\nTwo hours with an interval. In French, with English and \
                      Spanish surtitles. From 12 years.",
        category: "theatre",
        house: House::Theatre,
        starts: &[
            (6, 19),
            (7, 19),
            (8, 14),
            (8, 19),
            (13, 19),
            (14, 19),
            (15, 14),
            (15, 19),
            (20, 19),
            (21, 19),
        ],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-tour",
        title: "Northern Lights Tour",
        description: "The largest show of the year comes to the lake: a stage of thirty metres, \
                      two hours, and one song that everybody knows.\n\nThe queue opens with the \
                      sale. Whoever is let in has time to choose; nobody has to reload.",
        category: "pop",
        house: House::Arena,
        starts: &[(45, 19)],
        on_sale_after: None,
        room: Some(RoomOrder::Fifo),
    },
    Entry {
        key: "demo-late-set",
        title: "Late Set",
        description: "Three musicians, no programme. The first set begins when the room is full, \
                      the second when the neighbours are asleep.\n\nStanding only; the gallery \
                      has a few stools.",
        category: "jazz",
        house: House::Club,
        starts: &[(3, 21), (10, 21), (17, 21)],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-cup",
        title: "City Cup Final",
        description: "Sixty minutes on ice decide who takes the cup home. The floor stands \
                      behind the boards, the blocks look down on all of it.\n\nFamilies find \
                      the quieter blocks in the upper tier.",
        category: "sport",
        house: House::Arena,
        starts: &[(12, 17)],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-ballet",
        title: "A Winter Ballet",
        description: "Snow falls upwards, and a clockmaker has until midnight to find out why. \
                      Forty dancers and a live orchestra.\n\nNinety minutes without an interval. \
                      For all ages.",
        category: "dance",
        house: House::Theatre,
        starts: &[(25, 19), (26, 15), (27, 15)],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-open-mic",
        title: "Open Mic Night",
        description: "Eight people who have never done this before, and one who has. Five \
                      minutes each; the audience holds the bell.\n\nIn Spanish and English.",
        category: "comedy",
        house: House::Club,
        starts: &[(5, 19), (19, 19)],
        on_sale_after: None,
        room: None,
    },
    Entry {
        key: "demo-symphony",
        title: "Symphony of Ships",
        description: "An orchestra inside, the horns of the harbour outside, and a window that \
                      is opened for the last movement.\n\nThe sale begins next week: leave your \
                      address and you are told in time.",
        category: "classical",
        house: House::ConcertHall,
        starts: &[(52, 19)],
        on_sale_after: Some(7),
        // Until its room opens, its page takes the addresses of those who want to be told.
        room: Some(RoomOrder::Lottery),
    },
];

impl Entry {
    pub(super) fn prices(&self) -> Prices {
        let price = |section: &str, amount| (section.to_owned(), Cents(amount));
        match self.house {
            House::ConcertHall => [("Floor", 4_500), ("Stalls", 7_900), ("Balcony", 5_900)]
                .map(|(section, amount)| price(section, amount))
                .into(),
            House::Club => [price("Floor", 1_800), price("Gallery", 2_400)].into(),
            House::Theatre => theatre_prices(),
            House::Arena => arena_prices(),
        }
    }

    /// Everybody goes through the room, so that a visitor sees it even without a crowd.
    /// It opens with the sale.
    pub(super) fn room(&self, opens_at: Option<Millis>) -> RoomChange {
        let Some(order) = self.room else {
            return RoomChange::default();
        };
        RoomChange {
            mode: Some(RoomMode::QueueAll),
            capacity: Some(20),
            rate_per_second: Some(1),
            order: Some(order),
            opens_at: Some(opens_at),
            ..RoomChange::default()
        }
    }
}

fn theatre_prices() -> Prices {
    let mut prices = Prices::from([
        ("Stalls".to_owned(), Cents(6_900)),
        ("Circle".to_owned(), Cents(5_400)),
        ("Gallery".to_owned(), Cents(2_900)),
    ]);
    for number in 1..=8 {
        // The first and the last see the stage from the side.
        let amount = if number == 1 || number == 8 {
            3_900
        } else {
            8_900
        };
        prices.insert(format!("Box {number}"), Cents(amount));
    }
    prices
}

fn arena_prices() -> Prices {
    let mut prices = Prices::from([
        ("Front of stage".to_owned(), Cents(12_900)),
        ("Floor".to_owned(), Cents(8_900)),
    ]);
    for index in 0..LOWER {
        // Along the sides it is nearer.
        let is_side = !(5..LOWER - 5).contains(&index);
        let amount = if is_side { 9_900 } else { 7_500 };
        prices.insert(block_name(101 + index), Cents(amount));
    }
    for index in 0..UPPER {
        prices.insert(block_name(201 + index), Cents(4_900));
    }
    prices
}
