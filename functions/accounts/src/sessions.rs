//! Logging in and out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use axum::{Extension, Json as JsonAnswer};
use onsale_domain::ids::AccountId;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use onsale_http::device::{SUSPICION_HEADER, suspicion_header};
use onsale_http::schemas::{AccountIdText, Timestamp};
use onsale_http::session::COOKIE;
use onsale_http::{Api, Device, EmailText, Json, LoggedIn, OptionalKey, Problem, SessionSigner};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::RoleAnswer;
use crate::password::{Keys, check_claimed};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogIn {
    email: EmailText,
    #[schema(min_length = 1, max_length = 128)]
    password: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
pub(crate) struct SessionAnswer {
    /// Send it as `Authorization: Bearer …`.
    token: String,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
    #[schema(value_type = AccountIdText)]
    account_id: AccountId,
    role: RoleAnswer,
}

/// Log in
///
/// The session lasts 12 hours. Browsers get it as a cookie as well.
#[utoipa::path(
    post,
    path = "/api/v1/sessions",
    params(OptionalKey),
    request_body = LogIn,
    responses(
        (status = 201, description = "The session.", body = SessionAnswer, headers(
            ("Set-Cookie" = String, description = "The same token for browsers."),
            ("Onsale-Suspicion" = String, description = "`unusual` or `automated`: many accounts use this device, and are asked for more work.")
        )),
        (status = 401, description = "`unauthenticated`: the email or the password is wrong."),
    )
)]
pub(crate) async fn log_in(
    State(api): State<Api>,
    Extension(signer): Extension<Arc<SessionSigner>>,
    Extension(keys): Extension<Keys>,
    OptionalKey(key): OptionalKey,
    Device(device): Device,
    headers: HeaderMap,
    Json(body, _): Json<LogIn>,
) -> Result<impl IntoResponse, Problem> {
    let LogIn {
        email: EmailText(email),
        password,
    } = body;
    check_claimed(&password)?;
    let now = api.app.now();
    let proof = onsale_http::cookie(&headers, KNOWN_COOKIE).unwrap_or_default();
    match keys.knows_device(&email, proof) {
        true => api.limits.log_in_where_known(&email, now)?,
        false => api.limits.log_in(&email, now)?,
    }
    let (session, account) = api
        .app
        .log_in(email.as_str(), &password, key.as_ref(), device)
        .await?;
    let suspicion = match device {
        Some(device) => api.app.note_device(device, account.id).await,
        None => Suspicion::Nothing,
    };
    let token = signer.sign_suspected(&session, account.role, suspicion)?;
    let seconds = now.until(session.expires) / 1_000;
    let cookie = cookie(&token, seconds, &headers);
    let answer = SessionAnswer {
        token,
        expires_at: session.expires,
        account_id: account.id,
        role: account.role.into(),
    };
    let known = keys.known_device(&email);
    let known = known.map(|proof| (header::SET_COOKIE, known_cookie(&proof, &headers)));
    let cookie = AppendHeaders([(header::SET_COOKIE, cookie)].into_iter().chain(known));
    let suspected = suspicion_header(suspicion).map(|value| (SUSPICION_HEADER, value));
    let suspected = AppendHeaders(suspected);
    Ok((StatusCode::CREATED, cookie, suspected, JsonAnswer(answer)))
}

/// Log out
///
/// The token stops working at once.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/current",
    security(("session" = [])),
    responses((status = 204, description = "The session has ended."))
)]
pub(crate) async fn log_out(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    api.app.log_out(&caller).await?;
    let cleared = cookie("", 0, &headers);
    Ok((
        StatusCode::NO_CONTENT,
        AppendHeaders([(header::SET_COOKIE, cleared)]),
    ))
}

/// Tells a browser that logged in before from a stranger's. It is no session.
const KNOWN_COOKIE: &str = "onsale_known";
const YEAR_S: u64 = 365 * 24 * 3_600;

fn known_cookie(proof: &str, request: &HeaderMap) -> String {
    set_cookie(KNOWN_COOKIE, proof, YEAR_S, request)
}

fn cookie(token: &str, max_age_s: u64, request: &HeaderMap) -> String {
    set_cookie(COOKIE, token, max_age_s, request)
}

/// `Secure` wherever the browser came by TLS. On a developer's machine it did not, and
/// some browsers would drop a secure cookie.
fn set_cookie(name: &str, value: &str, max_age_s: u64, request: &HeaderMap) -> String {
    let by_tls = request
        .get("x-forwarded-proto")
        .is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"));
    let secure = if by_tls { "; Secure" } else { "" };
    format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={max_age_s}{secure}")
}
