//! Where a token may come from, and what it lets its bearer do.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::routing::get;
use onsale_app::Caller;
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::time::Millis;
use onsale_test_support::MemoryWorld;
use tower::ServiceExt;

use super::{Authenticated, LoggedIn, MaybeLoggedIn, SessionSigner};
use crate::limits::Limits;
use crate::state::Api;

const NOW: Millis = Millis(1_800_000_000_000);

struct Site {
    world: MemoryWorld,
    router: Router,
    token: String,
    session: Session,
}

async fn name(caller: Caller) -> String {
    caller.account.to_string()
}

async fn site(limits: Limits) -> Site {
    let world = MemoryWorld::new(NOW);
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let session = Session {
        id: SessionId::from_bytes([1; 16]),
        account: AccountId::from_bytes([2; 16]),
        opened: NOW,
        expires: NOW + 3_600_000,
        epoch: 0,
        device: None,
    };
    world.store.open_session(&session).await.unwrap();
    let token = signer.sign(&session, Role::Buyer).unwrap();
    let authenticated = |Authenticated(caller): Authenticated| name(caller);
    let logged_in = |LoggedIn(caller): LoggedIn| name(caller);
    let maybe = |MaybeLoggedIn(caller): MaybeLoggedIn| async move { caller.is_some().to_string() };
    let router = Router::new()
        .route("/token", get(authenticated).post(authenticated))
        .route("/session", get(logged_in).post(logged_in))
        .route("/maybe", get(maybe))
        .with_state(Api::new(world.app.clone(), signer.verifier(), limits));
    Site {
        world,
        router,
        token,
        session,
    }
}

impl Site {
    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> StatusCode {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap().status()
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> StatusCode {
        self.send(Method::GET, path, headers).await
    }
}

#[tokio::test]
async fn a_token_comes_as_bearer_or_as_cookie() {
    let site = site(Limits::off()).await;
    let bearer = format!("Bearer {}", site.token);
    let lower = format!("bearer {}", site.token);
    let cookie = format!("theme=dark; onsale_session={}; lang=en", site.token);
    for good in [
        ("authorization", &bearer),
        ("authorization", &lower),
        ("cookie", &cookie),
    ] {
        let headers = [(good.0, good.1.as_str())];
        for path in ["/token", "/session", "/maybe"] {
            assert_eq!(
                site.get(path, &headers).await,
                StatusCode::OK,
                "{path} {}",
                good.1
            );
        }
    }
    assert_eq!(site.get("/token", &[]).await, StatusCode::UNAUTHORIZED);
    assert_eq!(site.get("/maybe", &[]).await, StatusCode::OK);
    let broken = bearer.replace(' ', "  x");
    for bad in [
        ("authorization", "Basic YW5hOmFuYQ=="),
        ("authorization", "Bearer"),
        ("authorization", &site.token),
        ("authorization", &broken),
        ("cookie", "onsale_session=x"),
        ("cookie", "onsale_session="),
    ] {
        for path in ["/token", "/session", "/maybe"] {
            let status = site.get(path, &[bad]).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path} {}", bad.1);
        }
    }
    // A header that is no good is not healed by a cookie that is.
    let both = [("authorization", "Bearer x"), ("cookie", cookie.as_str())];
    assert_eq!(site.get("/token", &both).await, StatusCode::UNAUTHORIZED);
    let twice = [
        ("authorization", bearer.as_str()),
        ("authorization", bearer.as_str()),
    ];
    assert_eq!(site.get("/token", &twice).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_change_by_cookie_must_come_from_our_own_pages() {
    let site = site(Limits::off()).await;
    let cookie = format!("onsale_session={}", site.token);
    let cases: &[(&[(&str, &str)], StatusCode)] = &[
        (
            &[
                ("host", "tickets.example"),
                ("origin", "https://tickets.example"),
            ],
            StatusCode::OK,
        ),
        (
            &[
                ("host", "127.0.0.1:8787"),
                ("origin", "http://127.0.0.1:8787"),
            ],
            StatusCode::OK,
        ),
        (
            &[
                ("host", "abc.lambda-url.eu-west-1.on.aws"),
                ("x-forwarded-host", "tickets.example"),
                ("origin", "https://tickets.example"),
            ],
            StatusCode::OK,
        ),
        (&[("host", "tickets.example")], StatusCode::FORBIDDEN),
        (
            &[("host", "tickets.example"), ("origin", "null")],
            StatusCode::FORBIDDEN,
        ),
        (
            &[
                ("host", "tickets.example"),
                ("origin", "https://evil.example"),
            ],
            StatusCode::FORBIDDEN,
        ),
        (
            &[
                ("host", "tickets.example"),
                ("origin", "https://tickets.example.evil.example"),
            ],
            StatusCode::FORBIDDEN,
        ),
        (
            &[
                ("host", "tickets.example:8787"),
                ("origin", "https://tickets.example"),
            ],
            StatusCode::FORBIDDEN,
        ),
        (
            &[("host", "tickets.example"), ("origin", "tickets.example")],
            StatusCode::FORBIDDEN,
        ),
        (&[("origin", "https://")], StatusCode::FORBIDDEN),
    ];
    for (headers, expected) in cases {
        let mut all = vec![("cookie", cookie.as_str())];
        all.extend_from_slice(headers);
        assert_eq!(
            site.send(Method::POST, "/token", &all).await,
            *expected,
            "{headers:?}"
        );
        assert_eq!(
            site.get("/token", &all).await,
            StatusCode::OK,
            "reading: {headers:?}"
        );
    }
    // A program that sends the header is no browser and has no origin.
    let bearer = format!("Bearer {}", site.token);
    let headers = [
        ("authorization", bearer.as_str()),
        ("origin", "https://evil.example"),
    ];
    assert_eq!(
        site.send(Method::POST, "/token", &headers).await,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_closed_session_is_refused_at_once_where_the_store_is_asked() {
    let site = site(Limits::off()).await;
    let bearer = format!("Bearer {}", site.token);
    let headers = [("authorization", bearer.as_str())];
    site.world
        .store
        .close_session(site.session.id)
        .await
        .unwrap();
    // Where the use case asks, the token alone says nothing of it.
    assert_eq!(site.get("/token", &headers).await, StatusCode::OK);
    assert_eq!(
        site.get("/session", &headers).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(site.get("/maybe", &headers).await, StatusCode::UNAUTHORIZED);
    // This process knows it now.
    assert_eq!(site.get("/token", &headers).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn all_sessions_of_an_account_share_its_hundred_requests() {
    let site = site(Limits::default()).await;
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let mut bearers = Vec::new();
    for n in 11..=14 {
        let session = Session {
            id: SessionId::from_bytes([n; 16]),
            ..site.session.clone()
        };
        site.world.store.open_session(&session).await.unwrap();
        let token = signer.sign(&session, Role::Buyer).unwrap();
        bearers.push(format!("Bearer {token}"));
    }
    for n in 0..100 {
        let headers = [("authorization", bearers[n % 4].as_str())];
        let path = if n % 2 == 0 { "/token" } else { "/session" };
        assert_eq!(site.get(path, &headers).await, StatusCode::OK, "{n}");
    }
    for bearer in &bearers {
        let headers = [("authorization", bearer.as_str())];
        for path in ["/token", "/session"] {
            let status = site.get(path, &headers).await;
            assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{path}");
        }
    }
}

#[tokio::test]
async fn a_token_that_was_logged_out_uses_nothing_up_for_its_owner() {
    let site = site(Limits::default()).await;
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let other = Session {
        id: SessionId::from_bytes([9; 16]),
        ..site.session.clone()
    };
    let stolen = format!("Bearer {}", signer.sign(&other, Role::Buyer).unwrap());
    let stolen = [("authorization", stolen.as_str())];
    // Once it was found ended, nobody asks the store again.
    assert_eq!(
        site.get("/session", &stolen).await,
        StatusCode::UNAUTHORIZED
    );
    for _ in 0..98 {
        let status = site.get("/token", &stolen).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    let bearer = format!("Bearer {}", site.token);
    let headers = [("authorization", bearer.as_str())];
    for n in 0..100 {
        assert_eq!(site.get("/token", &headers).await, StatusCode::OK, "{n}");
    }
}

#[tokio::test]
async fn an_account_has_a_hundred_requests_a_minute() {
    let site = site(Limits::default()).await;
    let bearer = format!("Bearer {}", site.token);
    let headers = [("authorization", bearer.as_str())];
    for _ in 0..100 {
        assert_eq!(site.get("/token", &headers).await, StatusCode::OK);
    }
    assert_eq!(
        site.get("/token", &headers).await,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(site.get("/maybe", &[]).await, StatusCode::OK);
}
