//! What the Stripe client makes of every kind of reply, good and odd, while a payment is
//! opened and authorised.

use std::time::Duration;

use crate::provider::provider;
use crate::replies::{
    ORDER, ORDER_TEXT, error, intent, intent_with, is_ours, is_unavailable, pi, unexpected_state,
};
use crate::scripted::{KEY, Reply, Server};
use onsale_app::ports::{Authorisation, Opened, PaymentFailure, Payments, Refund};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::payment::{Action, PaymentMethod, PaymentState};

fn visa() -> PaymentMethod {
    PaymentMethod::parse("pm_card_visa").unwrap()
}

async fn authorise(replies: Vec<Reply>) -> Result<Authorisation, PaymentFailure> {
    let server = Server::with(replies).await;
    server.stripe.authorise(&pi(), ORDER, 3, &visa()).await
}

fn refused(reason: &str) -> Result<Authorisation, PaymentFailure> {
    Ok(Authorisation::Refused(reason.into()))
}

#[tokio::test]
async fn opening_charges_nothing_and_names_the_order() {
    let server = Server::with(vec![intent("requires_payment_method")]).await;
    let total = Money {
        amount: Cents(4200),
        currency: Currency::parse("EUR").unwrap(),
    };
    let opened = server.stripe.open(ORDER, total).await;
    assert_eq!(opened, Ok(Opened::Payment(pi())));
    let asked = &server.asked()[0];
    assert!(
        asked.starts_with("POST /v1/payment_intents HTTP/1.1"),
        "{asked}"
    );
    for part in [
        &format!("authorization: Bearer {KEY}"),
        &format!("idempotency-key: open-{ORDER_TEXT}"),
        "stripe-version: 2025-08-27.basil",
        "content-type: application/x-www-form-urlencoded",
        "amount=4200&currency=eur&capture_method=manual",
        &format!("metadata%5Border_id%5D={ORDER_TEXT}"),
        "payment_method_types%5B%5D=card",
    ] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    assert!(!asked.contains("confirm="), "{asked}");
}

#[tokio::test]
async fn an_amount_that_no_card_is_charged_is_refused_and_not_tried_for_ever() {
    let total = Money {
        amount: Cents(30),
        currency: Currency::parse("EUR").unwrap(),
    };
    for code in ["amount_too_small", "amount_too_large"] {
        let fields = format!(r#""type":"invalid_request_error","code":"{code}""#);
        let server = Server::with(vec![error(400, &fields)]).await;
        let opened = server.stripe.open(ORDER, total).await;
        assert!(matches!(opened, Ok(Opened::Refused(_))), "{opened:?}");
    }
    let other = error(400, r#""type":"invalid_request_error","param":"currency""#);
    let server = Server::with(vec![other]).await;
    let opened = server.stripe.open(ORDER, total).await;
    assert!(matches!(opened, Err(PaymentFailure::Ours(_))), "{opened:?}");
}

/// Stripe counts hundredths of a crown that has none.
#[tokio::test]
async fn krona_are_sent_and_read_as_stripe_counts_them() {
    let isk = |refunded: u64| {
        let body = format!(
            r#"{{"id":"pi_1","amount":450000,"currency":"isk","created":1800000000,
            "status":"succeeded","latest_charge":{{"amount_refunded":{refunded}}}}}"#
        );
        Reply::Json(200, body)
    };
    let given = Reply::Json(200, r#"{"id":"re_1","status":"succeeded"}"#.into());
    let server = Server::with(vec![isk(0), isk(0), given, isk(225_000)]).await;
    let total = Money {
        amount: Cents(4_500),
        currency: Currency::parse("ISK").unwrap(),
    };
    server.stripe.open(ORDER, total).await.unwrap();
    assert!(server.asked()[0].contains("amount=450000&currency=isk"));
    let (payment, half) = (pi(), Cents(2_250));
    let refund = server.stripe.refund(&payment, ORDER, Cents(0), half);
    assert_eq!(refund.await, Ok(Refund::Refunded));
    assert!(server.asked()[2].ends_with("amount=225000"));
    let found = server.stripe.look_up(&pi()).await.unwrap().unwrap();
    assert_eq!(found.total, total);
    assert_eq!(found.state, PaymentState::Captured { refunded: half });
}

#[tokio::test]
async fn an_authorisation_is_confirmed_once_for_each_attempt() {
    let server = Server::with(vec![intent("requires_capture")]).await;
    let answer = server.stripe.authorise(&pi(), ORDER, 3, &visa()).await;
    assert_eq!(answer, Ok(Authorisation::Authorised));
    let asked = &server.asked()[0];
    assert!(
        asked.starts_with("POST /v1/payment_intents/pi_1/confirm "),
        "{asked}"
    );
    assert!(asked.contains(&format!("idempotency-key: authorise-{ORDER_TEXT}-3")));
    assert!(asked.ends_with("payment_method=pm_card_visa"), "{asked}");
}

#[tokio::test]
async fn a_confirmation_means_what_its_status_says() {
    assert_eq!(
        authorise(vec![intent("succeeded")]).await,
        Ok(Authorisation::Authorised)
    );
    let redirect = r#","next_action":{"type":"redirect_to_url",
        "redirect_to_url":{"url":"https://bank.example/3ds"}}"#;
    let url = "https://bank.example/3ds".into();
    assert_eq!(
        authorise(vec![intent_with("requires_action", redirect)]).await,
        Ok(Authorisation::ActionRequired(Action::Redirect { url }))
    );
    let sdk = r#","next_action":{"type":"use_stripe_sdk","use_stripe_sdk":{}}"#;
    let client_secret = "pi_1_secret_2".into();
    assert_eq!(
        authorise(vec![intent_with("requires_action", sdk)]).await,
        Ok(Authorisation::ActionRequired(Action::UseSdk {
            client_secret
        }))
    );
    let failed = r#","last_payment_error":{"code":"card_declined","decline_code":"expired_card"}"#;
    assert_eq!(
        authorise(vec![intent_with("requires_payment_method", failed)]).await,
        refused("The card has expired.")
    );
    for unclear in ["processing", "requires_confirmation", "something_new"] {
        assert!(
            is_unavailable(&authorise(vec![intent(unclear)]).await),
            "{unclear}"
        );
    }
}

/// Under its key a confirmation is answered as it was the first time, for a whole day.
#[tokio::test]
async fn a_confirmation_that_was_under_way_is_answered_by_what_came_of_it() {
    for unclear in ["processing", "requires_confirmation"] {
        let first = || intent(unclear);
        let replies = vec![first(), first(), first(), intent("requires_capture")];
        let server = Server::with(replies).await;
        let ask = async || server.stripe.authorise(&pi(), ORDER, 3, &visa()).await;
        assert!(is_unavailable(&ask().await), "{unclear}");
        assert_eq!(ask().await, Ok(Authorisation::Authorised), "{unclear}");
    }
    let failed = r#","last_payment_error":{"code":"card_declined","decline_code":"expired_card"}"#;
    let declined = intent_with("requires_payment_method", failed);
    assert_eq!(
        authorise(vec![intent("processing"), declined]).await,
        refused("The card has expired.")
    );
}

#[tokio::test]
async fn a_declined_card_is_a_refusal_that_its_holder_can_read() {
    let declined = error(
        402,
        r#""type":"card_error","code":"card_declined","decline_code":"insufficient_funds",
        "message":"Your card has insufficient funds.","charge":"ch_1""#,
    );
    assert_eq!(
        authorise(vec![declined]).await,
        refused("The card has insufficient funds.")
    );
    // As the emulator words it.
    let emulated = error(
        402,
        r#""type":"invalid_request_error","code":"card_declined","message":"Your card was declined.""#,
    );
    assert_eq!(
        authorise(vec![emulated]).await,
        refused("Your card was declined.")
    );
}

#[tokio::test]
async fn a_method_that_cannot_be_used_is_refused_and_not_our_mistake() {
    let unknown = || {
        error(
            400,
            r#""type":"invalid_request_error","code":"resource_missing","param":"payment_method",
            "message":"No such PaymentMethod: 'pm_card_visa'""#,
        )
    };
    let cannot = refused("This payment method cannot be used.");
    assert_eq!(
        authorise(vec![unknown(), intent("requires_payment_method")]).await,
        cannot
    );
    assert_eq!(
        authorise(vec![unknown(), intent("requires_action")]).await,
        cannot
    );
    let missing = || error(404, r#""message":"Not Found""#);
    assert_eq!(
        authorise(vec![missing(), intent("requires_confirmation")]).await,
        cannot
    );
    assert!(
        is_ours(&authorise(vec![missing(), missing()]).await),
        "the payment is missing"
    );
}

#[tokio::test]
async fn an_unexpected_state_is_answered_by_what_is_true() {
    let after = |status| authorise(vec![unexpected_state(), intent(status)]);
    assert_eq!(
        after("requires_capture").await,
        Ok(Authorisation::Authorised)
    );
    assert_eq!(after("succeeded").await, Ok(Authorisation::Authorised));
    assert_eq!(
        after("canceled").await,
        refused("The payment was cancelled.")
    );
    let client_secret = "pi_1_secret_2".to_owned();
    let action = Authorisation::ActionRequired(Action::UseSdk { client_secret });
    assert_eq!(after("requires_action").await, Ok(action));
    assert!(is_ours(&after("requires_payment_method").await));
}

#[tokio::test]
async fn a_failure_that_stripe_keeps_does_not_hide_what_happened() {
    let broken = || Reply::Json(500, "<html>oops</html>".into());
    let done = authorise(vec![broken(), intent("requires_capture")]).await;
    assert_eq!(done, Ok(Authorisation::Authorised));
    for status in ["requires_payment_method", "requires_action"] {
        assert!(
            is_unavailable(&authorise(vec![broken(), intent(status)]).await),
            "{status}"
        );
    }
}

#[tokio::test]
async fn no_clear_answer_is_never_a_refusal() {
    let raw = |text: &str| Reply::Raw(text.as_bytes().to_vec());
    let huge = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n\"{}\"",
        "x".repeat(1_999_998)
    );
    let cut_off = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"id\":\"pi_1\"";
    let json = |status, body: &str| Reply::Json(status, body.to_owned());
    let cases = [
        (
            "409: the same call",
            error(409, r#""code":"idempotency_key_in_use""#),
        ),
        ("429: too many calls", error(429, r#""code":"rate_limit""#)),
        ("connection closed", json(500, "<html>oops</html>")),
        ("connection closed", json(502, "")),
        (
            "400 without an explanation",
            json(400, "<html>Bad Request</html>"),
        ),
        ("402 without an explanation", json(402, "pay up")),
        ("EOF while parsing", json(200, r#"{"id":"pi_1","stat"#)),
        ("expected ident", json(200, "thanks")),
        ("missing field `status`", json(200, r#"{"id":"pi_1"}"#)),
        ("cannot be read", json(200, "[]")),
        ("broke off", raw(cut_off)),
        ("invalid HTTP", raw("hello\r\n\r\n")),
        ("connection closed", raw("")),
        ("larger than 1 MiB", raw(&huge)),
        ("no reply in time", Reply::Never),
    ];
    for (says, reply) in cases {
        let answer = tokio::time::timeout(Duration::from_secs(9), authorise(vec![reply])).await;
        let answer = answer.expect(says);
        assert!(is_unavailable(&answer), "{says}: {answer:?}");
        let text = answer.unwrap_err().to_string();
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[tokio::test]
async fn nobody_listening_is_unavailable() {
    let mut config = onsale_payments::StripeConfig::new(KEY);
    // Port 1 of this machine has no listener.
    config.api_url = "http://127.0.0.1:1".into();
    let stripe = onsale_payments::Stripe::new(&config).unwrap();
    assert!(is_unavailable(&stripe.capture(&pi(), ORDER).await));
}

#[tokio::test]
async fn what_only_an_operator_can_mend_is_ours_and_quotes_no_key() {
    let quoting = format!(r#""message":"Invalid API Key provided: {KEY}""#);
    let cases = [
        (error(401, &quoting), None),
        (error(403, &quoting), None),
        (
            error(400, &quoting),
            Some(intent("requires_payment_method")),
        ),
        (Reply::Json(302, String::new()), None),
    ];
    for (reply, look) in cases {
        let answer = authorise([reply].into_iter().chain(look).collect()).await;
        assert!(is_ours(&answer), "{answer:?}");
        assert!(!format!("{answer:?}").contains("sk_test"), "{answer:?}");
    }
}

#[tokio::test]
async fn an_emulator_that_cannot_confirm_with_a_method_has_it_set_before() {
    let not_implemented = || error(500, r#""message":"Not implemented""#);
    let replies = vec![
        not_implemented(),
        intent("requires_confirmation"),
        intent("requires_capture"),
    ];
    let server = Server::with(replies).await;
    let answer = server.stripe.authorise(&pi(), ORDER, 3, &visa()).await;
    assert_eq!(answer, Ok(Authorisation::Authorised));
    let asked = server.asked();
    assert!(
        asked[1].starts_with("POST /v1/payment_intents/pi_1 "),
        "{asked:?}"
    );
    assert!(
        asked[1].ends_with("payment_method=pm_card_visa"),
        "{asked:?}"
    );
    assert!(
        asked[2].starts_with("POST /v1/payment_intents/pi_1/confirm "),
        "{asked:?}"
    );
    assert!(asked[2].ends_with("\r\n\r\n"), "{asked:?}");

    let silent = vec![not_implemented(), Reply::Never];
    assert!(is_unavailable(&authorise(silent).await));
}

#[tokio::test]
async fn a_buyer_whose_bank_wants_to_see_them_comes_back_to_their_order() {
    for (key, asked_for) in [("", ""), ("pk_test_1", "&use_stripe_sdk=true")] {
        let server = Server::with(vec![intent("requires_capture")]).await;
        let settings = [
            ("STRIPE_SECRET_KEY", "sk_test_1"),
            ("STRIPE_PUBLISHABLE_KEY", key),
            ("STRIPE_API_URL", server.url.as_str()),
            ("PUBLIC_BASE_URL", "https://onsale.example/"),
        ];
        let stripe = provider(&settings).unwrap().payments;
        let answer = stripe.authorise(&pi(), ORDER, 1, &visa()).await;
        assert_eq!(answer, Ok(Authorisation::Authorised));
        let address = format!("https%3A%2F%2Fonsale.example%2Forders%2F{ORDER_TEXT}");
        let form = format!("payment_method=pm_card_visa&return_url={address}{asked_for}");
        let asked = &server.asked()[0];
        assert!(asked.ends_with(&form), "{asked}");
    }
    let nowhere = [
        ("STRIPE_SECRET_KEY", "sk_test_1"),
        ("PUBLIC_BASE_URL", "javascript:alert(1)"),
    ];
    assert!(provider(&nowhere).is_err());
}
