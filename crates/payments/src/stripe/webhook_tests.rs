use super::*;

const SECRET: &str = "whsec_now";
const OLD_SECRET: &str = "whsec_before";
const NOW: Millis = Millis(1_800_000_000_500);
const NOW_S: u64 = 1_800_000_000;
const ORDER: &str = "ord_0000000000000000000000000000000a";

fn payload(kind: &str, object: &str) -> String {
    format!(r#"{{"id":"evt_1","object":"event","type":"{kind}","data":{{"object":{object}}}}}"#)
}

fn succeeded() -> String {
    let object =
        format!(r#"{{"object":"payment_intent","id":"pi_1","metadata":{{"order_id":"{ORDER}"}}}}"#);
    payload("payment_intent.succeeded", &object)
}

fn v1(secret: &str, time_s: u64, payload: &str) -> String {
    let bytes = signature(secret, &time_s.to_string(), payload.as_bytes()).unwrap();
    format!("v1={}", hex::encode(bytes))
}

/// Computed elsewhere, so that both ends of this file cannot be wrong together.
#[test]
fn the_signature_is_hmac_sha256_over_time_dot_payload() {
    let bytes = signature("whsec_test", "1492774577", br#"{"id":"evt_1"}"#).unwrap();
    assert_eq!(hex::encode(bytes), KNOWN_SIGNATURE);
}

const KNOWN_SIGNATURE: &str = "7656fc2882a7ca0a651666b36bf2f2f22ee204f54f608f227498a2419f2890b2";

#[test]
fn a_webhook_is_believed_only_with_a_fresh_signature_under_a_secret_of_ours() {
    let body = succeeded();
    let good = v1(SECRET, NOW_S, &body);
    let forged = format!("v1={}", "0".repeat(64));
    let old = NOW_S - 299;
    let too_old = NOW_S - 300;
    let ahead = NOW_S + 300;
    let too_far_ahead = NOW_S + 301;
    let at = |time: u64, rest: &str| format!("t={time},{rest}");
    let wrong = Err(WebhookError::WrongSignature);
    let late = Err(WebhookError::OutsideTolerance);
    let malformed = Err(WebhookError::MalformedHeader);
    let cases = [
        ("good", at(NOW_S, &good), Ok(())),
        ("spaces after commas", format!("t={NOW_S}, {good}"), Ok(())),
        (
            "another scheme beside it",
            at(NOW_S, &format!("{good},v0=abc")),
            Ok(()),
        ),
        (
            "two, the second is right",
            at(NOW_S, &format!("{forged},{good}")),
            Ok(()),
        ),
        (
            "two, the first is right",
            at(NOW_S, &format!("{good},{forged}")),
            Ok(()),
        ),
        (
            "the rotated secret",
            at(NOW_S, &v1(OLD_SECRET, NOW_S, &body)),
            Ok(()),
        ),
        ("almost too old", at(old, &v1(SECRET, old, &body)), Ok(())),
        (
            "almost too far ahead",
            at(ahead, &v1(SECRET, ahead, &body)),
            Ok(()),
        ),
        ("forged", at(NOW_S, &forged), wrong.clone()),
        (
            "two forged",
            at(NOW_S, &format!("{forged},{forged}")),
            wrong.clone(),
        ),
        (
            "a foreign secret",
            at(NOW_S, &v1("whsec_x", NOW_S, &body)),
            wrong.clone(),
        ),
        (
            "an empty secret",
            at(NOW_S, &v1("", NOW_S, &body)),
            wrong.clone(),
        ),
        (
            "another time than was signed",
            at(NOW_S + 1, &good),
            wrong.clone(),
        ),
        (
            "another payload",
            at(NOW_S, &v1(SECRET, NOW_S, "{}")),
            wrong,
        ),
        (
            "too old",
            at(too_old, &v1(SECRET, too_old, &body)),
            late.clone(),
        ),
        (
            "in the future",
            at(too_far_ahead, &v1(SECRET, too_far_ahead, &body)),
            late,
        ),
        ("empty", String::new(), malformed.clone()),
        ("no time", good.clone(), malformed.clone()),
        ("no signature", format!("t={NOW_S}"), malformed.clone()),
        (
            "only a scheme we do not know",
            format!("t={NOW_S},v0=abc"),
            malformed.clone(),
        ),
        (
            "two times",
            format!("t={NOW_S},t=1,{good}"),
            malformed.clone(),
        ),
        (
            "a signed time",
            format!("t=+{NOW_S},{good}"),
            malformed.clone(),
        ),
        (
            "a time beyond all numbers",
            format!("t={},{good}", "9".repeat(30)),
            malformed.clone(),
        ),
        (
            "half a signature",
            format!("t={NOW_S},v1=abcd"),
            malformed.clone(),
        ),
        (
            "not hexadecimal",
            format!("t={NOW_S},v1={}", "z".repeat(64)),
            malformed.clone(),
        ),
        (
            "no equals sign",
            format!("t={NOW_S},{good},x"),
            malformed.clone(),
        ),
        (
            "very many signatures",
            at(NOW_S, &vec![good.clone(); 9].join(",")),
            malformed,
        ),
    ];
    for (name, header, expected) in cases {
        let secrets = [SECRET, OLD_SECRET, ""];
        let answer = verify(body.as_bytes(), &header, &secrets, NOW);
        assert_eq!(answer.map(|_| ()), expected, "{name}: {header}");
    }
}

#[test]
fn without_a_secret_every_webhook_is_refused() {
    let body = succeeded();
    let header = format!("t={NOW_S},{}", v1("", NOW_S, &body));
    for secrets in [&[][..], &[""][..]] {
        let answer = verify(body.as_bytes(), &header, secrets, NOW);
        assert_eq!(answer, Err(WebhookError::NoSecret));
    }
    for setting in [None, Some(""), Some(" , ")] {
        let secrets = WebhookSecrets::configured(|_| setting.map(str::to_owned));
        let answer = secrets.verify(body.as_bytes(), &header, NOW);
        assert_eq!(answer, Err(WebhookError::NoSecret));
    }
}

#[test]
fn secrets_come_from_a_list_and_are_never_printed() {
    let secrets = WebhookSecrets::configured(|name| {
        (name == "STRIPE_WEBHOOK_SECRETS").then(|| format!("{SECRET}, {OLD_SECRET}"))
    });
    let body = succeeded();
    let header = format!("t={NOW_S},{}", v1(OLD_SECRET, NOW_S, &body));
    assert!(secrets.verify(body.as_bytes(), &header, NOW).is_ok());
    assert_eq!(format!("{secrets:?}"), "WebhookSecrets(2 secrets)");
}

fn read(kind: &str, object: &str) -> Result<WebhookEvent, WebhookError> {
    let body = payload(kind, object);
    let header = format!("t={NOW_S},{}", v1(SECRET, NOW_S, &body));
    verify(body.as_bytes(), &header, &[SECRET], NOW)
}

#[test]
fn an_event_says_where_to_look() {
    let intent =
        format!(r#"{{"object":"payment_intent","id":"pi_1","metadata":{{"order_id":"{ORDER}"}}}}"#);
    let charge = r#"{"object":"charge","id":"ch_1","payment_intent":"pi_1","metadata":{}}"#;
    let dispute = r#"{"object":"dispute","id":"dp_1","payment_intent":{"id":"pi_1"}}"#;
    let foreign =
        r#"{"object":"payment_intent","id":"pi_1","metadata":{"order_id":"somebody else's"}}"#;
    let refund = r#"{"object":"refund","id":"re_1","payment_intent":"pi_1","metadata":{}}"#;
    let payout = r#"{"object":"payout","id":"po_1","metadata":null}"#;
    let order = Some(ORDER.parse().unwrap());
    let pi = Some("pi_1");
    let cases = [
        (
            "payment_intent.succeeded",
            intent.as_str(),
            WebhookKind::Wake,
            pi,
            order,
        ),
        (
            "payment_intent.something_new",
            &intent,
            WebhookKind::Wake,
            pi,
            order,
        ),
        ("charge.refunded", charge, WebhookKind::Wake, pi, None),
        (
            "charge.dispute.created",
            dispute,
            WebhookKind::Dispute,
            pi,
            None,
        ),
        (
            "payment_intent.canceled",
            foreign,
            WebhookKind::Wake,
            pi,
            None,
        ),
        ("refund.failed", refund, WebhookKind::Refund, pi, None),
        (
            "charge.refund.updated",
            refund,
            WebhookKind::Refund,
            pi,
            None,
        ),
        ("payout.paid", payout, WebhookKind::Other, None, None),
        ("charge.succeeded", charge, WebhookKind::Other, pi, None),
    ];
    for (name, object, kind, payment, order) in cases {
        let expected = WebhookEvent {
            id: "evt_1".into(),
            kind,
            payment: payment.map(|id| PaymentId(id.into())),
            order,
        };
        assert_eq!(read(name, object), Ok(expected), "{name}");
    }
}

#[test]
fn money_has_moved_unless_the_bank_only_asks() {
    let told = |name: &str, status: &str| {
        let object = format!(
            r#"{{"object":"dispute","id":"dp_1","payment_intent":"pi_1","status":"{status}"}}"#
        );
        read(name, &object).unwrap().kind
    };
    let (created, withdrawn) = ("charge.dispute.created", "charge.dispute.funds_withdrawn");
    for asks in [
        "warning_needs_response",
        "warning_under_review",
        "warning_closed",
    ] {
        assert_eq!(told(created, asks), WebhookKind::Inquiry, "{asks}");
        assert_eq!(told(withdrawn, asks), WebhookKind::Dispute, "{asks}");
        assert_eq!(told("charge.dispute.updated", asks), WebhookKind::Other);
    }
    for took in ["needs_response", "under_review", "lost", "something_new"] {
        assert_eq!(told(created, took), WebhookKind::Dispute, "{took}");
        assert_eq!(told(withdrawn, took), WebhookKind::Dispute, "{took}");
    }
}

#[test]
fn a_signed_text_that_is_no_event_is_an_error() {
    for object in ["null", "[]", "{"] {
        assert_eq!(
            read("payment_intent.succeeded", object),
            Err(WebhookError::NotAnEvent)
        );
    }
}
