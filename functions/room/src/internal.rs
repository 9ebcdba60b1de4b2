//! What the edge asks of the cloud. Every call can be repeated at will.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Extension, Router};
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::briefing::Briefing;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::reminder::Turns;
use onsale_domain::sales::RoomFigures;
use onsale_domain::time::Millis;
use onsale_http::{Api, Path, Problem, Query, to_the_end};
use serde::Deserialize;

use crate::signed::verified;

type Keys = Extension<Option<Arc<InternalKeys>>>;

pub(crate) fn router(keys: Option<Arc<InternalKeys>>) -> Router<Api> {
    Router::new()
        .route("/internal/shows/{show}/room", get(brief))
        .route("/internal/passes/{pass}/close", post(close))
        .route("/internal/shows/{show}/turns", post(turns))
        .layer(Extension(keys))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The cursor of the last briefing; zero, or nothing, at first.
    #[serde(default)]
    since: u64,
    /// What it counts in the room; an edge that has not begun counts nothing.
    waiting: Option<u64>,
    admitted: Option<u64>,
    rate: Option<u32>,
}

impl Asked {
    fn room(&self, at: Millis) -> Option<RoomFigures> {
        Some(RoomFigures {
            waiting: self.waiting?,
            admitted: self.admitted?,
            rate: self.rate?,
            at,
        })
    }
}

async fn brief(
    State(api): State<Api>,
    Extension(keys): Keys,
    request: Request,
) -> Result<axum::Json<Briefing>, Problem> {
    let (mut parts, _) = verified(keys.as_deref(), request, api.app.now()).await?;
    let Path(show): Path<ShowId> = Path::from_request_parts(&mut parts, &api).await?;
    let Query(asked): Query<Asked> = Query::from_request_parts(&mut parts, &api).await?;
    let briefing = api.app.briefing(show, asked.since).await?;
    // Told last: by now the show is known to exist.
    if let Some(figures) = asked.room(api.app.now()) {
        api.app.hear_room(show, figures).await;
    }
    Ok(axum::Json(briefing))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CloseBody {
    show: ShowId,
}

async fn close(
    State(api): State<Api>,
    Extension(keys): Keys,
    request: Request,
) -> Result<StatusCode, Problem> {
    let (mut parts, body) = verified(keys.as_deref(), request, api.app.now()).await?;
    let Path(pass): Path<PassId> = Path::from_request_parts(&mut parts, &api).await?;
    let body: CloseBody = serde_json::from_slice(&body)
        .map_err(|_| Problem::invalid("Send the show of the pass: {\"show\": \"shw_…\"}."))?;
    to_the_end(async move { api.app.close_pass(body.show, pass).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// These people asked to be told when it is their turn, and it is.
async fn turns(
    State(api): State<Api>,
    Extension(keys): Keys,
    request: Request,
) -> Result<StatusCode, Problem> {
    let (mut parts, body) = verified(keys.as_deref(), request, api.app.now()).await?;
    let Path(show): Path<ShowId> = Path::from_request_parts(&mut parts, &api).await?;
    // What was wrong would be said with an address in it.
    let body: Turns = serde_json::from_slice(&body).map_err(|_| {
        Problem::invalid("Send the turns: {\"turns\": [{\"lot\": …, \"email\": …}]}.")
    })?;
    to_the_end(async move { api.app.tell_turns(show, body.turns).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
