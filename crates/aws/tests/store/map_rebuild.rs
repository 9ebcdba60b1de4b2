//! The map is rebuilt at most once a second, in one process and across processes.

use std::sync::Arc;

use futures_util::future::join_all;
use onsale_aws_emulator::testing::{Recorder, Usage};
use onsale_domain::map::{FRESH_MS, SeatMap};
use onsale_domain::time::Millis;
use onsale_test_support::stage::{Plan, Stage};

use crate::network::over_a_network;
use crate::places::{InProcess, in_process};

/// A process that has not asked for the map yet. The stored one is a minute old.
struct Process {
    world: InProcess,
    recorder: Recorder,
    stage: Stage,
}

async fn process() -> Process {
    let mut recorder = None;
    let world = in_process(|http| {
        recorder
            .insert(Recorder::new(over_a_network(http)))
            .http_client()
    })
    .await;
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let recorder = recorder.unwrap();
    recorder.take();
    Process {
        world,
        recorder,
        stage,
    }
}

impl Process {
    async fn ask(&self) -> Arc<SeatMap> {
        let (show, layout) = (&self.stage.show, &self.stage.layout);
        self.world.app.seat_map(show, layout).await.unwrap()
    }

    /// When each of so many who ask at once was told that the seats were read.
    async fn ask_at_once(&self, callers: usize) -> Vec<Millis> {
        let asked = join_all((0..callers).map(|_| self.ask())).await;
        asked.iter().map(|map| map.version).collect()
    }

    fn now(&self) -> Millis {
        self.world.app.now()
    }

    /// Another process stores the map that it read at this time.
    async fn another_stores(&self, read: Millis) {
        let map = SeatMap::build(&self.stage.layout, std::iter::empty(), read);
        let forget_at = self.stage.show.forgotten_at();
        let stored = self
            .world
            .store
            .put_map(self.stage.show.id, &map, forget_at);
        stored.await.unwrap();
        self.recorder.take();
    }

    /// Whether another process is given the lease now; it keeps it for a second.
    async fn another_gets_the_lease(&self) -> bool {
        let (show, now) = (self.stage.show.id, self.now());
        let lease = self.world.store.lease_map(show, now, now + FRESH_MS);
        let given = lease.await.unwrap();
        self.recorder.take();
        given
    }
}

/// The requests that read all blocks.
fn rebuilds(usage: &Usage) -> u64 {
    requests(usage, "BatchGetItem")
}

fn requests(usage: &Usage, operation: &str) -> u64 {
    usage.requests.get(operation).copied().unwrap_or_default()
}

#[tokio::test]
async fn a_crowd_before_an_old_map_waits_for_one_rebuild() {
    let process = process().await;
    // The first second finds nothing in this process, the later ones a map too old to serve.
    for _ in 0..3 {
        let told = process.ask_at_once(50).await;
        assert_eq!(told, [process.now(); 50]);
        let usage = process.recorder.take();
        assert_eq!(rebuilds(&usage), 1, "{usage:?}");
        assert_eq!(requests(&usage, "GetItem"), 1, "{usage:?}");
        process.world.clock.advance(5_000);
    }
}

#[tokio::test]
async fn a_map_is_served_for_a_second_without_a_single_request() {
    let process = process().await;
    process.ask().await;
    process.recorder.take();
    process.world.clock.advance(FRESH_MS - 1);
    process.ask_at_once(50).await;
    assert_eq!(process.recorder.take().total_requests(), 0);
    process.world.clock.advance(1);
    assert_eq!(process.ask().await.version, process.now());
}

#[tokio::test]
async fn whoever_comes_during_a_rebuild_is_served_the_map_of_two_seconds_ago() {
    let process = process().await;
    let before = process.ask().await.version;
    process.world.clock.advance(2_000);
    let told = process.ask_at_once(50).await;
    let waited = told.iter().filter(|version| **version != before).count();
    assert_eq!(waited, 1, "the one who rebuilt");
}

#[tokio::test]
async fn a_rebuild_takes_the_lease_for_a_second() {
    let process = process().await;
    process.ask().await;
    process.world.clock.advance(FRESH_MS - 1);
    assert!(!process.another_gets_the_lease().await);
    process.world.clock.advance(1);
    assert!(process.another_gets_the_lease().await);
}

#[tokio::test]
async fn a_map_that_another_process_rebuilt_is_not_rebuilt_again() {
    let process = process().await;
    let read = process.now().saturating_sub(FRESH_MS - 1);
    process.another_stores(read).await;
    assert_eq!(process.ask().await.version, read);
    let usage = process.recorder.take();
    assert_eq!((rebuilds(&usage), usage.total_requests()), (0, 1));
}

#[tokio::test]
async fn while_another_process_rebuilds_the_map_of_two_seconds_ago_is_served() {
    let process = process().await;
    let read = process.now().saturating_sub(2_000);
    process.another_stores(read).await;
    assert!(process.another_gets_the_lease().await);
    assert_eq!(process.ask().await.version, read);
    let usage = process.recorder.take();
    assert_eq!((rebuilds(&usage), requests(&usage, "GetItem")), (0, 1));
}

#[tokio::test]
async fn a_map_too_old_to_serve_is_waited_for_when_another_process_rebuilds() {
    let process = process().await;
    assert!(process.another_gets_the_lease().await);
    let rebuilt = async {
        // The other is done once this process has found the lease taken.
        while process.recorder.take().refused_writes == 0 {
            tokio::task::yield_now().await;
        }
        process.another_stores(process.now()).await;
    };
    let (map, ()) = tokio::join!(process.ask(), rebuilt);
    assert_eq!(map.version, process.now());
}

#[tokio::test]
async fn a_process_that_died_over_its_rebuild_leaves_the_old_map_to_serve() {
    let process = process().await;
    assert!(process.another_gets_the_lease().await);
    let a_minute_ago = process.now().saturating_sub(60_000);
    assert_eq!(process.ask().await.version, a_minute_ago);
}

#[tokio::test]
async fn a_map_from_the_future_is_not_trusted_to_be_fresh() {
    let process = process().await;
    process.another_stores(process.now() + 60_000).await;
    assert_eq!(process.ask().await.version, process.now());
}
