//! The environment picks the provider, and nothing of it is ever printed.

use std::sync::{Arc, Mutex};

use crate::ledger::{FixedClock, Ledger};
use crate::replies::{ORDER, ORDER_TEXT, intent, pi};
use crate::scripted::{Reply, Server};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::time::Millis;
use onsale_payments::{
    PaymentSettings, Provider, ProviderKind, Stripe, StripeConfig, WebhookError,
};

pub(crate) fn provider(settings: &[(&str, &str)]) -> Result<Provider, String> {
    let setting = |name: &str| {
        let found = settings.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let clock = Arc::new(FixedClock(Mutex::new(Millis(0))));
    Provider::configured(setting, Ledger::new(clock.clone()).store, clock)
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
fn pages_are_told_a_publishable_key_and_never_a_secret_one() {
    let told = |settings: &[(&str, &str)]| provider(settings).map(|provider| provider.settings);
    let stripe = |key| {
        let settings = [
            ("STRIPE_SECRET_KEY", "sk_test_1"),
            ("STRIPE_PUBLISHABLE_KEY", key),
        ];
        told(&settings)
    };
    let with = |key: Option<&str>| PaymentSettings {
        kind: ProviderKind::Stripe,
        publishable_key: key.map(str::to_owned),
    };
    assert_eq!(stripe(" pk_test_1 "), Ok(with(Some("pk_test_1"))));
    assert_eq!(stripe(""), Ok(with(None)));
    for wrong in ["sk_test_1", "rk_live_1", "pk_test_1'; alert(1)"] {
        let refused = stripe(wrong).unwrap_err();
        assert!(refused.contains("STRIPE_PUBLISHABLE_KEY"), "{refused}");
        assert!(!refused.contains(wrong), "{refused}");
    }
    let sandbox = told(&[("STRIPE_PUBLISHABLE_KEY", "pk_test_1")]);
    assert_eq!(sandbox, Ok(PaymentSettings::sandbox()));
}

#[test]
fn a_provider_that_is_named_is_taken_or_refused_and_never_replaced() {
    let named = |name, key| {
        let settings = [("PAYMENT_PROVIDER", name), ("STRIPE_SECRET_KEY", key)];
        provider(&settings).map(|provider| provider.kind)
    };
    assert_eq!(named("stripe", "sk_test_1"), Ok(ProviderKind::Stripe));
    assert_eq!(named(" stripe ", "sk_test_1"), Ok(ProviderKind::Stripe));
    for key in ["sk_test_1", ""] {
        assert_eq!(named("sandbox", key), Ok(ProviderKind::Sandbox));
    }
    // A template passes an optional setting as an empty text: nothing is named.
    assert_eq!(named("", "sk_test_1"), Ok(ProviderKind::Stripe));
    assert_eq!(named("", ""), Ok(ProviderKind::Sandbox));
    let without_key = named("stripe", " ").unwrap_err();
    assert!(without_key.contains("STRIPE_SECRET_KEY"), "{without_key}");
    for (unknown, key) in [("Stripe", "sk_test_1"), ("sand-box", ""), ("paypal", "")] {
        let refused = named(unknown, key).unwrap_err();
        assert!(refused.contains(unknown), "{refused}");
        assert!(!refused.contains("sk_test_1"), "{refused}");
    }
}

/// Two deployments on one account of Stripe: the payments of one have no order for the
/// other, which would otherwise pay them back.
#[tokio::test]
async fn a_payment_of_another_stack_has_no_order() {
    let listed = || {
        let Reply::Json(_, body) = intent("requires_capture") else {
            unreachable!("an intent is JSON");
        };
        Reply::Json(200, format!(r#"{{"data":[{body}],"has_more":false}}"#))
    };
    // The intent is of the stack `onsale`, which is also the name without a setting.
    for (stack, order) in [
        ("", Some(ORDER)),
        ("onsale", Some(ORDER)),
        ("onsale-staging", None),
        ("Onsale", None),
    ] {
        let server = Server::with(vec![intent("requires_capture"), listed()]).await;
        let settings = [
            ("STRIPE_SECRET_KEY", "sk_test_1"),
            ("STRIPE_API_URL", server.url.as_str()),
            ("ONSALE_STACK", stack),
        ];
        let payments = provider(&settings).unwrap().payments;
        let found = payments.look_up(&pi()).await.unwrap().unwrap();
        assert_eq!(found.order, order, "looked up by {stack:?}");
        let page = payments.list(Millis(0), None).await.unwrap();
        assert_eq!(page.items.len(), 1);
        assert_eq!(page.items[0].order, order, "listed by {stack:?}");
    }
}

#[tokio::test]
async fn a_payment_is_opened_in_the_name_of_its_stack() {
    for (stack, name) in [("", "onsale"), ("onsale-staging", "onsale-staging")] {
        let server = Server::with(vec![intent("requires_payment_method")]).await;
        let settings = [
            ("STRIPE_SECRET_KEY", "sk_test_1"),
            ("STRIPE_API_URL", server.url.as_str()),
            ("ONSALE_STACK", stack),
        ];
        let payments = provider(&settings).unwrap().payments;
        let total = Money {
            amount: Cents(4_200),
            currency: Currency::parse("EUR").unwrap(),
        };
        payments.open(ORDER, total).await.unwrap();
        let asked = &server.asked()[0];
        assert!(
            asked.contains(&format!("onsale_stack%5D={name}&")),
            "{asked}"
        );
        assert!(asked.contains(ORDER_TEXT), "{asked}");
    }
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
