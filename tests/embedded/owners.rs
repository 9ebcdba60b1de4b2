//! Who was told that they have a seat, and whether the store agrees.

use std::collections::HashMap;

use serde_json::Value;

use crate::visitor::{Visitor, seat_ids};

/// A hold that somebody was told they have.
#[derive(Clone)]
pub(crate) struct Promise {
    pub(crate) owner: Visitor,
    pub(crate) show: String,
    pub(crate) answer: Value,
}

/// Every seat has at most one owner among the promises; how many seats are promised.
pub(crate) fn check_single_owners(promises: &[Promise]) -> usize {
    let mut owners: HashMap<(String, String), &str> = HashMap::new();
    for promise in promises {
        let hold = promise.answer["hold_id"].as_str().unwrap();
        for seat in seat_ids(&promise.answer) {
            let before = owners.insert((promise.show.clone(), seat.clone()), hold);
            assert_eq!(
                before, None,
                "{seat} was promised to {before:?} and to {hold}"
            );
        }
    }
    owners.len()
}

/// Every promise is kept: the hold is there, held, with the same seats.
pub(crate) async fn check_kept(promises: &[Promise], url: &str) {
    for promise in promises {
        let hold = promise.answer["hold_id"].as_str().unwrap();
        let path = format!("/api/v1/shows/{}/holds/{hold}", promise.show);
        let read = promise.owner.at(url).get(&path).await.expect(200);
        assert_eq!(read["status"], "held", "{read}");
        for field in ["seats", "total", "expires_at", "together"] {
            assert_eq!(read[field], promise.answer[field]);
        }
    }
}

/// The states in a binary availability, place by place.
pub(crate) fn states(bits: &[u8], places: usize) -> Vec<u8> {
    (0..places)
        .map(|i| bits[i / 4] >> (2 * (i % 4)) & 3)
        .collect()
}

/// Waits until the availability counts are these, or fails after a while.
pub(crate) async fn wait_for_counts(visitor: &Visitor, show: &str, free: u64, held: u64) -> Value {
    let path = format!("/api/v1/shows/{show}/availability");
    let mut last = Value::Null;
    for _ in 0..100 {
        last = visitor.get(&path).await.expect(200);
        let sum = ["free", "held", "sold"]
            .iter()
            .map(|f| last[*f].as_u64().unwrap())
            .sum::<u64>();
        assert_eq!(sum, last["total"].as_u64().unwrap());
        if last["free"] == free && last["held"] == held {
            return last;
        }
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    panic!("expected {free} free and {held} held: {last}");
}
