//! A code is shown at a gate.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use onsale_app::tickets::{Invalid, ScanAnswer};
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::ticket::{MAX_GATE_LEN, Ticket, TicketState};
use onsale_domain::ticket_code::TicketKeys;
use onsale_domain::time::Millis;
use onsale_http::schemas::{ShowIdText, TicketIdText, Timestamp};
use onsale_http::{Api, AtGate, Json, OptionalKey, Path, Problem, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanRequest {
    /// What the QR says. Anything that is no code is answered `invalid`.
    code: String,
    #[schema(min_length = 1, max_length = 64, examples("north"))]
    gate: String,
}

const _: () = assert!(MAX_GATE_LEN == 64);

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ScanResult)]
enum ResultText {
    Admitted,
    AlreadyUsed,
    Revoked,
    Invalid,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ScanReason)]
pub(crate) enum Reason {
    Malformed,
    UnknownKey,
    BadSignature,
    WrongShow,
    UnknownTicket,
}

impl From<Invalid> for Reason {
    fn from(why: Invalid) -> Self {
        match why {
            Invalid::Malformed => Self::Malformed,
            Invalid::UnknownKey => Self::UnknownKey,
            Invalid::BadSignature => Self::BadSignature,
            Invalid::WrongShow => Self::WrongShow,
            Invalid::UnknownTicket => Self::UnknownTicket,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ScanAnswer)]
pub(crate) struct ScanView {
    result: ResultText,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    ticket_id: Option<TicketId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    seat: Option<String>,
    /// When the ticket was used: now, or before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    used_at: Option<Millis>,
    /// Where it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gate: Option<String>,
    /// Why a code is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<Reason>,
}

impl ScanView {
    fn of(result: ResultText, ticket: Ticket) -> Self {
        let (used_at, gate) = match ticket.state {
            TicketState::Used { at, gate, .. } => (Some(at), Some(gate)),
            TicketState::Valid | TicketState::Revoked { .. } => (None, None),
        };
        Self {
            result,
            ticket_id: Some(ticket.id),
            seat: Some(ticket.seat),
            used_at,
            gate,
            reason: None,
        }
    }
}

impl From<ScanAnswer> for ScanView {
    fn from(answer: ScanAnswer) -> Self {
        match answer {
            ScanAnswer::Admitted(ticket) => Self::of(ResultText::Admitted, ticket),
            ScanAnswer::AlreadyUsed { ticket, .. } => Self::of(ResultText::AlreadyUsed, ticket),
            ScanAnswer::Revoked(ticket) => Self::of(ResultText::Revoked, ticket),
            ScanAnswer::Invalid(why) => Self {
                result: ResultText::Invalid,
                ticket_id: None,
                seat: None,
                used_at: None,
                gate: None,
                reason: Some(why.into()),
            },
        }
    }
}

/// Scan a ticket
///
/// For the organiser of the show and its staff. A ticket admits once, however many gates ask at once.
/// A gate that never saw the answer repeats the request with its Idempotency-Key.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/scans",
    operation_id = "scan_ticket",
    params(("show" = ShowIdText, Path), OptionalKey),
    request_body = ScanRequest,
    responses(
        (status = 200, description = "Whether to let them in.", body = ScanView),
        (status = 409, description = "`conflict`: the scan of this key was undone, or the ticket was used and undone too often."),
        (status = 422, description = "`idempotency_mismatch`: the key came with another code or gate."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn scan(
    State(api): State<Api>,
    Extension(keys): Extension<Arc<TicketKeys>>,
    AtGate(caller): AtGate,
    Path(show): Path<ShowId>,
    OptionalKey(key): OptionalKey,
    Json(request, _): Json<ScanRequest>,
) -> Result<axum::Json<ScanView>, Problem> {
    let ScanRequest { code, gate } = request;
    let scanned = to_the_end(async move {
        api.app
            .scan(&caller, show, &keys, &code, &gate, key.as_ref())
            .await
    });
    let answer = scanned.await?;
    Ok(axum::Json(answer.into()))
}
