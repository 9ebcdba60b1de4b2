//! Every write of the hold path is applied and its answer dropped: the caller still
//! ends with the right result. And the other way round: requests that never arrive.

use std::collections::BTreeSet;

use onsale_app::Error;
use onsale_app::holds::Wish;
use onsale_aws_emulator::testing::{Call, Fault, FaultyClient};
use onsale_domain::block::Slot;
use onsale_domain::buyer::EntryState;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_store::Reads;
use onsale_test_support::stage::{Plan, Stage};

use crate::places::in_process;

/// What is lost: the answer to the nth request since the stage was set, and whether the
/// request had been applied.
#[derive(Debug, Clone, Copy)]
struct Loss {
    nth: u64,
    times: u64,
    applied: bool,
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

fn wishes() -> Vec<Wish> {
    let seats = |ids: &[&str]| Wish::Seats(ids.iter().map(|s| (*s).to_owned()).collect());
    vec![
        seats(&["A-1-1", "A-1-2"]),
        // Two blocks of the second row, so a transaction.
        seats(&["A-2-20", "A-2-21"]),
        Wish::Best {
            quantity: 3,
            section: None,
            max_price: None,
            together: onsale_domain::best_available::Together::Preferred,
            allow_fewer: false,
            accessible: false,
        },
        Wish::General {
            section: "Floor".into(),
            quantity: 4,
        },
    ]
}

/// Holds, reads and releases with one loss; returns how many requests there were.
async fn journey(wish: &Wish, loss: Option<Loss>) -> u64 {
    let armed = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(u64::MAX));
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let faults = {
        let (armed, seen) = (armed.clone(), seen.clone());
        move |_: &Call<'_>| {
            use std::sync::atomic::Ordering::SeqCst;
            if armed.load(SeqCst) == u64::MAX {
                return Fault::None;
            }
            let n = seen.fetch_add(1, SeqCst) + 1;
            match loss {
                Some(l) if (l.nth..l.nth + l.times).contains(&n) => match l.applied {
                    true => Fault::DropReply,
                    false => Fault::BeforeApplying,
                },
                _ => Fault::None,
            }
        }
    };
    let world = in_process(|http| FaultyClient::new(http, faults).http_client()).await;
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let caller = stage.buyer(1).await.unwrap();
    let app = &world.app;
    armed.store(0, std::sync::atomic::Ordering::SeqCst);

    let held = app
        .place_hold(&caller, stage.show.id, &key("k"), wish, None)
        .await
        .unwrap();
    let again = app
        .place_hold(&caller, stage.show.id, &key("k"), wish, None)
        .await
        .unwrap();
    assert_eq!(held, again, "{loss:?}");
    check_cells(&stage, &held, loss).await;

    app.release_hold(&caller, stage.show.id, held.hold_id)
        .await
        .unwrap();
    let read = app
        .hold(&caller, stage.show.id, held.hold_id)
        .await
        .unwrap();
    assert_eq!(read.state, EntryState::Released, "{loss:?}");
    let owners = owners(&stage).await;
    assert!(owners.is_empty(), "{loss:?}: {owners:?}");
    seen.load(std::sync::atomic::Ordering::SeqCst)
}

async fn owners(stage: &Stage) -> BTreeSet<String> {
    let all: Vec<_> = (0..stage.layout.blocks().len() as u32)
        .map(onsale_domain::block::BlockIndex)
        .collect();
    let blocks = stage
        .app
        .store
        .read_blocks(stage.show.id, &all, Reads::Consistent)
        .await
        .unwrap();
    let mut owned = BTreeSet::new();
    for (index, block) in blocks {
        for slot in (0..32).map(Slot).filter(|slot| block.cell(*slot).is_some()) {
            owned.insert(stage.layout.seat_id(stage.layout.place_of(index, slot)));
        }
    }
    owned
}

async fn check_cells(stage: &Stage, held: &onsale_app::holds::HoldView, loss: Option<Loss>) {
    let recorded: BTreeSet<_> = held.seats.iter().map(|(seat, _)| seat.clone()).collect();
    assert_eq!(
        owners(stage).await,
        recorded,
        "{loss:?}: the cells are those of the record"
    );
}

#[tokio::test]
async fn a_lost_answer_changes_nothing_for_any_request_of_the_hold_path() {
    for wish in wishes() {
        let requests = journey(&wish, None).await;
        assert!(requests >= 6, "{requests}");
        for nth in 1..=requests {
            for applied in [true, false] {
                journey(
                    &wish,
                    Some(Loss {
                        nth,
                        times: 1,
                        applied,
                    }),
                )
                .await;
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_comes_back_after_an_outage_finds_its_hold() {
    // The SDK gives up after four tries; the answer is "unavailable", and the same key
    // leads to the same seats.
    for nth in 1..=4 {
        for applied in [true, false] {
            let outage = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
            let count = outage.clone();
            let faults = move |_: &Call<'_>| {
                let n = count.load(std::sync::atomic::Ordering::SeqCst);
                if n == 0 {
                    return Fault::None;
                }
                let n = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                match (nth..nth + 4).contains(&n) {
                    true if applied => Fault::DropReply,
                    true => Fault::BeforeApplying,
                    false => Fault::None,
                }
            };
            let world = in_process(|http| FaultyClient::new(http, faults).http_client()).await;
            let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
            let caller = stage.buyer(1).await.unwrap();
            let wish = &wishes()[0];
            let warm = Wish::Seats(vec!["A-1-20".into()]);
            world
                .app
                .place_hold(&caller, stage.show.id, &key("warm"), &warm, None)
                .await
                .unwrap();
            outage.store(1, std::sync::atomic::Ordering::SeqCst);
            let first = world
                .app
                .place_hold(&caller, stage.show.id, &key("k"), wish, None)
                .await;
            let held = match first {
                Ok(held) => held,
                Err(Error::Unavailable) => world
                    .app
                    .place_hold(&caller, stage.show.id, &key("k"), wish, None)
                    .await
                    .unwrap(),
                Err(other) => panic!("{other:?}"),
            };
            let seats: Vec<_> = held.seats.iter().map(|(seat, _)| seat.as_str()).collect();
            assert_eq!(seats, ["A-1-1", "A-1-2"]);
            let buyer = world
                .app
                .store
                .buyer(stage.show.id, caller.account)
                .await
                .unwrap();
            assert_eq!(buyer.live_places(world.app.now()), 3);
        }
    }
}

#[tokio::test]
async fn a_lost_answer_changes_nothing_when_a_hold_expires() {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    // Enough for every request of an expiry; the later ones lose nothing any more.
    for nth in 1..=8u64 {
        for applied in [true, false] {
            let count = std::sync::Arc::new(AtomicU64::new(0));
            let counter = count.clone();
            let faults = move |_: &Call<'_>| {
                if counter.load(SeqCst) == 0 {
                    return Fault::None;
                }
                match (counter.fetch_add(1, SeqCst) == nth, applied) {
                    (true, true) => Fault::DropReply,
                    (true, false) => Fault::BeforeApplying,
                    (false, _) => Fault::None,
                }
            };
            let world = in_process(|http| FaultyClient::new(http, faults).http_client()).await;
            let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
            let caller = stage.buyer(1).await.unwrap();
            let held = world
                .app
                .place_hold(&caller, stage.show.id, &key("k"), &wishes()[1], None)
                .await
                .unwrap();
            world.clock.advance(606_000);
            count.store(1, SeqCst);
            let message = onsale_app::ports::ExpireHold {
                show_id: stage.show.id,
                account_id: caller.account,
                hold_id: held.hold_id,
            };
            let ended = world.app.expire_hold(&message).await;
            assert_eq!(
                ended,
                Ok(onsale_app::holds::Expiry::Ended),
                "{nth} {applied}"
            );
            assert!(owners(&stage).await.is_empty(), "{nth} {applied}");
            let buyer = world
                .app
                .store
                .buyer(stage.show.id, caller.account)
                .await
                .unwrap();
            let state = buyer.entry(held.hold_id).unwrap().state;
            assert_eq!(state, EntryState::Expired, "{nth} {applied}");
        }
    }
}
