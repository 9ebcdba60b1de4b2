//! Entering with a ticket that is at the door or admitted, and leaving again.

use http::StatusCode;
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{Enter, Entered, NotEntered};
use onsale_domain::room::pass::PassClaims;
use onsale_domain::room::status::State;
use onsale_domain::room::ticket::QueueTicket;
use onsale_wire::PASS_COOKIE;
use serde_json::json;

use super::status::{AtGate, Told};
use super::{Asked, TICKET_COOKIE};
use crate::answer::{Answer, Cookie, Problem, bytes, json_answer, see_other, set_cookie};
use crate::host::Host;

/// Slots follow those at the door within two or three steps of the controller; so long
/// somebody who knocks by entering stands there before being told to knock again.
const PAUSES_MS: [u64; 6] = [500, 500, 1_000, 1_000, 1_000, 1_000];

impl<H: Host> Asked<'_, H> {
    pub(super) async fn enter(&self) -> Result<Answer, Problem> {
        self.check_origin()?;
        let view = self.edge.view(self.host, self.show).await?;
        let ticket = self.required_ticket(view.opens())?;
        self.edge.limits.ticket(ticket.lot, self.now)?;
        let told = self.told(&view, Some(&ticket));
        // Whoever shops goes on shopping when a line begins or the last place is sold; the
        // gate of their lot knows them, and whom it has promised a slot.
        let state = told.status.state;
        if !matches!(state, State::Door | State::Waiting | State::SoldOut) {
            return Ok(self.not_admitted(&told, &ticket));
        }
        let at_gate = self.at_gate(&view, &ticket, state);
        let at_gate = at_gate.unwrap_or(AtGate {
            place: Place::LAST,
            may_begin: false,
        });
        let published = &view.bulletin.published;
        let wanted = Enter {
            lot: ticket.lot,
            place: at_gate.place,
            pass_seconds: published.pass_seconds,
            may_begin: at_gate.may_begin,
        };
        let is_reached = state == State::Door;
        if !is_reached && self.edge.limits.is_early(ticket.lot, self.now) {
            return Ok(self.not_admitted(&told, &ticket));
        }
        let mut entered = self.ask_gate(wanted).await?;
        if wanted.may_begin && !published.paused {
            for pause_ms in PAUSES_MS {
                if entered != Err(NotEntered::Door) {
                    break;
                }
                self.host.sleep(pause_ms).await;
                entered = self.ask_gate(wanted).await?;
            }
        }
        match entered {
            Ok(entered) => Ok(self.admitted(&entered, &ticket)),
            Err(NotEntered::Spent) => {
                let problem = Problem::conflict(
                    "This queue ticket has had its turn. Join the line again to shop more.",
                );
                let mut answer = self.refused(problem.with("state", "spent"));
                self.forget_ticket(&mut answer);
                Ok(answer)
            }
            Err(NotEntered::NotYet) if is_reached => Err(Problem::unavailable().retry_after(5)),
            Err(NotEntered::NotYet) => {
                self.edge.limits.note_early(ticket.lot, self.now);
                Ok(self.not_admitted(&told, &ticket))
            }
            Err(NotEntered::Door) => Ok(self.not_admitted(&told, &ticket)),
        }
    }

    async fn ask_gate(&self, wanted: Enter) -> Result<Result<Entered, NotEntered>, Problem> {
        let entered = self.host.enter(self.show, wanted).await;
        entered.map_err(|trouble| {
            self.host.log(&format!("a gate does not answer: {trouble}"));
            Problem::unavailable()
        })
    }

    fn not_admitted(&self, told: &Told, ticket: &QueueTicket) -> Answer {
        let mut answer = match self.is_plain() {
            true => see_other(&self.path()),
            false => refusal_with(told),
        };
        self.remember_reached(&mut answer, Some(ticket), told.status.state);
        answer
    }

    fn admitted(&self, entered: &Entered, ticket: &QueueTicket) -> Answer {
        let passes = &self.edge.secrets.passes;
        let pass = passes.sign(&PassClaims {
            pass: entered.pass,
            show: self.show,
            issued: entered.issued,
            expires: entered.expires,
            key_id: passes.id().to_owned(),
        });
        let mut answer = match self.is_plain() {
            true => see_other(&format!("{}?inside", self.path())),
            false => json_answer(
                StatusCode::OK,
                &json!({"pass": pass, "expires_at": entered.expires.to_string()}),
            ),
        };
        self.set_pass(&mut answer, &pass, self.now.until(entered.expires) / 1_000);
        // A machine with an older bulletin would not ask the gate, and say `waiting`.
        self.remember_reached(&mut answer, Some(ticket), State::Admitted);
        answer
    }

    fn set_pass(&self, answer: &mut Answer, pass: &str, max_age_s: u64) {
        let cookie = Cookie {
            name: PASS_COOKIE,
            value: pass,
            path: &format!("/api/v1/shows/{}", self.show),
            max_age_s,
        };
        set_cookie(answer, &cookie, self.request.uri());
    }

    /// Ends the pass and gives the slot back. The ticket is spent by it.
    pub(super) async fn leave(&self) -> Result<Answer, Problem> {
        self.check_origin()?;
        // Whoever is inside may leave, however old the ticket is.
        let ticket = self.required_ticket(Some(self.now))?;
        self.edge.limits.ticket(ticket.lot, self.now)?;
        let left = self.host.leave(self.show, ticket.lot).await;
        left.map_err(|trouble| {
            self.host
                .log(&format!("a pass could not be ended: {trouble}"));
            Problem::unavailable()
        })?;
        let mut answer = match self.is_form() {
            true => see_other(&self.path()),
            false => bytes(StatusCode::NO_CONTENT, "application/json", ""),
        };
        self.set_pass(&mut answer, "", 0);
        self.forget_ticket(&mut answer);
        Ok(answer)
    }

    /// A browser that kept a spent ticket would be given it back whenever it joins again.
    fn forget_ticket(&self, answer: &mut Answer) {
        let cookie = Cookie {
            name: TICKET_COOKIE,
            value: "",
            path: &self.path(),
            max_age_s: 0,
        };
        set_cookie(answer, &cookie, self.request.uri());
    }
}

/// What the visitor is told by `status`, as a refusal.
fn refusal_with(told: &Told) -> Answer {
    let wait_s = told.status.refresh_after_ms.div_ceil(1_000);
    let problem = Problem::not_admitted("There is no slot for you yet. Your place is kept.");
    let status = serde_json::to_value(told).unwrap_or_default();
    let fields = status.as_object().into_iter().flatten();
    let problem = fields.fold(problem, |problem, (name, value)| {
        problem.with(name, value.clone())
    });
    problem.retry_after(wait_s).answer()
}
