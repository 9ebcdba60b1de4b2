//! New passwords, and leaving.

use axum::http::StatusCode;
use onsale_domain::announcement::News;
use onsale_domain::ids::ResetId;
use onsale_http::Limits;
use serde_json::json;

use super::service::{Service, ana, code, reset_keys, service, token};

const PASSWORD: &str = "/api/v1/me/password";
const RESETS: &str = "/api/v1/password-resets";

async fn logged_in(service: &Service) -> String {
    let answer = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    token(&answer)
}

async fn change(
    service: &Service,
    token: &str,
    current: &str,
    new: &str,
) -> super::service::Answer {
    let body = json!({"current_password": current, "new_password": new});
    service.with_token("PUT", PASSWORD, token, Some(body)).await
}

/// Does what the messages ask, and returns the links that were announced.
async fn links(service: &Service) -> Vec<ResetId> {
    for message in service.world.saga_queue.take_due() {
        let driven = service.world.app.drive(&message).await;
        assert!(driven.is_ok(), "{driven:?}");
    }
    let told = service.world.bus.told().into_iter();
    let resets = told.filter_map(|told| match told.news {
        News::PasswordResetAsked { reset_id, .. } => Some(reset_id),
        _ => None,
    });
    resets.collect()
}

#[tokio::test]
async fn a_new_password_ends_every_other_session_at_once() {
    let service = service(Limits::off());
    service.register(None, ana()).await;
    let (mine, other) = (logged_in(&service).await, logged_in(&service).await);
    let wrong = change(&service, &mine, "wrong horse", "a new horse").await;
    assert_eq!(
        (wrong.status, code(&wrong)),
        (StatusCode::FORBIDDEN, "forbidden"),
        "whoever mistyped stays logged in"
    );
    assert_eq!(service.me(&other).await.status, StatusCode::OK);
    let changed = change(&service, &mine, "correct horse", "a new horse").await;
    assert_eq!(changed.status, StatusCode::NO_CONTENT);
    assert_eq!(service.me(&mine).await.status, StatusCode::OK);
    assert_eq!(service.me(&other).await.status, StatusCode::UNAUTHORIZED);
    // The same request again, as after an answer that was lost.
    let again = change(&service, &mine, "correct horse", "a new horse").await;
    assert_eq!(again.status, StatusCode::NO_CONTENT);
    let old = service
        .log_in(None, "ana@example.org", "correct horse")
        .await;
    assert_eq!(old.status, StatusCode::UNAUTHORIZED);
    token(&service.log_in(None, "ana@example.org", "a new horse").await);
    for (current, new) in [("", "a new horse"), ("a new horse", "short")] {
        let answer = change(&service, &mine, current, new).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn saying_a_password_is_limited_as_log_ins_are() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let token = logged_in(&service).await;
    for _ in 0..5 {
        let answer = change(&service, &token, "wrong horse", "wrong again").await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        let body = json!({"password": "wrong horse"});
        let answer = service
            .with_token("DELETE", "/api/v1/me", &token, Some(body))
            .await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
    }
    let refused = change(&service, &token, "correct horse", "a new horse").await;
    assert_eq!(
        (refused.status, code(&refused)),
        (StatusCode::TOO_MANY_REQUESTS, "rate_limited")
    );
}

#[tokio::test]
async fn an_account_with_a_password_is_deleted_with_its_password_only() {
    let service = service(Limits::off());
    service.register(None, ana()).await;
    let token = logged_in(&service).await;
    let leave = |body| service.with_token("DELETE", "/api/v1/me", &token, body);
    for body in [
        None,
        Some(json!({})),
        Some(json!({"password": "wrong horse"})),
    ] {
        let refused = leave(body).await;
        assert_eq!(
            (refused.status, code(&refused)),
            (StatusCode::FORBIDDEN, "forbidden")
        );
    }
    let unknown = leave(Some(json!({"pass": "correct horse"}))).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert_eq!(service.me(&token).await.status, StatusCode::OK);
    let body = json!({"password": "correct horse"});
    let left = leave(Some(body.clone())).await;
    assert_eq!(left.status, StatusCode::NO_CONTENT);
    assert_eq!(service.me(&token).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(leave(Some(body)).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_account_without_a_password_is_deleted_by_its_session() {
    let service = service(Limits::off());
    let guest = json!({"email": "ana@example.org", "name": "Ana", "role": "buyer"});
    let guest = token(&service.register(None, guest).await);
    let leave = |body| service.with_token("DELETE", "/api/v1/me", &guest, body);
    let guessed = leave(Some(json!({"password": "a horse"}))).await;
    assert_eq!(guessed.status, StatusCode::FORBIDDEN);
    assert_eq!(leave(None).await.status, StatusCode::NO_CONTENT);
    assert_eq!(service.me(&guest).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_link_sets_a_password_once_and_a_forged_one_never() {
    let service = service(Limits::off());
    service.register(None, ana()).await;
    let session = logged_in(&service).await;
    let asked = service
        .post(RESETS, None, json!({"email": "Ana@example.org"}))
        .await;
    let nobody = service
        .post(RESETS, None, json!({"email": "nobody@example.org"}))
        .await;
    assert_eq!(
        (asked.status, &asked.body),
        (StatusCode::ACCEPTED, &nobody.body)
    );
    assert_eq!(nobody.status, StatusCode::ACCEPTED);
    let links = links(&service).await;
    assert_eq!(links.len(), 1);
    let link = reset_keys().token(links[0]).to_string();
    let set = |token: String, password: &str| {
        let body = json!({"password": password});
        let path = format!("{RESETS}/{token}");
        let service = &service;
        async move { service.post(&path, None, body).await }
    };
    let mut end = link.clone();
    end.replace_range(link.len() - 2.., "AA");
    for forged in [
        links[0].to_string(),
        end,
        format!("{link}x"),
        link.to_uppercase(),
    ] {
        let answer = set(forged, "a new horse").await;
        assert_eq!(
            (answer.status, code(&answer)),
            (StatusCode::NOT_FOUND, "not_found")
        );
    }
    assert_eq!(
        set(link.clone(), "short").await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(service.me(&session).await.status, StatusCode::OK);
    assert_eq!(
        set(link.clone(), "a new horse").await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(service.me(&session).await.status, StatusCode::UNAUTHORIZED);
    token(&service.log_in(None, "ana@example.org", "a new horse").await);
    assert_eq!(set(link, "a new horse").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn asking_for_links_too_often_is_answered_like_everything_else() {
    let service = service(Limits::default());
    service.register(None, ana()).await;
    let mut answers = Vec::new();
    for email in ["ana@example.org", "nobody@example.org"] {
        for _ in 0..6 {
            let answer = service.post(RESETS, None, json!({"email": email})).await;
            answers.push((answer.status, answer.body));
            links(&service).await;
        }
    }
    answers.dedup();
    assert_eq!(answers, [(StatusCode::ACCEPTED, json!({}))]);
    assert_eq!(links(&service).await.len(), 3);
}
