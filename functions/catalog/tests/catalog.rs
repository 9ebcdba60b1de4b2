//! The function as its clients meet it, over the memory store.

#![expect(clippy::unwrap_used, reason = "what a test sets up must succeed")]

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::ports::{Session, Sessions};
use onsale_app::{events, venues};
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::time::Millis;
use onsale_domain::{layout, money, show};
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_memory::MemoryWorld;
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
        };
        self.world.store.open(&session).await.unwrap();
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

#[tokio::test]
async fn a_published_show_is_there_for_everyone() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (event, show) = service
        .make_show(&token, with(evening(), "overbook_percent", json!(5)))
        .await;

    let answer = service.get(&format!("/api/v1/shows/{show}"), None).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body["status"], "on_sale");
    assert_eq!(answer.body["starts_at"], STARTS_AT);
    assert_eq!(
        answer.body["prices"]["A"],
        json!({"amount": 4500, "currency": "EUR"})
    );
    assert_eq!(answer.body["room"]["mode"], "off");
    assert_eq!(answer.body["hold_seconds"], 600);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/layout"), None)
        .await;
    assert_eq!(
        answer.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let expected = json!({"places": 48, "sections": [
        {"name": "A", "kind": "seated", "first": 0, "places": 6, "accessible": ["A-2-5"], "rows": [
            {"label": "1", "first": 0, "seats": [1, 2, 3]},
            {"label": "2", "first": 3, "seats": [1, 2, 5]},
        ]},
        {"name": "Floor", "kind": "general", "first": 6, "places": 42, "accessible": []},
    ]});
    assert_eq!(answer.body, expected);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/availability"), None)
        .await;
    let expected = json!({
        "show_id": show, "version": NOW.0, "free": 47, "held": 0, "sold": 0, "total": 47,
        "sections": [
            {"name": "A", "free": 5, "held": 0, "sold": 0, "total": 5},
            {"name": "Floor", "free": 42, "held": 0, "sold": 0, "total": 42},
        ],
    });
    assert_eq!(answer.body, expected);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/availability.bin"), None)
        .await;
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    assert_eq!(answer.header("onsale-version"), NOW.0.to_string());
    assert_eq!(answer.bytes.len(), 12);
    assert_eq!(answer.bytes[0], 0b11_00_00);

    let item = &service
        .get("/api/v1/events?city=berlin&limit=1", None)
        .await
        .body["items"][0];
    let expected = json!({
        "event_id": event, "title": "Night", "category": "music", "city": "Berlin",
        "venue": "Hall", "next_show_at": STARTS_AT, "shows": 1,
        "from_price": {"amount": 2000, "currency": "EUR"}, "status": "on_sale",
    });
    assert_eq!(*item, expected);
    let answer = service.get(&format!("/api/v1/events/{event}"), None).await;
    assert_eq!(answer.body["shows"][0]["show_id"], show);
}

#[tokio::test]
async fn a_draft_is_seen_by_its_owner_and_kept_by_no_cache() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let other = service.log_in(2, Role::Organiser).await;
    let (event, show) = service
        .make_show(&token, with(evening(), "draft", json!(true)))
        .await;
    for part in ["", "/layout", "/availability", "/availability.bin"] {
        let path = format!("/api/v1/shows/{show}{part}");
        service
            .get(&path, None)
            .await
            .assert_problem(404, "not_found");
        service
            .get(&path, Some(&other))
            .await
            .assert_problem(404, "not_found");
        service
            .get(&path, Some("forged"))
            .await
            .assert_problem(401, "unauthenticated");
        let own = service.get(&path, Some(&token)).await;
        assert_eq!(own.status, StatusCode::OK, "{path}");
        assert!(!own.header("cache-control").contains("public"), "{path}");
    }
    service
        .get(&format!("/api/v1/events/{event}"), None)
        .await
        .assert_problem(404, "not_found");
    let publish = json!({"status": "on_sale"});
    let call = format!("PATCH /api/v1/shows/{show}");
    service
        .write(&call, &other, publish.clone())
        .await
        .assert_problem(403, "forbidden");
    assert_eq!(
        service.write(&call, &token, publish).await.body["status"],
        "on_sale"
    );
    assert_eq!(
        service
            .get(&format!("/api/v1/events/{event}"), None)
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn what_the_contract_forbids_is_refused() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (event, show) = service.make_show(&token, evening()).await;
    let new_show = format!("POST /api/v1/events/{event}/shows");
    let change_event = format!("PATCH /api/v1/events/{event}");
    let change_show = format!("PATCH /api/v1/shows/{show}");
    let venues = "POST /api/v1/venues";
    let floor = |section: Value| with(hall(), "sections", json!([section]));
    for (call, body) in [
        (venues, with(hall(), "colour", json!("red"))),
        (venues, with(hall(), "address", Value::Null)),
        (venues, with(hall(), "timezone", json!("Mars".repeat(20)))),
        (
            venues,
            with(hall(), "location", json!({"lat": 90.5, "lon": 0})),
        ),
        (venues, with(hall(), "location", json!([1, 2]))),
        (venues, with(hall(), "sections", json!([]))),
        (venues, floor(json!({"name": "F", "capacity": 100_001}))),
        (venues, floor(json!({"name": "F-1", "capacity": 1}))),
        (
            venues,
            floor(json!({"name": "F", "rows": [{"label": "GA", "seats": 3}]})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1, "Floor": -1})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1, "Floor": 1_000_000_001})),
        ),
        (new_show.as_str(), with(evening(), "currency", json!("eur"))),
        (
            new_show.as_str(),
            with(evening(), "starts_at", json!("tomorrow")),
        ),
        (new_show.as_str(), with(evening(), "hold_seconds", json!(1))),
        (
            new_show.as_str(),
            with(evening(), "hold_seconds", Value::Null),
        ),
        (
            new_show.as_str(),
            with(evening(), "room", json!({"mode": "sideways"})),
        ),
        (change_show.as_str(), json!({"status": "cancelled"})),
        (change_show.as_str(), json!({"overbook_percent": 1})),
        (change_event.as_str(), json!({"title": null})),
        (
            change_event.as_str(),
            json!({"poster_url": "javascript:alert(1)"}),
        ),
        (
            change_event.as_str(),
            json!({"venue_id": "ven_00000000000000000000000000000000"}),
        ),
    ] {
        service
            .write(call, &token, body)
            .await
            .assert_problem(400, "invalid_request");
    }
    for query in [
        "limit=0",
        "limit=101",
        "limit=x",
        "cursor=x",
        "cursor=",
        "sort=price",
        "colour=red",
        "near=1",
        "near=NaN,1",
        "radius_km=5",
        "near=1,1&radius_km=0",
        "max_price=-1",
        "from=now",
        "currency=eur",
        "mine=maybe",
        "city=a&city=b",
    ] {
        let answer = service.get(&format!("/api/v1/events?{query}"), None).await;
        answer.assert_problem(400, "invalid_request");
    }
    service
        .get("/api/v1/events?mine=true", None)
        .await
        .assert_problem(401, "unauthenticated");
    service
        .get("/api/v1/shows/evt_1", None)
        .await
        .assert_problem(404, "not_found");
    let nowhere = "PATCH /api/v1/shows/shw_00000000000000000000000000000000";
    service
        .write(nowhere, &token, json!({}))
        .await
        .assert_problem(404, "not_found");
    let call = service.send(venues, None, None, Some(hall())).await;
    call.assert_problem(401, "unauthenticated");
    let buyer = service.log_in(3, Role::Buyer).await;
    service
        .write(venues, &buyer, hall())
        .await
        .assert_problem(403, "forbidden");
}

#[tokio::test]
async fn a_key_gives_the_first_answer_again() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let create = |body| service.send("POST /api/v1/venues", Some(&token), Some("k"), Some(body));
    let first = create(hall()).await;
    assert_eq!(
        (first.status, &first.body["places"]),
        (StatusCode::CREATED, &json!(46))
    );
    assert_eq!(create(hall()).await.body, first.body);
    let other = create(with(hall(), "name", json!("Other"))).await;
    other.assert_problem(422, "idempotency_mismatch");
    let venue = first.body["venue_id"].as_str().unwrap();
    let path = format!("/api/v1/venues/{venue}");
    assert_eq!(service.get(&path, Some(&token)).await.body["name"], "Hall");
    service
        .get(&path, None)
        .await
        .assert_problem(401, "unauthenticated");
}

#[tokio::test]
async fn pages_follow_their_cursors() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let mut expected = Vec::new();
    for _ in 0..5 {
        service.world.clock.advance(1);
        expected.insert(0, service.make_show(&token, evening()).await.0);
    }
    for sort in ["relevance", "date"] {
        let (mut path, mut found) = (format!("/api/v1/events?limit=2&sort={sort}"), Vec::new());
        loop {
            let page = service.get(&path, None).await.body;
            let ids = page["items"].as_array().unwrap().iter();
            found.extend(ids.map(|item| item["event_id"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["next_cursor"].as_str() else {
                break;
            };
            path = format!("/api/v1/events?limit=2&sort={sort}&cursor={cursor}");
        }
        if sort == "date" {
            expected.sort();
        }
        assert_eq!(found, expected, "{sort}");
    }
}

#[tokio::test]
async fn the_largest_venue_fits_its_body_and_everyone_can_read_it() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let row = |n: usize| json!({"label": n.to_string(), "seats": (1..=100).collect::<Vec<_>>()});
    let section = |name: &str| json!({"name": name, "rows": (0..500).map(row).collect::<Vec<_>>()});
    let venue = with(hall(), "sections", json!([section("A"), section("B")]));
    let created = service.write("POST /api/v1/venues", &token, venue).await;
    assert_eq!(created.body["places"], 100_000, "{}", created.body);
    let event =
        json!({"title": "Night", "category": "music", "venue_id": created.body["venue_id"]});
    let event = service
        .write("POST /api/v1/events", &token, event)
        .await
        .body;
    let call = format!(
        "POST /api/v1/events/{}/shows",
        event["event_id"].as_str().unwrap()
    );
    let prices = with(evening(), "prices", json!({"A": 1, "B": 1}));
    let show = service.write(&call, &token, prices).await.body;
    let path = format!(
        "/api/v1/shows/{}/availability.bin",
        show["show_id"].as_str().unwrap()
    );
    assert_eq!(service.get(&path, None).await.bytes.len(), 25_000);
}

#[test]
fn the_document_states_the_limits_of_the_code() {
    let (_, document) = openapi::finish(catalog::router(), "catalog");
    let document = serde_json::to_value(document).unwrap();
    let limit = |pointer: &str| {
        let found = document.pointer(&format!("/components/schemas/{pointer}"));
        found
            .and_then(Value::as_u64)
            .unwrap_or_else(|| panic!("{pointer} is missing"))
    };
    for (pointer, value) in [
        (
            "NewVenue/properties/name/maxLength",
            venues::MAX_VENUE_NAME_CHARS as u64,
        ),
        (
            "NewVenue/properties/city/maxLength",
            venues::MAX_CITY_CHARS as u64,
        ),
        (
            "NewVenue/properties/address/maxLength",
            venues::MAX_ADDRESS_CHARS as u64,
        ),
        (
            "NewVenue/properties/sections/maxItems",
            layout::MAX_SECTIONS as u64,
        ),
        (
            "GeneralSection/properties/capacity/maximum",
            layout::MAX_PLACES as u64,
        ),
        (
            "NewEvent/properties/title/maxLength",
            events::MAX_TITLE_CHARS as u64,
        ),
        (
            "NewEvent/properties/description/maxLength",
            events::MAX_DESCRIPTION_CHARS as u64,
        ),
        (
            "NewEvent/properties/category/maxLength",
            events::MAX_CATEGORY_CHARS as u64,
        ),
        (
            "NewEvent/properties/poster_url/maxLength",
            events::MAX_URL_CHARS as u64,
        ),
        (
            "EventChange/properties/title/maxLength",
            events::MAX_TITLE_CHARS as u64,
        ),
        (
            "EventChange/properties/poster_url/maxLength",
            events::MAX_URL_CHARS as u64,
        ),
        (
            "NewShow/properties/hold_seconds/minimum",
            (*show::HOLD_SECONDS.start()).into(),
        ),
        (
            "NewShow/properties/hold_seconds/maximum",
            (*show::HOLD_SECONDS.end()).into(),
        ),
        (
            "NewShow/properties/hold_seconds/default",
            show::DEFAULT_HOLD_SECONDS.into(),
        ),
        (
            "NewShow/properties/overbook_percent/maximum",
            layout::MAX_OVERBOOK_PERCENT.into(),
        ),
        (
            "NewShow/properties/refund_policy/maxItems",
            show::MAX_REFUND_STEPS as u64,
        ),
        (
            "NewShow/properties/max_tickets_per_buyer/maximum",
            (*show::TICKETS_PER_BUYER.end()).into(),
        ),
        (
            "NewShow/properties/max_tickets_per_buyer/default",
            show::DEFAULT_TICKETS_PER_BUYER.into(),
        ),
        (
            "ShowChange/properties/hold_seconds/maximum",
            (*show::HOLD_SECONDS.end()).into(),
        ),
        (
            "RefundStep/properties/hours_before/maximum",
            show::MAX_REFUND_HOURS.into(),
        ),
        (
            "RoomSettings/properties/capacity/maximum",
            (*show::ROOM_CAPACITY.end()).into(),
        ),
        (
            "RoomSettings/properties/rate_per_second/maximum",
            (*show::ROOM_RATE.end()).into(),
        ),
        (
            "RoomSettings/properties/pass_seconds/minimum",
            (*show::PASS_SECONDS.start()).into(),
        ),
        (
            "RoomSettings/properties/pass_seconds/maximum",
            (*show::PASS_SECONDS.end()).into(),
        ),
        ("Amount/maximum", money::MAX_PRICE.0),
    ] {
        assert_eq!(limit(pointer), value, "{pointer}");
    }
    for closed in [
        "NewVenue",
        "SeatedSection",
        "GeneralSection",
        "Row",
        "Location",
        "FocalPoint",
        "NewEvent",
        "EventChange",
        "NewShow",
        "ShowChange",
        "RoomSettings",
        "RefundStep",
    ] {
        let more = &document["components"]["schemas"][closed]["additionalProperties"];
        assert_eq!(*more, json!(false), "{closed}");
    }
}
