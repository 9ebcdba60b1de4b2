//! One's own account.

use axum::Json as JsonAnswer;
use axum::extract::State;
use onsale_http::optional::present;
use onsale_http::{Api, Code, Json, LoggedIn, Problem};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::account::{AccountAnswer, LanguageName, NameText};

/// One's own account
#[utoipa::path(
    get,
    path = "/api/v1/me",
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
