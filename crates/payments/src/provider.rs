//! Which provider takes the money, as the environment says.

use std::fmt;
use std::sync::Arc;

use onsale_app::ports::{Clock, Payments, Store};

use crate::sandbox::{Pace, Sandbox};
use crate::stripe::webhook::WebhookSecrets;
use crate::stripe::{Stripe, StripeConfig};

/// Stripe's have 107 characters.
const MAX_KEY_CHARS: usize = 255;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    Stripe,
    Sandbox,
}

impl ProviderKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
            Self::Sandbox => "sandbox",
        }
    }
}

/// What a page that takes payments has to know; nothing of it is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentSettings {
    pub kind: ProviderKind,
    /// The key that Stripe's script asks for, where one is set.
    pub publishable_key: Option<String>,
}

impl PaymentSettings {
    pub fn sandbox() -> Self {
        Self {
            kind: ProviderKind::Sandbox,
            publishable_key: None,
        }
    }
}

/// The provider in use, what pages are told of it, and the secrets that prove its webhooks.
#[derive(Clone)]
pub struct Provider {
    pub kind: ProviderKind,
    pub settings: PaymentSettings,
    pub payments: Arc<dyn Payments>,
    pub webhooks: WebhookSecrets,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("kind", &self.kind)
            .field("webhooks", &self.webhooks)
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// The provider that `PAYMENT_PROVIDER` names: `stripe` or `sandbox`. Without a name
    /// it is Stripe if `STRIPE_SECRET_KEY` is set (at `STRIPE_API_URL`, if that is set
    /// too), else the sandbox. `STRIPE_PUBLISHABLE_KEY` is for the script on the page that
    /// takes payments (or `ONSALE_STRIPE_PUBLISHABLE_KEY`, which the edge reads). `STRIPE_WEBHOOK_SECRETS` are separated by commas; `ONSALE_STACK` tells deployments apart that share an account.
    pub fn from_env(ledger: Store, clock: Arc<dyn Clock>) -> Result<Self, String> {
        Self::configured(|name| std::env::var(name).ok(), ledger, clock)
    }

    pub fn configured(
        setting: impl Fn(&str) -> Option<String>,
        ledger: Store,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let webhooks = WebhookSecrets::configured(&setting);
        // A deployment template passes an optional setting as an empty text.
        let set = |name: &str| {
            let text = setting(name)?.trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let secret_key = match (set("PAYMENT_PROVIDER").as_deref(), set("STRIPE_SECRET_KEY")) {
            (Some("sandbox"), _) | (None, None) => None,
            (Some("stripe") | None, Some(key)) => Some(key),
            // Falling back to the sandbox would give tickets away.
            (Some("stripe"), None) => {
                return Err("PAYMENT_PROVIDER is stripe, but STRIPE_SECRET_KEY is not set".into());
            }
            (Some(other), _) => {
                return Err(format!(
                    "PAYMENT_PROVIDER: {other:?} is neither stripe nor sandbox"
                ));
            }
        };
        let Some(secret_key) = secret_key else {
            return Ok(Self {
                kind: ProviderKind::Sandbox,
                settings: PaymentSettings::sandbox(),
                payments: Arc::new(Sandbox::new(ledger, clock, Pace::default())),
                webhooks,
            });
        };
        let publishable_key = set("STRIPE_PUBLISHABLE_KEY")
            .or_else(|| set("ONSALE_STRIPE_PUBLISHABLE_KEY"))
            .map(check_publishable);
        let mut config = StripeConfig::new(secret_key);
        if let Some(url) = set("STRIPE_API_URL") {
            config.api_url = url;
        }
        if let Some(stack) = set("ONSALE_STACK") {
            config.stack = stack;
        }
        let publishable_key = publishable_key.transpose()?;
        config.return_to = set("PUBLIC_BASE_URL").map(check_origin).transpose()?;
        config.has_script = publishable_key.is_some();
        Ok(Self {
            kind: ProviderKind::Stripe,
            settings: PaymentSettings {
                kind: ProviderKind::Stripe,
                publishable_key,
            },
            payments: Arc::new(Stripe::new(&config)?),
            webhooks,
        })
    }
}

/// Everybody gets to see this key, so a secret one in its place must stop the start. What is
/// wrong is told without the text.
fn check_publishable(key: String) -> Result<String, String> {
    let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if key.starts_with("pk_") && plain && key.len() <= MAX_KEY_CHARS {
        return Ok(key);
    }
    Err("STRIPE_PUBLISHABLE_KEY: a publishable key of Stripe begins with pk_".into())
}

/// Where buyers come back to, without a slash at its end.
fn check_origin(address: String) -> Result<String, String> {
    if !address.starts_with("https://") && !address.starts_with("http://") {
        return Err("PUBLIC_BASE_URL: an http or https address".into());
    }
    Ok(address.trim_end_matches('/').to_owned())
}
