//! Which places a hold claims, and the claim itself.

use std::sync::Arc;

use onsale_domain::best_available::{self, House, MOST_TRIES, Next, Tries};
use onsale_domain::block::{Cell, PlaceState};
use onsale_domain::claim::{ClaimVerdict, Found, by_block, judge_claim};
use onsale_domain::general;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::map::SeatMap;
use onsale_domain::seed::Seed;
use onsale_domain::time::Millis;

use super::ROUNDS;
use super::place::{Attempt, Wanted, not_on_sale};
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::CellsWrite;

/// General admission looks this often at the map before it reads every block.
const GENERAL_TRIES: u64 = 4;
/// And so often in all, then at the exact state. Each failure means that others got places.
const GENERAL_TRIES_IN_ALL: u64 = 64;

pub(super) enum Claimed {
    /// The places are this hold's, under this cell.
    Mine(Cell),
    /// These belong to others; the blocks as they were found.
    Taken(Vec<PlaceIndex>, Found),
}

impl App {
    /// Claims what is wanted; the answer has the cell that is stored.
    pub(super) async fn claim(
        &self,
        attempt: &Attempt<'_>,
        wanted: &Wanted<'_>,
        quantity: usize,
        cell: Cell,
        round: u64,
    ) -> Result<(Cell, Vec<PlaceIndex>)> {
        match wanted {
            Wanted::Places(places) => self.claim_seats(attempt, places, cell).await,
            Wanted::Best(wish) => {
                let wish = best_available::Wish {
                    quantity,
                    ..wish.clone()
                };
                self.claim_best(attempt, &wish, cell, round).await
            }
            Wanted::General(section) => {
                self.claim_general(attempt, *section, quantity, cell, round)
                    .await
            }
        }
    }

    async fn claim_seats(
        &self,
        attempt: &Attempt<'_>,
        places: &[PlaceIndex],
        cell: Cell,
    ) -> Result<(Cell, Vec<PlaceIndex>)> {
        let not_for_sale: Vec<_> = places
            .iter()
            .copied()
            .filter(|place| !attempt.layout.is_for_sale(*place))
            .collect();
        if !not_for_sale.is_empty() {
            return Err(taken(attempt, &not_for_sale));
        }
        match self.claim_places(attempt, places, cell).await? {
            Claimed::Mine(cell) => Ok((cell, places.to_vec())),
            Claimed::Taken(others, _) => Err(taken(attempt, &others)),
        }
    }

    async fn claim_best(
        &self,
        attempt: &Attempt<'_>,
        wish: &best_available::Wish<'_>,
        cell: Cell,
        round: u64,
    ) -> Result<(Cell, Vec<PlaceIndex>)> {
        let mut map = self.seat_map(&attempt.show, &attempt.layout).await?;
        let mut since = map.version;
        let mut tries = Tries::begin(self.now(), self.last_conflict(attempt.show.id));
        loop {
            self.hear_news(attempt.show.id, &mut map, since, attempt.hold);
            let number = round * MOST_TRIES + tries.made();
            let mut seed = Seed::of_id(attempt.hold.as_bytes(), number);
            let house = House {
                layout: &attempt.layout,
                map: &map,
                prices: &attempt.prices.sections,
            };
            // A request that is repeated begins with what it took before.
            let own = self.own_places(attempt, wish).filter(|_| tries.made() == 0);
            let choose = || best_available::choose(house, wish, tries.breadth(), &mut seed);
            let next = match own.or_else(choose) {
                None => tries.found_nothing(),
                Some(places) => match self.claim_places(attempt, &places, cell).await? {
                    Claimed::Mine(cell) => return Ok((cell, places)),
                    Claimed::Taken(_, found) => {
                        self.learn(attempt, &mut map, &found);
                        self.tell_conflict(attempt.show.id);
                        tries.was_late()
                    }
                },
            };
            match next {
                Next::Choose => {}
                Next::Read => {
                    since = self.now();
                    self.read_in_question(attempt, wish, &mut map).await?;
                    tries.have_read();
                }
                Next::SayTaken => return Err(Error::SeatsTaken(vec![])),
                Next::GiveUp => return Err(Error::OthersWereFaster),
            }
        }
    }

    /// What this hold is known to have taken in this process, if it is what the wish wants.
    fn own_places(
        &self,
        attempt: &Attempt<'_>,
        wish: &best_available::Wish<'_>,
    ) -> Option<Vec<PlaceIndex>> {
        let own = self.known_places_of(attempt.show.id, attempt.hold);
        wish.is_served_by(own.len()).then_some(own)
    }

    /// Corrects a map by the exact state of the blocks where this wish may fit.
    async fn read_in_question(
        &self,
        attempt: &Attempt<'_>,
        wish: &best_available::Wish<'_>,
        map: &mut Arc<SeatMap>,
    ) -> Result<()> {
        let prices = &attempt.prices.sections;
        let blocks = best_available::blocks_in_question(&attempt.layout, map, prices, wish);
        if blocks.is_empty() {
            return Ok(());
        }
        let asked = self.now();
        let found = self.exact_blocks(&attempt.show, &blocks).await?;
        self.learn(attempt, map, &found);
        self.tell_found(attempt, &found, asked);
        Ok(())
    }

    async fn claim_general(
        &self,
        attempt: &Attempt<'_>,
        section: usize,
        quantity: usize,
        cell: Cell,
        round: u64,
    ) -> Result<(Cell, Vec<PlaceIndex>)> {
        let layout = &attempt.layout;
        let section = &layout.sections()[section];
        let mut map = self.seat_map(&attempt.show, layout).await?;
        let mut tries = 0;
        let mut exact = false;
        while tries < GENERAL_TRIES_IN_ALL {
            let mut seed = Seed::of_id(
                attempt.hold.as_bytes(),
                round * GENERAL_TRIES_IN_ALL + tries,
            );
            tries += 1;
            match general::choose(layout, section, &map, quantity, &mut seed) {
                Some(places) => match self.claim_places(attempt, &places, cell).await? {
                    Claimed::Mine(cell) => return Ok((cell, places)),
                    Claimed::Taken(_, found) => self.learn(attempt, &mut map, &found),
                },
                // The map may be old; only an exact reading may send somebody away.
                None if exact => return Err(Error::SeatsTaken(vec![])),
                None => {}
            }
            if tries >= GENERAL_TRIES || general_is_short(&map, section.range(), quantity) {
                let blocks = layout.blocks_of(section);
                let found = self.exact_blocks(&attempt.show, &blocks).await?;
                self.learn(attempt, &mut map, &found);
                exact = true;
            }
        }
        // There were places each time, and others were faster each time.
        Err(Error::SeatsTaken(vec![]))
    }

    /// Corrects a map that is shared until the first correction.
    fn learn(&self, attempt: &Attempt<'_>, map: &mut Arc<SeatMap>, found: &Found) {
        let now = attempt.claim_clock(self.now());
        let map = Arc::make_mut(map);
        for (index, block) in found {
            map.learn(&attempt.layout, *index, block, now);
        }
    }

    /// Everybody who chooses in this process hears that these places are this hold's.
    fn tell_mine(&self, attempt: &Attempt<'_>, places: &[PlaceIndex]) {
        let now = self.now();
        self.tell_map(attempt.show.id, |news| {
            news.tell_held(places, attempt.hold, now);
        });
    }

    /// And what blocks were found to be at this time or later, for those who come by.
    fn tell_found(&self, attempt: &Attempt<'_>, found: &Found, at: Millis) {
        let clock = attempt.show.claim_clock(at);
        self.tell_map(attempt.show.id, |news| {
            for (index, block) in found {
                news.tell_block(&attempt.layout, *index, block, at, clock);
            }
        });
    }

    /// One all-or-nothing claim, judged until its outcome is certain.
    pub(super) async fn claim_places(
        &self,
        attempt: &Attempt<'_>,
        places: &[PlaceIndex],
        cell: Cell,
    ) -> Result<Claimed> {
        let wanted = by_block(&attempt.layout, places);
        for _ in 0..ROUNDS {
            let now = self.now();
            let found = match self
                .store
                .claim(attempt.show.id, &wanted, cell, attempt.claim_clock(now))
                .await?
            {
                CellsWrite::Done => {
                    self.tell_mine(attempt, places);
                    return Ok(Claimed::Mine(cell));
                }
                CellsWrite::Refused(found) => found,
            };
            match judge_claim(&wanted, &found, cell, now, attempt.claim_clock(now)) {
                ClaimVerdict::Mine(expiry) => {
                    self.tell_mine(attempt, places);
                    return Ok(Claimed::Mine(Cell {
                        expiry,
                        hold: cell.hold,
                    }));
                }
                ClaimVerdict::Closed => return Err(not_on_sale("the show is cancelled")),
                ClaimVerdict::Taken(taken) => {
                    self.tell_found(attempt, &found, now);
                    let places = taken
                        .iter()
                        .map(|(b, s)| attempt.layout.place_of(*b, *s))
                        .collect();
                    metrics::counter!("onsale_holds_total", "result" => "taken").increment(1);
                    return Ok(Claimed::Taken(places, found));
                }
                ClaimVerdict::Repeat => {}
            }
        }
        Err(Error::Unavailable)
    }
}

fn taken(attempt: &Attempt<'_>, places: &[PlaceIndex]) -> Error {
    Error::SeatsTaken(
        places
            .iter()
            .map(|place| attempt.layout.seat_id(*place))
            .collect(),
    )
}

fn general_is_short(map: &SeatMap, range: std::ops::Range<u32>, quantity: usize) -> bool {
    range
        .map(PlaceIndex)
        .filter(|p| map.state(*p) == PlaceState::Free)
        .take(quantity)
        .count()
        < quantity
}
