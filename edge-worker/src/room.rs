//! The routes of a waiting room. None of them asks an object about a visitor, except
//! `enter` and `leave`, which go to the gate of their lot, and `remind`, by which a visitor
//! leaves an address.

mod challenge;
mod enter;
mod fairness;
mod join;
mod page;
mod remind;
mod status;

use http::{HeaderMap, Method};
use onsale_domain::ids::ShowId;
use onsale_domain::room::ticket::QueueTicket;
use onsale_domain::time::Millis;
use std::sync::Arc;

use crate::answer::{Answer, Problem, cookie};
use crate::edge::{Edge, Incoming, wrong_method};
use crate::host::Host;
use crate::web;

pub(crate) const TICKET_COOKIE: &str = "onsale_ticket";
pub(crate) const VISITOR_COOKIE: &str = "onsale_visitor";
pub(crate) const PASS_COOKIE: &str = "onsale_pass";
const TICKET_HEADER: &str = "onsale-ticket";
const MAX_BODY: usize = 8 << 10;

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
    answered.unwrap_or_else(|problem| match is_page(request, action) {
        true => web::refusal(problem, None),
        false => asked.refused(problem),
    })
}

/// Whether a browser asks for the page of a room.
pub(crate) fn is_page(request: &Incoming, action: &str) -> bool {
    action.is_empty() && is_read(request.method()) && wants_page(request.headers())
}

/// Whether a browser shows what is answered.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(http::header::ACCEPT);
    let accept = accept.and_then(|v| v.to_str().ok()).unwrap_or("");
    accept.contains("text/html")
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
            "" if wants_page(asked.headers()) => asked.page().await,
            "" | "status" => asked.status().await,
            "fairness" => asked.fairness().await,
            "join" => asked.join().await,
            "enter" => asked.enter().await,
            "leave" => asked.leave().await,
            "remind" if *method == Method::GET => asked.remind_page().await,
            "remind" if *method == Method::POST => asked.remind().await,
            "remind" => Err(wrong_method("GET, POST")),
            _ => Err(Problem::not_found(
                "A waiting room has challenge, join, status, enter, leave, remind and fairness.",
            )),
        }
    }

    /// A refusal as whoever asked can read it: a page for somebody who sent a form.
    fn refused(&self, problem: Problem) -> Answer {
        match self.is_form() {
            true => web::refusal(problem, Some(&self.path())),
            false => problem.answer(),
        }
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

    /// A write that another site made a browser send is refused.
    fn check_origin(&self) -> Result<(), Problem> {
        let text = |name| self.headers().get(name).and_then(|v| v.to_str().ok());
        let Some(origin) = text(http::header::ORIGIN) else {
            return Ok(());
        };
        let host = text(http::header::HOST).or(self.request.uri().authority().map(|a| a.as_str()));
        match origin.split_once("://") {
            Some((_, from)) if Some(from) == host => Ok(()),
            _ => Err(Problem::forbidden(
                "This came from another site. Open the waiting room itself.",
            )),
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
}
