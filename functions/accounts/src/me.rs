//! One's own account.

use axum::Json as JsonAnswer;
use axum::extract::State;
use onsale_http::{Api, Json, LoggedIn, Problem};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::account::{AccountAnswer, NameText};

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
    #[schema(value_type = NameText)]
    name: String,
}

/// Change one's name
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
    let account = api.app.rename(&caller, &body.name).await?;
    Ok(JsonAnswer(account.into()))
}
