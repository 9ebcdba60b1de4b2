//! Joining the line: a solved challenge becomes a ticket.

use http::StatusCode;
use onsale_domain::captcha::{self, Verdict};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::fan_code::FanCode;
use onsale_domain::room::joining;
use onsale_domain::room::status::State;
use onsale_domain::room::ticket::QueueTicket;
use onsale_domain::work::{self, MAX_PAYLOAD_LEN, Solved, Way, WorkError};
use serde::{Deserialize, Serialize};

use super::challenge::check_open;
use super::{Asked, TICKET_COOKIE};
use crate::answer::{Answer, Cookie, Problem, json_answer, see_other, set_cookie};
use crate::host::Host;
use crate::secrets::Captcha;

const MAX_FAN_CODE_LEN: usize = 64;
const MAX_CAPTCHA_LEN: usize = 2_048;
const CAPTCHA_TIMEOUT_MS: u64 = 5_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Join {
    altcha: String,
    #[serde(default)]
    fan_code: Option<String>,
    #[serde(default)]
    captcha: Option<String>,
}

#[derive(Debug, Serialize)]
struct Joined<'a> {
    ticket: &'a str,
    state: State,
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn join(&self) -> Result<Answer, Problem> {
        self.check_origin()?;
        let join = self.read_join()?;
        let view = self.edge.view(self.host, self.show).await?;
        check_open(&view.bulletin, self.now)?;
        let ticket = self.earn(&join, &view.bulletin.published.opening).await?;
        self.edge.count(self.host, &ticket);
        let text = self.edge.secrets.tickets.sign(&ticket);
        let told = self.told(&view, Some(&ticket));
        let joined = Joined {
            ticket: &text,
            state: told.status.state,
        };
        let mut answer = match self.is_form() {
            true => see_other(&self.path()),
            false => json_answer(StatusCode::CREATED, &joined),
        };
        // The opening may be put off by days, and the ticket serves then.
        let kept_until = ticket.expires.max(view.bulletin.published.ends);
        let cookie = Cookie {
            name: TICKET_COOKIE,
            value: &text,
            path: &self.path(),
            max_age_s: self.now.until(kept_until) / 1_000,
        };
        set_cookie(&mut answer, &cookie, self.request.uri());
        Ok(answer)
    }

    fn read_join(&self) -> Result<Join, Problem> {
        let body = self.request.body();
        let join: Join = if self.is_form() {
            let field = |name: &str| {
                let mut fields = form_urlencoded::parse(body);
                let found = fields.find(|(given, value)| given == name && !value.is_empty());
                found.map(|(_, value)| value.into_owned())
            };
            Join {
                altcha: field("altcha").unwrap_or_default(),
                fan_code: field("fan_code"),
                captcha: field("captcha"),
            }
        } else {
            serde_json::from_slice(body).map_err(|error| {
                Problem::invalid(format!("Send {{\"altcha\": …}} as JSON: {error}"))
            })?
        };
        let too_long = join.altcha.len() > MAX_PAYLOAD_LEN
            || join
                .fan_code
                .as_ref()
                .is_some_and(|t| t.len() > MAX_FAN_CODE_LEN)
            || join
                .captcha
                .as_ref()
                .is_some_and(|t| t.len() > MAX_CAPTCHA_LEN);
        match too_long {
            true => Err(Problem::invalid("A field is longer than it can be.")),
            false => Ok(join),
        }
    }

    async fn earn(
        &self,
        join: &Join,
        opening: &onsale_domain::room::opening::Opening,
    ) -> Result<QueueTicket, Problem> {
        let secrets = &self.edge.secrets;
        let solved = work::verify(
            &join.altcha,
            self.show,
            self.known_visitor(),
            self.now,
            &secrets.work,
        )
        .map_err(refused_work)?;
        if !joining::has_arrived(&solved, self.now) {
            return Err(refused_work(WorkError::WrongVisitor));
        }
        if solved.way == Way::Waited {
            self.edge.limits.waited_join(self.address, self.now)?;
        }
        if let Some(service) = &secrets.captcha {
            let token = join.captcha.as_deref();
            self.check_captcha(service, token, &solved).await?;
        }
        let code = match &join.fan_code {
            Some(text) => Some(self.read_fan_code(text)?),
            None => None,
        };
        let lot_key = secrets.room.lot_key(self.show);
        let code = code.as_ref().map(|code| code.as_slice());
        let earned = joining::ticket(&solved, code, self.show, opening, &lot_key);
        // Somebody who is in the line already keeps the better place: a fan code counts in
        // its second, and never costs a place in the lottery.
        let kept = self.ticket(opening.opens).ok().flatten();
        Ok(match kept {
            Some(known) if known.visitor == earned.visitor && keeps(&known, &earned) => known,
            _ => earned,
        })
    }

    fn read_fan_code(&self, text: &str) -> Result<[u8; 15], Problem> {
        let keys = self.edge.secrets.fans.as_ref();
        let code = text
            .parse::<FanCode>()
            .ok()
            .filter(|code| keys.is_some_and(|keys| keys.verify(self.show, code).is_ok()));
        code.map(|code| *code.as_bytes()).ok_or_else(|| {
            Problem::invalid(
                "This is not a fan code of this show. Check it, or join without one: \
                 the challenge you solved still counts.",
            )
        })
    }

    /// A token is good once, and so is each question about it: asked again for the same
    /// challenge, as after a lost answer, it is the same question.
    async fn check_captcha(
        &self,
        service: &Captcha,
        token: Option<&str>,
        solved: &Solved,
    ) -> Result<(), Problem> {
        let refused =
            || Problem::invalid("The CAPTCHA was not solved, or its solution was used before.");
        let token = token.ok_or_else(refused)?;
        let address = self.address.parse().ok();
        let question = [solved.signed_bytes(), token.as_bytes()].concat();
        let attempt = RequestHash::of(&question).0;
        let body = captcha::form(&service.secret, token, address, attempt);
        let request = http::Request::post(&service.url)
            .header(
                http::header::CONTENT_TYPE,
                "application/x-www-form-urlencoded",
            )
            .body(body.into_bytes());
        let unavailable = |_| Problem::unavailable();
        let request = request.map_err(|_| Problem::unavailable())?;
        let answer = self.host.fetch(request, CAPTCHA_TIMEOUT_MS).await;
        let answer = answer.map_err(unavailable)?;
        match captcha::judge(answer.body(), service.hostname.as_deref()) {
            Ok(Verdict::Passed) => Ok(()),
            Ok(Verdict::Refused) => Err(refused()),
            Err(_) => Err(Problem::unavailable()),
        }
    }
}

fn keeps(known: &QueueTicket, earned: &QueueTicket) -> bool {
    let place = |ticket: &QueueTicket| (ticket.bucket, ticket.band);
    known.lot != earned.lot && place(known) <= place(earned)
}

fn refused_work(why: WorkError) -> Problem {
    let then = match why {
        WorkError::Expired => "Ask for a new one.",
        WorkError::TooEarly { .. } => "Send it again then.",
        _ => "Ask for a challenge of your own and solve that.",
    };
    Problem::invalid(format!("The work does not count: {why}. {then}"))
}
