//! Fans as organisers and people at home meet them.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_domain::event::Event;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanCode, FanKeyId, FanKeys, FanSerial};
use onsale_domain::room::fans::Fan;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_000);
const HOUR_MS: u64 = 3_600_000;

struct Service {
    world: MemoryWorld,
    show: ShowId,
    router: Router,
    organiser: String,
    buyer: String,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.text).unwrap();
        let urn = body["type"].as_str().unwrap();
        urn.strip_prefix("urn:onsale:").unwrap().to_owned()
    }

    fn lines(&self) -> Vec<&str> {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.headers["content-type"], "text/csv; charset=utf-8");
        self.text.lines().collect()
    }
}

fn keys() -> FanKeys {
    FanKeys::new(vec![(FanKeyId(1), [7; 32])]).unwrap()
}

/// A show whose sale begins in an hour.
async fn service(keys: Option<FanKeys>, limits: Limits) -> Service {
    let world = MemoryWorld::new(NOW);
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let store = &world.app.store;
    let mut show = store.read::<Show>(stage.show.id).await.unwrap().unwrap();
    let event = store
        .read::<Event>(show.value.event_id)
        .await
        .unwrap()
        .unwrap();
    show.value.on_sale_at = Some(NOW + HOUR_MS);
    assert!(
        store
            .replace_show(&show, &event, Default::default())
            .await
            .unwrap()
    );

    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let token = async |caller: Caller| {
        let session = world
            .app
            .store
            .session(caller.session, caller.account)
            .await
            .unwrap();
        signer.sign(&session.unwrap(), caller.role).unwrap()
    };
    let organiser = token(stage.organiser().await.unwrap()).await;
    let buyer = token(stage.buyer(1).await.unwrap()).await;
    let api = Api::new(world.app.clone(), signer.verifier(), limits);
    let (router, _) = openapi::finish(
        room::router(room::RoomKeys {
            fans: keys,
            ..room::RoomKeys::default()
        }),
        "room",
    );
    Service {
        router: trace::layer(router.with_state(api)),
        world,
        show: stage.show.id,
        organiser,
        buyer,
    }
}

impl Service {
    async fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: Value,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/v1/shows/{}/{path}", self.show))
            .header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        let (parts, body) = self
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn codes(&self, token: Option<&str>, key: Option<&str>, count: Value) -> Answer {
        let body = json!({"count": count});
        self.send("POST", "fan-codes", token, key, body).await
    }

    async fn register(&self, email: &str) -> Answer {
        let body = json!({"email": email});
        self.send("POST", "fans", None, None, body).await
    }

    async fn fans(&self, token: Option<&str>) -> Answer {
        self.send("GET", "fans", token, None, Value::Null).await
    }

    fn is_good(&self, code: &str) -> bool {
        let code: FanCode = code.parse().unwrap();
        keys().verify(self.show, &code).is_ok()
    }
}

#[tokio::test]
async fn an_organiser_gets_a_file_of_good_codes_and_the_same_one_for_the_same_key() {
    let service = service(Some(keys()), Limits::default()).await;
    let token = Some(service.organiser.as_str());
    let file = service.codes(token, Some("k"), json!(3)).await;
    let lines = file.lines();
    assert_eq!((lines[0], lines.len()), ("code", 4));
    assert!(lines[1..].iter().all(|code| service.is_good(code)));
    let name = file.headers["content-disposition"].to_str().unwrap();
    assert_eq!(
        name,
        format!("attachment; filename=\"fan-codes-{}.csv\"", service.show)
    );
    let again = service.codes(token, Some("k"), json!(3)).await;
    assert_eq!(again.text, file.text);
    let others = service.codes(token, None, json!(3)).await;
    assert!(others.lines()[1..].iter().all(|code| !lines.contains(code)));
    let mismatch = service.codes(token, Some("k"), json!(4)).await;
    assert_eq!(mismatch.code(), "idempotency_mismatch");
}

#[tokio::test]
async fn codes_and_fans_are_for_the_owner_of_the_show() {
    let service = service(Some(keys()), Limits::default()).await;
    let buyer = Some(service.buyer.as_str());
    for (token, status) in [(None, 401), (buyer, 403)] {
        let made = service.codes(token, None, json!(1)).await;
        assert_eq!(made.status.as_u16(), status);
        assert_eq!(service.fans(token).await.status.as_u16(), status);
    }
    let token = Some(service.organiser.as_str());
    for wrong in [json!(0), json!(10_001), json!(-1), json!("3"), Value::Null] {
        let refused = service.codes(token, None, wrong).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn registering_twice_looks_like_registering_once() {
    let service = service(Some(keys()), Limits::default()).await;
    for email in ["Ana@example.org", "ana@example.org", "ben@example.org"] {
        let answer = service.register(email).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED);
        assert_eq!(answer.text, "{}");
    }
    let file = service.fans(Some(&service.organiser)).await;
    let lines = file.lines();
    assert_eq!(lines[0], "email,code");
    assert_eq!(lines.len(), 3);
    for line in &lines[1..] {
        let (email, code) = line.split_once(',').unwrap();
        assert!(["ana@example.org", "ben@example.org"].contains(&email));
        assert!(service.is_good(code));
    }
    let wrong = service.register("nobody").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_address_registers_ten_times_in_a_quarter_of_an_hour() {
    let service = service(Some(keys()), Limits::default()).await;
    for _ in 0..10 {
        let answer = service.register("ana@example.org").await;
        assert_eq!(answer.status, StatusCode::ACCEPTED);
    }
    let refused = service.register("ana@example.org").await;
    assert_eq!(refused.code(), "rate_limited");
    let other = service.register("ben@example.org").await;
    assert_eq!(other.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn nobody_registers_once_the_sale_has_begun() {
    let service = service(Some(keys()), Limits::default()).await;
    service.world.clock.advance(HOUR_MS);
    let refused = service.register("ana@example.org").await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.text);
}

#[tokio::test]
async fn an_address_that_looks_like_a_formula_is_text_in_the_file() {
    let service = service(Some(keys()), Limits::default()).await;
    service.register("=1+1@example.org").await;
    let file = service.fans(Some(&service.organiser)).await;
    assert!(file.lines()[1].starts_with("'=1+1@example.org,"));
}

#[tokio::test]
async fn a_long_list_comes_whole_and_in_order() {
    let service = service(Some(keys()), Limits::default()).await;
    let store = &service.world.app.store;
    for n in 0..2_500u32 {
        let fan = Fan {
            email: onsale_domain::account::Email::parse(&format!("f{n}@example.org")).unwrap(),
            key: FanKeyId(1),
            serial: FanSerial(n),
            registered: NOW + u64::from(n),
        };
        store.add_fan(service.show, &fan).await.unwrap();
    }
    let file = service.fans(Some(&service.organiser)).await;
    let lines = file.lines();
    assert_eq!(lines.len(), 2_501);
    for (n, line) in lines[1..].iter().enumerate() {
        assert!(line.starts_with(&format!("f{n}@example.org,")), "{line}");
    }
}

#[tokio::test]
async fn a_list_too_long_for_one_answer_goes_on_at_its_cursor() {
    let service = service(Some(keys()), Limits::default()).await;
    let store = &service.world.app.store;
    // Addresses as long as they may be: some 18,000 fill a file.
    let host = format!("{}.{}.{}", "h".repeat(63), "o".repeat(63), "s".repeat(61));
    let address = |n: u32| format!("{n:064}@{host}");
    for n in 0..18_500 {
        let fan = Fan {
            email: onsale_domain::account::Email::parse(&address(n)).unwrap(),
            key: FanKeyId(1),
            serial: FanSerial(n),
            registered: NOW + u64::from(n),
        };
        store.add_fan(service.show, &fan).await.unwrap();
    }
    let token = Some(service.organiser.as_str());
    let (mut path, mut listed, mut files) = ("fans".to_owned(), Vec::new(), 0);
    loop {
        service.world.clock.advance(1);
        let file = service.send("GET", &path, token, None, Value::Null).await;
        assert!(file.text.len() < 6_000_000, "{}", file.text.len());
        let lines = file.lines();
        assert_eq!(lines[0], "email,code");
        let emails = lines[1..].iter().map(|line| line.split(',').next());
        listed.extend(emails.map(|email| email.unwrap().to_owned()));
        files += 1;
        match file.headers.get("onsale-next-cursor") {
            Some(next) => path = format!("fans?cursor={}", next.to_str().unwrap()),
            None => break,
        }
    }
    assert_eq!((files, listed.len()), (2, 18_500));
    assert!(listed == (0..18_500).map(address).collect::<Vec<_>>());
    let trail = store.audit_of(service.show, None, 10).await.unwrap().items;
    assert_eq!(trail.len(), 2, "each file is on the trail: {trail:?}");
    let nonsense = service.send("GET", "fans?cursor=!", token, None, Value::Null);
    assert_eq!(nonsense.await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn without_keys_everything_says_so() {
    let service = service(None, Limits::default()).await;
    let token = Some(service.organiser.as_str());
    for answer in [
        service.codes(token, None, json!(1)).await,
        service.register("ana@example.org").await,
        service.fans(token).await,
    ] {
        assert_eq!(answer.code(), "unavailable");
        assert!(answer.text.contains("FAN_KEYS"), "{}", answer.text);
        assert!(answer.headers.contains_key("retry-after"));
    }
}
