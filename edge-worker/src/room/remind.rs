//! Asking to be told by mail when it is one's turn. This is the one thing by which a
//! waiting visitor leaves a trace, and they say so themselves.

use http::StatusCode;
use onsale_domain::account::Email;
use onsale_domain::room::reminder::{MAX_REMINDERS, NotKept, Reminder};
use onsale_domain::room::status::State;
use serde::Deserialize;
use serde_json::json;

use super::Asked;
use super::forms::{Reminding, remind_page};
use crate::answer::{Answer, Problem, json_answer, see_other};
use crate::edge::Incoming;
use crate::host::Host;
use crate::refusal_page::refusal;

/// How the page after the form is asked for.
const SENT: &str = "sent";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remind {
    email: String,
}

impl<H: Host> Asked<'_, H> {
    /// A form for browsers, with or without a script.
    pub(super) async fn remind_page(&self) -> Result<Answer, Problem> {
        let view = match self.edge.view(self.host, self.show).await {
            Ok(view) => view,
            Err(problem) => return Ok(refusal(self.words(), problem, Some(&self.path()))),
        };
        let ticket = self.ticket(view.opens()).ok().flatten();
        let state = self.told(&view, ticket.as_ref()).status.state;
        let reminding = match (state, asks_about_sent(self.request)) {
            (State::Prequeue | State::Waiting, false) => Reminding::Ask,
            (State::Prequeue | State::Waiting, true) => Reminding::Asked,
            _ => Reminding::NotWaiting,
        };
        let title = &view.bulletin.title;
        Ok(remind_page(self.words(), self.show, title, reminding))
    }

    pub(super) async fn remind(&self) -> Result<Answer, Problem> {
        match self.keep_reminder().await {
            // Nobody sends a form twice by reloading what comes after it.
            Ok(_) if self.is_form() => Ok(see_other(&format!("{}/remind?{SENT}", self.path()))),
            Ok(state) => Ok(json_answer(StatusCode::ACCEPTED, &json!({"state": state}))),
            Err(problem) => Err(problem),
        }
    }

    async fn keep_reminder(&self) -> Result<State, Problem> {
        self.check_origin()?;
        let view = self.edge.view(self.host, self.show).await?;
        let ticket = self.required_ticket(view.opens())?;
        self.edge.limits.ticket(ticket.lot, self.now)?;
        let email = self.read_address()?;
        let state = self.told(&view, Some(&ticket)).status.state;
        let refused = match state {
            State::Prequeue | State::Waiting => None,
            State::Door | State::Admitted | State::Inside => {
                Some("It is your turn already: enter.")
            }
            State::SoldOut => Some("The show is sold out. Join the waitlist of the show instead."),
            State::Closed | State::Open | State::Join => Some("The waiting room is closed."),
        };
        if let Some(why) = refused {
            return Err(Problem::conflict(why).with("state", json!(state)));
        }
        let reminder = Reminder {
            ticket,
            email,
            language: Some(self.words().0),
        };
        let kept = self.host.remind(self.show, reminder).await;
        let kept = kept.map_err(|trouble| {
            self.host
                .log(&format!("a reminder could not be kept: {trouble}"));
            Problem::unavailable()
        })?;
        match kept {
            Ok(()) => Ok(state),
            Err(NotKept::Told) => Err(Problem::conflict(
                "The message of this queue ticket is on its way. A ticket is worth one.",
            )),
            Err(NotKept::Full) => Err(Problem::limit_exceeded(
                "So many asked to be told that no more can be. Keep this page open instead.",
            )
            .with("limit", MAX_REMINDERS)),
        }
    }

    /// The words of an error would repeat what was sent, so there are none.
    fn read_address(&self) -> Result<Email, Problem> {
        let body = self.request.body();
        let text = match self.is_form() {
            true => {
                let mut fields = form_urlencoded::parse(body);
                let found = fields.find(|(name, _)| name == "email");
                found.map(|(_, value)| value.into_owned())
            }
            false => {
                let sent = serde_json::from_slice::<Remind>(body).ok();
                sent.map(|sent| sent.email)
            }
        };
        let email = text.and_then(|text| Email::parse(&text));
        email.ok_or_else(|| Problem::invalid("Send {\"email\": …} with one email address."))
    }
}

fn asks_about_sent(request: &Incoming) -> bool {
    request.uri().query() == Some(SENT)
}
