//! What is stored about me, to take along.

mod account;
mod orders;
mod tickets;
mod transfers;
mod waitlists;

use axum::extract::State;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse};
use onsale_app::account_export::Export;
use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::time::Millis;
use onsale_http::schemas::{ShowIdText, Timestamp};
use onsale_http::{Api, Cursor, LoggedIn, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::account::{ExportedAccount, ExportedSession, ExportedStaff};
use self::orders::{ExportedHold, ExportedOrder};
use self::tickets::ExportedGift;
use self::transfers::ExportedTransfer;
use self::waitlists::ExportedWait;

#[derive(Serialize, ToSchema)]
struct ExportedFan {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = Timestamp)]
    registered_at: Millis,
}

#[derive(Serialize, ToSchema)]
struct ExportedPass {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    pass_id: String,
}

/// A page of what is stored about an account.
#[derive(Serialize, ToSchema)]
#[schema(as = Export)]
pub(crate) struct ExportAnswer {
    #[schema(value_type = Timestamp)]
    exported_at: Millis,
    /// On the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account: Option<ExportedAccount>,
    /// Whose staff you are, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    staff: Option<ExportedStaff>,
    sessions: Vec<ExportedSession>,
    /// The devices on which these sessions were opened, as far as their cookies say.
    #[schema(value_type = Vec<String>)]
    devices: Vec<VisitorId>,
    orders: Vec<ExportedOrder>,
    /// Tickets that somebody gave you, and that you have.
    received_tickets: Vec<ExportedGift>,
    /// In shows that are still to come.
    holds: Vec<ExportedHold>,
    /// The pass that was last used in each of these shows.
    passes: Vec<ExportedPass>,
    /// Of your address, since you have the account.
    fan_registrations: Vec<ExportedFan>,
    waitlists: Vec<ExportedWait>,
    /// What you offered, and what became of what was offered to your address. The ids of
    /// offers to you that are open are in the mails to that address.
    transfers: Vec<ExportedTransfer>,
    /// Pass it as `cursor` to get the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

fn answer(export: Export, now: Millis) -> ExportAnswer {
    let mut devices: Vec<_> = export.sessions.iter().filter_map(|s| s.device).collect();
    devices.sort();
    devices.dedup();
    let fan = |(show_id, registered_at)| ExportedFan {
        show_id,
        registered_at,
    };
    let pass = |(show_id, pass): (ShowId, PassId)| ExportedPass {
        show_id,
        pass_id: pass.to_string(),
    };
    let transfer = |one| ExportedTransfer::of(one, now);
    ExportAnswer {
        exported_at: now,
        account: export.account.map(ExportedAccount::of),
        staff: export.staff.map(ExportedStaff::of),
        sessions: export.sessions.iter().map(ExportedSession::of).collect(),
        devices,
        orders: export.orders.into_iter().map(ExportedOrder::of).collect(),
        received_tickets: export.received.into_iter().map(ExportedGift::of).collect(),
        holds: export.holds.into_iter().map(ExportedHold::of).collect(),
        passes: export.passes.into_iter().map(pass).collect(),
        fan_registrations: export.fan_registrations.into_iter().map(fan).collect(),
        waitlists: export.waitlists.into_iter().map(ExportedWait::of).collect(),
        transfers: export.transfers.into_iter().map(transfer).collect(),
        next_cursor: export.next.map(Cursor::encoded),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    #[param(inline, value_type = Option<Cursor>)]
    cursor: Option<Cursor>,
}

/// Export what is stored about me
///
/// A file of JSON. Most people get all of it at once; when there is more, the file has a
/// `next_cursor`. It has no password, no token and no code of a ticket: codes come with
/// the tickets. Mails are not in it, since you have them; nor are the venues and events of
/// an organiser, which `GET /api/v1/events?mine=true` lists.
#[utoipa::path(
    get,
    path = "/api/v1/me/export",
    operation_id = "export_account",
    security(("session" = [])),
    params(ExportQuery),
    responses((status = 200, description = "What is stored about you.", body = ExportAnswer))
)]
pub(crate) async fn export(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Query(query): Query<ExportQuery>,
) -> Result<impl IntoResponse, Problem> {
    let cursor = query.cursor.as_ref().map(|cursor| cursor.0.as_str());
    let export = api.app.export_account(&caller, cursor).await?;
    let headers = AppendHeaders([
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"onsale-export.json\"",
        ),
        (header::CACHE_CONTROL, "private, no-store"),
    ]);
    Ok((headers, axum::Json(answer(export, api.app.now()))))
}
