//! What happened at the gates: for the organiser, who may also undo it.

use axum::extract::State;
use onsale_domain::gate::{Admission, Conflict};
use onsale_domain::ids::{AccountId, ShowId, TicketId};
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;
use onsale_http::schemas::{AccountIdText, ShowIdText, TicketIdText, Timestamp};
use onsale_http::{Api, Authenticated, Cursor, Limit, List, Path, Problem, Query, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::view::StatusText;

/// Who let somebody in, where and when, and who took it back.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Admission)]
pub(crate) struct AdmissionView {
    #[schema(value_type = Timestamp)]
    at: Millis,
    gate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<AccountIdText>)]
    by: Option<AccountId>,
    /// The device that let them in while it was offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    undone_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<AccountIdText>)]
    undone_by: Option<AccountId>,
}

impl From<&Admission> for AdmissionView {
    fn from(admission: &Admission) -> Self {
        let undone = admission.undone.as_ref();
        Self {
            at: admission.at,
            gate: admission.gate.clone(),
            by: admission.by,
            device: admission.device.clone(),
            undone_at: undone.map(|undone| undone.at),
            undone_by: undone.map(|undone| undone.by),
        }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = GateConflict)]
pub(crate) enum KindText {
    /// Two or more came in on one ticket.
    Double,
    /// Somebody is in on a ticket that was revoked.
    Revoked,
}

impl From<Conflict> for KindText {
    fn from(kind: Conflict) -> Self {
        match kind {
            Conflict::Double => Self::Double,
            Conflict::Revoked => Self::Revoked,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TicketHistory)]
pub(crate) struct HistoryView {
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    seat: String,
    status: StatusText,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    revoked_at: Option<Millis>,
    /// The ticket that took its place when it was passed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    passed_on_to: Option<TicketId>,
    /// Earliest first: the first that was not undone is the one that counts.
    admissions: Vec<AdmissionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conflict: Option<KindText>,
}

impl From<Ticket> for HistoryView {
    fn from(ticket: Ticket) -> Self {
        let revoked_at = match ticket.state {
            TicketState::Revoked { at } => Some(at),
            TicketState::Valid | TicketState::Used { .. } => None,
        };
        let admissions = ticket.all_admissions();
        Self {
            ticket_id: ticket.id,
            status: (&ticket.state).into(),
            revoked_at,
            passed_on_to: ticket.hands.passed_on,
            admissions: admissions.iter().map(AdmissionView::from).collect(),
            conflict: ticket.conflict().map(KindText::from),
            seat: ticket.seat,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConflictQuery {
    /// `double` unless told.
    #[param(inline)]
    kind: Option<KindText>,
    #[serde(default)]
    #[param(inline)]
    limit: Limit,
    #[param(inline)]
    cursor: Option<Cursor>,
}

/// List what went wrong at the gates
///
/// Tickets on which two came in while gates were offline, or somebody came in although
/// they were revoked. For the organiser of the show.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/scans",
    operation_id = "list_gate_conflicts",
    params(("show" = ShowIdText, Path), ConflictQuery),
    responses(
        (status = 200, description = "In the order in which they were found.", body = List<HistoryView>),
        (status = 403, description = "`forbidden`: the show belongs to another organiser."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn conflicts(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
    Query(query): Query<ConflictQuery>,
) -> Result<axum::Json<List<HistoryView>>, Problem> {
    let kind = match query.kind {
        None | Some(KindText::Double) => Conflict::Double,
        Some(KindText::Revoked) => Conflict::Revoked,
    };
    let after = query.cursor.as_ref().map(|cursor| cursor.0.as_str());
    let limit = query.limit.0;
    let page = api
        .app
        .gate_conflicts(&caller, show, kind, after, limit)
        .await?;
    Ok(axum::Json(List::from_page(page, HistoryView::from)))
}

/// Read what happened to a ticket at the gates
///
/// For the organiser of the show.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/scans/{ticket}",
    operation_id = "read_ticket_scans",
    params(("show" = ShowIdText, Path), ("ticket" = TicketIdText, Path)),
    responses(
        (status = 200, description = "Every admission, also those that were undone.", body = HistoryView),
        (status = 403, description = "`forbidden`: the show belongs to another organiser."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn of_ticket(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, ticket)): Path<(ShowId, TicketId)>,
) -> Result<axum::Json<HistoryView>, Problem> {
    let ticket = api.app.scans_of(&caller, show, ticket).await?;
    Ok(axum::Json(ticket.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UndoQuery {
    /// The use that is meant; if the ticket was used at another time, nothing is undone.
    #[param(inline, value_type = Option<Timestamp>)]
    used_at: Option<Millis>,
}

/// Undo an admission
///
/// The ticket admits again; who let somebody in and who took it back is kept. For the
/// organiser of the show. Undone again: the same answer.
#[utoipa::path(
    delete,
    path = "/api/v1/shows/{show}/scans/{ticket}",
    operation_id = "undo_scan",
    params(("show" = ShowIdText, Path), ("ticket" = TicketIdText, Path), UndoQuery),
    responses(
        (status = 200, description = "The ticket without a use.", body = HistoryView),
        (status = 403, description = "`forbidden`: the show belongs to another organiser."),
        (status = 409, description = "It was used at another time than `used_at`."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn undo(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, ticket)): Path<(ShowId, TicketId)>,
    Query(query): Query<UndoQuery>,
) -> Result<axum::Json<HistoryView>, Problem> {
    let undone = to_the_end(async move {
        api.app
            .undo_scans(&caller, show, ticket, query.used_at)
            .await
    });
    Ok(axum::Json(undone.await?.into()))
}
