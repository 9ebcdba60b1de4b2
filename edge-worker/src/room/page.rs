//! The waiting page. It works with a script, and without one more slowly.

use onsale_domain::room::joining;
use onsale_domain::room::status::{State, Status};
use onsale_domain::work;

use super::wait_words::{draw_words, wait_words};
use super::{Asked, forms};
use crate::answer::{Answer, Problem};
use crate::host::Host;
use crate::rendered::values::number;
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
            // Whoever does not ask for four seconds is not called.
            State::Door => forms::enter_form(words, self.show, &facts, 3),
            State::Admitted => forms::enter_form(words, self.show, &facts, 0),
            State::SoldOut => forms::sold_out_notice(words, self.show, refresh_ms),
            _ => {
                let opens = view.opens().filter(|opens| self.now < *opens);
                let opens_in_ms = opens.map(|opens| self.now.until(opens));
                let said = in_words(words, &told.status, opens_in_ms);
                forms::wait_notice(words, &said, &facts, refresh_ms)
            }
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

/// Says where a visitor who waits stands. `opens_in_ms` is the time until the draw.
fn in_words(words: Words, status: &Status, opens_in_ms: Option<u64>) -> String {
    match (status.state, opens_in_ms, status.position) {
        (State::Prequeue, Some(ms), _) => {
            words.with("room.plain.draw", &[("wait", &draw_words(words, ms))])
        }
        (State::Prequeue, None, _) => words.t("room.plain.draw.soon").to_owned(),
        (State::Waiting, _, Some(position)) => {
            let said = words.with("room.plain.number", &[("n", &number(words, position))]);
            let Some(wait) = status.wait_seconds else {
                return said;
            };
            let wait = wait_words(words, wait.p50.into(), wait.p90.into());
            format!("{said} {}", words.with("room.wait", &[("wait", &wait)]))
        }
        (State::Waiting, _, None) => words.t("room.plain.unknown").to_owned(),
        (State::Closed, ..) => words.t("room.plain.closed").to_owned(),
        (
            State::Open
            | State::Join
            | State::Door
            | State::Admitted
            | State::Inside
            | State::SoldOut,
            ..,
        ) => String::new(),
    }
}
