//! What surrounds every request.

use axum::body::Body;
use axum::http::Request;
use axum::routing::get;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::*;

fn router() -> Router {
    layer(
        Router::new()
            .route("/fine", get(|| async { "fine" }))
            .route(
                "/kept",
                get(|| async { ([(header::CACHE_CONTROL, "max-age=60")], "kept") }),
            )
            .route(
                "/broken",
                get(|| async { panic!("the secret inside") as () }),
            ),
    )
}

async fn send(path: &str, request_id: Option<&str>) -> (axum::http::response::Parts, String) {
    let mut request = Request::builder().uri(path);
    if let Some(id) = request_id {
        request = request.header("x-request-id", id);
    }
    let response = router()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_panic_is_answered_and_tells_nothing() {
    let (parts, body) = send("/broken", None).await;
    assert_eq!(parts.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!body.contains("secret"));
    let problem: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(problem["type"], "urn:onsale:internal");
    assert_eq!(parts.headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn answers_are_not_stored_unless_their_handler_says_so() {
    assert_eq!(
        send("/fine", None).await.0.headers[header::CACHE_CONTROL],
        "no-store"
    );
    assert_eq!(
        send("/kept", None).await.0.headers[header::CACHE_CONTROL],
        "max-age=60"
    );
}

#[tokio::test]
async fn a_sane_request_id_is_kept_and_any_other_replaced() {
    assert_eq!(
        send("/fine", Some("abc-1.2_3")).await.0.headers["x-request-id"],
        "abc-1.2_3"
    );
    let long = "a".repeat(65);
    for odd in ["", "a b", "a;b", "<script>", &long] {
        let (parts, _) = send("/fine", Some(odd)).await;
        let id = parts.headers["x-request-id"].to_str().unwrap();
        assert_ne!(id, odd);
        assert_eq!(id.len(), 16);
    }
}
