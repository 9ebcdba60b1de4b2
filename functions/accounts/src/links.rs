//! Logging in by a link that was mailed, and proving an address by one.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use onsale_http::{
    Api, Device, EmailText, Json, LoggedIn, OptionalKey, Path, Problem, SessionSigner, to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::link_keys::Keys;
use crate::sessions::{Opened, SessionAnswer};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionLinkRequest {
    email: EmailText,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct LinkAnswer {}

const ASKED: (StatusCode, axum::Json<LinkAnswer>) =
    (StatusCode::ACCEPTED, axum::Json(LinkAnswer {}));

/// Ask for a link to log in
///
/// The answer is the same, and takes as long, whether or not anybody has the address, and
/// however often it was asked. The link works once, for 30 minutes. An address gets at most
/// three in each half hour of the clock. A key is accepted and not remembered: nothing is kept for strangers.
#[utoipa::path(
    post,
    path = "/api/v1/session-links",
    operation_id = "ask_session_link",
    params(OptionalKey),
    request_body = SessionLinkRequest,
    responses((status = 202, description = "If somebody has this address, a link is mailed to it.", body = LinkAnswer))
)]
pub(crate) async fn ask(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    OptionalKey(_): OptionalKey,
    Json(body, _): Json<SessionLinkRequest>,
) -> Result<(StatusCode, axum::Json<LinkAnswer>), Problem> {
    let EmailText(email) = body.email;
    let is_allowed = api.limits.session_link(&email, api.app.now()).is_ok();
    let ask = async move { api.app.ask_log_in_link(&email).await };
    keys.ask_silently(is_allowed, ask).await?;
    Ok(ASKED)
}

/// Log in by a link
///
/// Works once, and proves the address. If nobody had proven it before, every other session of
/// the account ends and its password is taken away: whoever registered it may have been
/// somebody else. With a key, the same request is answered again.
#[utoipa::path(
    post,
    path = "/api/v1/session-links/{token}",
    operation_id = "use_session_link",
    params(("token" = String, Path, description = "As it stands in the link."), OptionalKey),
    responses(
        (status = 201, description = "The session.", body = SessionAnswer, headers(
            ("Set-Cookie" = String, description = "The same token for browsers."),
            ("Onsale-Suspicion" = String, description = "`unusual` or `automated`: many accounts use this device, and are asked for more work.")
        )),
        (status = 403, description = "`forbidden`: a page of another site sent it."),
        (status = 404, description = "`not_found`: the link is not one of ours, was used, or is too old."),
    )
)]
pub(crate) async fn log_in(
    State(api): State<Api>,
    Extension(signer): Extension<Arc<SessionSigner>>,
    Extension(keys): Extension<Keys>,
    Path(token): Path<String>,
    OptionalKey(key): OptionalKey,
    Device(device): Device,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let link = keys.follow(&api, &token, "link to log in")?;
    let now = api.app.now();
    let app = api.app.clone();
    let used = to_the_end(async move { app.use_log_in_link(link, key.as_ref(), device).await });
    let (session, account) = used.await?;
    let opened = Opened::new(&api, &signer, session, &account, device).await?;
    Ok(opened.answer(&keys, &account, now, &headers))
}

/// Ask for a link that proves one's address
///
/// An address that is proven gets none. The link works for an hour.
#[utoipa::path(
    post,
    path = "/api/v1/me/address-proof",
    operation_id = "ask_address_proof",
    security(("session" = [])),
    params(OptionalKey),
    responses((status = 202, description = "A link is mailed to the address of the account.", body = LinkAnswer))
)]
pub(crate) async fn ask_proof(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    LoggedIn(caller): LoggedIn,
    OptionalKey(_): OptionalKey,
) -> Result<(StatusCode, axum::Json<LinkAnswer>), Problem> {
    keys.configured()?;
    to_the_end(async move { api.app.ask_address_proof(&caller).await }).await?;
    Ok(ASKED)
}

/// Prove one's address
///
/// By the link that was mailed to it, in a session of the same account: whoever has the mailbox
/// and no session logs in by a link, which proves the address as well. Again: 204.
#[utoipa::path(
    post,
    path = "/api/v1/me/address-proof/{token}",
    operation_id = "prove_address",
    security(("session" = [])),
    params(("token" = String, Path, description = "As it stands in the link."), OptionalKey),
    responses(
        (status = 204, description = "The address is proven."),
        (status = 404, description = "`not_found`: the link is not one of ours, is too old, or was mailed to another account."),
    )
)]
pub(crate) async fn prove(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    LoggedIn(caller): LoggedIn,
    Path(token): Path<String>,
    OptionalKey(_): OptionalKey,
) -> Result<StatusCode, Problem> {
    let link = keys.follow(&api, &token, "link to prove an address")?;
    to_the_end(async move { api.app.prove_address(&caller, link).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
