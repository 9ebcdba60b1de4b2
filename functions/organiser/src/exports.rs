//! Lists of a show as files: asked for, written in the background, fetched by a link.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, LOCATION};
use axum::response::IntoResponse;
use onsale_app::exports::ExportView;
use onsale_domain::export::{Export, ExportKind, ExportStatus, KEPT_MS};
use onsale_domain::ids::{ExportId, ShowId};
use onsale_domain::time::Millis;
use onsale_http::schemas::{ExportIdText, ExportKindText, ExportStatusText, ShowIdText, Timestamp};
use onsale_http::{Api, Json, OptionalKey, Organiser, Path, Problem, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportRequest {
    #[schema(value_type = ExportKindText)]
    kind: ExportKind,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExportAnswer {
    #[schema(value_type = ExportIdText)]
    export_id: ExportId,
    #[schema(value_type = ExportKindText)]
    kind: ExportKind,
    #[schema(value_type = ExportStatusText)]
    status: ExportStatus,
    /// How many lines were written so far, below the heading.
    rows: u64,
    /// When the file is deleted.
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
    /// Where to download the file, for the next five minutes; once it is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    link: Option<String>,
}

impl ExportAnswer {
    fn new(export: &Export, link: Option<String>) -> Self {
        Self {
            export_id: export.id,
            kind: export.kind,
            status: export.status,
            rows: export.rows,
            expires_at: export.created + KEPT_MS,
            link,
        }
    }
}

/// Ask for a list of orders or attendees
///
/// The list is written in the background as CSV, every order of the show whose money was
/// taken, or every ticket, with those who were given one. Ask for it again by its id until
/// it is `ready`; it can be fetched for seven days. Without a key each request is a list of
/// its own.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/exports",
    operation_id = "begin_export",
    security(("session" = [])),
    params(("show" = ShowIdText, Path), OptionalKey),
    request_body = ExportRequest,
    responses(
        (status = 202, description = "It is being written.", body = ExportAnswer, headers(
            ("Location" = String, description = "Where to ask how far it is"),
        )),
        (status = 403, description = "The show belongs to another organiser."),
        (status = 422, description = "The key came with another request."),
    )
)]
pub(crate) async fn begin(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path(show): Path<ShowId>,
    OptionalKey(key): OptionalKey,
    Json(request, _): Json<ExportRequest>,
) -> Result<impl IntoResponse, Problem> {
    let begun = to_the_end(async move {
        let key = key.as_ref();
        api.app.begin_export(&caller, show, request.kind, key).await
    });
    let export = begun.await?;
    let place = format!("/api/v1/shows/{show}/exports/{}", export.id);
    let answer = axum::Json(ExportAnswer::new(&export, None));
    Ok((StatusCode::ACCEPTED, [(LOCATION, place)], answer))
}

/// Look for a list, and fetch it
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/exports/{export}",
    operation_id = "read_export",
    security(("session" = [])),
    params(("show" = ShowIdText, Path), ("export" = ExportIdText, Path)),
    responses(
        (status = 200, description = "How far it is, and the link once it is ready", body = ExportAnswer),
        (status = 403, description = "The show belongs to another organiser."),
    )
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path((show, export)): Path<(ShowId, ExportId)>,
) -> Result<impl IntoResponse, Problem> {
    let view = api.app.read_export(&caller, show, export).await?;
    let ExportView { export, link } = view;
    let answer = axum::Json(ExportAnswer::new(&export, link));
    Ok(([(CACHE_CONTROL, "private, no-store")], answer))
}
