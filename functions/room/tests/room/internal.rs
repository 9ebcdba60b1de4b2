//! What the edge asks, and what anybody else is told.

use axum::http::{Request, StatusCode};
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::SignedCall;
use onsale_domain::room::briefing::Briefing;
use onsale_domain::sales::RoomFigures;
use onsale_domain::show::RoomMode;
use serde_json::json;

use super::{NOW, Service, code, keys, service, service_with, with_signature};

impl Service {
    fn room(&self) -> String {
        format!("/internal/shows/{}/room", self.stage.show.id)
    }

    async fn briefing(&self, since: u64) -> Briefing {
        let target = format!("{}?since={since}", self.room());
        let (status, body) = self.call("GET", &target, "").await;
        assert_eq!(status, StatusCode::OK, "{body}");
        serde_json::from_value(body).unwrap()
    }

    async fn close(&self, pass: &str) -> StatusCode {
        let target = format!("/internal/passes/{pass}/close");
        let body = json!({"show": self.stage.show.id}).to_string();
        self.call("POST", &target, &body).await.0
    }
}

#[tokio::test]
async fn the_edge_is_told_about_a_room() {
    let service = service().await;
    let briefing = service.briefing(0).await;
    assert_eq!(briefing.title, "Rehearsal");
    assert_eq!(briefing.settings.mode, RoomMode::Queue);
    assert_eq!(briefing.news.cursor, NOW.0);
    assert_eq!(briefing.news.free_seats, Some(160));
    // Without a cursor, everything.
    assert_eq!(service.call("GET", &service.room(), "").await.0, 200);
}

/// The organiser sees what the edge counts; it says so with the call it makes anyway.
#[tokio::test]
async fn what_the_edge_counts_is_kept_for_the_organiser() {
    let service = service().await;
    let store = &service.world.app.store;
    let show = service.stage.show.id;
    service.briefing(0).await;
    assert_eq!(store.room_figures(show).await.unwrap(), None);
    let target = format!("{}?since=1&waiting=41&admitted=7&rate=20", service.room());
    assert_eq!(service.call("GET", &target, "").await.0, StatusCode::OK);
    let figures = RoomFigures {
        waiting: 41,
        admitted: 7,
        rate: 20,
        at: NOW,
    };
    assert_eq!(store.room_figures(show).await.unwrap(), Some(figures));
    let elsewhere = format!("/internal/shows/shw_{}/room?", "0".repeat(32));
    let target = format!("{elsewhere}waiting=41&admitted=7&rate=20");
    assert_eq!(
        service.call("GET", &target, "").await.0,
        StatusCode::NOT_FOUND
    );
    let unknown = ShowId::from_bytes([0; 16]);
    assert_eq!(store.room_figures(unknown).await.unwrap(), None);
}

#[tokio::test]
async fn a_pass_is_closed_whether_it_was_used_or_not_and_again() {
    let service = service().await;
    let pass = "0a".repeat(16);
    for _ in 0..2 {
        assert_eq!(service.close(&pass).await, StatusCode::NO_CONTENT);
    }
    let ended = service.briefing(0).await.news.ended;
    assert_eq!(ended, [pass.parse().unwrap()]);
    assert_eq!(service.close("0a").await, StatusCode::NOT_FOUND);
    let target = format!("/internal/passes/{pass}/close");
    let elsewhere = json!({"show": format!("shw_{}", "0".repeat(32))}).to_string();
    for (body, status) in [
        (elsewhere.as_str(), StatusCode::NOT_FOUND),
        ("", StatusCode::BAD_REQUEST),
        ("{}", StatusCode::BAD_REQUEST),
        (r#"{"show": "x"}"#, StatusCode::BAD_REQUEST),
    ] {
        let (answered, _) = service.call("POST", &target, body).await;
        assert_eq!(answered, status, "{body}");
    }
}

/// One mail for each is what `notify` makes of it, however often it is told.
#[tokio::test]
async fn a_turn_is_announced_and_an_odd_call_is_not() {
    let service = service().await;
    let target = format!("/internal/shows/{}/turns", service.stage.show.id);
    let turn = json!({"lot": "0a".repeat(16), "email": "ana@example.org", "language": "de",
        "enter_by": "2030-01-01T00:00:00Z"});
    let body = json!({"turns": [turn]}).to_string();
    for _ in 0..2 {
        let (status, body) = service.call("POST", &target, &body).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{body}");
    }
    let told = service.world.bus.told();
    let ids: Vec<_> = told.iter().map(|told| told.id.as_str()).collect();
    let id = format!("TurnCame:{}:{}", service.stage.show.id, "0a".repeat(16));
    assert_eq!(ids, [&id, &id]);
    let many = json!({"turns": vec![turn.clone(); 11]}).to_string();
    let elsewhere = format!("/internal/shows/shw_{}/turns", "0".repeat(32));
    let mut odd = turn.clone();
    odd["email"] = json!("nobody");
    let odd = json!({"turns": [odd]}).to_string();
    for (target, body, expected) in [
        (&target, many.as_str(), StatusCode::BAD_REQUEST),
        (&target, odd.as_str(), StatusCode::BAD_REQUEST),
        (&target, "{}", StatusCode::BAD_REQUEST),
        (&elsewhere, body.as_str(), StatusCode::NOT_FOUND),
    ] {
        let (status, answer) = service.call("POST", target, body).await;
        assert_eq!(status, expected, "{body}");
        assert!(!answer.to_string().contains("nobody"), "{answer}");
    }
    assert_eq!(service.world.bus.told().len(), 2);
    let unsigned = Request::builder().method("POST").uri(&target);
    let (status, _) = service.send(unsigned, &body).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn whoever_does_not_sign_is_told_nothing() {
    let service = service().await;
    let room = service.room();
    let good = keys().sign("GET", &room, b"", NOW);
    let sign = |target: &str, body: &str, now| keys().sign("GET", target, body.as_bytes(), now);
    let stranger: onsale_domain::internal_call::InternalKeys =
        "k1:another-secret-that-nobody-was-told".parse().unwrap();
    let cases: Vec<(&str, &str, Option<SignedCall>)> = vec![
        ("nothing", &room, None),
        (
            "another secret",
            &room,
            Some(stranger.sign("GET", &room, b"", NOW)),
        ),
        (
            "another key id",
            &room,
            Some(SignedCall {
                key: "k2".to_owned(),
                ..good.clone()
            }),
        ),
        ("another body", &room, Some(sign(&room, "{}", NOW))),
        (
            "another query",
            &room,
            Some(sign(&format!("{room}?since=1"), "", NOW)),
        ),
        (
            "too old",
            &room,
            Some(sign(&room, "", NOW.saturating_sub(60_001))),
        ),
        ("too early", &room, Some(sign(&room, "", NOW + 60_001))),
        // Before the path is looked at, or it would tell which shows there are.
        ("no show", "/internal/shows/x/room", None),
        ("no pass", "/internal/passes/x/close", None),
    ];
    for (name, target, signed) in cases {
        let method = if target.ends_with("close") {
            "POST"
        } else {
            "GET"
        };
        let request = Request::builder().method(method).uri(target);
        let request = match &signed {
            Some(signed) => with_signature(request, signed),
            None => request,
        };
        let (status, body) = service.send(request, "").await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{name}: {body}");
        assert_eq!(code(&body), "urn:onsale:unauthenticated", "{name}");
    }
    let again = with_signature(Request::builder().uri(&room), &good);
    assert_eq!(service.send(again, "").await.0, StatusCode::OK);
}

#[tokio::test]
async fn without_keys_nobody_is_the_edge() {
    let service = service_with(None).await;
    let (status, _) = service.call("GET", &service.room(), "").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        service.close(&"0a".repeat(16)).await,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn a_show_that_is_not_there_or_cannot_be_read_is_no_room() {
    let service = service().await;
    let unknown = format!("/internal/shows/shw_{}/room", "0".repeat(32));
    let (status, _) = service.call("GET", &unknown, "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let odd = format!("{}?until=1", service.room());
    assert_eq!(
        service.call("GET", &odd, "").await.0,
        StatusCode::BAD_REQUEST
    );
    service.world.faults.fail_always("get MAP", true);
    let (status, body) = service.call("GET", &service.room(), "").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(code(&body), "urn:onsale:unavailable");
}

#[tokio::test]
async fn a_body_is_read_up_to_four_kibibytes() {
    let service = service().await;
    let target = format!("/internal/passes/{}/close", "0a".repeat(16));
    let long = " ".repeat(4 * 1024 + 1);
    let (status, body) = service.call("POST", &target, &long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(code(&body), "urn:onsale:payload_too_large");
}

#[test]
fn what_the_edge_asks_is_in_no_document() {
    let (_, document) =
        onsale_http::openapi::finish(room::router(room::RoomKeys::default()), "room");
    let mut paths = document.paths.paths.keys();
    assert!(paths.all(|path| path.starts_with("/api/v1/")));
}
