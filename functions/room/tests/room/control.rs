//! An organiser steers the room.

use axum::http::{Request, StatusCode};
use onsale_domain::show::RoomMode;
use serde_json::{Value, json};

use super::{Service, code, service};

impl Service {
    async fn put(&self, token: &str, body: Value) -> (StatusCode, Value) {
        let target = format!("/api/v1/shows/{}/room", self.stage.show.id);
        let request = Request::put(target)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        self.send(request, &body.to_string()).await
    }

    async fn organiser(&self) -> String {
        let caller = self.stage.organiser().await.unwrap();
        self.token(&caller).await
    }
}

fn closed() -> Value {
    json!({"mode": "closed", "capacity": 7, "rate_per_second": 3})
}

#[tokio::test]
async fn the_owner_steers_the_room_and_the_edge_follows() {
    let service = service().await;
    let token = service.organiser().await;
    let (status, room) = service.put(&token, closed()).await;
    assert_eq!(status, StatusCode::OK, "{room}");
    assert_eq!(
        room,
        json!({
            "mode": "closed", "capacity": 7, "rate_per_second": 3,
            "order": "lottery", "pass_seconds": 300,
        })
    );
    let show = service.stage.show.id;
    let briefing = service.world.app.briefing(show, 0).await.unwrap();
    assert_eq!(briefing.settings.mode, RoomMode::Closed);
    assert_eq!(briefing.settings.capacity, 7);
    let all = json!({
        "mode": "queue_all", "capacity": 8, "rate_per_second": 4, "order": "fifo",
        "opens_at": "2027-01-20T10:00:00Z", "pass_seconds": 60,
        "beacon": {"name": "drand 7"},
    });
    let (status, room) = service.put(&token, all.clone()).await;
    assert_eq!((status, &room), (StatusCode::OK, &all));
    // What is left out stays as it is, and so does what null could not take away.
    let mut nulls = closed();
    nulls["order"] = Value::Null;
    nulls["pass_seconds"] = Value::Null;
    for body in [closed(), nulls] {
        let (_, room) = service.put(&token, body).await;
        assert_eq!(room["beacon"], json!({"name": "drand 7"}));
        assert_eq!(
            (&room["order"], &room["pass_seconds"]),
            (&json!("fifo"), &json!(60))
        );
    }
}

#[tokio::test]
async fn a_beacon_is_entered_once() {
    let service = service().await;
    let token = service.organiser().await;
    let with = |beacon: Value| {
        let mut body = closed();
        body["beacon"] = beacon;
        body
    };
    let known = json!({"name": "drand 7", "value": "0aff"});
    let (early, body) = service.put(&token, with(known)).await;
    assert_eq!(early.as_u16(), 409, "while people join: {body}");
    service.world.clock.advance(60_000);
    for (beacon, status) in [
        (json!({"name": "drand 7"}), 200),
        (json!({"name": "drand 7", "value": "0AFF"}), 200),
        (json!({"name": "drand 7", "value": "0aff"}), 200),
        (json!({"name": "drand 7", "value": "0afe"}), 409),
        (json!({"name": "drand 8", "value": "0aff"}), 409),
        (Value::Null, 409),
        (json!({"name": "drand 7", "value": "xyz"}), 400),
        (json!({"name": "drand 7", "value": null}), 400),
        (json!({"name": "drand 7", "round": 7}), 400),
        (json!({"value": "00"}), 400),
    ] {
        let (answered, body) = service.put(&token, with(beacon.clone())).await;
        assert_eq!(answered.as_u16(), status, "{beacon}: {body}");
    }
    let (_, room) = service.put(&token, closed()).await;
    assert_eq!(room["beacon"], json!({"name": "drand 7", "value": "0aff"}));
}

#[tokio::test]
async fn nobody_else_steers_it_and_nonsense_steers_nothing() {
    let service = service().await;
    let token = service.organiser().await;
    let buyer = service.stage.buyer(1).await.unwrap();
    let buyer = service.token(&buyer).await;
    let (status, body) = service.put(&buyer, closed()).await;
    assert_eq!(
        (status, code(&body)),
        (StatusCode::FORBIDDEN, "urn:onsale:forbidden")
    );
    let (status, _) = service.put("x", closed()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    for (field, value) in [
        ("mode", json!("open")),
        ("capacity", json!(0)),
        ("rate_per_second", json!(100_001)),
        ("pass_seconds", json!(9)),
        ("colour", json!("blue")),
    ] {
        let mut body = closed();
        body[field] = value;
        let (status, _) = service.put(&token, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{field}");
    }
    let (status, _) = service.put(&token, json!({"mode": "closed"})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let show = service.stage.show.id;
    let view = service.world.app.show(show, None).await.unwrap();
    assert_eq!(view.show.room.mode, RoomMode::Queue);
}
