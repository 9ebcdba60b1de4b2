//! The function as its clients meet it, over the memory store.

#![expect(clippy::unwrap_used, reason = "what a test sets up must succeed")]

mod answers;
mod document;
mod plan;
mod refusals;
mod visibility;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::ports::Session;
use onsale_app::{events, venues};
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::time::Millis;
use onsale_domain::{layout, money, show};
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use serde_json::{Value, json};
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_000);
const STARTS_AT: &str = "2027-03-01T20:00:00Z";

struct Service {
    world: MemoryWorld,
    signer: SessionSigner,
    router: Router,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
    body: Value,
}

fn service() -> Service {
    let world = MemoryWorld::new(NOW);
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
    let (router, _) = openapi::finish(catalog::router(), "catalog");
    let router = trace::layer(router.with_state(api));
    Service {
        world,
        signer,
        router,
    }
}

impl Service {
    async fn log_in(&self, n: u8, role: Role) -> String {
        let session = Session {
            id: SessionId::from_bytes([n; 16]),
            account: AccountId::from_bytes([n; 16]),
            opened: NOW,
            expires: NOW + 3_600_000,
            epoch: 0,
            device: None,
        };
        self.world.store.open_session(&session).await.unwrap();
        self.signer.sign(&session, role).unwrap()
    }

    async fn send(
        &self,
        call: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: Option<Value>,
    ) -> Answer {
        let (method, path) = call.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let request = request.body(body).unwrap();
        let (parts, body) = self
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Answer {
            status: parts.status,
            headers: parts.headers,
            bytes,
            body,
        }
    }

    async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        self.send(&format!("GET {path}"), token, None, None).await
    }

    async fn write(&self, call: &str, token: &str, body: Value) -> Answer {
        self.send(call, Some(token), None, Some(body)).await
    }

    /// A venue, an event and a show; answers with the ids of event and show.
    async fn make_show(&self, token: &str, show: Value) -> (String, String) {
        let venue = self.write("POST /api/v1/venues", token, hall()).await.body;
        let event = json!({"title": "Night", "category": "music", "venue_id": venue["venue_id"]});
        let event = self.write("POST /api/v1/events", token, event).await.body;
        let event = event["event_id"].as_str().unwrap().to_owned();
        let created = self
            .write(&format!("POST /api/v1/events/{event}/shows"), token, show)
            .await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
        (event, created.body["show_id"].as_str().unwrap().to_owned())
    }
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    fn assert_problem(&self, status: u16, code: &str) {
        let found = (self.status.as_u16(), self.body["type"].as_str());
        assert_eq!(
            found,
            (status, Some(format!("urn:onsale:{code}").as_str())),
            "{}",
            self.body
        );
    }
}

fn hall() -> Value {
    json!({
        "name": "Hall",
        "city": "Berlin",
        "timezone": "Europe/Berlin",
        "location": {"lat": 52.52, "lon": 13.405},
        "sections": [
            {"name": "A", "rows": [{"label": "1", "seats": 3}, {"label": "2", "seats": [1, 2, 5]}],
             "not_for_sale": ["A-1-3"], "accessible": ["A-2-5"]},
            {"name": "Floor", "capacity": 40},
        ],
        "focal_point": {"section": "A", "row": "1", "seat": 2},
    })
}

fn evening() -> Value {
    json!({"starts_at": STARTS_AT, "currency": "EUR", "prices": {"A": 4500, "Floor": 2000}})
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}
