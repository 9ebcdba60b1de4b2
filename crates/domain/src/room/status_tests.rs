use super::*;
use crate::ids::ShowId;
use crate::room::census::{CounterReport, Tally};
use crate::room::controller::{Controller, News, Settings};
use crate::room::draw::{Beacon, Seed};
use crate::room::opaque::Lot;
use crate::room::opening::Opening;
use crate::room::ticket::Band;

const SINCE: Millis = Millis(1_800_000_000_000);
const OPENS: Millis = Millis(SINCE.0 + 3_600_000);
const SHOW: ShowId = ShowId::from_bytes([1; 16]);

fn seeds() -> Seeds {
    Seeds {
        opening: Seed([1; 32]),
        later: Seed([2; 32]),
    }
}

fn ticket(bucket: u32, n: u8) -> QueueTicket {
    QueueTicket {
        show: SHOW,
        bucket: Bucket(bucket),
        band: Band::Everybody,
        lot: Lot([n; 16]),
        visitor: VisitorId::from_bytes([n; 16]),
        expires: OPENS + 86_400_000,
    }
}

/// What is published at a time to a line of 100,000.
fn published(now: Millis, change: impl FnOnce(&mut Settings)) -> Published {
    let opening = Opening {
        opens: Some(OPENS),
        order: RoomOrder::Lottery,
        since: SINCE,
    };
    let mut settings = Settings {
        mode: RoomMode::Queue,
        capacity: 500,
        rate_per_second: 20,
        pass_seconds: 300,
        opening,
        beacon: Beacon::Unused,
        ends: crate::time::LAST_MOMENT,
    };
    change(&mut settings);
    let mut controller = Controller::new(SHOW, settings);
    let others = Tally {
        fans: 0,
        others: 100_000,
    };
    let report = CounterReport {
        counter: 0,
        totals: vec![(Bucket(0), others)],
        ..CounterReport::default()
    };
    controller.hear_counter(&report, OPENS);
    let news = News {
        cursor: 0,
        free_seats: Some(9),
        sold_out: false,
        healthy: true,
        ended: vec![],
    };
    controller.hear_cloud(&news, now);
    controller.tick(now);
    controller.published(now)
}

fn at(now: Millis, ticket: Option<&QueueTicket>) -> Status {
    decide(&published(now, |_| {}), &seeds(), ticket, now)
}

#[test]
fn before_the_draw_nobody_learns_a_position() {
    for now in [SINCE, OPENS.saturating_sub(1), OPENS, OPENS + 2_999] {
        let status = at(now, Some(&ticket(0, 1)));
        assert_eq!(status.state, State::Prequeue);
        assert_eq!(
            (status.position, status.ahead, status.wait_seconds),
            (None, None, None)
        );
    }
    let status = at(OPENS + 3_000, Some(&ticket(0, 1)));
    assert_eq!(status.state, State::Waiting);
    assert_eq!(status.position, status.ahead.map(|ahead| ahead + 1));
    assert!(status.wait_seconds.unwrap().p90 >= status.wait_seconds.unwrap().p50);
}

#[test]
fn no_draw_of_a_lottery_is_told_while_the_opening_can_still_be_moved() {
    let now = OPENS + 60_000;
    let mut stuck = published(now, |_| {});
    assert!(draw_of(&stuck, &seeds(), &ticket(0, 1), now).is_some());
    // The cloud was ill at the opening, so the line has not moved.
    stuck.frontier = crate::room::frontier::Frontier::default();
    assert!(draw_of(&stuck, &seeds(), &ticket(0, 1), now).is_none());
    let status = decide(&stuck, &seeds(), Some(&ticket(0, 1)), now);
    assert_eq!((status.state, status.position), (State::Prequeue, None));
    // Who came later stands where they stand.
    assert!(draw_of(&stuck, &seeds(), &ticket(9, 1), now).is_some());
}

#[test]
fn nobody_walks_in_by_an_old_bulletin() {
    let now = OPENS + 60_000;
    let mut quiet = published(now, |_| {});
    quiet.straight_through = true;
    let newcomer = ticket(4_000_000, 1);
    for (age, without, with) in [
        (0, State::Open, State::Door),
        (3_000, State::Open, State::Door),
        (3_001, State::Join, State::Waiting),
    ] {
        let state = |ticket| decide(&quiet, &seeds(), ticket, now + age).state;
        assert_eq!(state(None), without, "{age}");
        assert_eq!(state(Some(&newcomer)), with, "{age}");
    }
}

#[test]
fn without_a_beacon_nothing_is_drawn() {
    let now = OPENS + 60_000;
    let awaited = published(now, |s| {
        s.beacon = Beacon::Awaited {
            name: "drand 7".to_owned(),
        }
    });
    let status = decide(&awaited, &seeds(), Some(&ticket(0, 1)), now);
    assert_eq!((status.state, status.position), (State::Prequeue, None));
}

#[test]
fn a_ticket_of_an_open_bucket_waits_without_a_position() {
    let now = OPENS + 60_000;
    let bucket = published(now, |_| {}).opening.bucket_at(now);
    let status = at(now, Some(&ticket(bucket.0, 1)));
    assert_eq!((status.state, status.position), (State::Waiting, None));
    assert!(status.refresh_after_ms > 3_000);
}

#[test]
fn those_whom_the_line_has_reached_are_at_the_door() {
    let now = OPENS + 60_000;
    let mut published = published(now, |_| {});
    let ticket = ticket(0, 1);
    let draw = draw_of(&published, &seeds(), &ticket, now).unwrap();
    published.frontier.through = draw;
    assert_eq!(
        decide(&published, &seeds(), Some(&ticket), now).state,
        State::Door
    );
    published.frontier.through = Draw(draw.0 - 1);
    assert_eq!(
        decide(&published, &seeds(), Some(&ticket), now).state,
        State::Waiting
    );
}

#[test]
fn without_a_ticket_one_may_join_or_walk_in() {
    let now = OPENS + 60_000;
    assert_eq!(at(now, None).state, State::Join);
    let off = published(now, |s| s.mode = RoomMode::Off);
    assert_eq!(decide(&off, &seeds(), None, now).state, State::Open);
    assert_eq!(
        decide(&off, &seeds(), Some(&ticket(0, 1)), now).state,
        State::Door
    );
    let closed = published(now, |s| s.mode = RoomMode::Closed);
    assert_eq!(decide(&closed, &seeds(), None, now).state, State::Closed);
    let elsewhere = QueueTicket {
        show: ShowId::from_bytes([2; 16]),
        ..ticket(0, 1)
    };
    assert_eq!(at(now, Some(&elsewhere)).state, State::Join);
}

#[test]
fn a_pause_keeps_the_position_and_promises_nothing() {
    let now = OPENS + 60_000;
    let mut published = published(now, |_| {});
    published.paused = true;
    let status = decide(&published, &seeds(), Some(&ticket(0, 1)), now);
    assert!(status.position.is_some() && status.wait_seconds.is_none());
}

#[test]
fn the_further_back_the_rarer_the_polls_and_no_two_visitors_in_step() {
    let now = OPENS + 60_000;
    let published = published(now, |_| {});
    let mut asked: Vec<(u64, u64)> = (0..=255)
        .map(|n| QueueTicket {
            visitor: VisitorId::from_bytes([7; 16]),
            ..ticket(0, n)
        })
        .map(|t| decide(&published, &seeds(), Some(&t), now))
        .filter(|status| status.state == State::Waiting)
        .map(|status| (status.ahead.unwrap(), status.refresh_after_ms))
        .collect();
    asked.sort();
    assert!(asked.is_sorted_by_key(|(_, refresh)| *refresh));
    assert!(asked.last().unwrap().1 <= LONGEST_REFRESH_MS * 12 / 10);
    let mut spread: Vec<u64> = (0..=255)
        .map(|n| QueueTicket {
            visitor: VisitorId::from_bytes([n; 16]),
            ..ticket(0, 1)
        })
        .map(|t| decide(&published, &seeds(), Some(&t), now).refresh_after_ms)
        .collect();
    spread.sort();
    spread.dedup();
    assert!(spread.len() > 200, "{}", spread.len());
    assert!(spread[0] * 151 / 100 >= spread[spread.len() - 1]);
}

#[test]
fn everybody_asks_soon_after_the_draw_but_not_at_once() {
    let now = OPENS.saturating_sub(20_000);
    let published = published(now, |_| {});
    let asks = (0..=255).map(|n| {
        let status = decide(&published, &seeds(), Some(&ticket(0, n)), now);
        now + status.refresh_after_ms
    });
    let (first, last) = (asks.clone().min().unwrap(), asks.max().unwrap());
    assert!(first >= OPENS + CLOSING_MS && last <= OPENS + 16_000);
    assert!(last - first > 9_000, "{first} {last}");
    let early = decide(&published, &seeds(), Some(&ticket(0, 9)), SINCE);
    assert!(early.refresh_after_ms <= LONGEST_REFRESH_MS * 12 / 10);
}

#[test]
fn a_status_is_written_as_the_api_says() {
    let text = serde_json::to_string(&at(SINCE, Some(&ticket(0, 0)))).unwrap();
    assert_eq!(text, r#"{"state":"prequeue","refresh_after_ms":96000}"#);
    let wait = Status {
        position: Some(3),
        ahead: Some(2),
        wait_seconds: Some(Wait { p50: 4, p90: 5 }),
        ..Status::new(State::SoldOut, 7)
    };
    assert_eq!(
        serde_json::to_string(&wait).unwrap(),
        r#"{"state":"sold_out","position":3,"ahead":2,"wait_seconds":{"p50":4,"p90":5},"refresh_after_ms":7}"#
    );
}

#[test]
fn a_room_is_closed_once_the_show_has_begun() {
    let begins = OPENS + 60_000;
    for mode in [RoomMode::Off, RoomMode::Queue, RoomMode::QueueAll] {
        let room = published(begins, |settings| {
            settings.ends = begins;
            settings.mode = mode;
        });
        let waits = ticket(0, 1);
        for ticket in [None, Some(&waits)] {
            let before = decide(&room, &seeds(), ticket, begins.saturating_sub(1));
            assert_ne!(before.state, State::Closed);
            let after = decide(&room, &seeds(), ticket, begins);
            assert_eq!(after.state, State::Closed);
        }
    }
}
