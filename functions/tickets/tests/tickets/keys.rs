//! The public keys that everybody may have.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, PassVerifier, SessionSigner, openapi};
use onsale_test_support::MemoryWorld;
use serde_json::{Value, json};
use tower::ServiceExt;

#[tokio::test]
async fn the_keys_of_tickets_and_passes_are_listed() {
    let world = MemoryWorld::new(Millis(1_800_000_000_000));
    let sessions = SessionSigner::from_secret("k1", [7; 32]).verifier();
    let edge = PassKey::new("edge", &[3; 32]).public_key();
    let api = Api::new(world.app, sessions, Limits::off())
        .with_passes(PassVerifier::parse(&edge).unwrap());
    let ticket = TicketKey::from_bytes(&[7; 32]).public();
    let keys = TicketKeys::new(vec![ticket]).unwrap();
    let (router, _) = openapi::finish(
        tickets::router(Arc::new(keys), tickets::Seller(None)),
        "tickets",
    );
    let request = Request::get("/.well-known/jwks.json");
    let request = request.body(Body::empty()).unwrap();
    let answer = router.with_state(api).oneshot(request).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let listed: Value = serde_json::from_slice(&body).unwrap();
    let jwk = |kid: &str, x: &str| json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x});
    let (kid, x) = edge.split_once(':').unwrap();
    let of_ticket = jwk(&ticket.id().to_string(), &ticket.to_string());
    assert_eq!(listed, json!({"keys": [of_ticket, jwk(kid, x)]}));
}
