//! Which provider takes the money, as the environment says.

use std::fmt;
use std::sync::Arc;

use onsale_app::ports::{Clock, Payments, SandboxLedger};

use crate::sandbox::{Pace, Sandbox};
use crate::stripe::webhook::WebhookSecrets;
use crate::stripe::{Stripe, StripeConfig};

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

/// The provider in use, and the secrets that prove its webhooks.
#[derive(Clone)]
pub struct Provider {
    pub kind: ProviderKind,
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
    /// too), else the sandbox. `STRIPE_WEBHOOK_SECRETS` are separated by commas;
    /// `ONSALE_STACK` tells deployments apart that share an account.
    pub fn from_env(ledger: Arc<dyn SandboxLedger>, clock: Arc<dyn Clock>) -> Result<Self, String> {
        Self::configured(|name| std::env::var(name).ok(), ledger, clock)
    }

    pub fn configured(
        setting: impl Fn(&str) -> Option<String>,
        ledger: Arc<dyn SandboxLedger>,
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
                payments: Arc::new(Sandbox::new(ledger, clock, Pace::default())),
                webhooks,
            });
        };
        let mut config = StripeConfig::new(secret_key);
        if let Some(url) = set("STRIPE_API_URL") {
            config.api_url = url;
        }
        if let Some(stack) = set("ONSALE_STACK") {
            config.stack = stack;
        }
        Ok(Self {
            kind: ProviderKind::Stripe,
            payments: Arc::new(Stripe::new(&config)?),
            webhooks,
        })
    }
}
