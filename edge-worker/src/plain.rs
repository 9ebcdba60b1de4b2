//! Buying without a script: the best seats, the checkout and the tickets as pages of plain
//! HTML, at the addresses of the pages with `?plain`, where a browser without scripts is led.
//!
//! Their forms are sent to the addresses of the API, where the cookies of the session and of
//! the pass are sent along. The edge says in JSON what a form says, asks the function, and
//! answers with the next page. So a form can do nothing that a call of the API cannot.

mod best;
mod checkout;
mod html;
mod order;
mod reader;
mod who;

use std::sync::Arc;

use http::Method;
use http::header::CONTENT_TYPE;
use onsale_domain::ids::{HoldId, OrderId, ShowId};

use crate::answer::{Answer, Problem};
use crate::edge::{Edge, Incoming};
use crate::host::Host;
use crate::refusal_page::refusal;
use crate::web::is_from_here;
use crate::words::Words;
use reader::Form;
pub(crate) use reader::new_key;

/// What a form of ours sends is far below.
const MAX_BODY: usize = 8 << 10;

/// Pages of `pages.rs` that there are without a script as well.
pub(crate) fn has_page(name: &str) -> bool {
    matches!(name, "seats" | "checkout" | "order")
}

/// Whether the page is wanted without a script.
pub(crate) fn is_wanted(request: &Incoming) -> bool {
    let mut asked = request.uri().query().unwrap_or("").split('&');
    asked.any(|part| part == "plain")
}

/// One reader without scripts.
struct Asked<'a, H> {
    edge: &'a Arc<Edge>,
    host: &'a H,
    request: &'a Incoming,
    words: Words,
}

/// The plain page at the address of a page.
pub(crate) async fn page<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    request: &Incoming,
) -> Result<Answer, Problem> {
    let asked = Asked::of(edge, host, request);
    let nothing = || Problem::missing("There is nothing at this address.");
    let segments: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    match segments[..] {
        ["shows", show, "seats"] => {
            let show = show.parse().map_err(|_| nothing())?;
            asked.best_page(show).await
        }
        ["shows", show, "holds", hold] => {
            let (show, hold) = (show.parse(), hold.parse());
            let (Ok(show), Ok(hold)) = (show, hold) else {
                return Err(nothing());
            };
            asked.checkout_page(show, hold).await
        }
        ["orders", order] => {
            asked
                .order_page(order.parse().map_err(|_| nothing())?)
                .await
        }
        _ => Err(nothing()),
    }
}

/// What a form asks for.
enum Sent {
    Hold(ShowId),
    Pay(ShowId, HoldId),
    Confirm(OrderId),
    LogIn(String),
}

impl Sent {
    fn read(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix("/api/v1/")?.split('/').collect();
        Some(match segments[..] {
            ["shows", show, "holds"] => Self::Hold(show.parse().ok()?),
            ["shows", show, "holds", hold, "checkout"] => {
                Self::Pay(show.parse().ok()?, hold.parse().ok()?)
            }
            ["orders", order, "confirm-action"] => Self::Confirm(order.parse().ok()?),
            ["session-links", token] => Self::LogIn(token.to_owned()),
            _ => return None,
        })
    }
}

/// The answer to a form. `None`: this is no form, and programs are answered elsewhere.
pub(crate) async fn answer<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    request: &Incoming,
    address: &str,
) -> Option<Answer> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if *request.method() != Method::POST || !kind.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let sent = Sent::read(request.uri().path())?;
    let asked = Asked::of(edge, host, request);
    let again = sent.page();
    Some(match asked.check(address) {
        Ok(form) => asked.sent(sent, &form).await,
        Err(problem) => refusal(asked.words, problem, Some(&again)),
    })
}

impl Sent {
    /// The page with the form.
    fn page(&self) -> String {
        match self {
            Self::Hold(show) => best::path(*show),
            Self::Pay(show, hold) => checkout::path(*show, *hold),
            Self::Confirm(order) => order::path(*order),
            Self::LogIn(_) => "/".to_owned(),
        }
    }
}

impl<'a, H: Host> Asked<'a, H> {
    fn of(edge: &'a Arc<Edge>, host: &'a H, request: &'a Incoming) -> Self {
        Self {
            edge,
            host,
            request,
            words: Words::of(request.headers()),
        }
    }

    fn check(&self, address: &str) -> Result<Form, Problem> {
        self.edge.limits.address(address, self.host.now())?;
        if !is_from_here(self.request) {
            return Err(Problem::forbidden(
                "This form was sent by another site. Open the page itself.",
            ));
        }
        if self.request.body().len() > MAX_BODY {
            return Err(Problem::too_large("A form has at most 8 KiB."));
        }
        Ok(Form::read(self.request.body()))
    }

    async fn sent(&self, sent: Sent, form: &Form) -> Answer {
        match sent {
            Sent::Hold(show) => self.hold(show, form).await,
            Sent::Pay(show, hold) => self.pay(show, hold, form).await,
            Sent::Confirm(order) => self.confirm(order).await,
            Sent::LogIn(token) => self.log_in(&token, form).await,
        }
    }
}
