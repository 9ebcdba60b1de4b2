//! The whole life of payments against `localstripe`, an emulator that keeps state and
//! signs webhooks. It runs where `ONSALE_LOCALSTRIPE_URL` names one, such as
//! `http://127.0.0.1:8420`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::wire::{header, read_message};
use onsale_app::ports::{Authorisation, Capture, PaymentFailure, Payments, Refund, Void};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::payment::{Action, Payment, PaymentId, PaymentMethod, PaymentState};
use onsale_domain::time::Millis;
use onsale_payments::stripe::webhook;
use onsale_payments::{Stripe, StripeConfig, WebhookError, WebhookKind};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "sk_test_onsale";
const GOOD_CARD: &str = "4242424242424242";
const DECLINED_CARD: &str = "4000000000000341";
const CARD_WITH_3DS: &str = "4000002500003155";

struct Emulator {
    /// Host and port.
    address: String,
    stripe: Stripe,
}

fn now() -> Millis {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Millis(u64::try_from(since_1970.as_millis()).unwrap())
}

/// Another order each time: the emulator may remember earlier runs.
fn new_order(test: &str) -> OrderId {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    OrderId::derived(&[test.as_bytes(), &clock.as_nanos().to_be_bytes()])
}

impl Emulator {
    fn find() -> Option<Self> {
        let Ok(url) = std::env::var("ONSALE_LOCALSTRIPE_URL") else {
            println!("skipped: ONSALE_LOCALSTRIPE_URL is not set");
            return None;
        };
        let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
        let address = address.to_owned();
        let mut config = StripeConfig::new(KEY);
        config.api_url = url;
        let stripe = Stripe::new(&config).unwrap();
        Some(Self { address, stripe })
    }

    /// What only the test asks of the emulator, not the platform of Stripe.
    async fn post(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let host = &self.address;
        let length = body.len();
        let kind = match body.starts_with('{') {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {KEY}\r\n\
             content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = read_message(&mut stream).await;
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}: {reply}");
        reply.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    async fn method(&self, card: &str) -> PaymentMethod {
        let card = format!(
            "type=card&card[number]={card}&card[exp_month]=12&card[exp_year]=2050&card[cvc]=123"
        );
        let reply = self.post("/v1/payment_methods", &card).await;
        let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        PaymentMethod::parse(reply["id"].as_str().unwrap()).unwrap()
    }

    /// After a decline the emulator takes no other method, as Stripe does, until it is
    /// made to forget the failed charge.
    async fn forget_failed_charge(&self, payment: &PaymentId) {
        let path = format!("/v1/payment_intents/{payment}");
        self.post(&path, r#"{"latest_charge":null}"#).await;
    }

    async fn open(&self, order: OrderId) -> PaymentId {
        let total = Money {
            amount: Cents(4200),
            currency: Currency::parse("EUR").unwrap(),
        };
        let opened = self.stripe.open(order, total).await.unwrap();
        opened.payment().unwrap()
    }

    async fn look_up(&self, payment: &PaymentId) -> Payment {
        self.stripe.look_up(payment).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn from_a_decline_to_a_partial_refund() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let stripe = &emulator.stripe;
    let order = new_order("life");
    let payment = emulator.open(order).await;
    let opened = emulator.look_up(&payment).await;
    assert_eq!(opened.order, Some(order));
    assert_eq!(opened.total.amount, Cents(4200));
    assert_eq!(opened.total.currency.as_str(), "EUR");
    assert_eq!(opened.state, PaymentState::Open);
    assert!(opened.created.until(now()) < 60_000);

    let bad = emulator.method(DECLINED_CARD).await;
    let declined = Authorisation::Refused("Your card was declined.".into());
    let answer = stripe.authorise(&payment, order, 1, &bad).await;
    assert_eq!(answer, Ok(declined));
    assert_eq!(emulator.look_up(&payment).await.state, PaymentState::Open);
    let early = stripe.capture(&payment, order).await;
    assert!(matches!(early, Ok(Capture::Refused(_))), "{early:?}");

    emulator.forget_failed_charge(&payment).await;
    let visa = PaymentMethod::parse("pm_card_visa").unwrap();
    for repetition in 0..2 {
        let answer = stripe.authorise(&payment, order, 2, &visa).await;
        assert_eq!(answer, Ok(Authorisation::Authorised), "{repetition}");
    }
    assert_eq!(
        emulator.look_up(&payment).await.state,
        PaymentState::Authorised
    );
    for _ in 0..2 {
        assert_eq!(stripe.capture(&payment, order).await, Ok(Capture::Captured));
    }
    assert_eq!(stripe.void(&payment, order).await, Ok(Void::Captured));
    let refunded = |cents| PaymentState::Captured {
        refunded: Cents(cents),
    };
    assert_eq!(emulator.look_up(&payment).await.state, refunded(0));
    for _ in 0..2 {
        let answer = stripe.refund(&payment, order, Cents(0), Cents(3900)).await;
        assert_eq!(answer, Ok(Refund::Refunded));
    }
    assert_eq!(emulator.look_up(&payment).await.state, refunded(3900));
}

#[tokio::test]
async fn a_void_is_the_end_of_a_payment() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let stripe = &emulator.stripe;
    let order = new_order("void");
    let payment = emulator.open(order).await;
    let good = emulator.method(GOOD_CARD).await;
    let answer = stripe.authorise(&payment, order, 1, &good).await;
    assert_eq!(answer, Ok(Authorisation::Authorised));
    for _ in 0..2 {
        assert_eq!(stripe.void(&payment, order).await, Ok(Void::Voided));
    }
    assert_eq!(emulator.look_up(&payment).await.state, PaymentState::Voided);
    let late = stripe.authorise(&payment, order, 2, &good).await;
    assert!(matches!(late, Ok(Authorisation::Refused(_))), "{late:?}");
    let late = stripe.capture(&payment, order).await;
    assert!(matches!(late, Ok(Capture::Refused(_))), "{late:?}");
    let late = stripe.refund(&payment, order, Cents(0), Cents(1)).await;
    assert!(matches!(late, Ok(Refund::Refused(_))), "{late:?}");
}

#[tokio::test]
async fn a_card_with_3d_secure_waits_for_its_holder() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let stripe = &emulator.stripe;
    let order = new_order("3ds");
    let payment = emulator.open(order).await;
    let card = emulator.method(CARD_WITH_3DS).await;
    let mut secret = String::new();
    for _ in 0..2 {
        let answer = stripe.authorise(&payment, order, 1, &card).await.unwrap();
        let Authorisation::ActionRequired(Action::UseSdk { client_secret }) = answer else {
            panic!("{answer:?}");
        };
        secret = client_secret;
    }
    let waiting = emulator.look_up(&payment).await.state;
    assert!(
        matches!(waiting, PaymentState::ActionRequired(_)),
        "{waiting:?}"
    );
    let path = format!("/v1/payment_intents/{payment}/_authenticate");
    let passed = format!("client_secret={secret}&success=true");
    emulator.post(&path, &passed).await;
    assert_eq!(
        emulator.look_up(&payment).await.state,
        PaymentState::Authorised
    );
    assert_eq!(stripe.capture(&payment, order).await, Ok(Capture::Captured));
}

#[tokio::test]
async fn what_is_not_there_is_told() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let stripe = &emulator.stripe;
    let order = new_order("missing");
    let nothing = PaymentId("pi_nothing".into());
    assert_eq!(stripe.look_up(&nothing).await, Ok(None));
    let answer = stripe.void(&nothing, order).await;
    assert!(matches!(answer, Err(PaymentFailure::Ours(_))), "{answer:?}");
    let payment = emulator.open(order).await;
    let unknown = PaymentMethod::parse("pm_nobody").unwrap();
    let answer = stripe.authorise(&payment, order, 1, &unknown).await;
    assert!(
        matches!(answer, Ok(Authorisation::Refused(_))),
        "{answer:?}"
    );
}

#[tokio::test]
async fn the_list_has_what_was_opened_since_then() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let since = now();
    let payment = emulator.open(new_order("list")).await;
    assert!(listed(&emulator, since).await.contains(&payment));
    assert!(
        !listed(&emulator, since + 3_600_000)
            .await
            .contains(&payment)
    );
}

async fn listed(emulator: &Emulator, since: Millis) -> Vec<PaymentId> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = emulator.stripe.list(since, after.as_deref()).await.unwrap();
        found.extend(page.items.into_iter().map(|payment| payment.id));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

#[tokio::test]
async fn a_webhook_of_a_capture_is_believed_and_names_the_order() {
    let Some(emulator) = Emulator::find() else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hook = format!("/_config/webhooks/onsale-{port}");
    let url = format!("url=http://127.0.0.1:{port}/&secret=whsec_local");
    emulator.post(&hook, &url).await;

    let order = new_order("webhook");
    let payment = emulator.open(order).await;
    let visa = PaymentMethod::parse("pm_card_visa").unwrap();
    let authorised = emulator.stripe.authorise(&payment, order, 1, &visa).await;
    assert_eq!(authorised, Ok(Authorisation::Authorised));
    emulator.stripe.capture(&payment, order).await.unwrap();

    let wait = webhook_of(&listener, &payment);
    let (signature, body) = tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .unwrap();
    let verify = |secret| webhook::verify(body.as_bytes(), &signature, &[secret], now());
    let event = verify("whsec_local").unwrap();
    assert_eq!(event.kind, WebhookKind::Wake);
    assert_eq!(event.payment, Some(payment));
    assert_eq!(event.order, Some(order));
    assert_eq!(verify("whsec_other"), Err(WebhookError::WrongSignature));
}

/// The first webhook about this payment; those of tests beside this one are passed over.
async fn webhook_of(listener: &TcpListener, payment: &PaymentId) -> (String, String) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_message(&mut stream).await;
        let thanks = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(thanks).await.unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        if body.contains(&payment.0) {
            let signature = header(head, "stripe-signature").unwrap();
            return (signature.to_owned(), body.to_owned());
        }
    }
}
