//! Best available: the places a group would choose.
//!
//! A window of neighbours in one row comes first, then halves of the group. Among
//! windows, those that leave no single seat between neighbours win, then those with the
//! whole stage in view, then the nearest to the focal point. The first try takes the best
//! window there is. A try that knows of a conflict picks one of several at random, by the
//! caller's seed, so that a crowd spreads by the conflicts it meets; `tries.rs` says how
//! it goes on where others were faster.

mod distance;
mod reading;
mod search;
mod tries;
mod windows;

pub(crate) use distance::Measure;
pub use reading::blocks_in_question;
pub use tries::{Breadth, MOST_TRIES, Next, Tries};

use self::search::{Kept, Need, Search};
use crate::layout::{Layout, PlaceIndex};
use crate::map::SeatMap;
use crate::money::Cents;
use crate::seed::Seed;

/// How many of the best windows, each in another run of free seats, a crowd spreads over.
const CHOICES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    Required,
    Preferred,
}

#[derive(Debug, Clone)]
pub struct Wish<'a> {
    pub quantity: usize,
    pub section: Option<&'a str>,
    pub max_price: Option<Cents>,
    pub together: Together,
    pub allow_fewer: bool,
    /// At least one accessible place has to be among them.
    pub accessible: bool,
}

impl Wish<'_> {
    /// Whether a group of this size is what the wish asks for.
    pub fn is_served_by(&self, places: usize) -> bool {
        places == self.quantity || (self.allow_fewer && (1..self.quantity).contains(&places))
    }
}

/// A show as those see it who choose: its places, their states, and the prices of the
/// layout's sections, in order.
#[derive(Debug, Clone, Copy)]
pub struct House<'a> {
    pub layout: &'a Layout,
    pub map: &'a SeatMap,
    pub prices: &'a [Cents],
}

/// The places for the wish, or `None`. `breadth` says of how many windows one is picked.
pub fn choose(
    house: House<'_>,
    wish: &Wish<'_>,
    breadth: Breadth,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    if wish.accessible {
        let mut search = Search::new(house, wish, breadth, Kept::Given);
        return search
            .group(wish.quantity, wish.together, Need::Accessible, seed)
            .or_else(|| fewer(&mut search, wish, Need::Accessible, seed));
    }
    // Accessible and companion places are kept for people who ask for them, as long as
    // others serve the wish.
    if house.layout.keeps_any() {
        let mut search = Search::new(house, wish, breadth, Kept::Spared);
        if let Some(places) = all_of_them(&mut search, wish, seed) {
            return Some(places);
        }
    }
    let mut search = Search::new(house, wish, breadth, Kept::Given);
    all_of_them(&mut search, wish, seed).or_else(|| fewer(&mut search, wish, Need::Any, seed))
}

/// Seats for everybody, or else standing room for everybody.
fn all_of_them(
    search: &mut Search<'_>,
    wish: &Wish<'_>,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    search
        .group(wish.quantity, wish.together, Need::Any, seed)
        .or_else(|| search.general(wish.quantity, seed))
}

/// The largest group there is, where the wish allows that; seats, where both are as large.
fn fewer(
    search: &mut Search<'_>,
    wish: &Wish<'_>,
    need: Need,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    if !wish.allow_fewer {
        return None;
    }
    let most = wish.quantity.saturating_sub(1);
    let seated = search.most_seats(wish.together, need).min(most);
    let standing = match need {
        Need::Any => search.most_standing().min(most),
        Need::Accessible => 0,
    };
    match (seated, standing) {
        (0, 0) => None,
        (seated, standing) if seated >= standing => search.group(seated, wish.together, need, seed),
        (_, standing) => search.general(standing, seed),
    }
}

/// The sections that the wish names and can pay for.
fn wanted_sections(layout: &Layout, prices: &[Cents], wish: &Wish<'_>) -> Vec<usize> {
    let affordable = |i: usize| {
        wish.max_price
            .is_none_or(|max| prices.get(i).is_some_and(|price| *price <= max))
    };
    let wanted = |i: usize| {
        wish.section
            .is_none_or(|name| layout.sections()[i].name == name)
    };
    (0..layout.sections().len())
        .filter(|i| affordable(*i) && wanted(*i))
        .collect()
}

#[cfg(test)]
mod plan_tests;

#[cfg(test)]
#[path = "best_available_tests.rs"]
mod tests;
