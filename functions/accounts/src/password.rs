//! New passwords: with the old one, or with a link that was mailed.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_http::{Api, EmailText, Json, LoggedIn, OptionalKey, Path, Problem, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::link_keys::Keys;

/// Nobody has a longer password, so nothing longer is hashed.
const MAX_PASSWORD_CHARS: usize = 128;

/// A password that somebody claims to be theirs.
pub(crate) fn check_claimed(password: &str) -> Result<(), Problem> {
    match (1..=MAX_PASSWORD_CHARS).contains(&password.chars().count()) {
        true => Ok(()),
        false => Err(Problem::invalid(
            "A password has at most 128 characters, and at least one.",
        )),
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordChange {
    /// May be left out by an account that has no password.
    #[schema(min_length = 1, max_length = 128)]
    current_password: Option<String>,
    #[schema(min_length = 8, max_length = 128)]
    new_password: String,
}

/// Change one's password, or set the first one
///
/// Every other session of the account ends at once; this one goes on.
#[utoipa::path(
    put,
    path = "/api/v1/me/password",
    operation_id = "change_password",
    security(("session" = [])),
    request_body = PasswordChange,
    responses(
        (status = 204, description = "The password is changed."),
        (status = 403, description = "`forbidden`: the current password is wrong, or missing although there is one."),
    )
)]
pub(crate) async fn change(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Json(body, _): Json<PasswordChange>,
) -> Result<StatusCode, Problem> {
    if let Some(current) = &body.current_password {
        check_claimed(current)?;
    }
    api.limits.password_attempt(caller.account, api.app.now())?;
    let PasswordChange {
        current_password,
        new_password,
    } = body;
    to_the_end(async move {
        let app = &api.app;
        app.change_password(&caller, current_password.as_deref(), &new_password)
            .await
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordResetRequest {
    email: EmailText,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PasswordResetAnswer {}

/// Ask for a link to set a new password
///
/// The answer is the same, and takes as long, whether or not anybody has the address, and
/// however often it was asked. The link works once, for 30 minutes. An address gets at most
/// three in each half hour of the clock. A key is accepted and not remembered: nothing is kept for strangers,
/// and asking again is answered again.
#[utoipa::path(
    post,
    path = "/api/v1/password-resets",
    operation_id = "ask_password_reset",
    params(OptionalKey),
    request_body = PasswordResetRequest,
    responses((status = 202, description = "If somebody has this address, a link is mailed to it.", body = PasswordResetAnswer))
)]
pub(crate) async fn ask(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    OptionalKey(_): OptionalKey,
    Json(body, _): Json<PasswordResetRequest>,
) -> Result<(StatusCode, axum::Json<PasswordResetAnswer>), Problem> {
    let EmailText(email) = body.email;
    let is_allowed = api.limits.password_reset(&email, api.app.now()).is_ok();
    let ask = async move { api.app.ask_password_reset(&email).await };
    keys.ask_silently(is_allowed, ask).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(PasswordResetAnswer {})))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPassword {
    #[schema(min_length = 8, max_length = 128)]
    password: String,
}

/// Set the password that a link was mailed for
///
/// Works once. Every session of the account ends. With a key, the same password again is
/// answered again. Passwords leave no trace to compare a request by, so a key is no
/// `idempotency_mismatch` here.
#[utoipa::path(
    post,
    path = "/api/v1/password-resets/{token}",
    operation_id = "use_password_reset",
    params(("token" = String, Path, description = "As it stands in the link."), OptionalKey),
    request_body = NewPassword,
    responses(
        (status = 204, description = "The password is set. Log in with it."),
        (status = 403, description = "`forbidden`: a page of another site sent it."),
        (status = 404, description = "`not_found`: the link is not one of ours, was used, is too old, or a newer password was set."),
    )
)]
pub(crate) async fn set(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    Path(token): Path<String>,
    OptionalKey(key): OptionalKey,
    Json(body, _): Json<NewPassword>,
) -> Result<StatusCode, Problem> {
    let reset = keys.follow(&api, &token, "link to set a password")?;
    to_the_end(async move {
        let repeats = key.is_some();
        api.app.use_reset(reset, &body.password, repeats).await
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
