//! Calling a show off.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::ids::ShowId;
use onsale_http::schemas::ShowIdText;
use onsale_http::{Api, Authenticated, OptionalKey, Path, Problem, to_the_end};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelShowAnswer {
    refunds_due: u64,
}

/// Cancel a show
///
/// Nothing is sold any more once this is answered. Everyone is refunded in full, in the
/// background, also for tickets that were used. A show can be called off until 24 hours
/// after its start. Asking again changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/cancel",
    operation_id = "cancel_show",
    params(("show" = ShowIdText, Path), OptionalKey),
    responses(
        (status = 202, description = "The show is cancelled.", body = CancelShowAnswer),
        (status = 409, description = "The show began more than 24 hours ago."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn cancel(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
    // A show is cancelled once, whatever the key.
    OptionalKey(_): OptionalKey,
) -> Result<(StatusCode, axum::Json<CancelShowAnswer>), Problem> {
    let refunds_due = to_the_end(async move { api.app.cancel_show(&caller, show).await }).await?;
    let answer = CancelShowAnswer { refunds_due };
    Ok((StatusCode::ACCEPTED, axum::Json(answer)))
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancellationProgress {
    refunds_due: u64,
    refunds_done: u64,
}

/// See how far the refunds of a cancelled show are
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/cancellation",
    operation_id = "read_cancellation",
    params(("show" = ShowIdText, Path)),
    responses(
        (status = 200, description = "So far.", body = CancellationProgress),
        (status = 403, description = "The show belongs to another organiser."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn progress(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
) -> Result<axum::Json<CancellationProgress>, Problem> {
    let progress = api.app.cancellation_progress(&caller, show).await?;
    Ok(axum::Json(CancellationProgress {
        refunds_due: progress.refunds_due,
        refunds_done: progress.refunds_done,
    }))
}
