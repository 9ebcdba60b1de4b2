//! A ticket in an answer.

use axum::extract::State;
use onsale_domain::ids::{OrderId, ShowId, TicketId};
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_http::schemas::{OrderIdText, ShowIdText, TicketIdText};
use onsale_http::{Api, Authenticated, List, PageQuery, Path, Problem, Query};
use serde::Serialize;
use utoipa::ToSchema;

use crate::returns::ReturnView;

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TicketStatus)]
pub(crate) enum StatusText {
    Valid,
    Used,
    Revoked,
}

impl From<&TicketState> for StatusText {
    fn from(state: &TicketState) -> Self {
        match state {
            TicketState::Valid => Self::Valid,
            TicketState::Used { .. } => Self::Used,
            TicketState::Revoked { .. } => Self::Revoked,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ticket)]
pub(crate) struct TicketView {
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    #[schema(examples("A-12-7"))]
    seat: String,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    /// What the QR says.
    code: String,
    status: StatusText,
    /// Only for a ticket that was ever put back.
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    put_back: Option<ReturnView>,
}

impl From<Ticket> for TicketView {
    fn from(ticket: Ticket) -> Self {
        Self {
            ticket_id: ticket.id,
            status: (&ticket.state).into(),
            put_back: ticket.put_back.as_ref().map(ReturnView::from),
            seat: ticket.seat,
            show_id: ticket.show_id,
            code: ticket.code,
        }
    }
}

/// List your tickets
///
/// Those that you bought and those that you were given; not those that you gave away.
#[utoipa::path(
    get,
    path = "/api/v1/tickets",
    operation_id = "list_my_tickets",
    params(PageQuery),
    responses((status = 200, description = "Newest first.", body = List<TicketView>)),
    security(("session" = [])),
)]
pub(crate) async fn mine(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> Result<axum::Json<List<TicketView>>, Problem> {
    let page = api
        .app
        .my_tickets(&caller, query.after(), query.limit.0)
        .await?;
    Ok(axum::Json(List::from_page(page, TicketView::from)))
}

/// List the tickets of an order
///
/// A ticket that was passed on is `revoked`: its new owner has another.
#[utoipa::path(
    get,
    path = "/api/v1/orders/{order}/tickets",
    operation_id = "list_tickets",
    params(("order" = OrderIdText, Path)),
    responses((status = 200, description = "In the order of the seats; none before the order is confirmed.", body = List<TicketView>)),
    security(("session" = [])),
)]
pub(crate) async fn of_order(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
) -> Result<axum::Json<List<TicketView>>, Problem> {
    let tickets = api.app.tickets_of(&caller, order).await?;
    let items = tickets.into_iter().map(TicketView::from).collect();
    Ok(axum::Json(List::whole(items)))
}
