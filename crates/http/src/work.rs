//! Work before a hold or a payment, for accounts that look like programs.
//!
//! Everybody else never meets this. A suspect is answered with a challenge
//! (`work_required`) and repeats the request with its solution, or with a CAPTCHA where
//! one is configured. Nothing is stored: a solution names the account and the show, and
//! is good for both until it expires.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use onsale_app::{Caller, Error};
use onsale_domain::ids::{AccountId, HoldId, ShowId, VisitorId};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::room::difficulty::{self, Suspicion};
use onsale_domain::work::{self, MAX_PAYLOAD_LEN, Terms, Way, WorkEntropy, WorkError, WorkKeys};
use serde_json::Value;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

use crate::captcha::{Captcha, Siteverify};
use crate::problem::{Code, Problem};
use crate::session::Authenticated;
use crate::state::Api;

pub const WORK_HEADER: &str = "onsale-work";
pub const CAPTCHA_HEADER: &str = "onsale-captcha";
/// Long enough for the slowest phone, and for the checkout after the hold.
const SOLVED_WITHIN_MS: u64 = 5 * 60_000;

/// Whether and how suspects are asked for work. Without keys nobody is.
#[derive(Clone, Default)]
pub struct WorkGate {
    keys: Option<WorkKeys>,
    captcha: Option<Arc<dyn Captcha>>,
}

impl fmt::Debug for WorkGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkGate")
            .field("keys", &self.keys)
            .field("captcha", &self.captcha.is_some())
            .finish()
    }
}

impl WorkGate {
    pub fn new(keys: Option<WorkKeys>) -> Self {
        Self {
            keys,
            captcha: None,
        }
    }

    pub fn with_captcha(mut self, captcha: Arc<dyn Captcha>) -> Self {
        self.captcha = Some(captcha);
        self
    }

    /// `WORK_KEYS`, and the settings of [`Siteverify::configured`].
    pub fn from_env() -> Result<Self, String> {
        Self::configured(|name| std::env::var(name).ok())
    }

    pub fn configured(setting: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let keys = setting("WORK_KEYS").filter(|text| !text.is_empty());
        let keys = keys.map(|text| text.parse()).transpose();
        let gate = Self::new(keys.map_err(|why| format!("WORK_KEYS: {why}"))?);
        Ok(match Siteverify::configured(setting)? {
            Some(captcha) => gate.with_captcha(Arc::new(captcha)),
            None => gate,
        })
    }
}

/// The visitor that the challenges of an account are for.
fn visitor_of(account: AccountId) -> VisitorId {
    VisitorId::derived(&[b"account", account.as_bytes()])
}

/// What a request brings along to be believed, and what is held against its caller.
#[derive(Debug, Clone)]
pub struct WorkProof {
    suspicion: Suspicion,
    solution: Option<String>,
    captcha: Option<String>,
    remote_ip: Option<IpAddr>,
}

/// What somebody begins. The key makes it one attempt however often it is repeated.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    pub caller: &'a Caller,
    pub show: ShowId,
    /// The hold that is paid; placing one, there is none yet.
    pub hold: Option<HoldId>,
    pub key: &'a IdempotencyKey,
}

impl Attempt<'_> {
    /// Names this attempt with this token. A token is good once, and so is each question
    /// about it: repeated, as after a lost answer, it is the same question, and for another
    /// attempt it is another one.
    fn question(&self, token: &str) -> [u8; 16] {
        let hold = self.hold.map(|hold| *hold.as_bytes()).unwrap_or_default();
        let parts: [&[u8]; 6] = [
            self.caller.account.as_bytes(),
            self.show.as_bytes(),
            &hold,
            self.key.as_str().as_bytes(),
            // No key has it, so it is clear where the token begins.
            &[0],
            token.as_bytes(),
        ];
        RequestHash::of(&parts.concat()).0
    }
}

/// Whether a request may begin. Ask [`Verdict::admit`] where attempts are counted, and
/// let [`Verdict::explain`] complete the refusal.
#[derive(Debug, Clone)]
pub struct Verdict(Option<Problem>);

impl Verdict {
    /// Only new attempts are asked: an answer that is given again costs nothing.
    pub fn admit(&self) -> Result<(), Error> {
        match self.0 {
            None => Ok(()),
            Some(_) => Err(Error::WorkRequired),
        }
    }

    /// Puts the challenge into the refusal that [`Verdict::admit`] caused.
    pub fn explain(self, refusal: Problem) -> Problem {
        match self.0 {
            Some(asked) if refusal.code() == Code::WorkRequired => asked,
            _ => refusal,
        }
    }
}

impl Api {
    /// Whether the caller may begin something in this show, and if not, what to do.
    pub async fn judge_work(&self, proof: &WorkProof, attempt: Attempt<'_>) -> Verdict {
        let Attempt { caller, show, .. } = attempt;
        let now = self.app.now();
        let suspicion = proof
            .suspicion
            .max(self.limits.suspicion(caller.account, now));
        let keys = match &self.work.keys {
            Some(keys) if suspicion > Suspicion::Nothing => keys,
            _ => return Verdict(None),
        };
        let visitor = visitor_of(caller.account);
        let why = match &proof.solution {
            Some(text) => match check(text, show, visitor, now, keys) {
                Ok(()) => return Verdict(None),
                Err(why) => why,
            },
            None => match self.check_captcha(proof, attempt).await {
                Ok(()) => return Verdict(None),
                Err(why) => why,
            },
        };
        let mut entropy: WorkEntropy = [0; 34];
        self.app.entropy.fill(&mut entropy);
        let terms = Terms {
            show,
            visitor,
            expires: now + SOLVED_WITHIN_MS,
        };
        let challenge = work::issue(&terms, cost(suspicion), &entropy, keys);
        let challenge: Value = serde_json::from_str(&challenge.to_json()).unwrap_or_default();
        let detail = format!(
            "{why} Solve `challenge` (ALTCHA v2) and repeat the request with the solution in the \
             header Onsale-Work{}. Nothing was changed.",
            match self.work.captcha {
                Some(_) => ", or with the token of a CAPTCHA in Onsale-Captcha",
                None => "",
            }
        );
        Verdict(Some(
            Problem::new(Code::WorkRequired, detail).with("challenge", challenge),
        ))
    }

    async fn check_captcha(
        &self,
        proof: &WorkProof,
        attempt: Attempt<'_>,
    ) -> Result<(), &'static str> {
        const ASKED: &str = "This account is asked for some work first.";
        let (Some(token), Some(captcha)) = (&proof.captcha, &self.work.captcha) else {
            return Err(ASKED);
        };
        let question = attempt.question(token);
        match captcha.verify(token, proof.remote_ip, question).await {
            Ok(true) => Ok(()),
            Ok(false) => Err("The CAPTCHA was not accepted: it is wrong, too old or used."),
            Err(_) => Err("The CAPTCHA cannot be checked now."),
        }
    }
}

/// A challenge is handed out to an account, whatever crowd there is elsewhere.
fn cost(suspicion: Suspicion) -> work::Cost {
    difficulty::cost(0, 1, suspicion)
}

fn check(
    text: &str,
    show: ShowId,
    visitor: VisitorId,
    now: onsale_domain::time::Millis,
    keys: &WorkKeys,
) -> Result<(), &'static str> {
    let solved = work::verify(text, show, visitor, now, keys).map_err(|why| match why {
        WorkError::Malformed => "The header Onsale-Work has no solved challenge.",
        WorkError::BadSignature => "The challenge in Onsale-Work is not one of ours.",
        WorkError::Expired => "The challenge in Onsale-Work has expired.",
        WorkError::WrongShow => "The challenge in Onsale-Work is for another show.",
        WorkError::WrongVisitor => "The challenge in Onsale-Work is for another account.",
        WorkError::TooEarly { .. } | WorkError::NotSolved => {
            "The solution in Onsale-Work is wrong."
        }
    })?;
    // The room signs with the same keys, and asks ordinary visitors for less or lets
    // them wait instead. A suspect could ask it in the name of this visitor.
    match solved.way {
        Way::Worked(paid) if paid >= cost(Suspicion::Unusual) => Ok(()),
        Way::Worked(_) | Way::Waited => Err("The challenge in Onsale-Work asks for too little."),
    }
}

impl FromRequestParts<Api> for WorkProof {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        if parts.extensions.get::<Suspicion>().is_none() {
            Authenticated::from_request_parts(parts, api).await?;
        }
        let suspicion = parts.extensions.get::<Suspicion>().copied();
        let headers = &parts.headers;
        Ok(Self {
            suspicion: suspicion.unwrap_or(Suspicion::Nothing),
            solution: proof(headers, WORK_HEADER)?,
            captcha: proof(headers, CAPTCHA_HEADER)?,
            remote_ip: client_ip(headers),
        })
    }
}

fn proof(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    match text.filter(|text| (1..=MAX_PAYLOAD_LEN).contains(&text.len())) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(Problem::invalid(format!(
            "The header {name} must occur once and have 1 to {MAX_PAYLOAD_LEN} characters."
        ))),
    }
}

/// The first address is the client's, as far as anybody knows. It only helps the CAPTCHA
/// service to judge, so it need not be true.
fn client_ip(headers: &HeaderMap) -> Option<IpAddr> {
    let addresses = headers.get("x-forwarded-for")?.to_str().ok()?;
    addresses.split(',').next()?.trim().parse().ok()
}

/// `params(WorkProof)` documents the headers.
impl IntoParams for WorkProof {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let header = |name: &str, description: &str| {
            let schema = ObjectBuilder::new()
                .schema_type(SchemaType::new(Type::String))
                .min_length(Some(1))
                .max_length(Some(MAX_PAYLOAD_LEN));
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(schema))
                .build()
        };
        vec![
            header(
                "Onsale-Work",
                "After `work_required`: base64 of `{challenge, solution}`, as ALTCHA v2 has it.",
            ),
            header(
                "Onsale-Captcha",
                "After `work_required`, where the server has a CAPTCHA: its token instead.",
            ),
        ]
    }
}
