//! Who is offered what.
//!
//! 1. **In order.** The line is walked from its front. Whoever fits is offered places;
//!    whoever does not is passed over and keeps their turn. So nobody who fits waits
//!    behind somebody who does not, and of two who want the same the first gets it.
//! 2. **Small groups spare long runs.** A group gets the end of the shortest run of free
//!    neighbours that has room for it. So a single takes a single seat while there is
//!    one, and a run of four is left for the four behind them.
//! 3. **Look-ahead.** When a group that wants to sit together does not fit, but would in
//!    a window of which some places came free within the last `KEEP_BACK_MS` and the
//!    holds on all others end within `SOON_MS`, these free places are kept back from
//!    those behind: from everybody in this pass, at most until `KEEP_BACK_MS` after they
//!    came free. Then they are anybody's, in order. So seats of a row that come back one
//!    after the other within a minute go to the group and not to singles, nobody who fits
//!    is passed over for longer than that, and no place stays unsold. It is done for the
//!    first `GROUPS` such groups of the line.
//! 4. **Not past the waiting room.** While a show has one, whoever finds room among what
//!    anybody with a pass may hold is left to hold it. So every offer has a place in it
//!    that came back, and what was never sold is sold through the room.

use std::collections::HashSet;

use super::entry::{Waiting, Wish};
use super::places::{Places, Standing};
use super::stock::Stock;
use crate::block::PlaceState;
use crate::layout::{Layout, PlaceIndex, Row};
use crate::map::SeatMap;
use crate::time::Millis;

/// A hold that ends within this time may make room for a group.
pub const SOON_MS: u64 = 60_000;
/// How long a place that came free is kept back for a group, at most. Shorter than the
/// head start of the waitlist, so that nobody else takes it meanwhile.
pub const KEEP_BACK_MS: u64 = 90_000;
/// Groups for which places are kept back at the same time.
const GROUPS: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// Positions in the line, and what each is offered.
    pub offers: Vec<(usize, Vec<PlaceIndex>)>,
    /// Free places that wait for a group.
    pub kept_back: Vec<PlaceIndex>,
    /// When the first of them is kept back no longer.
    pub look_again: Option<Millis>,
    /// More would fit than were asked for.
    pub more: bool,
}

/// Offers for a line in its order, at most `most` of them.
pub fn match_offers(
    layout: &Layout,
    places: &Places,
    line: &[Waiting],
    now: Millis,
    most: usize,
) -> Matched {
    let mut stock = Stock::new(layout, places);
    let mut room = Stock::behind_room(layout, places);
    let mut matched = Matched::default();
    let mut groups = 0;
    // The stock only shrinks, so a wish that does not fit once does not fit again.
    let mut hopeless: HashSet<&Wish> = HashSet::new();
    // Until an offer takes of what the room sells.
    let mut in_room: HashSet<&Wish> = HashSet::new();
    for (at, waiting) in line.iter().enumerate() {
        let wish = &waiting.wish;
        if hopeless.contains(wish) || in_room.contains(wish) {
            continue;
        }
        if room.as_ref().is_some_and(|room| room.fits(wish)) {
            in_room.insert(wish);
            continue;
        }
        if matched.offers.len() == most {
            matched.more = stock.take(wish).is_some();
            if matched.more {
                break;
            }
            continue;
        }
        if let Some(offer) = stock.take(wish) {
            if let Some(room) = &mut room {
                room.set_aside(&offer.iter().map(|place| place.0).collect::<Vec<_>>());
                in_room.clear();
            }
            matched.offers.push((at, offer));
            continue;
        }
        hopeless.insert(wish);
        if groups < GROUPS && wish.together && wish.quantity > 1 {
            let kept = keep_back(layout, places, &stock, wish, now);
            groups += usize::from(!kept.is_empty());
            let until = kept.iter().map(|(_, since)| *since + KEEP_BACK_MS + 1);
            matched.look_again = matched.look_again.into_iter().chain(until).min();
            let kept: Vec<u32> = kept.into_iter().map(|(place, _)| place).collect();
            stock.set_aside(&kept);
            matched.kept_back.extend(kept.into_iter().map(PlaceIndex));
        }
    }
    matched
}

/// Whether a wish could be fulfilled if every place were free.
pub fn could_ever_fit(layout: &Layout, wish: &Wish) -> bool {
    let all = Places::read(layout, &[], Millis(0));
    Stock::new(layout, &all).take(wish).is_some()
}

/// Places that fit a wish, of those that a map shows as free.
pub fn free_for(layout: &Layout, map: &SeatMap, wish: &Wish) -> Option<Vec<PlaceIndex>> {
    let is_free = |place: u32| map.state(PlaceIndex(place)) == PlaceState::Free;
    Stock::of(layout, is_free).take(wish)
}

/// The free places of the most promising window, with the time since when each is free.
fn keep_back(
    layout: &Layout,
    places: &Places,
    stock: &Stock<'_>,
    wish: &Wish,
    now: Millis,
) -> Vec<(u32, Millis)> {
    let quantity = wish.quantity as usize;
    let recent = |place: u32| match places.standing(place) {
        Standing::Free { since: Some(since) } if stock.is_free(place) => {
            (now <= since + KEEP_BACK_MS).then_some((place, since))
        }
        _ => None,
    };
    let soon = |place: u32| places.standing(place) == Standing::Soon;
    let mut best: Vec<(u32, Millis)> = Vec::new();
    let mut best_free = 0;
    let mut consider = |window: &[u32]| {
        let free = window.iter().filter(|place| stock.is_free(**place)).count();
        let coming = window.iter().filter(|place| soon(**place)).count();
        let kept: Vec<_> = window.iter().filter_map(|place| recent(*place)).collect();
        if free + coming >= quantity && free > best_free && !kept.is_empty() {
            (best, best_free) = (kept, free);
        }
    };
    for (number, section) in layout.sections().iter().enumerate() {
        if !wish.takes(number) {
            continue;
        }
        if section.is_general() {
            let places: Vec<u32> = section.range().collect();
            consider(&places);
            continue;
        }
        let lively = |row: &&Row| places_of(row).any(|place| recent(place).is_some());
        for row in section.rows().iter().filter(lively) {
            let row: Vec<u32> = places_of(row).collect();
            row.windows(quantity).for_each(&mut consider);
        }
    }
    best
}

fn places_of(row: &Row) -> std::ops::Range<u32> {
    row.first..row.first + row.seats.len() as u32
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
