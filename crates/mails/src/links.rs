//! Every address that a mail links to, and what its reader must be able to do there. The
//! pages of the web are these paths; whoever builds or moves a page does it here.

use onsale_domain::ids::{HoldId, OrderId, ShowId, TransferId, WaitlistId};

/// The paths of all pages, as patterns.
pub const PAGES: [&str; 11] = [
    "/orders",
    "/orders/{order}",
    "/shows/{show}",
    "/shows/{show}/holds/{hold}",
    "/shows/{show}/waitlist/{waitlist}",
    "/room/{show}",
    "/transfers/{transfer}",
    "/reset/{token}",
    "/invitation/{token}",
    "/log-in/{token}",
    "/prove/{token}",
];

/// What a page must have for the button of a letter to have told the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// A button whose accessible name, on the English page, begins so.
    Button(&'static str),
    /// A picture whose accessible name begins so.
    Picture(&'static str),
    /// A heading that begins so: the page does by itself what the button said.
    Heading(&'static str),
    /// The title of the event: the letter said "see", and this is what there is to see.
    EventTitle,
}

/// What the button of a letter promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promise {
    /// The kind of the letter, as it is stored.
    pub letter: &'static str,
    /// One of [`PAGES`].
    pub page: &'static str,
    pub control: Control,
}

const fn promise(letter: &'static str, page: &'static str, control: Control) -> Promise {
    Promise {
        letter,
        page,
        control,
    }
}

/// The promise of every letter. `crates/mails/buttons.json` is written from it, with the
/// text of each button in each language: a test in a browser follows the button of every
/// mail and looks for the control.
///
/// | button | page | its reader there |
/// |---|---|---|
/// | Your tickets: "See your tickets" | the order | sees the QR codes |
/// | Payment declined: "Try again" | the hold, which is the checkout | pays, with another card |
/// | Order cancelled: "See your order" | the order | sees which and what became of it |
/// | Waitlist: "Buy now" | the hold, which is the checkout | pays |
/// | Offer expired: "See the waitlist" | the waitlist entry | sees of which event, and its state |
/// | Resold, Cancelled: "See your orders" | all orders | sees the event among them |
/// | Changed, No longer valid: "See the show" | the show | sees its date and place |
/// | A ticket for you: "Accept the ticket" | the transfer | accepts it |
/// | New password, Staff: "Choose a password" | reset, invitation | writes one |
/// | Log in: "Log in" | the link, which a press follows | is logged in |
/// | Your address: "Confirm the address" | the link, after logging in | has proven it |
/// | Your turn: "Enter" | the room | is let in by the page itself, in the browser that joined |
pub const PROMISES: [Promise; 15] = [
    promise("confirmation", ORDER, Control::Picture("QR code")),
    promise("decline", HOLD, Control::Button("Buy now")),
    promise("cancellation", ORDER, Control::EventTitle),
    promise("offer", HOLD, Control::Button("Buy now")),
    promise("offer_lapsed", WAITLIST, Control::EventTitle),
    promise("resold", "/orders", Control::EventTitle),
    promise("show_changed", SHOW, Control::EventTitle),
    promise("show_cancelled", "/orders", Control::EventTitle),
    promise("transfer", TRANSFER, Control::Button("Accept the ticket")),
    promise("ticket_lost", SHOW, Control::EventTitle),
    promise("password_reset", "/reset/{token}", SET_PASSWORD),
    promise("invitation", "/invitation/{token}", SET_PASSWORD),
    promise("log_in_link", "/log-in/{token}", Control::Button("Log in")),
    promise(
        "prove_address",
        "/prove/{token}",
        Control::Button("Confirm the address"),
    ),
    promise(
        "your_turn",
        "/room/{show}",
        Control::Heading("It is your turn"),
    ),
];

const SET_PASSWORD: Control = Control::Button("Set the password");
const ORDER: &str = "/orders/{order}";
const SHOW: &str = "/shows/{show}";
const HOLD: &str = "/shows/{show}/holds/{hold}";
const WAITLIST: &str = "/shows/{show}/waitlist/{waitlist}";
const TRANSFER: &str = "/transfers/{transfer}";

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
    LogIn(String),
    Prove(String),
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
            Self::LogIn(token) => format!("/log-in/{token}"),
            Self::Prove(token) => format!("/prove/{token}"),
        }
    }
}
