//! A gate that was offline tells what it did.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use onsale_app::gate::{OfflineScan, Outcome, SyncedScan};
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::ticket::TicketState;
use onsale_domain::ticket_code::TicketKeys;
use onsale_domain::time::Millis;
use onsale_http::schemas::{ShowIdText, TicketIdText, Timestamp};
use onsale_http::{Api, AtGate, Json, OptionalKey, Path, Problem, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::history::AdmissionView;
use crate::scan::Reason;

/// With codes of 170 characters, so many fit a body of 64 KiB.
const MAX_SCANS: usize = 200;

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OfflineResult)]
enum SaidText {
    Admitted,
    AlreadyUsed,
    Revoked,
    Invalid,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OfflineScan)]
struct ScanText {
    /// What the QR said.
    code: String,
    /// When, by the clock of the device. With the device and the code it names the scan.
    #[schema(value_type = Timestamp)]
    at: Millis,
    /// What the device decided; `admitted` unless told.
    result: Option<SaidText>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = OfflineScans)]
pub(crate) struct BatchRequest {
    #[schema(min_length = 1, max_length = 64, examples("north"))]
    gate: String,
    /// Tells devices apart; always the same for one.
    #[schema(min_length = 1, max_length = 64)]
    device: String,
    /// The time on the device now, by which the times of its scans are corrected. Without
    /// it, its clock is taken for right.
    #[schema(value_type = Option<Timestamp>)]
    sent_at: Option<Millis>,
    #[schema(min_items = 1, max_items = 200)]
    scans: Vec<ScanText>,
}

const _: () = assert!(MAX_SCANS == 200);

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SyncedResult)]
enum OutcomeText {
    /// They came in, and first.
    Admitted,
    /// They came in, and somebody else had come in before on the same ticket.
    DoubleAdmission,
    /// They came in, or were turned away, and the ticket is revoked.
    Revoked,
    Invalid,
    /// They were turned away, and the ticket is used.
    AlreadyUsed,
    /// They were turned away, and the ticket is good.
    NotAdmitted,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncedScan)]
struct SyncedView {
    result: OutcomeText,
    /// When it was, by our clock.
    #[schema(value_type = Timestamp)]
    at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    ticket_id: Option<TicketId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    seat: Option<String>,
    /// The admission that counts: the earliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    used_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gate: Option<String>,
    /// Since when the ticket is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    revoked_at: Option<Millis>,
    /// The other admissions on the same ticket that stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<AdmissionView>,
    /// Why a code is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<Reason>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SyncedScans)]
pub(crate) struct BatchAnswer {
    /// In the order of the request.
    scans: Vec<SyncedView>,
}

impl From<SyncedScan> for SyncedView {
    fn from(synced: SyncedScan) -> Self {
        let (result, reason) = match synced.outcome {
            Outcome::Admitted => (OutcomeText::Admitted, None),
            Outcome::Double => (OutcomeText::DoubleAdmission, None),
            Outcome::Revoked => (OutcomeText::Revoked, None),
            Outcome::AlreadyUsed => (OutcomeText::AlreadyUsed, None),
            Outcome::NotAdmitted => (OutcomeText::NotAdmitted, None),
            Outcome::Invalid(why) => (OutcomeText::Invalid, Some(why.into())),
        };
        let mut view = Self {
            result,
            at: synced.at,
            ticket_id: None,
            seat: None,
            used_at: None,
            gate: None,
            revoked_at: None,
            others: Vec::new(),
            reason,
        };
        if let Some(ticket) = synced.ticket {
            let admissions = ticket.all_admissions();
            if let Some(first) = admissions.first() {
                view.used_at = Some(first.at);
                view.gate = Some(first.gate.clone());
            }
            if let TicketState::Revoked { at } = ticket.state {
                view.revoked_at = Some(at);
            }
            let others = admissions.standing().filter(|a| a.scan != synced.scan);
            view.others = others.map(AdmissionView::from).collect();
            view.ticket_id = Some(ticket.id);
            view.seat = Some(ticket.seat);
        }
        view
    }
}

/// Report what a gate did while it was offline
///
/// Whoever was let in is in: nothing is refused, everything is written down. Of several
/// admissions on one ticket the earliest counts, whatever order gates report in; the others
/// are told as `double_admission`, with where and when. A batch that was cut off is sent
/// again: a scan is known by its device, its code and its time, so a key is accepted and
/// not needed. For whoever may scan.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/scans/batch",
    operation_id = "sync_scans",
    params(("show" = ShowIdText, Path), OptionalKey),
    request_body = BatchRequest,
    responses((status = 200, description = "What became of each scan.", body = BatchAnswer)),
    security(("session" = [])),
)]
pub(crate) async fn sync(
    State(api): State<Api>,
    Extension(keys): Extension<Arc<TicketKeys>>,
    AtGate(caller): AtGate,
    Path(show): Path<ShowId>,
    // A scan is named by itself, so a key has nothing to add.
    OptionalKey(_): OptionalKey,
    Json(request, _): Json<BatchRequest>,
) -> Result<axum::Json<BatchAnswer>, Problem> {
    let BatchRequest {
        gate,
        device,
        sent_at,
        scans,
    } = request;
    if !(1..=MAX_SCANS).contains(&scans.len()) {
        return Err(Problem::invalid(format!("scans: 1 to {MAX_SCANS} scans")));
    }
    let scans: Vec<_> = scans
        .into_iter()
        .map(|scan| OfflineScan {
            code: scan.code,
            at: scan.at,
            admitted: matches!(scan.result, None | Some(SaidText::Admitted)),
        })
        .collect();
    let synced = to_the_end(async move {
        let sent_at = sent_at.unwrap_or_else(|| api.app.now());
        api.app
            .sync_scans(&caller, show, &keys, &gate, &device, sent_at, &scans)
            .await
    });
    let scans = synced.await?.into_iter().map(SyncedView::from).collect();
    Ok(axum::Json(BatchAnswer { scans }))
}
