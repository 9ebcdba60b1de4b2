//! Putting a ticket back at face value.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::ids::TicketId;
use onsale_domain::money::Money;
use onsale_domain::ticket_return::{Return, ReturnState};
use onsale_domain::time::Millis;
use onsale_http::schemas::{MoneyValue, TicketIdText, Timestamp};
use onsale_http::{Api, Authenticated, OptionalKey, Path, Problem, to_the_end};
use serde::Serialize;
use utoipa::ToSchema;

use crate::view::TicketView;

/// `offered`: whoever waits for such a place may buy it. `being_bought`: it is kept for
/// somebody who may pay. `ended`: it was taken back, used, passed on or revoked. `resold`:
/// it is somebody else's.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TicketReturnStatus)]
pub(crate) enum ReturnStatusText {
    Offered,
    BeingBought,
    Ended,
    Resold,
}

/// That a ticket was put back, and what has become of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TicketReturn)]
pub(crate) struct ReturnView {
    status: ReturnStatusText,
    #[schema(value_type = Timestamp)]
    put_back_at: Millis,
    /// What was paid for the place, and goes back once it is resold.
    #[schema(value_type = MoneyValue)]
    refund: Money,
}

impl From<&Return> for ReturnView {
    fn from(put_back: &Return) -> Self {
        Self {
            status: match put_back.state {
                ReturnState::Offered => ReturnStatusText::Offered,
                ReturnState::Promised(_) => ReturnStatusText::BeingBought,
                ReturnState::Ended { .. } => ReturnStatusText::Ended,
                ReturnState::Resold { .. } => ReturnStatusText::Resold,
            },
            put_back_at: put_back.since,
            refund: put_back.price,
        }
    }
}

/// Put a ticket back
///
/// The place is offered to the waitlist of the show, at the price that was paid for it. The
/// ticket stays yours, and good, until somebody has paid: then its code is `revoked`, and
/// the price goes back to the payment with which it was bought. Using the ticket or offering
/// it to somebody ends the return. Put back again: the same answer.
#[utoipa::path(
    post,
    path = "/api/v1/tickets/{ticket}/return",
    operation_id = "return_ticket",
    params(("ticket" = TicketIdText, Path), OptionalKey),
    responses(
        (status = 202, description = "It is on offer. `return` says what has become of it.", body = TicketView),
        (status = 409, description = "The ticket is used, revoked, or offered to somebody; its order is being cancelled; or the show has begun."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn put_back(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(ticket): Path<TicketId>,
    OptionalKey(key): OptionalKey,
) -> Result<(StatusCode, axum::Json<TicketView>), Problem> {
    let put_back =
        to_the_end(async move { api.app.return_ticket(&caller, ticket, key.as_ref()).await });
    let ticket = put_back.await?;
    Ok((StatusCode::ACCEPTED, axum::Json(ticket.into())))
}

/// Take a ticket back
///
/// Possible until it is resold, also while somebody is about to pay: they are not charged.
#[utoipa::path(
    delete,
    path = "/api/v1/tickets/{ticket}/return",
    operation_id = "keep_ticket",
    params(("ticket" = TicketIdText, Path)),
    responses(
        (status = 204, description = "It is on offer no longer."),
        (status = 409, description = "It was resold."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn take_back(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(ticket): Path<TicketId>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.keep_ticket(&caller, ticket).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
