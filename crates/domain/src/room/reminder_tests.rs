use super::*;
use crate::ids::{ShowId, VisitorId};
use crate::room::census::{CounterReport, Tally};
use crate::room::controller::{Controller, News, Settings};
use crate::room::draw::{Beacon, Seed};
use crate::room::opening::{Bucket, Opening};
use crate::room::ticket::Band;
use crate::show::{RoomMode, RoomOrder};

const SINCE: Millis = Millis(1_800_000_000_000);
const OPENS: Millis = Millis(SINCE.0 + 3_600_000);
const EXPIRES: Millis = Millis(OPENS.0 + 86_400_000);
const SHOW: ShowId = ShowId::from_bytes([1; 16]);

fn seeds() -> Seeds {
    Seeds {
        opening: Seed([1; 32]),
        later: Seed([2; 32]),
    }
}

fn reminder(n: u16) -> Reminder {
    let mut lot = [7; 16];
    lot[..2].copy_from_slice(&n.to_be_bytes());
    Reminder {
        ticket: QueueTicket {
            show: SHOW,
            bucket: Bucket(0),
            band: Band::Everybody,
            lot: Lot(lot),
            visitor: VisitorId::from_bytes(lot),
            expires: EXPIRES,
        },
        email: Email::parse(&format!("ana{n}@example.org")).unwrap(),
        language: Some(Language::De),
    }
}

/// A room in which 100 take part in the lottery, as it is at a time.
fn room(mode: RoomMode, now: Millis) -> Published {
    let settings = Settings {
        mode,
        capacity: 5,
        rate_per_second: 5,
        pass_seconds: 300,
        opening: Opening {
            opens: Some(OPENS),
            order: RoomOrder::Lottery,
            since: SINCE,
        },
        beacon: Beacon::Unused,
        ends: EXPIRES + 1,
    };
    let mut controller = Controller::new(SHOW, settings);
    let others = Tally {
        fans: 0,
        others: 100,
    };
    let report = CounterReport {
        counter: 0,
        totals: vec![(Bucket(0), others)],
        ..CounterReport::default()
    };
    controller.hear_counter(&report, OPENS);
    let news = News {
        cursor: 0,
        free_seats: Some(90),
        sold_out: false,
        healthy: true,
        ended: vec![],
    };
    controller.hear_cloud(&news, now);
    controller.tick(now);
    controller.published(now)
}

fn all(count: u16) -> Reminders {
    let mut reminders = Reminders::default();
    for n in 0..count {
        reminders.ask(reminder(n)).unwrap();
    }
    reminders
}

#[test]
fn whoever_would_be_let_in_is_told_and_nobody_else() {
    let mut reminders = all(100);
    let seeds = seeds();
    let before = room(RoomMode::QueueAll, SINCE);
    let look = reminders.look(Some((&before, &seeds)), SINCE);
    assert!(look.turns.is_empty() && look.gone.is_empty());
    assert!(look.again_ms.unwrap() <= 2 * 120_000 + 20_000, "{look:?}");
    let now = OPENS + 10_000;
    let open = room(RoomMode::QueueAll, now);
    let look = reminders.look(Some((&open, &seeds)), now);
    let would = |n: &u16| {
        let status = decide(&open, &seeds, Some(&reminder(*n).ticket), now);
        status.state == State::Door
    };
    let admitted: Vec<_> = (0..100).filter(would).map(|n| reminder(n).email).collect();
    assert!(!admitted.is_empty() && admitted.len() < 100);
    let told: Vec<_> = look.turns.iter().map(|turn| turn.email.clone()).collect();
    assert_eq!(told, admitted);
    assert!(look.turns.iter().all(|turn| turn.enter_by == EXPIRES));
    assert!(look.again_ms.unwrap() >= 2_000);
    // Told once: then only the lot is known.
    for turn in &look.turns {
        reminders.told(turn.lot, turn.enter_by);
        assert_eq!(
            reminders.get(turn.lot),
            Some(&Kept::Told { until: EXPIRES })
        );
    }
    assert_eq!(reminders.look(Some((&open, &seeds)), now).turns, []);
    let told = reminder((0..100).find(would).unwrap());
    assert_eq!(reminders.ask(told), Err(NotKept::Told));
    // Without a line everybody goes in.
    let off = room(RoomMode::Off, now);
    let rest = reminders.look(Some((&off, &seeds)), now).turns.len();
    assert_eq!(rest, 100 - look.turns.len());
}

#[test]
fn a_second_reminder_takes_the_place_of_the_first_and_all_are_bounded() {
    let mut reminders = all(MAX_REMINDERS as u16);
    let another = reminder(MAX_REMINDERS as u16);
    assert_eq!(reminders.ask(another), Err(NotKept::Full));
    let changed = Reminder {
        email: Email::parse("bo@example.org").unwrap(),
        ..reminder(3)
    };
    reminders.ask(changed.clone()).unwrap();
    let kept = reminders.get(changed.ticket.lot);
    assert_eq!(kept, Some(&Kept::Waiting(changed)));
}

#[test]
fn nothing_outlives_its_ticket() {
    let mut reminders = all(2);
    reminders.told(reminder(0).ticket.lot, EXPIRES);
    let look = reminders.look(None, EXPIRES.saturating_sub(5_000));
    assert_eq!(look.again_ms, Some(5_000));
    let look = reminders.look(None, EXPIRES);
    assert_eq!((look.gone.len(), look.again_ms), (2, None));
    for lot in look.gone {
        reminders.forget(lot);
    }
    assert!(!reminders.anybody_waits());
    assert_eq!(reminders.look(None, EXPIRES), Look::default());
}

#[test]
fn when_the_opening_is_put_off_by_days_everybody_is_told_of_their_turn_all_the_same() {
    let mut reminders = all(1);
    let seeds = seeds();
    let opens = EXPIRES + 3_600_000;
    let enter_by = opens + 86_400_000;
    let mut put_off = room(RoomMode::QueueAll, SINCE);
    (put_off.opening.opens, put_off.ends) = (Some(opens), enter_by + 1);
    let look = reminders.look(Some((&put_off, &seeds)), EXPIRES);
    assert!(look.gone.is_empty() && look.turns.is_empty());
    assert!(look.again_ms.is_some());
    // Without a line everybody goes in.
    put_off.mode = RoomMode::Off;
    let look = reminders.look(Some((&put_off, &seeds)), opens);
    assert_eq!(look.turns.len(), 1);
    assert_eq!(look.turns[0].enter_by, enter_by);
    reminders.told(look.turns[0].lot, enter_by);
    assert!(reminders.look(None, opens).gone.is_empty());
    assert_eq!(reminders.ask(reminder(0)), Err(NotKept::Told));
    assert_eq!(reminders.look(None, enter_by).gone.len(), 1);
}

#[test]
fn one_call_is_below_four_kibibytes() {
    let long = format!("{}@{}.example.org", "a".repeat(64), "b".repeat(60));
    let longest = format!(
        "{}@{}.{}.{}",
        "ä".repeat(32),
        "b".repeat(63),
        "c".repeat(63),
        "d".repeat(60)
    );
    for email in [long, longest] {
        let turn = Turn {
            lot: Lot([1; 16]),
            email: Email::parse(&email).unwrap(),
            language: Some(Language::De),
            enter_by: EXPIRES,
        };
        let turns = vec![turn; TURNS_A_CALL];
        let body = serde_json::to_vec(&Turns { turns }).unwrap();
        assert!(body.len() < 4_096, "{}", body.len());
    }
}
