use super::*;
use crate::room::backend::Calls;
use crate::room::census::Tally;
use crate::room::draw::Draw;
use crate::room::gate::{Counts, Enter, Gate};
use crate::room::opaque::Lot;
use crate::room::opening::Bucket;
use crate::show::RoomOrder;

const SINCE: Millis = Millis(1_800_000_000_000);
const OPENS: Millis = Millis(SINCE.0 + 60_000);

fn settings() -> Settings {
    Settings {
        mode: RoomMode::Queue,
        capacity: 80,
        rate_per_second: 10,
        pass_seconds: 300,
        opening: Opening {
            opens: Some(OPENS),
            order: RoomOrder::Lottery,
            since: SINCE,
        },
        beacon: Beacon::Unused,
        ends: crate::time::LAST_MOMENT,
    }
}

fn awaited(name: &str) -> Beacon {
    Beacon::Awaited {
        name: name.to_owned(),
    }
}

fn known(name: &str, byte: u8) -> Beacon {
    Beacon::Known {
        name: name.to_owned(),
        value: vec![byte],
    }
}

fn news(cursor: u64) -> News {
    News {
        cursor,
        free_seats: Some(1_000),
        sold_out: false,
        healthy: true,
        ended: vec![],
    }
}

/// A controller with 1,000 in the lottery, just after opening.
fn controller(settings: Settings) -> Controller {
    let mut controller = Controller::new(ShowId::from_bytes([1; 16]), settings);
    let total = (
        Bucket(0),
        Tally {
            fans: 0,
            others: 1_000,
        },
    );
    let report = CounterReport {
        counter: 0,
        totals: vec![total],
        ..CounterReport::default()
    };
    controller.hear_counter(&report, OPENS.saturating_sub(1));
    controller.hear_cloud(&news(1), OPENS);
    controller
}

#[test]
fn the_frontier_waits_for_the_bucket_to_close() {
    let mut controller = controller(settings());
    controller.tick(OPENS + 2_000);
    assert_eq!(controller.frontier(), Frontier::default());
    controller.tick(OPENS + 3_000);
    assert!(controller.frontier() > Frontier::default());
    assert_eq!(controller.frontier().bucket, Bucket(0));
}

#[test]
fn a_room_lets_its_first_visitor_straight_through_unless_there_is_a_lottery() {
    let began = |opens, order| {
        let opening = Opening {
            opens,
            order,
            since: SINCE,
        };
        let mut controller = Controller::new(
            ShowId::from_bytes([1; 16]),
            Settings {
                opening,
                ..settings()
            },
        );
        let now = opens.unwrap_or(SINCE) + 1;
        controller.hear_cloud(&news(1), now);
        controller.tick(now);
        controller.published(now).is_straight_through(now)
    };
    assert!(began(None, RoomOrder::Lottery));
    assert!(began(None, RoomOrder::Fifo));
    assert!(began(Some(OPENS), RoomOrder::Fifo));
    assert!(!began(Some(OPENS), RoomOrder::Lottery));
}

#[test]
fn nothing_moves_until_the_beacon_is_known_and_then_it_is_fixed() {
    let mut controller = controller(Settings {
        beacon: awaited("drand 7"),
        ..settings()
    });
    controller.tick(OPENS + 5_000);
    assert_eq!(controller.frontier(), Frontier::default());
    assert!(controller.published(OPENS + 5_000).paused);
    let with_value = |byte| Settings {
        beacon: known("drand 7", byte),
        ..settings()
    };
    controller.change_settings(with_value(1), OPENS + 5_000);
    controller.change_settings(with_value(2), OPENS + 5_000);
    controller.tick(OPENS + 6_000);
    assert!(controller.frontier() > Frontier::default());
    assert_eq!(controller.settings().beacon, known("drand 7", 1));
}

#[test]
fn a_room_that_let_people_in_cannot_open_again() {
    let mut controller = controller(settings());
    let later = Opening {
        opens: Some(OPENS + 600_000),
        ..settings().opening
    };
    let put_off = Settings {
        opening: later,
        ..settings()
    };
    controller.change_settings(put_off.clone(), SINCE);
    assert_eq!(controller.settings().opening, later);
    controller.change_settings(settings(), SINCE);
    controller.tick(OPENS + 5_000);
    let smaller = Settings {
        capacity: 7,
        ..put_off
    };
    controller.change_settings(smaller, OPENS + 5_000);
    assert_eq!(controller.settings().opening, settings().opening);
    assert_eq!(controller.settings().capacity, 7);
}

/// The cloud was ill at the opening, so nobody was let in when the organiser puts it off.
#[test]
fn a_room_that_is_put_off_after_its_opening_keeps_its_line() {
    let mut controller = controller(settings());
    let arrived = Tally { fans: 0, others: 5 };
    let report = CounterReport {
        counter: 0,
        totals: vec![(Bucket(62), arrived)],
        ..CounterReport::default()
    };
    controller.hear_counter(&report, OPENS + 2_000);
    let later = OPENS + 600_000;
    let mut put_off = settings();
    put_off.opening.opens = Some(later);
    for seconds in 5..8 {
        let now = OPENS + seconds * 1_000;
        controller.change_settings(put_off.clone(), now);
        controller.hear_cloud(&news(2), now);
        controller.tick(now);
        let opening = controller.settings().opening;
        assert_eq!(opening.opens, Some(later));
        assert!(opening.bucket_at(now) > Bucket(62), "nobody overtakes");
        assert_eq!(controller.frontier(), Frontier::default());
    }
    controller.hear_cloud(&news(2), later + 3_000);
    controller.tick(later + 3_000);
    assert!(controller.frontier() > Frontier::default());
    assert_eq!(controller.frontier().bucket, Bucket::LOTTERY);
}

#[test]
fn a_late_tick_makes_up_for_three_seconds_only() {
    let earned = |pause_ms| {
        let mut controller = controller(settings());
        controller.tick(OPENS + 3_000);
        controller.earned = 0.0;
        controller.hear_cloud(&news(1), OPENS + 3_000 + pause_ms);
        controller.tick(OPENS + 3_000 + pause_ms);
        controller.earned
    };
    assert_eq!(earned(1_000), 10.0);
    assert_eq!(earned(3_000), 30.0);
    assert_eq!(earned(60_000), 30.0);
    assert_eq!(earned(0), 0.0);
}

/// Eighty slots, and more who may come. Before anybody knows how many show up more are let
/// come than needed; later the door is kept filled, and no fuller.
#[test]
fn as_many_come_to_the_door_as_can_be_let_in_soon_and_a_few_more() {
    let mut controller = controller(settings());
    let mut first = 0;
    let mut at_door = 0;
    for second in 3..90 {
        let now = OPENS + second * 1_000;
        controller.hear_cloud(&news(1), now);
        controller.tick(now);
        let reached = controller.census.admitted(controller.frontier());
        let knocked = (reached * 0.7) as u64;
        // The first are let in after half a minute, and leave at once.
        let entered = if second < 30 { 0 } else { first };
        first = if second < 30 { knocked } else { first };
        at_door = knocked - entered;
        let report = Report {
            number: second,
            version: controller.gates[0].grant(0, None).version,
            slots: 10,
            waiting: at_door as u32,
            counts: Counts {
                knocked,
                ..Counts::default()
            },
            ..Report::default()
        };
        controller.hear_gate(GateIndex::all().next().unwrap(), report);
    }
    assert!((80..=210).contains(&first), "{first}");
    assert!((80..=100).contains(&at_door), "{at_door}");
}

#[test]
fn grants_never_exceed_the_capacity_or_the_earned_entries() {
    let mut controller = controller(settings());
    for second in 0..60 {
        controller.hear_cloud(&news(1), OPENS + second * 1_000);
        controller.tick(OPENS + second * 1_000);
        let slots: u32 = controller.grants().map(|(_, grant)| grant.slots).sum();
        let entries: u64 = controller.grants().map(|(_, grant)| grant.entries).sum();
        assert_eq!((slots, controller.ceiling()), (80, 80));
        assert!(entries <= 10 * (second + 1), "{entries}");
    }
}

#[test]
fn a_show_that_is_moved_after_all_goes_on_with_gates_that_have_forgotten_everybody() {
    let mut controller = controller(settings());
    for (from, people) in [(OPENS + 3_000, 8), (OPENS + 3_600_000, 4)] {
        let mut gates: Vec<_> = GateIndex::all().map(Gate::new).collect();
        let before = controller.frontier();
        for second in 0..10 {
            let now = from + second * 1_000;
            controller.hear_cloud(&news(1), now);
            controller.tick(now);
            let grants: Vec<_> = controller.grants().collect();
            for (index, grant) in grants {
                let gate = &mut gates[index.index()];
                gate.apply(&grant, now);
                if second > 1 && index.number() < people {
                    let wanted = Enter {
                        lot: Lot([index.number(); 16]),
                        place: Place {
                            bucket: Bucket(0),
                            draw: Draw(0),
                        },
                        pass_seconds: 300,
                        may_begin: true,
                    };
                    // At the door until they are called.
                    let _ = gate.enter(&wanted, now, [index.number(); 16]);
                }
                controller.hear_gate(index, gate.report(now));
            }
        }
        assert!(controller.frontier() > before);
        assert!(controller.ceiling() <= 80);
        let inside = controller.figures(from + 10_000).admitted;
        assert_eq!(inside, u64::from(people));
        controller.forget_gates();
    }
}

#[test]
fn news_are_heard_once() {
    let mut controller = controller(settings());
    let pass = PassId([8; 16]);
    let ended = News {
        ended: vec![pass],
        ..news(2)
    };
    controller.hear_cloud(&ended, OPENS);
    controller.hear_cloud(&ended, OPENS);
    controller.hear_cloud(
        &News {
            healthy: false,
            ended: vec![pass],
            ..news(1)
        },
        OPENS,
    );
    let queued: Vec<_> = controller
        .grants()
        .flat_map(|(_, grant)| grant.ended)
        .collect();
    assert_eq!(queued, [pass]);
    assert_eq!(controller.cursor(), 2);
    controller.tick(OPENS + 5_000);
    assert!(
        !controller.published(OPENS + 5_000).paused,
        "old news do not make it ill"
    );
}

#[test]
fn a_pass_that_briefings_repeat_is_ended_once() {
    let mut controller = controller(settings());
    let pass = PassId([8; 16]);
    for cursor in (2_000..20_000).step_by(1_000) {
        let ended = News {
            ended: vec![pass],
            ..news(cursor)
        };
        controller.hear_cloud(&ended, OPENS);
    }
    let grants = controller.grants().map(|(_, grant)| grant.ended);
    assert_eq!(grants.flatten().collect::<Vec<_>>(), [pass]);
}

#[test]
fn off_lets_everybody_behind_the_frontier() {
    let mut controller = controller(Settings {
        mode: RoomMode::Off,
        ..settings()
    });
    controller.tick(OPENS + 5_000);
    let last = controller
        .settings()
        .opening
        .last_closed(OPENS + 5_000)
        .unwrap();
    assert_eq!(
        controller.frontier(),
        Frontier {
            bucket: last,
            through: Draw::LAST
        }
    );
}

#[test]
fn it_is_restored_as_it_was_stored() {
    let mut controller = controller(settings());
    for second in 0..10 {
        controller.tick(OPENS + second * 1_000);
    }
    // JSON would round the last digit of a float.
    let stored = postcard::to_allocvec(&controller).unwrap();
    assert!(postcard::from_bytes::<Controller>(&stored).unwrap() == controller);
    let text = serde_json::to_string(&controller).unwrap();
    let read: Controller = serde_json::from_str(&text).unwrap();
    assert_eq!(read.frontier(), controller.frontier());
}

#[test]
fn a_repeated_tick_does_nothing() {
    let mut once = controller(settings());
    once.tick(OPENS + 5_000);
    let mut twice = once.clone();
    twice.tick(OPENS + 5_000);
    twice.tick(OPENS + 4_000);
    assert!(once == twice);
}

#[test]
fn an_ill_or_silent_cloud_pauses_the_line() {
    let mut controller = controller(settings());
    controller.hear_cloud(
        &News {
            healthy: false,
            ..news(2)
        },
        OPENS,
    );
    controller.tick(OPENS + 5_000);
    assert_eq!(controller.frontier(), Frontier::default());
    controller.hear_cloud(&news(3), OPENS);
    controller.tick(OPENS + NEWS_STALE_MS + 1);
    assert_eq!(controller.frontier(), Frontier::default());
    controller.hear_cloud(&news(3), OPENS + 1_000);
    controller.tick(OPENS + NEWS_STALE_MS + 2);
    assert!(controller.frontier() > Frontier::default());
}

#[test]
fn functions_that_fail_those_inside_pause_the_line_and_nothing_of_it_is_stored() {
    let mut controller = controller(settings());
    let stored = postcard::to_allocvec(&controller).unwrap();
    let calls = Calls {
        answered: 3,
        failed: 17,
    };
    let report = CounterReport {
        calls,
        ..CounterReport::default()
    };
    controller.hear_counter(&report, OPENS + 4_000);
    // So what an older version stored is read as ever.
    assert!(postcard::to_allocvec(&controller).unwrap() == stored);
    controller.tick(OPENS + 5_000);
    assert!(controller.published(OPENS + 5_000).paused);
    assert_eq!(controller.frontier(), Frontier::default());
    controller.tick(OPENS + 14_000);
    assert!(!controller.published(OPENS + 14_000).paused);
    assert!(controller.frontier() > Frontier::default());
}

fn show() -> Show {
    let text = r#"{
        "id": "shw_01010101010101010101010101010101", "event_id": "evt_02020202020202020202020202020202",
        "venue_id": "ven_03030303030303030303030303030303", "owner": "acc_04040404040404040404040404040404",
        "starts_at": "2027-03-01T20:00:00Z", "on_sale_at": null, "currency": "EUR", "prices": [],
        "hold_seconds": 600, "max_tickets_per_buyer": 6, "refund_policy": [], "overbook_percent": 0,
        "room": {"mode": "queue", "capacity": 7, "rate_per_second": 3, "order": "fifo", "opens_at": null,
                 "pass_seconds": 60},
        "status": "on_sale", "created": "2027-01-01T00:00:00Z"
    }"#;
    // As a show was stored before there were beacons.
    serde_json::from_str(text).unwrap()
}

#[test]
fn settings_are_those_of_the_show() {
    let of = Settings::of(&show());
    assert_eq!((of.mode, of.capacity), (RoomMode::Queue, 7));
    assert_eq!((of.rate_per_second, of.pass_seconds), (3, 60));
    assert_eq!((of.beacon, of.ends), (Beacon::Unused, show().starts_at));
    let mut named = show();
    let text = r#"{"name": "drand", "value": "0aff"}"#;
    named.room.beacon = serde_json::from_str(text).unwrap();
    assert_eq!(
        Settings::of(&named).beacon,
        Beacon::Known {
            name: "drand".to_owned(),
            value: vec![0x0a, 0xff]
        }
    );
}

#[test]
fn a_beacon_proves_something_only_if_it_was_named_before_anybody_joined() {
    let named = |beacon| Settings {
        beacon,
        ..settings()
    };
    let is_in_time = |controller: &Controller| controller.published(OPENS).beacon_in_time;
    let empty = |beacon| Controller::new(ShowId::from_bytes([1; 16]), named(beacon));
    // Nobody has joined: the organiser may change their mind.
    let mut early = empty(Beacon::Unused);
    assert!(!is_in_time(&early));
    for name in ["drand 6", "drand 7"] {
        early.change_settings(named(awaited(name)), SINCE);
        assert!(is_in_time(&early));
    }
    early.change_settings(named(known("drand 7", 1)), SINCE);
    assert!(is_in_time(&early), "only the value is new");
    let mut at_once = empty(Beacon::Unused);
    at_once.change_settings(named(known("drand 7", 1)), SINCE);
    assert!(!is_in_time(&at_once) && !is_in_time(&empty(known("drand 7", 1))));
    // A thousand have joined: another name still serves, and proves nothing.
    for wanted in [awaited("drand 8"), known("drand 8", 1), Beacon::Unused] {
        let mut late = controller(named(awaited("drand 7")));
        assert!(is_in_time(&late));
        late.change_settings(named(wanted.clone()), SINCE);
        assert_eq!(late.settings().beacon, wanted);
        assert!(!is_in_time(&late), "{wanted:?}");
    }
}

#[test]
fn the_room_of_a_cancelled_show_is_closed() {
    let cancelled = Show {
        status: StoredStatus::Cancelled,
        ..show()
    };
    assert_eq!(Settings::of(&cancelled).mode, RoomMode::Closed);
}

#[test]
fn whoever_is_not_through_a_gate_waits_and_whoever_has_a_pass_is_admitted() {
    let mut controller = controller(settings());
    let figures = controller.figures(OPENS);
    assert_eq!((figures.waiting, figures.admitted), (1_000, 0));
    controller.tick(OPENS + 3_000);
    let before = controller.figures(OPENS + 3_000).waiting;
    assert!(before < 1_000, "some are let in: {before}");
    let report = Report {
        number: 1,
        version: 0,
        slots: 5,
        live: 3,
        entered: 3,
        waiting: 4,
        ..Report::default()
    };
    let gate = GateIndex::all().next().unwrap();
    controller.hear_gate(gate, report);
    let figures = controller.figures(OPENS + 4_000);
    assert_eq!((figures.waiting, figures.admitted), (before + 4, 3));
    assert_eq!((figures.rate, figures.at), (10, OPENS + 4_000));
}

/// Somebody comes while the room is open and goes through a gate before their bucket closes.
#[test]
fn whoever_went_straight_through_is_not_in_line_any_more() {
    let mut controller = controller(settings());
    let report = Report {
        number: 1,
        version: 0,
        slots: 5,
        live: 3,
        entered: 3,
        ..Report::default()
    };
    let gate = GateIndex::all().next().unwrap();
    controller.hear_gate(gate, report);
    let figures = controller.figures(OPENS);
    assert_eq!((figures.waiting, figures.admitted), (997, 3));
}
