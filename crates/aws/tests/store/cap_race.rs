//! Two holds of one buyer race for the last places under the cap. The loser lists its
//! cells as given back, then frees them; here the answer to that listing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use aws_smithy_types::base64;
use onsale_app::Error;
use onsale_app::holds::Wish;
use onsale_aws_emulator::testing::{Call, Fault, FaultyClient};
use onsale_domain::block::{BlockIndex, Slot};
use onsale_domain::buyer::Buyer;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_store::Reads;
use onsale_store::keys::BUYER;
use onsale_test_support::stage::{Plan, Stage};

use crate::network::over_a_network;
use crate::places::in_process;

/// Whether this request writes a buyer item that lists cells as given back.
fn lists_cells(call: &Call<'_>) -> bool {
    let Ok(body) = serde_json::from_slice::<serde_json::Value>(call.body) else {
        return false;
    };
    let key = body["Key"]["pk"]["S"].as_str().unwrap_or_default();
    if !key.starts_with(BUYER) {
        return false;
    }
    // The entries are the only bytes in it.
    let values = body["ExpressionAttributeValues"].as_object();
    let entries = values.and_then(|values| values.values().find_map(|value| value["B"].as_str()));
    let entries = entries.and_then(|text| base64::decode(text).ok());
    let buyer = entries.and_then(|bytes| Buyer::decode(1, &bytes));
    buyer.is_some_and(|buyer| !buyer.given_back.is_empty())
}

/// Races with the first answers to the listing lost; returns how often it was sent.
async fn race(lost: u64, fault: Fault) -> u64 {
    let listings = Arc::new(AtomicU64::new(0));
    let seen = listings.clone();
    let faults = move |call: &Call<'_>| match lists_cells(call) {
        true if seen.fetch_add(1, SeqCst) < lost => fault,
        _ => Fault::None,
    };
    let world =
        in_process(|http| FaultyClient::new(over_a_network(http), faults).http_client()).await;
    let plan = Plan {
        cap: 3,
        ..Plan::default()
    };
    let stage = Stage::set(&world.app, &plan).await.unwrap();
    let (app, show) = (&world.app, stage.show.id);
    let caller = stage.buyer(1).await.unwrap();
    let hold = async |key: &str, seats: &[&str]| {
        let key = IdempotencyKey::parse(key).unwrap();
        let wish = Wish::Seats(seats.iter().map(|seat| (*seat).to_owned()).collect());
        app.place_hold(&caller, show, &key, &wish, None).await
    };
    // Afterwards the show and its layout are known, and the race is one of writes only.
    hold("first", &["A-1-1"]).await.unwrap();
    let (one, other) = tokio::join!(
        hold("one", &["A-1-3", "A-1-4"]),
        // In two blocks of the second row.
        hold("other", &["A-2-20", "A-2-21"]),
    );
    let (held, refused) = match one {
        Ok(_) => (one, other),
        Err(_) => (other, one),
    };
    let held = held.unwrap();
    assert!(
        matches!(refused, Err(Error::LimitExceeded { limit: 3, .. })),
        "{lost} {fault:?}: {refused:?}"
    );

    let all: Vec<_> = (0..stage.layout.blocks().len() as u32)
        .map(BlockIndex)
        .collect();
    let blocks = app
        .store
        .read_blocks(show, &all, Reads::Consistent)
        .await
        .unwrap();
    let slots = (0..32).map(Slot);
    let taken = |slot| blocks.iter().filter(move |(_, b)| b.cell(slot).is_some());
    assert_eq!(slots.flat_map(taken).count(), 3, "{lost} {fault:?}");
    let buyer = app.store.buyer(show, caller.account).await.unwrap();
    assert_eq!(buyer.live_places(app.now()), 3, "{lost} {fault:?}");
    assert!(buyer.entry(held.hold_id).is_some());
    listings.load(SeqCst)
}

#[tokio::test]
async fn a_listing_of_given_back_cells_whose_answer_is_lost_still_ends_in_the_right_refusal() {
    let sent = race(0, Fault::None).await;
    assert_eq!(sent, 1, "the two raced");
    // The SDK tries four times, so up to three may be lost.
    for lost in 1..=3 {
        for fault in [Fault::DropReply, Fault::BeforeApplying] {
            assert!(race(lost, fault).await > lost, "{lost} {fault:?}");
        }
    }
}
