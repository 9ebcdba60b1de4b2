//! Where Stripe is and which key opens it.

use std::fmt;
use std::time::Duration;

const API_URL: &str = "https://api.stripe.com";
const STACK: &str = "onsale";
/// Long enough for a bank to answer, short enough for a function to try again.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct StripeConfig {
    pub secret_key: String,
    pub api_url: String,
    /// Which deployment opens a payment. Two of them may share an account, and neither
    /// may take the other's payments for its own.
    pub stack: String,
    /// The origin to which a bank's page sends the buyer back, where it is known.
    pub return_to: Option<String>,
    /// Whether the page has Stripe's script, which asks the bank in place. Without it the
    /// buyer is sent to a page of Stripe's.
    pub has_script: bool,
    /// For one call, from connecting to the last byte of the reply.
    pub timeout: Duration,
}

impl fmt::Debug for StripeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripeConfig")
            .field("secret_key", &"…")
            .field("api_url", &self.api_url)
            .field("stack", &self.stack)
            .field("return_to", &self.return_to)
            .field("has_script", &self.has_script)
            .field("timeout", &self.timeout)
            .finish()
    }
}

impl StripeConfig {
    pub fn new(secret_key: impl Into<String>) -> Self {
        Self {
            secret_key: secret_key.into(),
            api_url: API_URL.to_owned(),
            stack: STACK.to_owned(),
            return_to: None,
            has_script: false,
            timeout: TIMEOUT,
        }
    }

    /// The address without its last slash. An emulator speaks plain HTTP; a key that
    /// moves real money never goes over the wire in the clear.
    pub(super) fn base_url(&self) -> Result<String, String> {
        let url: http::Uri = self
            .api_url
            .parse()
            .map_err(|_| "the address of Stripe is not a URL".to_owned())?;
        let plain = match url.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return Err("the address of Stripe must begin with https:// or http://".into()),
        };
        if plain && self.secret_key.contains("_live_") {
            return Err("a live key of Stripe needs an https address".into());
        }
        Ok(self.api_url.trim_end_matches('/').to_owned())
    }
}
