//! The waiting page. It works with a script, and without one more slowly.

use http::StatusCode;
use onsale_domain::room::joining;
use onsale_domain::room::status::State;
use onsale_domain::work;

use super::Asked;
use super::status::Told;
use crate::answer::{Answer, Problem};
use crate::host::Host;
use crate::web;

impl<H: Host> Asked<'_, H> {
    pub(super) async fn page(&self) -> Result<Answer, Problem> {
        let view = match self.edge.view(self.host, self.show).await {
            Ok(view) => view,
            Err(problem) => return Ok(web::refusal(problem, None)),
        };
        let ticket = self.ticket(view.opens()).ok().flatten();
        let told = self.told(&view, ticket.as_ref());
        let (visitor, suspicion) = self.visitor();
        let without_script = match told.status.state {
            State::Open | State::Join => self.join_form(visitor),
            _ if self.is_inside() && ticket.is_some() => web::inside_forms(self.show),
            State::Admitted => web::enter_form(self.show),
            State::SoldOut => web::sold_out_notice(self.show, told.status.refresh_after_ms),
            _ => web::wait_notice(&in_words(&told), told.status.refresh_after_ms),
        };
        let page = web::page(
            self.show,
            &view.bulletin.title,
            told.status.state,
            &without_script,
        );
        let mut answer = web::html(StatusCode::OK, page);
        self.name_visitor(&mut answer, visitor, suspicion);
        Ok(answer)
    }

    /// Where a form without a script leads once its sender is in.
    fn is_inside(&self) -> bool {
        self.request.uri().query() == Some("inside")
    }

    /// A form with a challenge that is met by waiting. How many of them count is limited
    /// where they are sent: most of those who see the page never need it.
    fn join_form(&self, visitor: onsale_domain::ids::VisitorId) -> String {
        let (terms, until) = joining::waiting_terms(self.show, visitor, self.now);
        let entropy = self.random();
        let payload = work::issue_waiting(&terms, until, &entropy, &self.edge.secrets.work);
        web::join_form(self.show, &payload, self.now.until(until).div_ceil(1_000))
    }
}

fn in_words(told: &Told) -> String {
    let status = &told.status;
    match status.state {
        State::Prequeue => match &told.opens_at {
            Some(at) => format!("You are in. The draw is at {at}; nothing is lost by waiting."),
            None => "You are in. The draw is about to be held.".to_owned(),
        },
        State::Waiting => match (status.position, status.wait_seconds) {
            (Some(position), Some(wait)) => format!(
                "You are number {position} in line. The wait is about {} to {} minutes.",
                wait.p50.div_ceil(60),
                wait.p90.div_ceil(60),
            ),
            (Some(position), None) => format!("You are number {position} in line."),
            _ => "You are in line. Your place is known in a moment.".to_owned(),
        },
        State::Closed => "The waiting room is closed.".to_owned(),
        State::Open | State::Join | State::Admitted | State::SoldOut => String::new(),
    }
}
