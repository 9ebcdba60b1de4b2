//! CAPTCHAs that somebody else judges, by the protocol of Turnstile's `siteverify`.
//!
//! Off unless configured. What is sent and what the answer means is in
//! `onsale_domain::captcha`; here it goes over the wire.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, Uri};
use onsale_domain::captcha::{self, MAX_ANSWER_BYTES, MAX_TOKEN_LEN, MEDIA_TYPE, Verdict};
use onsale_outgoing::Outgoing;

pub const TURNSTILE_URL: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// A buyer waits for it, and has another way if it takes longer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Nobody could say whether a token is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// Says whether the token of a CAPTCHA is good. `attempt` names the question: under the
/// same one it may be repeated.
#[async_trait]
pub trait Captcha: Send + Sync {
    async fn verify(
        &self,
        token: &str,
        remote_ip: Option<IpAddr>,
        attempt: [u8; 16],
    ) -> Result<bool, Unavailable>;
}

/// A service that speaks Turnstile's protocol.
pub struct Siteverify {
    outgoing: Outgoing,
    url: Uri,
    secret: String,
    /// The site that tokens must come from, if that is to be checked.
    hostname: Option<String>,
    timeout: Duration,
}

impl fmt::Debug for Siteverify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Siteverify({})", self.url)
    }
}

impl Siteverify {
    pub fn new(secret: &str, url: &str, hostname: Option<String>) -> Result<Self, String> {
        let url: Uri = url
            .parse()
            .map_err(|_| "the address of the CAPTCHA service is not a URL".to_owned())?;
        let here = matches!(url.host(), Some("127.0.0.1" | "localhost"));
        match url.scheme_str() {
            Some("https") => {}
            // A test's own server: the secret does not leave the machine.
            Some("http") if here => {}
            _ => return Err("the address of the CAPTCHA service must be https".to_owned()),
        }
        Ok(Self {
            outgoing: Outgoing::new()?,
            url,
            secret: secret.to_owned(),
            hostname,
            timeout: TIMEOUT,
        })
    }

    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// `CAPTCHA_SECRET` turns it on; `CAPTCHA_VERIFY_URL` and `CAPTCHA_HOSTNAME` say more.
    pub fn configured(setting: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let setting = |name: &str| setting(name).filter(|value| !value.is_empty());
        let Some(secret) = setting("CAPTCHA_SECRET") else {
            return Ok(None);
        };
        let url = setting("CAPTCHA_VERIFY_URL").unwrap_or_else(|| TURNSTILE_URL.to_owned());
        Self::new(&secret, &url, setting("CAPTCHA_HOSTNAME")).map(Some)
    }

    async fn ask(&self, form: String) -> Result<Vec<u8>, String> {
        let request = Request::post(self.url.clone())
            .header(CONTENT_TYPE, MEDIA_TYPE)
            .body(form.into_bytes())
            .map_err(|error| error.to_string())?;
        // The status says nothing that the body does not: refusals may come as 400.
        let answer = self.outgoing.send(request, MAX_ANSWER_BYTES).await;
        let answer = answer.map_err(|error| error.to_string())?;
        Ok(answer.into_body())
    }
}

#[async_trait]
impl Captcha for Siteverify {
    async fn verify(
        &self,
        token: &str,
        remote_ip: Option<IpAddr>,
        attempt: [u8; 16],
    ) -> Result<bool, Unavailable> {
        if token.is_empty() || token.len() > MAX_TOKEN_LEN {
            return Ok(false);
        }
        let form = captcha::form(&self.secret, token, remote_ip, attempt);
        let unavailable = |why: &str| {
            tracing::warn!(why, "a CAPTCHA could not be judged");
            Unavailable
        };
        let answer = match tokio::time::timeout(self.timeout, self.ask(form)).await {
            Ok(answer) => answer.map_err(|why| unavailable(&why))?,
            Err(_) => return Err(unavailable("no answer in time")),
        };
        match captcha::judge(&answer, self.hostname.as_deref()) {
            Ok(verdict) => Ok(verdict == Verdict::Passed),
            Err(why) => Err(unavailable(&why.to_string())),
        }
    }
}
