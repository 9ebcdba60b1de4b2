//! Passing a ticket on.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use onsale_app::transfers::{Seen, Side};
use onsale_domain::ids::{ShowId, TicketId, TransferId};
use onsale_domain::time::Millis;
use onsale_domain::transfer::TransferStatus;
use onsale_http::schemas::{ShowIdText, TicketIdText, Timestamp, TransferIdText};
use onsale_http::{
    Api, Authenticated, EmailText, Json, List, OptionalKey, PageQuery, Path, Problem, Query,
    to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewTransfer)]
pub(crate) struct TransferRequest {
    /// Whoever has an account with this address may accept, also one that they make later.
    to_email: EmailText,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TransferOffered)]
pub(crate) struct OfferedView {
    #[schema(value_type = TransferIdText)]
    transfer_id: TransferId,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

/// Offer a ticket to somebody
///
/// The ticket stays yours until they accept. One offer of a ticket can be open at a time;
/// it stands for seven days, at most until the show begins.
#[utoipa::path(
    post,
    path = "/api/v1/tickets/{ticket}/transfer",
    operation_id = "offer_transfer",
    params(("ticket" = TicketIdText, Path), OptionalKey),
    request_body = TransferRequest,
    responses(
        (status = 202, description = "They can accept it now.", body = OfferedView),
        (status = 409, description = "The ticket is used, revoked, or offered already, or the show has begun."),
        (status = 422, description = "`idempotency_mismatch`, or `limit_exceeded`: the ticket was offered or passed on too often."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn offer(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(ticket): Path<TicketId>,
    OptionalKey(key): OptionalKey,
    Json(request, hash): Json<TransferRequest>,
) -> Result<(StatusCode, axum::Json<OfferedView>), Problem> {
    let to = request.to_email.0;
    let offered = to_the_end(async move {
        api.app
            .offer_transfer(&caller, ticket, &to, key.as_ref(), hash)
            .await
    });
    let transfer = offered.await?;
    let view = OfferedView {
        transfer_id: transfer.id,
        expires_at: transfer.expires,
    };
    Ok((StatusCode::ACCEPTED, axum::Json(view)))
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TransferDirection)]
enum DirectionText {
    In,
    Out,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TransferStatus)]
enum TransferStatusText {
    Open,
    Accepted,
    Declined,
    Withdrawn,
    Expired,
}

impl From<TransferStatus> for TransferStatusText {
    fn from(status: TransferStatus) -> Self {
        match status {
            TransferStatus::Open => Self::Open,
            TransferStatus::Accepted => Self::Accepted,
            TransferStatus::Declined => Self::Declined,
            TransferStatus::Withdrawn => Self::Withdrawn,
            TransferStatus::Expired => Self::Expired,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transfer)]
pub(crate) struct TransferView {
    #[schema(value_type = TransferIdText)]
    transfer_id: TransferId,
    direction: DirectionText,
    status: TransferStatusText,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    seat: String,
    /// The ticket that you gave, or that you got.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    ticket_id: Option<TicketId>,
    /// Who gives the ticket, for its recipient and only where one transfer is read. Absent
    /// once they have left. Words of the name that look like a link are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    from_name: Option<String>,
    /// Absent once whoever it was for has left.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    to_email: Option<String>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

impl TransferView {
    fn of(seen: Seen, now: Millis) -> Self {
        let Seen {
            transfer,
            side,
            from_name,
        } = seen;
        Self {
            transfer_id: transfer.id,
            direction: match side {
                Side::Sender => DirectionText::Out,
                Side::Recipient => DirectionText::In,
            },
            status: transfer.status(now).into(),
            show_id: transfer.show_id,
            ticket_id: side.ticket_of(&transfer),
            seat: transfer.seat,
            from_name,
            to_email: transfer.to.map(|to| to.as_str().to_owned()),
            created_at: transfer.created,
            expires_at: transfer.expires,
        }
    }
}

/// List your transfers
///
/// What you offered, and what became of what was offered to your address. An offer to you
/// that is open is not in it: its id is in the mail to that address.
#[utoipa::path(
    get,
    path = "/api/v1/transfers",
    operation_id = "list_transfers",
    params(PageQuery),
    responses((status = 200, description = "Newest first.", body = List<TransferView>)),
    security(("session" = [])),
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<List<TransferView>>, Problem> {
    let page = api
        .app
        .transfers(&caller, query.after(), query.limit.0)
        .await?;
    let now = api.app.now();
    Ok(axum::Json(List::from_page(page, |(transfer, side)| {
        let from_name = None;
        let seen = Seen {
            transfer,
            side,
            from_name,
        };
        TransferView::of(seen, now)
    })))
}

/// Read a transfer
#[utoipa::path(
    get,
    path = "/api/v1/transfers/{transfer}",
    operation_id = "read_transfer",
    params(("transfer" = TransferIdText, Path)),
    responses((status = 200, description = "The transfer.", body = TransferView)),
    security(("session" = [])),
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(transfer): Path<TransferId>,
) -> Result<axum::Json<TransferView>, Problem> {
    let transfer = api.app.transfer(&caller, transfer).await?;
    Ok(axum::Json(TransferView::of(transfer, api.app.now())))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TransferAccepted)]
pub(crate) struct AcceptedView {
    /// Your ticket.
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    /// What its QR says.
    code: String,
}

/// Accept a ticket
///
/// The sender's code is dead from then on, and the ticket is yours. Accepted again: the
/// same answer.
#[utoipa::path(
    post,
    path = "/api/v1/transfers/{transfer}/accept",
    operation_id = "accept_transfer",
    params(("transfer" = TransferIdText, Path), OptionalKey),
    responses(
        (status = 200, description = "The ticket is yours.", body = AcceptedView),
        (status = 409, description = "The offer is over, or the ticket was used or revoked."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn accept(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(transfer): Path<TransferId>,
    // The transfer names itself, so a key has nothing to add.
    OptionalKey(_): OptionalKey,
) -> Result<impl IntoResponse, Problem> {
    let accepted = to_the_end(async move { api.app.accept_transfer(&caller, transfer).await });
    let ticket = accepted.await?;
    let private = [(header::CACHE_CONTROL, "private, no-store")];
    let view = AcceptedView {
        ticket_id: ticket.id,
        code: ticket.code,
    };
    Ok((private, axum::Json(view)))
}

/// Decline a ticket
#[utoipa::path(
    post,
    path = "/api/v1/transfers/{transfer}/decline",
    operation_id = "decline_transfer",
    params(("transfer" = TransferIdText, Path), OptionalKey),
    responses(
        (status = 204, description = "The sender keeps it."),
        (status = 409, description = "The offer is over, or was accepted."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn decline(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(transfer): Path<TransferId>,
    OptionalKey(_): OptionalKey,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.decline_transfer(&caller, transfer).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Take an offer back
#[utoipa::path(
    delete,
    path = "/api/v1/transfers/{transfer}",
    operation_id = "withdraw_transfer",
    params(("transfer" = TransferIdText, Path)),
    responses(
        (status = 204, description = "Nobody can accept it any more."),
        (status = 409, description = "It was accepted, or is over."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn withdraw(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(transfer): Path<TransferId>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.withdraw_transfer(&caller, transfer).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
