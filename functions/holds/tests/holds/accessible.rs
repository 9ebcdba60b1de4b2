//! Accessible places: kept for people who ask, then given.

use onsale_test_support::stage::Plan;
use serde_json::{Value, json};

use crate::optional_fields::service_of;

fn plan() -> Plan {
    Plan {
        rows: vec![6, 6],
        accessible: vec!["A-1-3".into(), "A-1-4".into()],
        floor: 0,
        cap: 50,
        ..Plan::default()
    }
}

fn seats(answer: &Value) -> Vec<&str> {
    let seats = answer["seats"].as_array().unwrap().iter();
    seats.map(|seat| seat["seat"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn best_available_has_an_accessible_place_where_it_is_asked_for() {
    let service = service_of(&plan()).await;
    let wish = json!({"best_available": {"quantity": 2, "accessible": true}});
    let (status, held) = service.post("holds", "k", wish.clone()).await;
    assert_eq!(status, 201, "{held}");
    assert_eq!(seats(&held).len(), 2);
    assert!(seats(&held).contains(&"A-1-3") || seats(&held).contains(&"A-1-4"));
    assert_eq!(held["together"], true);
    let other = json!({"best_available": {"quantity": 2, "accessible": false}});
    let (status, refused) = service.post("holds", "k", other).await;
    assert_eq!(
        (status, &refused["type"]),
        (422, &json!("urn:onsale:idempotency_mismatch")),
        "it is part of what a key stands for"
    );
    let (status, _) = service.post("holds", "k2", wish.clone()).await;
    assert_eq!(status, 201, "the second accessible place");
    let (status, none) = service.post("holds", "k3", wish).await;
    assert_eq!(
        (status, &none["taken"]),
        (409, &json!([])),
        "others are free, none of them accessible: {none}"
    );
}

#[tokio::test]
async fn best_available_keeps_accessible_places_until_nothing_else_is_left() {
    let service = service_of(&plan()).await;
    let pair = json!({"best_available": {"quantity": 2}});
    for n in 0..5 {
        let (status, held) = service.post("holds", &format!("k{n}"), pair.clone()).await;
        assert_eq!(status, 201, "{held}");
        let kept = seats(&held)
            .iter()
            .any(|seat| ["A-1-3", "A-1-4"].contains(seat));
        assert!(!kept, "{n}: {:?}", seats(&held));
    }
    let (status, last) = service.post("holds", "last", pair).await;
    assert_eq!((status, seats(&last)), (201, vec!["A-1-3", "A-1-4"]));
}

#[tokio::test]
async fn accessible_is_a_yes_or_a_no() {
    let service = service_of(&plan()).await;
    let wish = json!({"best_available": {"quantity": 2, "accessible": "yes"}});
    let (status, refused) = service.post("holds", "k", wish).await;
    assert_eq!(
        (status, &refused["type"]),
        (400, &json!("urn:onsale:invalid_request"))
    );
}
