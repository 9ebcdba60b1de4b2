//! The environment picks the provider, and nothing of it is ever printed.

#![allow(clippy::unwrap_used)]

mod ledger;

use std::sync::{Arc, Mutex};

use ledger::{FixedClock, Ledger};
use onsale_domain::time::Millis;
use onsale_payments::{Provider, ProviderKind, Stripe, StripeConfig, WebhookError};

fn provider(settings: &[(&str, &str)]) -> Result<Provider, String> {
    let setting = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let clock = Arc::new(FixedClock(Mutex::new(Millis(0))));
    Provider::configured(setting, Arc::new(Ledger::default()), clock)
}

#[test]
fn a_key_of_stripe_means_stripe_and_none_means_the_sandbox() {
    let kind = |settings: &[(&str, &str)]| provider(settings).unwrap().kind;
    assert_eq!(kind(&[]), ProviderKind::Sandbox);
    assert_eq!(kind(&[("STRIPE_SECRET_KEY", " ")]), ProviderKind::Sandbox);
    assert_eq!(
        kind(&[("STRIPE_API_URL", "http://localhost:1")]),
        ProviderKind::Sandbox
    );
    assert_eq!(
        kind(&[("STRIPE_SECRET_KEY", "sk_test_1")]),
        ProviderKind::Stripe
    );
    let emulator = [
        ("STRIPE_SECRET_KEY", "sk_test_1"),
        ("STRIPE_API_URL", "http://localhost:1"),
    ];
    assert_eq!(kind(&emulator), ProviderKind::Stripe);
}

#[test]
fn without_webhook_secrets_every_webhook_is_refused() {
    let webhooks = provider(&[]).unwrap().webhooks;
    let header = format!("t=0,v1={}", "0".repeat(64));
    let answer = webhooks.verify(b"{}", &header, Millis(0));
    assert_eq!(answer, Err(WebhookError::NoSecret));
}

#[test]
fn a_live_key_is_never_sent_in_the_clear() {
    let settings = |key| {
        [
            ("STRIPE_SECRET_KEY", key),
            ("STRIPE_API_URL", "http://stripe.example"),
        ]
    };
    for key in ["sk_live_1", "rk_live_1"] {
        assert!(provider(&settings(key)).unwrap_err().contains("https"));
    }
    assert!(provider(&settings("sk_test_1")).is_ok());
}

#[test]
fn a_setting_that_cannot_work_is_told_at_the_start_and_without_the_key() {
    for (key, url) in [
        ("sk_test_secret\n1", "https://api.stripe.com"),
        ("sk_test_secret", "api.stripe.com"),
        ("sk_test_secret", "ftp://api.stripe.com"),
        ("sk_test_secret", "not a url"),
    ] {
        let settings = [("STRIPE_SECRET_KEY", key), ("STRIPE_API_URL", url)];
        let error = provider(&settings).unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn no_secret_is_printed() {
    let config = StripeConfig::new("sk_test_secret");
    let stripe = Stripe::new(&config).unwrap();
    let settings = [
        ("STRIPE_SECRET_KEY", "sk_test_secret"),
        ("STRIPE_WEBHOOK_SECRETS", "whsec_secret"),
    ];
    let provider = provider(&settings).unwrap();
    let printed = format!("{config:?} {stripe:?} {provider:?}");
    assert!(!printed.contains("secret\""), "{printed}");
    assert!(
        !printed.contains("sk_test") && !printed.contains("whsec"),
        "{printed}"
    );
}
