//! The public keys, for everyone.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use onsale_domain::ticket_code::{Jwk, TicketKeys};
use onsale_http::Api;
use serde::Serialize;
use utoipa::ToSchema;

/// An Ed25519 public key (RFC 8037).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JsonWebKey)]
pub(crate) struct JwkView {
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

/// The keys that tickets, passes and quotes are checked with
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    operation_id = "read_jwks",
    responses((status = 200, description = "A JSON Web Key Set: the keys of tickets, newest first, then those of passes, then those of quotes.", body = JwkSet)),
)]
pub(crate) async fn jwks(
    State(api): State<Api>,
    Extension(tickets): Extension<Arc<TicketKeys>>,
) -> impl IntoResponse {
    let all = tickets.jwks().into_iter().chain(api.passes.jwks());
    let all = all.chain(api.quote_keys.jwks());
    let keys = all.map(JwkView::from).collect();
    let cached = [(header::CACHE_CONTROL, "public, max-age=300")];
    (cached, axum::Json(JwkSet { keys }))
}
