//! A crowd that asks for the best seats of an empty hall, all at the same moment.

use std::collections::HashSet;

use futures_util::future::join_all;
use onsale_app::Result;
use onsale_app::holds::HoldView;
use onsale_domain::best_available::MOST_TRIES;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, best};

const PEOPLE: u8 = 240;

/// 2,000 seats, none of them taken.
async fn hall() -> Scene {
    Scene::new(Plan {
        rows: vec![40; 50],
        floor: 0,
        ..Plan::default()
    })
    .await
}

/// Everybody asks for a pair. Before each claim everybody else comes first, so that all
/// of them choose before the first of them has anything.
async fn ask_at_once(processes: &[Scene]) -> Vec<Result<HoldView>> {
    for _ in 0..u64::from(PEOPLE) * MOST_TRIES {
        let faults = &processes[0].faults;
        faults.before_next("write BLK", tokio::task::yield_now());
    }
    let mut asking = Vec::new();
    for n in 0..PEOPLE {
        let scene = &processes[usize::from(n) % processes.len()];
        let caller = scene.buyer(n).await;
        asking.push(async move { scene.hold(&caller, "k", &best(2)).await });
    }
    join_all(asking).await
}

#[tokio::test]
async fn nobody_in_a_crowd_is_sent_away_while_seats_are_free() {
    // One process, two, and one for each of them: what a process hears helps, and nobody
    // depends on it.
    for count in [1, 2, usize::from(PEOPLE)] {
        let scene = hall().await;
        let processes: Vec<_> = (0..count).map(|_| scene.another_process()).collect();
        scene.faults.arm(None);
        let answers = ask_at_once(&processes).await;
        let claims = scene.faults.calls_of("update BLK");
        let mut seats = HashSet::new();
        for answer in answers {
            let held = answer.unwrap();
            assert!(held.together, "{count}: {:?}", held.seats);
            for (seat, _) in held.seats {
                assert!(seats.insert(seat.clone()), "{count}: {seat} twice");
            }
        }
        assert_eq!(seats.len(), 2 * usize::from(PEOPLE));
        assert_eq!(scene.cells().await.len(), seats.len());
        println!("{count} processes: {claims} claims");
        let a_head = claims / usize::from(PEOPLE);
        assert!(a_head < 4, "{count}: {claims} claims");
    }
}

/// People who come in groups of `at_once`, a tenth of a second apart. Each group asks at
/// the same moment, everybody in another process, and processes serve group after group.
async fn claims_of_waves(at_once: usize, waves: usize) -> usize {
    let scene = hall().await;
    let processes: Vec<_> = (0..at_once).map(|_| scene.another_process()).collect();
    scene.faults.arm(None);
    for wave in 0..waves {
        for _ in 0..at_once as u64 * MOST_TRIES {
            scene
                .faults
                .before_next("write BLK", tokio::task::yield_now());
        }
        let mut asking = Vec::new();
        for (n, process) in processes.iter().enumerate() {
            let caller = scene.buyer((wave * at_once + n) as u8).await;
            asking.push(async move { process.hold(&caller, "k", &best(2)).await });
        }
        for answer in join_all(asking).await {
            assert!(answer.unwrap().together);
        }
        scene.clock.advance(100);
    }
    scene.faults.calls_of("update BLK")
}

#[tokio::test]
async fn processes_that_met_a_conflict_spread_those_who_come_next() {
    // Without a memory of conflicts all but the first of each wave would need two claims.
    for (at_once, most_in_ten) in [(2, 14), (5, 20), (10, 23), (30, 28)] {
        let waves = usize::from(PEOPLE) / at_once;
        let claims = claims_of_waves(at_once, waves).await;
        let people = waves * at_once;
        println!("waves of {at_once}: {claims} claims of {people}");
        assert!(10 * claims <= most_in_ten * people, "{at_once}: {claims}");
    }
}

#[tokio::test]
async fn whoever_comes_alone_gets_the_best_seats_there_are() {
    let scene = hall().await;
    for n in 0..8 {
        let caller = scene.buyer(n).await;
        let held = scene.hold(&caller, "k", &best(2)).await.unwrap();
        assert_eq!(scene.hold(&caller, "k", &best(2)).await.unwrap(), held);
        let show = scene.stage.show.id;
        let seats: Vec<_> = held.seats.iter().map(|(seat, _)| seat.as_str()).collect();
        assert_eq!(seats, ["A-1-20", "A-1-21"], "the middle of the front");
        let released = scene.app.release_hold(&caller, show, held.hold_id).await;
        released.unwrap();
        scene.clock.advance(2_000);
    }
}

#[tokio::test]
async fn people_who_come_one_after_the_other_need_one_claim_each() {
    let scene = hall().await;
    scene.faults.arm(None);
    for n in 0..PEOPLE {
        let caller = scene.buyer(n).await;
        scene.hold(&caller, "k", &best(2)).await.unwrap();
    }
    let claims = scene.faults.calls_of("write BLK");
    assert_eq!(claims, usize::from(PEOPLE), "on one map");
    // What was never in doubt was never read exactly.
    let (reads, maps) = (
        scene.faults.calls_of("get_many BLK"),
        scene.faults.calls_of("get MAP"),
    );
    assert_eq!((reads, maps), (1, 1));
}
