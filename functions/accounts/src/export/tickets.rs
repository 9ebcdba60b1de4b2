//! Tickets: of one's own orders, and from others.

use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::money::Money;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;
use onsale_http::schemas::{MoneyValue, ShowIdText, TicketIdText, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedTicket {
    #[schema(value_type = TicketIdText)]
    ticket_id: TicketId,
    seat: String,
    /// `valid`, `used` or `revoked`.
    status: &'static str,
    #[schema(value_type = Timestamp)]
    issued_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    used_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gate: Option<String>,
    /// That it was put back, and what has become of that.
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    put_back: Option<ExportedReturn>,
}

#[derive(Serialize, ToSchema)]
struct ExportedReturn {
    /// `offered`, `being_bought`, `ended` or `resold`.
    status: &'static str,
    #[schema(value_type = Timestamp)]
    put_back_at: Millis,
    #[schema(value_type = MoneyValue)]
    refund: Money,
}

impl ExportedTicket {
    pub(super) fn of(ticket: Ticket) -> Self {
        let put_back = ticket.put_back.as_ref().map(|r| ExportedReturn {
            status: r.state.as_str(),
            put_back_at: r.since,
            refund: r.price,
        });
        let (status, used_at, gate) = match ticket.state {
            TicketState::Valid => ("valid", None, None),
            TicketState::Used { at, gate, .. } => ("used", Some(at), Some(gate)),
            TicketState::Revoked { .. } => ("revoked", None, None),
        };
        Self {
            ticket_id: ticket.id,
            seat: ticket.seat,
            status,
            issued_at: ticket.issued,
            used_at,
            gate,
            put_back,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedGift {
    #[serde(flatten)]
    ticket: ExportedTicket,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
}

impl ExportedGift {
    pub(super) fn of(received: Ticket) -> Self {
        Self {
            show_id: received.show_id,
            ticket: ExportedTicket::of(received),
        }
    }
}
