//! What was bought, and what is on hold.

use onsale_app::holds::HoldView;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, OrderId, ShowId};
use onsale_domain::money::Money;
use onsale_domain::order::{Order, OrderStatus, OrderedSeat};
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_http::schemas::{HoldIdText, MoneyValue, OrderIdText, ShowIdText, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::tickets::ExportedTicket;

#[derive(Serialize, ToSchema)]
struct ExportedSeat {
    seat: String,
    #[schema(value_type = MoneyValue)]
    price: Money,
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedOrder {
    #[schema(value_type = OrderIdText)]
    order_id: OrderId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = String)]
    status: OrderStatus,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<MoneyValue>)]
    refund: Option<Money>,
    seats: Vec<ExportedSeat>,
    /// The provider's names of the cards that were tried.
    payment_methods: Vec<String>,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
    #[schema(value_type = Timestamp)]
    changed_at: Millis,
    tickets: Vec<ExportedTicket>,
}

impl ExportedOrder {
    pub(super) fn of((order, tickets): (Order, Vec<Ticket>)) -> Self {
        let currency = order.currency;
        let seat = |seat: &OrderedSeat| ExportedSeat {
            seat: seat.seat.clone(),
            price: Money {
                amount: seat.price,
                currency,
            },
        };
        let methods = order.attempts.iter().map(|attempt| attempt.method.as_str());
        Self {
            order_id: order.id,
            show_id: order.show_id,
            status: order.status(),
            total: order.total(),
            refund: order.given_back(),
            seats: order.seats.iter().map(seat).collect(),
            payment_methods: methods.map(str::to_owned).collect(),
            created_at: order.created,
            changed_at: order.changed,
            tickets: tickets.into_iter().map(ExportedTicket::of).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedHold {
    #[schema(value_type = HoldIdText)]
    hold_id: HoldId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    status: &'static str,
    seats: Vec<ExportedSeat>,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

impl ExportedHold {
    pub(super) fn of(hold: HoldView) -> Self {
        let seat = |(seat, price)| ExportedSeat { seat, price };
        Self {
            hold_id: hold.hold_id,
            show_id: hold.show_id,
            status: match hold.state {
                EntryState::Held => "held",
                EntryState::Paying => "paying",
                EntryState::Sold => "sold",
                EntryState::Released | EntryState::Undone => "released",
                EntryState::Expired => "expired",
            },
            seats: hold.seats.into_iter().map(seat).collect(),
            total: hold.total,
            expires_at: hold.expires_at,
        }
    }
}
