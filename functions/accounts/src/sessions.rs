//! Logging in and out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json as JsonAnswer};
use onsale_app::ports::Session;
use onsale_domain::account::Account;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use onsale_http::device::suspicion_header;
use onsale_http::schemas::{AccountIdText, Timestamp};
use onsale_http::session::{came_by_tls, cookie_name};
use onsale_http::{
    Api, Device, EmailText, Json, LoggedIn, OptionalKey, Problem, SUSPICION_HEADER, SessionSigner,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::RoleAnswer;
use crate::link_keys::Keys;
use crate::password::check_claimed;

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
        (status = 403, description = "`forbidden`: a page of another site sent it."),
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
) -> Result<Response, Problem> {
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
    let opened = Opened::new(&api, &signer, session, &account, device).await?;
    Ok(opened.answer(&keys, &account, now, &headers))
}

/// A session that was opened just now, as it is answered.
pub(crate) struct Opened {
    pub(crate) token: String,
    session: Session,
    suspicion: Suspicion,
}

impl Opened {
    pub(crate) async fn new(
        api: &Api,
        signer: &SessionSigner,
        session: Session,
        account: &Account,
        device: Option<VisitorId>,
    ) -> Result<Self, Problem> {
        let suspicion = match device {
            Some(device) => api.app.note_device(device, account.id).await,
            None => Suspicion::Nothing,
        };
        let token = signer.sign_suspected(&session, account.role, suspicion)?;
        Ok(Self {
            token,
            session,
            suspicion,
        })
    }

    pub(crate) fn expires(&self) -> Millis {
        self.session.expires
    }

    pub(crate) fn cookie(&self, now: Millis, request: &HeaderMap) -> (HeaderName, String) {
        let seconds = now.until(self.session.expires) / 1_000;
        (header::SET_COOKIE, cookie(&self.token, seconds, request))
    }

    pub(crate) fn suspicion(&self) -> Option<(HeaderName, HeaderValue)> {
        suspicion_header(self.suspicion).map(|value| (SUSPICION_HEADER, value))
    }

    /// For somebody who has shown that the account is theirs: their browser is known from now
    /// on.
    pub(crate) fn answer(
        self,
        keys: &Keys,
        account: &Account,
        now: Millis,
        request: &HeaderMap,
    ) -> Response {
        let known = keys.known_device(&account.email);
        let known = known.map(|proof| (header::SET_COOKIE, known_cookie(&proof, request)));
        let cookies = [self.cookie(now, request)].into_iter().chain(known);
        let (cookies, suspected) = (AppendHeaders(cookies), AppendHeaders(self.suspicion()));
        let answer = SessionAnswer {
            expires_at: self.session.expires,
            account_id: account.id,
            role: account.role.into(),
            token: self.token,
        };
        (StatusCode::CREATED, cookies, suspected, JsonAnswer(answer)).into_response()
    }
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
    set_cookie(cookie_name(request), token, max_age_s, request)
}

/// `Secure` wherever the browser came by TLS.
fn set_cookie(name: &str, value: &str, max_age_s: u64, request: &HeaderMap) -> String {
    let secure = if came_by_tls(request) { "; Secure" } else { "" };
    format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/; Max-Age={max_age_s}{secure}")
}
