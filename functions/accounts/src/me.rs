//! One's own account.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_http::optional::present;
use onsale_http::{Api, Code, Json, LoggedIn, OptionalJson, Problem, to_the_end};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::account::{AccountAnswer, LanguageName, NameText};
use crate::password::check_claimed;

/// One's own account
#[utoipa::path(
    get,
    path = "/api/v1/me",
    operation_id = "read_account",
    security(("session" = [])),
    responses((status = 200, description = "The account.", body = AccountAnswer))
)]
pub(crate) async fn me(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
) -> Result<JsonAnswer<AccountAnswer>, Problem> {
    let account = api.app.me(&caller).await?;
    Ok(JsonAnswer(account.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rename {
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<NameText>, nullable = false)]
    name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    language: Option<LanguageName>,
}

/// Change one's name, or the language of one's mails
#[utoipa::path(
    patch,
    path = "/api/v1/me",
    operation_id = "change_account",
    security(("session" = [])),
    request_body = Rename,
    responses((status = 200, description = "The changed account.", body = AccountAnswer))
)]
pub(crate) async fn rename(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Json(body, _): Json<Rename>,
) -> Result<JsonAnswer<AccountAnswer>, Problem> {
    let mut account = None;
    if let Some(name) = &body.name {
        account = Some(api.app.rename(&caller, name).await?);
    }
    if let Some(language) = body.language {
        account = Some(api.app.set_language(&caller, language.into()).await?);
    }
    let nothing = || Problem::new(Code::InvalidRequest, "Name a field to change.");
    Ok(JsonAnswer(account.ok_or_else(nothing)?.into()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteAccount {
    /// May be left out by an account that has no password.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 128)]
    password: Option<String>,
}

/// Delete one's account
///
/// Name, email and password are removed at once, every session ends, open holds are
/// released, and the email is free for a new account. Tickets stay valid. Orders stay for
/// the accounts of the organiser, without anything that says whose they were. It cannot be
/// undone. An account that has a password is deleted with its password only: a browser that was
/// left logged in is not enough.
#[utoipa::path(
    delete,
    path = "/api/v1/me",
    operation_id = "delete_account",
    security(("session" = [])),
    request_body = Option<DeleteAccount>,
    responses(
        (status = 204, description = "The account is gone."),
        (status = 403, description = "`forbidden`: the password is wrong, or missing although there is one."),
        (status = 409, description = "`conflict`: you have shows that are not over, began less than 24 hours ago, or were cancelled and are being refunded."),
    )
)]
pub(crate) async fn delete(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    OptionalJson(body): OptionalJson<DeleteAccount>,
) -> Result<StatusCode, Problem> {
    let password = body.and_then(|body| body.password);
    if let Some(password) = &password {
        check_claimed(password)?;
        api.limits.password_attempt(caller.account, api.app.now())?;
    }
    to_the_end(async move { api.app.delete_account(&caller, password.as_deref()).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
