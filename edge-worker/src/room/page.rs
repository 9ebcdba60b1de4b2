//! The waiting page. It works with a script, and without one more slowly.

use onsale_domain::room::joining;
use onsale_domain::room::status::State;
use onsale_domain::work;

use super::status::Told;
use super::{Asked, forms};
use crate::answer::{Answer, Problem};
use crate::host::Host;
use crate::words::Words;

impl<H: Host> Asked<'_, H> {
    pub(super) async fn page(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        let ticket = self.ticket(view.opens()).ok().flatten();
        let told = self.told_at_gate(&view, ticket.as_ref()).await?;
        let (visitor, suspicion) = self.visitor();
        let words = self.words();
        let (state, refresh_ms) = (told.status.state, told.status.refresh_after_ms);
        let facts = forms::facts(words, told.waiting.as_ref());
        let without_script = match state {
            State::Open | State::Join => self.join_form(visitor),
            State::Inside => forms::inside_forms(words, self.show),
            _ if self.is_inside() && ticket.is_some() => forms::inside_forms(words, self.show),
            // Whoever does not ask for four seconds is not called.
            State::Door => forms::enter_form(words, self.show, &facts, 3),
            State::Admitted => forms::enter_form(words, self.show, &facts, 0),
            State::SoldOut => forms::sold_out_notice(words, self.show, refresh_ms),
            _ => forms::wait_notice(words, &in_words(words, &told), &facts, refresh_ms),
        };
        let mut answer = forms::page(
            &self.edge.site,
            words,
            self.show,
            &view.bulletin.title,
            state,
            &without_script,
        );
        self.remember_reached(&mut answer, ticket.as_ref(), state);
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
        let seconds = self.now.until(until).div_ceil(1_000);
        forms::join_form(self.words(), self.show, &payload, seconds)
    }
}

fn in_words(words: Words, told: &Told) -> String {
    let status = &told.status;
    match status.state {
        State::Prequeue => match &told.opens_at {
            Some(at) => words.with("room.plain.draw", &[("at", at)]),
            None => words.t("room.plain.draw.soon").to_owned(),
        },
        State::Waiting => match (status.position, status.wait_seconds) {
            (Some(position), Some(wait)) => words.with(
                "room.plain.number.wait",
                &[
                    ("n", &position.to_string()),
                    ("from", &wait.p50.div_ceil(60).to_string()),
                    ("to", &wait.p90.div_ceil(60).to_string()),
                ],
            ),
            (Some(position), None) => {
                words.with("room.plain.number", &[("n", &position.to_string())])
            }
            _ => words.t("room.plain.unknown").to_owned(),
        },
        State::Closed => words.t("room.plain.closed").to_owned(),
        State::Open
        | State::Join
        | State::Door
        | State::Admitted
        | State::Inside
        | State::SoldOut => String::new(),
    }
}
