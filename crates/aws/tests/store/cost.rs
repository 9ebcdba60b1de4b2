//! What a hold costs, read from the consumed capacity of every answer.

use onsale_app::holds::Wish;
use onsale_aws_emulator::testing::{Recorder, Usage};
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::show::RoomMode;
use onsale_test_support::stage::{Plan, Stage};

use crate::places::{InProcess, in_process};

struct Counted {
    world: InProcess,
    recorder: Recorder,
    stage: Stage,
}

async fn counted(plan: &Plan) -> Counted {
    let mut recorder = None;
    let world = in_process(|http| recorder.insert(Recorder::new(http)).http_client()).await;
    let stage = Stage::set(&world.app, plan).await.unwrap();
    Counted {
        world,
        recorder: recorder.unwrap(),
        stage,
    }
}

fn key(n: usize) -> IdempotencyKey {
    IdempotencyKey::parse(&format!("key-{n}")).unwrap()
}

fn seats(range: std::ops::RangeInclusive<u32>) -> Wish {
    Wish::Seats(range.map(|n| format!("A-1-{n}")).collect())
}

/// DynamoDB requests only: the expiry message goes to the queue.
fn dynamodb(usage: &Usage) -> u64 {
    usage
        .requests
        .iter()
        .filter(|(op, _)| *op != "SendMessage")
        .map(|(_, n)| n)
        .sum()
}

#[tokio::test]
async fn a_hold_of_one_to_eight_seats_takes_two_write_units_and_three_requests() {
    let counted = counted(&Plan {
        cap: 50,
        rows: vec![32; 2],
        ..Plan::default()
    })
    .await;
    let caller = counted.stage.buyer(1).await.unwrap();
    let show = counted.stage.show.id;
    // The first hold of a process also reads the layout.
    let warm_up = Wish::Seats(vec!["A-2-1".into()]);
    counted
        .world
        .app
        .place_hold(&caller, show, &key(0), &warm_up, None)
        .await
        .unwrap();
    let mut first = 1;
    for quantity in [1, 2, 5, 8] {
        // The show is known, or it is read along with the rest.
        counted.world.clock.advance(u64::from(quantity) % 2 * 5_000);
        counted.recorder.take();
        let wish = seats(first..=first + quantity - 1);
        first += quantity;
        counted
            .world
            .app
            .place_hold(&caller, show, &key(first as usize), &wish, None)
            .await
            .unwrap();
        let usage = counted.recorder.take();
        assert!(
            usage.write_units <= 2.0 && usage.write_units > 0.0,
            "{quantity}: {usage:?}"
        );
        assert!(dynamodb(&usage) <= 3, "{quantity}: {usage:?}");
    }
}

#[tokio::test]
async fn the_first_hold_under_a_pass_takes_one_write_more_and_the_next_none() {
    let counted = counted(&Plan {
        room: RoomMode::Queue,
        ..Plan::default()
    })
    .await;
    let caller = counted.stage.buyer(1).await.unwrap();
    let (show, app) = (counted.stage.show.id, &counted.world.app);
    let pass = counted.stage.pass(1);
    // Without a pass nothing is written, and the process knows the show afterwards.
    let refused = app
        .place_hold(&caller, show, &key(0), &seats(1..=1), None)
        .await;
    assert!(refused.is_err());
    for (n, (units, requests)) in [(1, (3.0, 4)), (2, (2.0, 3)), (3, (2.0, 3))] {
        counted.world.clock.advance(5_000);
        counted.recorder.take();
        let wish = seats(n..=n);
        let key = key(n as usize);
        let held = app
            .place_hold(&caller, show, &key, &wish, Some(&pass))
            .await;
        held.unwrap();
        let usage = counted.recorder.take();
        assert_eq!(usage.write_units, units, "{n}: {usage:?}");
        assert_eq!(dynamodb(&usage), requests, "{n}: {usage:?}");
    }
}

#[tokio::test]
async fn a_refused_hold_takes_one_write_unit_and_touches_nothing_else() {
    let counted = counted(&Plan::default()).await;
    let (winner, loser) = (
        counted.stage.buyer(1).await.unwrap(),
        counted.stage.buyer(2).await.unwrap(),
    );
    let show = counted.stage.show.id;
    counted
        .world
        .app
        .place_hold(&winner, show, &key(1), &seats(1..=2), None)
        .await
        .unwrap();
    counted.world.clock.advance(5_000);
    counted.recorder.take();
    let refused = counted
        .world
        .app
        .place_hold(&loser, show, &key(1), &seats(2..=3), None)
        .await;
    assert_eq!(
        refused,
        Err(onsale_app::Error::SeatsTaken(vec!["A-1-2".into()]))
    );
    let usage = counted.recorder.take();
    // A refused write answers no capacity; DynamoDB charges one unit for an item of this
    // size. So: exactly one write, refused, and nothing written beside it.
    assert_eq!(
        (usage.refused_writes, usage.write_units),
        (1, 0.0),
        "{usage:?}"
    );
    assert_eq!(dynamodb(&usage), 2, "{usage:?}");
}

#[tokio::test]
async fn a_full_block_still_takes_one_write_unit() {
    let counted = counted(&Plan {
        rows: vec![32],
        cap: 50,
        ..Plan::default()
    })
    .await;
    let caller = counted.stage.buyer(1).await.unwrap();
    let show = counted.stage.show.id;
    counted
        .world
        .app
        .place_hold(&caller, show, &key(1), &seats(1..=31), None)
        .await
        .unwrap();
    counted.recorder.take();
    counted
        .world
        .app
        .place_hold(&caller, show, &key(2), &seats(32..=32), None)
        .await
        .unwrap();
    assert_eq!(counted.recorder.take().write_units, 2.0);
}
