//! Buyers without a password: a session at once, later ones by a link that is mailed.

use axum::http::StatusCode;
use onsale_app::ports::Drive;
use onsale_domain::announcement::News;
use onsale_domain::password_reset::ResetPurpose;
use onsale_http::Limits;
use serde_json::{Value, json};

use super::service::{Answer, Service, ana, code, reset_keys, service, token};

const LINKS: &str = "/api/v1/session-links";
const PROOF: &str = "/api/v1/me/address-proof";

fn guest() -> Value {
    json!({"email": "Ana@Example.org", "name": "Ana", "role": "buyer"})
}

/// Does what the messages ask, and answers with the tokens that are mailed for a purpose.
async fn mailed(service: &Service, purpose: ResetPurpose) -> Vec<String> {
    for message in service.world.saga_queue.take_due() {
        let driven = service.world.app.drive(&message).await;
        assert!(driven.is_ok(), "{driven:?}");
    }
    let told = service.world.bus.told().into_iter();
    let links = told.filter_map(|told| match told.news {
        News::PasswordResetAsked {
            reset_id,
            purpose: asked,
            ..
        } if asked == purpose => Some(reset_keys().token(reset_id).to_string()),
        _ => None,
    });
    links.collect()
}

async fn ask(service: &Service, email: &str) {
    let asked = service.post(LINKS, None, json!({"email": email})).await;
    assert_eq!(
        (asked.status, asked.body),
        (StatusCode::ACCEPTED, json!({}))
    );
}

async fn follow(service: &Service, link: &str, key: Option<&str>) -> Answer {
    let key: Vec<_> = key
        .map(|key| ("idempotency-key", key))
        .into_iter()
        .collect();
    let path = format!("{LINKS}/{link}");
    service.send("POST", &path, &key, None).await
}

#[tokio::test]
async fn a_name_and_an_address_are_enough_for_a_session() {
    let service = service(Limits::default());
    let answer = service.register(None, guest()).await;
    let token = token(&answer);
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    let expected = format!("onsale_session={token}; HttpOnly; SameSite=Lax; Path=/; ");
    assert!(cookie.starts_with(&expected), "{cookie}");
    assert_eq!(answer.body["expires_at"], "2027-01-15T20:00:00Z");
    let me = service.me(&token).await.body;
    let id = &answer.body["account_id"];
    let expected = json!({
        "account_id": id, "email": "ana@example.org", "name": "Ana", "role": "buyer",
        "address_proven": false,
    });
    assert_eq!(me, expected);
    for password in ["x", "correct horse", ""] {
        let log_in = service.log_in(None, "ana@example.org", password).await;
        assert_ne!(log_in.status, StatusCode::CREATED);
    }
}

#[tokio::test]
async fn only_buyers_go_without_a_password() {
    let service = service(Limits::default());
    let mut organiser = guest();
    organiser["role"] = json!("organiser");
    let answer = service.register(None, organiser).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let mut null = guest();
    null["password"] = json!(null);
    let answer = service.register(None, null).await;
    token(&answer);
}

#[tokio::test]
async fn an_address_that_is_taken_gets_a_link_instead() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let mut other = guest();
    other["email"] = json!("ANA@example.org ");
    let answer = service.register(None, other).await;
    assert_eq!(
        (answer.status, code(&answer)),
        (StatusCode::CONFLICT, "email_taken")
    );
    assert!(!answer.headers.contains_key("set-cookie"));
    let links = mailed(&service, ResetPurpose::LogIn).await;
    assert_eq!(links.len(), 1);
    token(&follow(&service, &links[0], None).await);
}

#[tokio::test]
async fn a_lost_answer_is_had_again_by_its_key_for_some_minutes() {
    let service = service(Limits::off());
    let first = service.register(Some("k"), guest()).await;
    let again = service.register(Some("k"), guest()).await;
    assert_eq!(again.status, StatusCode::CREATED, "{}", again.body);
    assert_eq!(token(&again), token(&first));
    let mut other = guest();
    other["name"] = json!("Bo");
    let other = service.register(Some("k"), other).await;
    assert_eq!(code(&other), "idempotency_mismatch");
    service.world.clock.advance(10 * 60_000);
    let late = service.register(Some("k"), guest()).await;
    assert_eq!(code(&late), "email_taken", "a key is no password");
}

#[tokio::test]
async fn a_link_logs_in_once_and_proves_the_address() {
    let service = service(Limits::off());
    token(&service.register(None, guest()).await);
    ask(&service, "ana@example.org").await;
    ask(&service, "nobody@example.org").await;
    let links = mailed(&service, ResetPurpose::LogIn).await;
    assert_eq!(links.len(), 1, "nobody else is written to");
    let session = follow(&service, &links[0], Some("k")).await;
    assert_eq!(session.body["role"], "buyer");
    assert!(session.headers.contains_key("set-cookie"));
    let mine = token(&session);
    assert_eq!(service.me(&mine).await.body["address_proven"], true);
    let again = follow(&service, &links[0], Some("k")).await;
    assert_eq!(token(&again), mine, "the same request");
    for (link, key) in [
        (links[0].as_str(), None),
        (&links[0], Some("l")),
        ("x", None),
    ] {
        let refused = follow(&service, link, key).await;
        assert_eq!(code(&refused), "not_found");
    }
    let password = format!("/api/v1/password-resets/{}", links[0]);
    let body = json!({"password": "a new horse"});
    let elsewhere = service.post(&password, None, body).await;
    assert_eq!(code(&elsewhere), "not_found", "it sets no password");
}

#[tokio::test]
async fn whoever_waits_inside_an_unproven_account_is_sent_out() {
    let service = service(Limits::off());
    // A stranger registers with the address of somebody else, and sets a password.
    service.register(None, ana()).await;
    let stranger = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    let stranger = token(&stranger);
    ask(&service, "ana@example.org").await;
    let links = mailed(&service, ResetPurpose::LogIn).await;
    let mine = token(&follow(&service, &links[0], None).await);
    assert_eq!(service.me(&mine).await.status, StatusCode::OK);
    assert_eq!(service.me(&stranger).await.status, StatusCode::UNAUTHORIZED);
    let log_in = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    assert_eq!(log_in.status, StatusCode::UNAUTHORIZED);
    // From then on links end nothing.
    ask(&service, "ana@example.org").await;
    let links = mailed(&service, ResetPurpose::LogIn).await;
    token(&follow(&service, &links[1], None).await);
    assert_eq!(service.me(&mine).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_link_to_log_in_is_good_for_half_an_hour() {
    let service = service(Limits::off());
    service.register(None, guest()).await;
    ask(&service, "ana@example.org").await;
    let links = mailed(&service, ResetPurpose::LogIn).await;
    service.world.clock.advance(30 * 60_000);
    let late = follow(&service, &links[0], None).await;
    assert_eq!(code(&late), "not_found");
}

#[tokio::test]
async fn the_first_password_needs_no_old_one_and_the_second_does() {
    let service = service(Limits::off());
    let mine = token(&service.register(None, guest()).await);
    let set = async |body| {
        let answer = service.with_token("PUT", "/api/v1/me/password", &mine, Some(body));
        answer.await.status
    };
    let guessed = json!({"current_password": "x", "new_password": "correct horse"});
    assert_eq!(set(guessed).await, StatusCode::FORBIDDEN);
    let first = json!({"new_password": "correct horse"});
    assert_eq!(set(first).await, StatusCode::NO_CONTENT);
    let second = json!({"new_password": "another horse"});
    assert_eq!(set(second.clone()).await, StatusCode::FORBIDDEN);
    let mut right = second;
    right["current_password"] = json!("correct horse");
    assert_eq!(set(right).await, StatusCode::NO_CONTENT);
    token(
        &service
            .log_in(None, "ana@example.org", "another horse")
            .await,
    );
}

#[tokio::test]
async fn an_address_is_proven_in_a_session_of_its_account_only() {
    let service = service(Limits::off());
    let mine = token(&service.register(None, guest()).await);
    let mut bo = guest();
    bo["email"] = json!("bo@example.org");
    let other = token(&service.register(None, bo).await);
    let asked = service.with_token("POST", PROOF, &mine, None).await;
    assert_eq!(asked.status, StatusCode::ACCEPTED);
    let links = mailed(&service, ResetPurpose::ProveAddress).await;
    assert_eq!(links.len(), 1);
    let path = format!("{PROOF}/{}", links[0]);
    let refused = service.with_token("POST", &path, &other, None).await;
    assert_eq!(code(&refused), "not_found");
    let stranger = service.send("POST", &path, &[], None).await;
    assert_eq!(code(&stranger), "unauthenticated");
    assert_eq!(code(&follow(&service, &links[0], None).await), "not_found");
    for _ in 0..2 {
        let proven = service.with_token("POST", &path, &mine, None).await;
        assert_eq!(proven.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(service.me(&mine).await.body["address_proven"], true);
    service.with_token("POST", PROOF, &mine, None).await;
    let links = mailed(&service, ResetPurpose::ProveAddress).await;
    assert_eq!(links.len(), 1, "there is nothing left to prove");
}

#[tokio::test]
async fn an_address_gets_three_links_in_half_an_hour() {
    let service = service(Limits::off());
    service.register(None, guest()).await;
    for _ in 0..5 {
        ask(&service, "ana@example.org").await;
        mailed(&service, ResetPurpose::LogIn).await;
    }
    assert_eq!(mailed(&service, ResetPurpose::LogIn).await.len(), 3);
}

#[tokio::test]
async fn registering_an_address_that_is_taken_counts_as_asking_for_a_link() {
    let service = service(Limits::default());
    service.register(None, guest()).await;
    for _ in 0..8 {
        let answer = service.register(None, guest()).await;
        assert_eq!(code(&answer), "email_taken");
    }
    // Nothing was mailed yet, so the quota of the store is not used up: each of these asked.
    let asked = service.world.saga_queue.take_due().into_iter();
    let asked = asked.filter(|message| matches!(message, Drive::Reset { .. }));
    assert_eq!(asked.count(), 3);
}

/// A form of another site reaches us with its Origin, whatever its body is called.
#[tokio::test]
async fn no_page_of_another_site_opens_a_session() {
    let service = service(Limits::off());
    service.register(None, ana()).await;
    ask(&service, "ana@example.org").await;
    let link = mailed(&service, ResetPurpose::LogIn).await.remove(0);
    let email = json!({"email": "ana@example.org"});
    let reset = service.post("/api/v1/password-resets", None, email).await;
    assert_eq!(reset.status, StatusCode::ACCEPTED);
    let reset = mailed(&service, ResetPurpose::Reset).await.remove(0);
    let mut other = guest();
    other["email"] = json!("bo@example.org");
    let password = json!({"email": "ana@example.org", "password": "correct horse"});
    let attempts = [
        ("/api/v1/sessions".to_owned(), Some(password)),
        ("/api/v1/accounts".to_owned(), Some(other)),
        (format!("{LINKS}/{link}"), None),
        (
            format!("/api/v1/password-resets/{reset}"),
            Some(json!({"password": "a new horse"})),
        ),
    ];
    let host = ("x-forwarded-host", "tickets.example");
    for (path, body) in &attempts {
        for foreign in ["https://evil.example", "null"] {
            let headers = [host, ("origin", foreign)];
            let refused = service.send("POST", path, &headers, body.clone()).await;
            assert_eq!(
                (refused.status, code(&refused)),
                (StatusCode::FORBIDDEN, "forbidden"),
                "{path} from {foreign}"
            );
            assert!(!refused.headers.contains_key("set-cookie"), "{path}");
        }
    }
    // Nothing was used up, and our own pages and programs go on. The last link is not tried: it
    // ends with the epoch in which it was asked for.
    for (n, (path, body)) in attempts.into_iter().take(3).enumerate() {
        let ours = [host, ("origin", "https://tickets.example")];
        let headers = if n % 2 == 0 { &ours[..] } else { &[] };
        let answer = service.send("POST", &path, headers, body).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.body);
    }
}
