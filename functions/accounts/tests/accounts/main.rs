//! The function as its clients meet it.

mod devices;
mod links;
mod passwords;
mod service;

use std::sync::Arc;

use axum::http::StatusCode;
use onsale_http::{Limits, SessionSigner, openapi};
use serde_json::json;

use service::{ana, but, code, service, token};

const HOUR_MS: u64 = 3_600_000;

#[tokio::test]
async fn somebody_registers_logs_in_looks_at_themselves_and_logs_out() {
    let service = service(Limits::default());
    let mut ana = ana();
    // As good as left out.
    ana["language"] = json!(null);
    let account = service.register(None, ana).await;
    assert_eq!(account.status, StatusCode::CREATED);
    let id = &account.body["account_id"];
    assert_eq!(
        account.body,
        json!({
            "account_id": id, "email": "ana@example.org", "name": "Ana", "role": "buyer",
            "address_proven": false,
        })
    );

    let session = service
        .log_in(None, "ANA@example.org", "correct horse")
        .await;
    let token = token(&session);
    assert_eq!(session.body["account_id"], *id);
    assert_eq!(session.body["role"], "buyer");
    assert_eq!(session.body["expires_at"], "2027-01-15T20:00:00Z");
    let cookie = session.headers["set-cookie"].to_str().unwrap();
    assert_eq!(
        cookie,
        format!("onsale_session={token}; HttpOnly; SameSite=Lax; Path=/; Max-Age=43199")
    );

    assert_eq!(service.me(&token).await.body, account.body);
    let renamed = service
        .with_token(
            "PATCH",
            "/api/v1/me",
            &token,
            Some(json!({"name": "Ana María"})),
        )
        .await;
    assert_eq!(renamed.body["name"], "Ana María");
    assert_eq!(service.me(&token).await.body, renamed.body);

    let gone = service
        .with_token("DELETE", "/api/v1/sessions/current", &token, None)
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    let cleared = gone.headers["set-cookie"].to_str().unwrap();
    assert!(
        cleared.starts_with("onsale_session=;") && cleared.contains("Max-Age=0"),
        "{cleared}"
    );
    assert_eq!(service.me(&token).await.status, StatusCode::UNAUTHORIZED);
    let again = service
        .with_token("DELETE", "/api/v1/sessions/current", &token, None)
        .await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_cookie_is_secure_behind_tls() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let body = json!({"email": "ana@example.org", "password": "correct horse"});
    let headers = [("x-forwarded-proto", "https")];
    let session = service
        .send("POST", "/api/v1/sessions", &headers, Some(body))
        .await;
    let cookie = session.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-onsale_session="), "{cookie}");
    assert!(cookie.ends_with("; Secure") && cookie.contains("; Path=/;"));
    assert!(!cookie.contains("Domain"), "{cookie}");
    let (sent, _) = cookie.split_once(';').unwrap();
    let with_cookie = [("x-forwarded-proto", "https"), ("cookie", sent)];
    let me = service.send("GET", "/api/v1/me", &with_cookie, None).await;
    assert_eq!(me.status, StatusCode::OK);
    let plain = sent.replace("__Host-", "");
    let with_plain = [("x-forwarded-proto", "https"), ("cookie", plain.as_str())];
    let me = service.send("GET", "/api/v1/me", &with_plain, None).await;
    assert_eq!(
        me.status,
        StatusCode::UNAUTHORIZED,
        "another host may set it"
    );
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let token = token(
        &service
            .log_in(None, "ana@example.org", "correct horse")
            .await,
    );
    service.world.clock.advance(12 * HOUR_MS - 1_000);
    assert_eq!(service.me(&token).await.status, StatusCode::OK);
    service.world.clock.advance(1_000);
    assert_eq!(service.me(&token).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn registering_again_with_the_same_key_gives_the_first_answer() {
    let service = service(Limits::default());
    let first = service.register(Some("k"), ana()).await;
    assert_eq!(first.status, StatusCode::CREATED);
    let again = service.register(Some("k"), ana()).await;
    assert_eq!(
        (again.status, &again.body),
        (StatusCode::CREATED, &first.body)
    );

    // Renaming in between changes the account and not what that request was answered.
    let token = token(
        &service
            .log_in(None, "ana@example.org", "correct horse")
            .await,
    );
    service
        .with_token("PATCH", "/api/v1/me", &token, Some(json!({"name": "Anna"})))
        .await;
    assert_eq!(service.register(Some("k"), ana()).await.body, first.body);
    assert_eq!(service.me(&token).await.body["name"], "Anna");

    for other in [
        but("name", "Eve"),
        but("role", "organiser"),
        but("password", "another horse"),
    ] {
        let answer = service.register(Some("k"), other).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(code(&answer), "idempotency_mismatch");
    }
    for key in [None, Some("other")] {
        let answer = service.register(key, ana()).await;
        assert_eq!(
            (answer.status, code(&answer)),
            (StatusCode::CONFLICT, "email_taken")
        );
    }
    // Nothing of this changed the password.
    assert_eq!(
        service
            .log_in(None, "ana@example.org", "another horse")
            .await
            .status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn many_at_once_with_one_key_make_one_account() {
    let service = service(Limits::default());
    let attempt = || service.register(Some("k"), ana());
    let (a, b, c, d) = tokio::join!(attempt(), attempt(), attempt(), attempt());
    for answer in [&a, &b, &c, &d] {
        assert_eq!(
            (answer.status, &answer.body),
            (StatusCode::CREATED, &a.body)
        );
    }
}

#[tokio::test]
async fn logging_in_again_with_the_same_key_gives_the_same_session_until_it_is_closed() {
    let service = service(Limits::off());
    service.register(None, ana()).await;
    let log_in = async |key| {
        token(
            &service
                .log_in(key, "ana@example.org", "correct horse")
                .await,
        )
    };
    let first = log_in(Some("k")).await;
    service.world.clock.advance(5_000);
    assert_eq!(log_in(Some("k")).await, first);
    assert_ne!(log_in(Some("l")).await, first);
    assert_ne!(log_in(None).await, log_in(None).await);

    service
        .with_token("DELETE", "/api/v1/sessions/current", &first, None)
        .await;
    let second = log_in(Some("k")).await;
    assert_ne!(second, first);
    assert_eq!(service.me(&first).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(service.me(&second).await.status, StatusCode::OK);

    // A key does not open somebody's session without their password.
    let wrong = service
        .log_in(Some("l"), "ana@example.org", "a wrong horse")
        .await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_failed_log_in_does_not_tell_whether_the_account_exists() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let known = service
        .log_in(None, "ana@example.org", "a wrong horse")
        .await;
    let unknown = service
        .log_in(None, "bob@example.org", "a wrong horse")
        .await;
    assert_eq!(known.status, StatusCode::UNAUTHORIZED);
    assert_eq!((known.status, &known.body), (unknown.status, &unknown.body));
    assert_eq!(known.headers.get("set-cookie"), None);
}

#[tokio::test]
async fn log_in_attempts_are_limited_by_email_whether_or_not_it_exists() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    for email in ["ana@example.org", "nobody@example.org"] {
        for _ in 0..10 {
            let answer = service.log_in(None, email, "a wrong horse").await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        }
        let refused = service
            .log_in(None, &email.to_uppercase(), "correct horse")
            .await;
        assert_eq!(
            (refused.status, code(&refused)),
            (StatusCode::TOO_MANY_REQUESTS, "rate_limited")
        );
        assert_eq!(refused.headers["retry-after"], "90");
    }
    service.world.clock.advance(90_000);
    let answer = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    assert_eq!(answer.status, StatusCode::CREATED);
}

#[tokio::test]
async fn strangers_cannot_use_up_the_log_ins_of_a_browser_that_is_known() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let first = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    let cookies = first.headers.get_all("set-cookie").iter();
    let known = cookies
        .filter_map(|cookie| cookie.to_str().unwrap().split(';').next())
        .find(|cookie| cookie.starts_with("onsale_known="));
    let known = known.unwrap().to_owned();
    for _ in 0..10 {
        service
            .log_in(None, "ana@example.org", "a wrong horse")
            .await;
    }
    let log_in = async |cookie: &str, password: &str| {
        let body = json!({"email": "ana@example.org", "password": password});
        let headers = [("cookie", cookie)];
        let answer = service.send("POST", "/api/v1/sessions", &headers, Some(body));
        answer.await.status
    };
    let forged = format!("{known}x");
    assert_eq!(
        log_in(&forged, "correct horse").await,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(log_in(&known, "correct horse").await, StatusCode::CREATED);
    for _ in 0..9 {
        assert_eq!(
            log_in(&known, "a wrong horse").await,
            StatusCode::UNAUTHORIZED
        );
    }
    let limited = log_in(&known, "correct horse").await;
    assert_eq!(
        limited,
        StatusCode::TOO_MANY_REQUESTS,
        "a known browser is limited as well"
    );
}

#[tokio::test]
async fn a_request_that_cannot_be_meant_is_refused() {
    let service = service(Limits::default());
    let long = "x".repeat(129);
    let long_email = format!("{}ana@example.org", " ".repeat(300));
    let mut extra = ana();
    extra["admin"] = json!(true);
    let mut nameless = ana();
    nameless.as_object_mut().unwrap().remove("name");
    let bodies = [
        but("email", "ana"),
        but("email", "ana@example.org\nBcc: eve@example.org"),
        but("email", &long_email),
        but("email", "zoë@example.org"),
        but("email", "ana@bücher.example"),
        but("password", "short"),
        but("password", &long),
        but("name", "   "),
        but("name", "a\u{202e}b"),
        but("name", "a\u{0}b"),
        but("role", "staff"),
        but("role", "admin"),
        extra,
        nameless,
        json!(["ana@example.org", "correct horse", "Ana", "buyer"]),
        json!(null),
    ];
    for body in bodies {
        let answer = service.register(None, body.clone()).await;
        assert_eq!(
            (answer.status, code(&answer)),
            (StatusCode::BAD_REQUEST, "invalid_request"),
            "{body}"
        );
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(
            !detail.contains("horse") && !detail.contains(&long),
            "{detail}"
        );
    }
    let long_key = "k".repeat(65);
    for key in ["", long_key.as_str(), "kåre"] {
        let answer = service.register(Some(key), ana()).await;
        assert_eq!(
            (answer.status, code(&answer)),
            (StatusCode::BAD_REQUEST, "invalid_request"),
            "{key}"
        );
    }
    for password in ["", &long] {
        let answer = service.log_in(None, "ana@example.org", password).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(
        service.register(None, ana()).await.status,
        StatusCode::CREATED
    );
}

#[test]
fn the_document_describes_every_operation() {
    let signer = Arc::new(SessionSigner::from_secret("k1", [7; 32]));
    let (_, document) = openapi::finish(
        accounts::router(signer, Some(Arc::new(service::reset_keys()))),
        "accounts",
    );
    let document = serde_json::to_value(openapi::merge(vec![document])).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert_eq!(operation["x-function"], "accounts");
            operations.push(format!("{method} {path}"));
        }
    }
    operations.sort();
    assert_eq!(
        operations,
        [
            "delete /api/v1/me",
            "delete /api/v1/sessions/current",
            "delete /api/v1/staff/{account}",
            "get /api/v1/me",
            "get /api/v1/me/export",
            "get /api/v1/staff",
            "patch /api/v1/me",
            "post /api/v1/accounts",
            "post /api/v1/me/address-proof",
            "post /api/v1/me/address-proof/{token}",
            "post /api/v1/password-resets",
            "post /api/v1/password-resets/{token}",
            "post /api/v1/session-links",
            "post /api/v1/session-links/{token}",
            "post /api/v1/sessions",
            "post /api/v1/staff",
            "put /api/v1/me/password",
        ]
    );
    let schemas = &document["components"]["schemas"];
    for request in [
        "Register",
        "LogIn",
        "Rename",
        "PasswordChange",
        "NewPassword",
        "NewStaff",
        "DeleteAccount",
    ] {
        assert_eq!(schemas[request]["additionalProperties"], false, "{request}");
    }
    assert_eq!(
        schemas["Register"]["required"],
        json!(["email", "name", "role"])
    );
    assert_eq!(schemas["NewRole"]["enum"], json!(["buyer", "organiser"]));
    let text = document.to_string();
    for reference in text.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas[name].is_object(), "{name}");
    }
}
