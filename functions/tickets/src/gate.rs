//! What gates need: how many came in, and everything to work without a line.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use onsale_app::gate::Snapshot;
use onsale_app::ports::EntryRight;
use onsale_domain::gate::ShortId;
use onsale_domain::ids::ShowId;
use onsale_domain::ticket_code::TicketKeys;
use onsale_domain::time::Millis;
use onsale_http::schemas::{ShowIdText, Timestamp};
use onsale_http::{Api, AtGate, Cursor, Limit, Path, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::keys::JwkView;

/// The tickets of a page, unless fewer are asked for: some 70 KB.
const PAGE: usize = 1_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SnapshotQuery {
    /// The `version` of an earlier snapshot: only what changed since comes, and perhaps a
    /// little that was known.
    #[param(inline, value_type = Option<Timestamp>)]
    since: Option<Millis>,
    /// 1 to 100; without it a page has 1,000 tickets.
    #[param(inline)]
    limit: Option<Limit>,
    #[param(inline)]
    cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, ToSchema)]
struct GateShow {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    title: String,
    #[schema(value_type = Timestamp)]
    starts_at: Millis,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsedTicket)]
struct UsedView {
    #[schema(value_type = String, pattern = "^[0-9a-f]{16}$")]
    ticket: ShortId,
    #[schema(value_type = Timestamp)]
    at: Millis,
    gate: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GateSnapshot)]
pub(crate) struct SnapshotView {
    show: GateShow,
    /// The keys that codes are checked with, newest first.
    keys: Vec<JwkView>,
    /// The time of this snapshot, the same on each of its pages: the next `since`.
    #[schema(value_type = Timestamp)]
    version: Millis,
    /// The first 16 digits of the ids of tickets that admit nobody any more, because their
    /// order was undone or they were passed on. Sorted.
    #[schema(value_type = Vec<String>)]
    revoked: Vec<ShortId>,
    /// Tickets that were used. Sorted.
    used: Vec<UsedView>,
    /// Tickets whose use was undone: they admit again. Sorted.
    good_again: Vec<ShortIdText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
#[schema(as = ShortTicketId, value_type = String, pattern = "^[0-9a-f]{16}$")]
struct ShortIdText(ShortId);

impl SnapshotView {
    fn of(snapshot: Snapshot, keys: &TicketKeys) -> Self {
        let (mut revoked, mut used, mut good_again) = (Vec::new(), Vec::new(), Vec::new());
        for change in snapshot.changes {
            let ticket = ShortId::of(change.ticket);
            match change.right {
                EntryRight::Revoked => revoked.push(ticket),
                EntryRight::GoodAgain => good_again.push(ShortIdText(ticket)),
                EntryRight::Used { at, gate } => used.push(UsedView { ticket, at, gate }),
            }
        }
        revoked.sort_unstable();
        good_again.sort_unstable();
        used.sort_by_key(|used| used.ticket);
        Self {
            show: GateShow {
                show_id: snapshot.show.id,
                title: snapshot.title,
                starts_at: snapshot.show.starts_at,
            },
            keys: keys.jwks().into_iter().map(JwkView::from).collect(),
            version: snapshot.version,
            revoked,
            used,
            good_again,
            next_cursor: snapshot.next.map(Cursor::encoded),
        }
    }
}

/// Everything a gate needs to work offline
///
/// Keys, revoked tickets and used ones: all of them, or what changed since an earlier
/// snapshot. Read page after page until there is no `next_cursor`, and apply the pages in
/// their order. For whoever may scan.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/gate",
    operation_id = "read_gate",
    params(("show" = ShowIdText, Path), SnapshotQuery),
    responses(
        (status = 200, description = "A page of the snapshot.", body = SnapshotView),
        (status = 403, description = "`forbidden`: you neither organise the show nor are its staff."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn snapshot(
    State(api): State<Api>,
    Extension(keys): Extension<Arc<TicketKeys>>,
    AtGate(caller): AtGate,
    Path(show): Path<ShowId>,
    Query(query): Query<SnapshotQuery>,
) -> Result<impl IntoResponse, Problem> {
    let limit = query.limit.map_or(PAGE, |limit| limit.0);
    let cursor = query.cursor.as_ref().map(|cursor| cursor.0.as_str());
    let snapshot = api
        .app
        .gate_snapshot(&caller, show, query.since, cursor, limit)
        .await?;
    let private = [(header::CACHE_CONTROL, "private, no-store")];
    Ok((private, axum::Json(SnapshotView::of(snapshot, &keys))))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GateCount)]
struct CountView {
    gate: String,
    admitted: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GateCounts)]
pub(crate) struct CountsView {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    /// People who came in, by whatever gate.
    admitted: u64,
    gates: Vec<CountView>,
}

/// How many came in
///
/// People by gate, as far as gates have reported; somebody who came in on a ticket that
/// was used is counted, and an admission that was undone is not. For whoever may scan.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/gates",
    operation_id = "count_gates",
    params(("show" = ShowIdText, Path)),
    responses(
        (status = 200, description = "By gate, in the order of their names.", body = CountsView),
        (status = 403, description = "`forbidden`: you neither organise the show nor are its staff."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn counts(
    State(api): State<Api>,
    AtGate(caller): AtGate,
    Path(show): Path<ShowId>,
) -> Result<axum::Json<CountsView>, Problem> {
    let counts = api.app.gate_counts(&caller, show).await?;
    let view = |count: onsale_app::ports::GateCount| CountView {
        gate: count.gate,
        admitted: count.admitted,
    };
    Ok(axum::Json(CountsView {
        show_id: show,
        admitted: counts.iter().map(|count| count.admitted).sum(),
        gates: counts.into_iter().map(view).collect(),
    }))
}
