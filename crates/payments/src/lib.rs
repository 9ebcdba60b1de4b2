//! The payment port, twice: Stripe, and a sandbox that needs no account anywhere.
//!
//! A provider does and tells; it never decides what an order should do next. No answer
//! is never taken for a refusal, and no secret reaches a log or an error text.

mod provider;
pub mod sandbox;
pub mod stripe;

pub use provider::{PaymentSettings, Provider, ProviderKind};
pub use sandbox::{Pace, Sandbox};
pub use stripe::webhook::{WebhookError, WebhookEvent, WebhookKind, WebhookSecrets};
pub use stripe::{Stripe, StripeConfig};
