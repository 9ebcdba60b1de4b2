//! The public keys, for everyone.

use std::sync::Arc;

use axum::Extension;
use axum::http::header;
use axum::response::IntoResponse;
use onsale_domain::ticket_code::{Jwk, TicketKeys};
use serde::Serialize;
use utoipa::ToSchema;

/// An Ed25519 public key (RFC 8037).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JsonWebKey)]
struct JwkView {
    kty: &'static str,
    crv: &'static str,
    alg: &'static str,
    r#use: &'static str,
    kid: String,
    x: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JsonWebKeySet)]
pub(crate) struct JwkSet {
    keys: Vec<JwkView>,
}

impl From<Jwk> for JwkView {
    fn from(jwk: Jwk) -> Self {
        Self {
            kty: "OKP",
            crv: "Ed25519",
            alg: "EdDSA",
            r#use: "sig",
            kid: jwk.kid,
            x: jwk.x,
        }
    }
}

/// The keys that tickets are checked with
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    operation_id = "read_jwks",
    responses((status = 200, description = "A JSON Web Key Set, newest key first.", body = JwkSet)),
)]
pub(crate) async fn jwks(Extension(keys): Extension<Arc<TicketKeys>>) -> impl IntoResponse {
    let keys = keys.jwks().into_iter().map(JwkView::from).collect();
    let cached = [(header::CACHE_CONTROL, "public, max-age=300")];
    (cached, axum::Json(JwkSet { keys }))
}
