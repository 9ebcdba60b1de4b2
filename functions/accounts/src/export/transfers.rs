//! Tickets that went from hand to hand.

use onsale_app::transfers::Side;
use onsale_domain::ids::{ShowId, TicketId, TransferId};
use onsale_domain::time::Millis;
use onsale_domain::transfer::{Transfer, TransferStatus};
use onsale_http::schemas::{ShowIdText, TicketIdText, Timestamp, TransferIdText};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedTransfer {
    #[schema(value_type = TransferIdText)]
    transfer_id: TransferId,
    /// `out`: you offered it; `in`: it was offered to you.
    direction: &'static str,
    /// `open`, `accepted`, `declined`, `withdrawn` or `expired`.
    status: &'static str,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    seat: String,
    /// The ticket that you gave, or that you got.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<TicketIdText>)]
    ticket_id: Option<TicketId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    to_email: Option<String>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
    #[schema(value_type = Timestamp)]
    changed_at: Millis,
}

impl ExportedTransfer {
    pub(super) fn of((transfer, side): (Transfer, Side), now: Millis) -> Self {
        Self {
            transfer_id: transfer.id,
            direction: match side {
                Side::Sender => "out",
                Side::Recipient => "in",
            },
            status: match transfer.status(now) {
                TransferStatus::Open => "open",
                TransferStatus::Accepted => "accepted",
                TransferStatus::Declined => "declined",
                TransferStatus::Withdrawn => "withdrawn",
                TransferStatus::Expired => "expired",
            },
            show_id: transfer.show_id,
            ticket_id: side.ticket_of(&transfer),
            seat: transfer.seat,
            to_email: transfer.to.map(|to| to.as_str().to_owned()),
            created_at: transfer.created,
            changed_at: transfer.changed,
        }
    }
}
