//! What a visitor is told: decided from what was published, the ticket and the time,
//! without asking anybody. Whoever is at the door asks their gate besides.

use serde::{Deserialize, Serialize};

use super::draw::{Draw, Seeds, draw};
use super::estimate::Wait;
use super::opening::{Bucket, CLOSING_MS};
use super::published::Published;
use super::ticket::QueueTicket;
use crate::ids::VisitorId;
use crate::show::{RoomMode, RoomOrder};
use crate::time::Millis;

/// At the front of the line a visitor asks every two seconds; far behind every two
/// minutes, so that ten million ask 83,000 times a second.
pub const SHORTEST_REFRESH_MS: u64 = 2_000;
pub const LONGEST_REFRESH_MS: u64 = 120_000;
/// When nothing is known about the wait.
const USUAL_REFRESH_MS: u64 = 10_000;
/// At the door somebody asks every second, and every other one if many stand before them.
const DOOR_REFRESH_MS: u64 = 1_000;
/// Everybody asks after the lottery is drawn: four in a millisecond, for at least so long
/// and at most so long.
const DRAWN_PER_MS: u64 = 4;
const DRAWN_SPREAD_MS: (u64, u64) = (1_000, 10_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Before the lottery is drawn, or the line begins to move.
    Prequeue,
    Waiting,
    /// The line has reached them: they knock, and wait for a slot.
    Door,
    /// A slot is kept for them.
    Admitted,
    /// They have a live pass.
    Inside,
    SoldOut,
    Closed,
    /// Without a ticket: nobody waits.
    Open,
    /// Without a ticket: there is a line to join.
    Join,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ahead: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wait_seconds: Option<Wait>,
    pub refresh_after_ms: u64,
}

impl Status {
    /// The same visitor, after their gate was asked.
    #[must_use]
    pub fn at_gate(self, state: State) -> Self {
        match state {
            State::Door => Self { state, ..self },
            _ => Self::new(state, self.refresh_after_ms),
        }
    }

    pub fn new(state: State, refresh_after_ms: u64) -> Self {
        Self {
            state,
            position: None,
            ahead: None,
            wait_seconds: None,
            refresh_after_ms,
        }
    }
}

/// The status of a visitor; the ticket's signature has been checked.
pub fn decide(
    published: &Published,
    seeds: &Seeds,
    ticket: Option<&QueueTicket>,
    now: Millis,
) -> Status {
    let drawn = ticket.and_then(|ticket| draw_of(published, seeds, ticket, now));
    decide_drawn(published, ticket, drawn, now)
}

/// The same for a caller who wants the draw itself too: it is what costs most here.
pub fn decide_drawn(
    published: &Published,
    ticket: Option<&QueueTicket>,
    drawn: Option<Draw>,
    now: Millis,
) -> Status {
    let ticket = ticket.filter(|ticket| ticket.show == published.show);
    let visitor = ticket.map(|ticket| ticket.visitor);
    let usual = jittered(USUAL_REFRESH_MS, visitor);
    let mode = published.mode;
    if published.is_over(now) {
        return Status::new(State::Closed, 3 * usual);
    }
    if published.sold_out {
        return Status::new(State::SoldOut, 3 * usual);
    }
    let Some(ticket) = ticket else {
        let open = mode == RoomMode::Off || published.is_straight_through(now);
        let state = if open { State::Open } else { State::Join };
        return Status::new(state, usual);
    };
    if mode == RoomMode::Off || published.is_straight_through(now) {
        return Status::new(State::Door, jittered(DOOR_REFRESH_MS, visitor));
    }
    let opening = &published.opening;
    let begun = opening.is_open(now) && (drawn.is_some() || ticket.bucket != Bucket::LOTTERY);
    if !begun {
        let known = drawn.filter(|_| opening.order == RoomOrder::Fifo);
        let status = Status::new(State::Prequeue, until_drawn(published, ticket.visitor, now));
        return match known {
            Some(draw) => with_place(status, published, ticket.bucket, draw),
            None => status,
        };
    }
    let Some(draw) = drawn else {
        let closes_in = now.until(opening.closes(ticket.bucket));
        let soon = jittered(SHORTEST_REFRESH_MS, visitor);
        return Status::new(State::Waiting, closes_in + soon);
    };
    if published.frontier.admits(ticket.bucket, draw) {
        return at_door(published, ticket, draw);
    }
    let mut status = Status::new(State::Waiting, usual);
    status = with_place(status, published, ticket.bucket, draw);
    if published.paused {
        return status;
    }
    status.wait_seconds = published.wait(ticket.bucket, draw);
    if let Some(wait) = status.wait_seconds {
        let eighth = u64::from(wait.p50) * 1_000 / 8;
        // The estimate may be far too long, as when people leave sooner than their passes
        // end. Whoever slept through their turn would be taken for gone, so nobody sleeps
        // for long compared with the earliest moment at which it can come.
        let third = published.earliest_ms(ticket.bucket, draw) / 3;
        let refresh = eighth.min(third);
        let refresh = refresh.clamp(SHORTEST_REFRESH_MS, LONGEST_REFRESH_MS);
        status.refresh_after_ms = jittered(refresh, visitor);
    }
    status
}

fn at_door(published: &Published, ticket: &QueueTicket, draw: Draw) -> Status {
    let ahead = published.ahead(ticket.bucket, draw);
    let is_near = ahead <= 8 + 4 * u64::from(published.rate_per_second);
    let refresh = if is_near { 1 } else { 2 } * DOOR_REFRESH_MS;
    let status = Status::new(State::Door, jittered(refresh, Some(ticket.visitor)));
    let status = with_place(status, published, ticket.bucket, draw);
    let wait = published.wait(ticket.bucket, draw);
    Status {
        wait_seconds: wait.filter(|_| !published.paused),
        ..status
    }
}

/// The draw of a ticket, once its bucket is closed and the beacon known. Of the lottery
/// none is told before the line moves: until then the organiser may move the opening, and
/// its bucket would be open again.
pub fn draw_of(
    published: &Published,
    seeds: &Seeds,
    ticket: &QueueTicket,
    now: Millis,
) -> Option<Draw> {
    let beacon = published.beacon.value()?;
    let bucket = ticket.bucket;
    let is_fixed = bucket != Bucket::LOTTERY || published.has_started();
    (is_fixed && published.opening.is_closed(bucket, now))
        .then(|| draw(seeds.of(bucket), beacon, bucket, ticket.band, ticket.lot))
}

fn with_place(status: Status, published: &Published, bucket: Bucket, draw: Draw) -> Status {
    Status {
        position: Some(published.position(bucket, draw)),
        ahead: Some(published.ahead(bucket, draw)),
        ..status
    }
}

/// Before opening nobody needs to ask often; then everybody wants to know at once.
fn until_drawn(published: &Published, visitor: VisitorId, now: Millis) -> u64 {
    let drawn = published
        .opening
        .opens
        .map_or(now, |opens| opens + CLOSING_MS);
    let (least, most) = DRAWN_SPREAD_MS;
    let spread = (published.line.joined() / DRAWN_PER_MS).clamp(least, most);
    let spread = spread * share_of(visitor) / 1_000;
    let wait = now.until(drawn) + SHORTEST_REFRESH_MS + spread;
    match wait > 2 * LONGEST_REFRESH_MS {
        true => jittered(LONGEST_REFRESH_MS, Some(visitor)),
        // The opening may be moved, so nobody sleeps right up to it.
        false if wait > LONGEST_REFRESH_MS => wait / 2,
        false => wait,
    }
}

/// A fixed number of thousandths for a visitor, by which polls spread over time.
fn share_of(visitor: VisitorId) -> u64 {
    let [.., high, low] = *visitor.as_bytes();
    (u64::from(high) << 8 | u64::from(low)) * 1_000 / 65_536
}

/// 80 to 120 hundredths.
fn jittered(ms: u64, visitor: Option<VisitorId>) -> u64 {
    let share = visitor.map_or(500, share_of);
    ms * (800 + share * 400 / 1_000) / 1_000
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
