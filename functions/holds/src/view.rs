//! A hold in an answer.

use onsale_app::holds::HoldView;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::money::Money;
use onsale_domain::time::Millis;
use onsale_http::schemas::{HoldIdText, MoneyValue, ShowIdText, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeldSeat {
    #[schema(examples("A-12-7"))]
    seat: String,
    #[schema(value_type = MoneyValue)]
    price: Money,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldAnswer {
    #[schema(value_type = HoldIdText)]
    hold_id: HoldId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    seats: Vec<HeldSeat>,
    /// Whether all are side by side in one row, or in one general section.
    together: bool,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Held,
    Paying,
    Sold,
    Released,
    Expired,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldStatus {
    #[serde(flatten)]
    hold: HoldAnswer,
    status: Status,
}

impl From<(String, Money)> for HeldSeat {
    fn from((seat, price): (String, Money)) -> Self {
        Self { seat, price }
    }
}

impl From<HoldView> for HoldAnswer {
    fn from(hold: HoldView) -> Self {
        Self {
            hold_id: hold.hold_id,
            show_id: hold.show_id,
            seats: hold.seats.into_iter().map(HeldSeat::from).collect(),
            together: hold.together,
            total: hold.total,
            expires_at: hold.expires_at,
        }
    }
}

impl From<HoldView> for HoldStatus {
    fn from(hold: HoldView) -> Self {
        let status = match hold.state {
            EntryState::Held => Status::Held,
            EntryState::Paying => Status::Paying,
            EntryState::Sold => Status::Sold,
            EntryState::Released | EntryState::Undone => Status::Released,
            EntryState::Expired => Status::Expired,
        };
        Self {
            hold: hold.into(),
            status,
        }
    }
}
