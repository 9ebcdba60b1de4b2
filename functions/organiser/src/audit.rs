//! The audit trail of a show.

use axum::extract::State;
use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::ids::{AccountId, AuditId, ShowId};
use onsale_domain::time::Millis;
use onsale_http::schemas::{AccountIdText, ShowIdText, Timestamp};
use onsale_http::{Api, List, Organiser, PageQuery, Path, Problem, Query};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AuditAction)]
enum ActionText {
    ShowCreated,
    ShowChanged,
    ShowPublished,
    ShowCancelled,
    RoomChanged,
    FanCodesMade,
    StaffAdded,
    StaffRemoved,
    ListExported,
    EventChanged,
    FansListed,
    AdmissionUndone,
}

impl From<AuditAction> for ActionText {
    fn from(action: AuditAction) -> Self {
        match action {
            AuditAction::ShowCreated => Self::ShowCreated,
            AuditAction::ShowChanged => Self::ShowChanged,
            AuditAction::ShowPublished => Self::ShowPublished,
            AuditAction::ShowCancelled => Self::ShowCancelled,
            AuditAction::RoomChanged => Self::RoomChanged,
            AuditAction::FanCodesMade => Self::FanCodesMade,
            AuditAction::StaffAdded => Self::StaffAdded,
            AuditAction::StaffRemoved => Self::StaffRemoved,
            AuditAction::ListExported => Self::ListExported,
            AuditAction::EventChanged => Self::EventChanged,
            AuditAction::FansListed => Self::FansListed,
            AuditAction::AdmissionUndone => Self::AdmissionUndone,
        }
    }
}

/// One thing that changed. Long values are cut.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditChange)]
struct ChangeAnswer {
    #[schema(examples("prices"))]
    field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("A 4500"))]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("A 5000"))]
    after: Option<String>,
}

impl From<AuditChange> for ChangeAnswer {
    fn from(change: AuditChange) -> Self {
        Self {
            field: change.field,
            before: change.before,
            after: change.after,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(crate) struct EntryAnswer {
    #[schema(value_type = String)]
    audit_id: AuditId,
    #[schema(value_type = Timestamp)]
    at: Millis,
    /// Who did it.
    #[schema(value_type = AccountIdText)]
    account_id: AccountId,
    action: ActionText,
    changes: Vec<ChangeAnswer>,
}

impl From<AuditEntry> for EntryAnswer {
    fn from(entry: AuditEntry) -> Self {
        Self {
            audit_id: entry.id,
            at: entry.at,
            account_id: entry.account,
            action: entry.action.into(),
            changes: entry.changes.into_iter().map(ChangeAnswer::from).collect(),
        }
    }
}

/// Read the audit trail of a show
///
/// What was done to the show, newest first: who, when, and from what to what. For its
/// organiser. Nobody can change an entry.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/audit",
    operation_id = "list_audit",
    security(("session" = [])),
    params(("show" = ShowIdText, Path), PageQuery),
    responses(
        (status = 200, description = "A page of entries.", body = List<EntryAnswer>),
        (status = 403, description = "`forbidden`: the show belongs to another organiser."),
    )
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path(show): Path<ShowId>,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<List<EntryAnswer>>, Problem> {
    let page = api
        .app
        .audit_trail(&caller, show, query.after(), query.limit.0)
        .await?;
    Ok(axum::Json(List::from_page(page, EntryAnswer::from)))
}
