//! Every address that a mail links to. The pages of the web are these paths; whoever
//! builds or moves a page does it here.

use onsale_domain::ids::{HoldId, OrderId, ShowId, TransferId, WaitlistId};

/// The paths of all pages, as patterns.
pub const PAGES: [&str; 9] = [
    "/orders",
    "/orders/{order}",
    "/shows/{show}",
    "/shows/{show}/holds/{hold}",
    "/shows/{show}/waitlist/{waitlist}",
    "/room/{show}",
    "/transfers/{transfer}",
    "/reset/{token}",
    "/invitation/{token}",
];

/// Where a mail may lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    Orders,
    Order(OrderId),
    Show(ShowId),
    Hold(ShowId, HoldId),
    Waitlist(ShowId, WaitlistId),
    Room(ShowId),
    Transfer(TransferId),
    /// With the token that the link carries.
    Reset(String),
    Invitation(String),
}

impl Link {
    pub fn path(&self) -> String {
        match self {
            Self::Orders => "/orders".to_owned(),
            Self::Order(order) => format!("/orders/{order}"),
            Self::Show(show) => format!("/shows/{show}"),
            Self::Hold(show, hold) => format!("/shows/{show}/holds/{hold}"),
            Self::Waitlist(show, entry) => format!("/shows/{show}/waitlist/{entry}"),
            Self::Room(show) => format!("/room/{show}"),
            Self::Transfer(transfer) => format!("/transfers/{transfer}"),
            Self::Reset(token) => format!("/reset/{token}"),
            Self::Invitation(token) => format!("/invitation/{token}"),
        }
    }
}
