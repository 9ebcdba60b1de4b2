//! The routes of a waiting room. None of them asks an object about a visitor, except
//! `enter` and `leave`, and `status` of those at the door, which go to the gate of their lot,
//! and `remind`, by which a visitor leaves an address.

mod challenge;
mod enter;
mod fairness;
mod forms;
mod join;
mod page;
mod reached;
mod remind;
mod status;
mod wait_words;

use http::{HeaderMap, Method};
pub(crate) use onsale_domain::device::COOKIE as VISITOR_COOKIE;
use onsale_domain::ids::ShowId;
use onsale_domain::room::ticket::QueueTicket;
use onsale_domain::time::Millis;
use std::sync::Arc;

use crate::answer::{Answer, Problem, cookie};
use crate::edge::{Edge, Incoming, wrong_method};
use crate::host::Host;
use crate::refusal_page::refusal;
use crate::web::{is_from_here, wants_page};
use crate::words::Words;

pub(crate) const TICKET_COOKIE: &str = "onsale_ticket";
const TICKET_HEADER: &str = "onsale-ticket";
const MAX_BODY: usize = 8 << 10;
/// The query by which a page without a script enters.
const ENTER: &str = "enter";

/// One request to the room of one show.
struct Asked<'a, H> {
    edge: &'a Arc<Edge>,
    host: &'a H,
    request: &'a Incoming,
    show: ShowId,
    address: &'a str,
    now: Millis,
}

pub(crate) async fn answer<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    request: &Incoming,
    show: ShowId,
    action: &str,
    address: &str,
) -> Answer {
    let asked = Asked {
        edge,
        host,
        request,
        show,
        address,
        now: host.now(),
    };
    let answered = asked.answer(action).await;
    answered.unwrap_or_else(|problem| asked.refused(problem))
}

/// Hosts leave the body of an answer to HEAD out.
fn is_read(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

impl<H: Host> Asked<'_, H> {
    async fn answer(&self, action: &str) -> Result<Answer, Problem> {
        self.edge.limits.address(self.address, self.now)?;
        if self.request.body().len() > MAX_BODY {
            return Err(Problem::too_large(
                "What is sent to the waiting room has at most 8 KiB.",
            ));
        }
        let (asked, method) = (self, self.request.method());
        match action {
            "challenge" if *method == Method::GET || *method == Method::POST => {
                asked.challenge().await
            }
            "challenge" => Err(wrong_method("GET, POST")),
            "join" | "enter" | "leave" if *method != Method::POST => Err(wrong_method("POST")),
            "" | "status" | "fairness" if !is_read(method) => Err(wrong_method("GET, HEAD")),
            "" if asked.enters_by_page() => asked.enter().await,
            "" if wants_page(asked.headers()) => asked.page().await,
            "" | "status" => asked.status().await,
            "fairness" => asked.fairness().await,
            "join" => asked.join().await,
            "enter" => asked.enter().await,
            "leave" => asked.leave().await,
            "remind" if *method == Method::GET => asked.remind_page().await,
            "remind" if *method == Method::POST => asked.remind().await,
            "remind" => Err(wrong_method("GET, POST")),
            _ => Err(Problem::missing(
                "A waiting room has challenge, join, status, enter, leave, remind and fairness.",
            )),
        }
    }

    /// A refusal as its reader can read it: a page for a browser that shows it. One that may
    /// pass is looked at again by itself, or a visitor at the door would lose their place.
    fn refused(&self, problem: Problem) -> Answer {
        if !self.is_plain() {
            return problem.answer();
        }
        let path = self.path();
        let mut page = refusal(self.words(), problem, Some(&path));
        if let Some(seconds) = page.headers().get(http::header::RETRY_AFTER) {
            let again = [seconds.as_bytes(), b"; url=", path.as_bytes()].concat();
            if let Ok(again) = http::HeaderValue::from_bytes(&again) {
                page.headers_mut().insert(http::header::REFRESH, again);
            }
        }
        page
    }

    fn words(&self) -> Words {
        Words::of(self.headers())
    }

    fn headers(&self) -> &HeaderMap {
        self.request.headers()
    }

    /// Whether a form of the page without a script was sent.
    fn is_form(&self) -> bool {
        let media_type = self.headers().get(http::header::CONTENT_TYPE);
        let media_type = media_type.and_then(|v| v.to_str().ok()).unwrap_or("");
        media_type.starts_with("application/x-www-form-urlencoded")
    }

    /// Whether a browser shows the answer itself, and no script reads it.
    fn is_plain(&self) -> bool {
        let is_page = self.request.uri().path().trim_end_matches('/') == self.path();
        self.is_form() || (is_page && is_read(self.request.method()) && wants_page(self.headers()))
    }

    /// Whether the page without a script goes in by itself: see `noscript-enter.html`. It takes
    /// no more than the visitor's own slot, and not at the request of another site.
    fn enters_by_page(&self) -> bool {
        let site = self.headers().get("sec-fetch-site");
        let is_from_here = site.is_none_or(|site| site == "same-origin" || site == "none");
        let is_asked = *self.request.method() == Method::GET && wants_page(self.headers());
        is_asked && is_from_here && self.request.uri().query() == Some(ENTER)
    }

    /// A write that another site made a browser send is refused. A program names no origin.
    fn check_origin(&self) -> Result<(), Problem> {
        if is_from_here(self.request) {
            Ok(())
        } else {
            Err(Problem::forbidden(
                "This came from another site. Open the waiting room itself.",
            ))
        }
    }

    /// The ticket that was sent, to a room that opens then. A header that is wrong is an
    /// error of the program that sent it; a cookie that is wrong is only old.
    fn ticket(&self, opens: Option<Millis>) -> Result<Option<QueueTicket>, Problem> {
        let verified = |text: &str| self.edge.secrets.tickets.verify(text, opens, self.now);
        let header = self.headers().get(TICKET_HEADER);
        let ticket = match header {
            Some(value) => {
                let text = value.to_str().unwrap_or("");
                Some(verified(text).map_err(no_ticket)?)
            }
            None => {
                let sent = cookie(self.headers(), TICKET_COOKIE);
                sent.and_then(|text| verified(text).ok())
            }
        };
        match ticket {
            Some(ticket) if ticket.show != self.show && header.is_some() => {
                Err(no_ticket("the queue ticket is for another show"))
            }
            other => Ok(other.filter(|ticket| ticket.show == self.show)),
        }
    }

    /// The ticket, where nothing goes without one.
    fn required_ticket(&self, opens: Option<Millis>) -> Result<QueueTicket, Problem> {
        self.ticket(opens)?
            .ok_or_else(|| no_ticket("there is no queue ticket for this show"))
    }

    fn path(&self) -> String {
        format!("/room/{}", self.show)
    }
}

fn no_ticket(why: impl std::fmt::Display) -> Problem {
    Problem::unauthenticated(format!(
        "You cannot be found in the line: {why}. Solve a challenge and join; \
         repeating the join you made gives your place back."
    ))
    .titled("No valid queue ticket")
}
