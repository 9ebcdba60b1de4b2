//! What the Stripe client makes of replies once money is reserved: captures, voids,
//! refunds, and looking at what is there.

use crate::replies::{
    ORDER, ORDER_TEXT, captured, error, intent, is_ours, is_unavailable, pi, unexpected_state,
};
use crate::scripted::{Reply, Server};
use onsale_app::ports::{Capture, PaymentFailure, Payments, Refund, Void};
use onsale_domain::money::Cents;
use onsale_domain::payment::{PaymentId, PaymentState};
use onsale_domain::time::Millis;

#[tokio::test]
async fn a_capture_is_done_once_or_refused() {
    let capture = |replies| async {
        let server = Server::with(replies).await;
        server.stripe.capture(&pi(), ORDER).await
    };
    assert_eq!(
        capture(vec![intent("succeeded")]).await,
        Ok(Capture::Captured)
    );
    for reply in [unexpected_state(), Reply::Json(500, String::new())] {
        assert_eq!(
            capture(vec![reply, captured(0)]).await,
            Ok(Capture::Captured)
        );
    }
    let refusals = [
        vec![intent("canceled")],
        vec![unexpected_state(), intent("canceled")],
        vec![unexpected_state(), intent("requires_payment_method")],
        vec![error(402, r#""type":"card_error","code":"card_declined""#)],
        vec![
            error(400, r#""code":"charge_expired_for_capture""#),
            intent("requires_capture"),
        ],
    ];
    for replies in refusals {
        let answer = capture(replies).await;
        assert!(matches!(answer, Ok(Capture::Refused(_))), "{answer:?}");
    }
    assert!(is_unavailable(&capture(vec![intent("processing")]).await));
    assert!(is_unavailable(&capture(vec![Reply::Never]).await));
    let broken = vec![Reply::Json(500, String::new()), intent("requires_capture")];
    assert!(is_unavailable(&capture(broken).await));

    let server = Server::with(vec![intent("succeeded")]).await;
    server.stripe.capture(&pi(), ORDER).await.unwrap();
    assert!(server.asked()[0].contains(&format!("idempotency-key: capture-{ORDER_TEXT}")));
    assert!(server.asked()[0].starts_with("POST /v1/payment_intents/pi_1/capture "));
}

/// Under its key a capture is answered as it was the first time, for a whole day.
#[tokio::test]
async fn a_capture_that_was_under_way_is_answered_by_what_came_of_it() {
    let processing = || intent("processing");
    let replies = vec![processing(), processing(), processing(), captured(0)];
    let server = Server::with(replies).await;
    assert!(is_unavailable(&server.stripe.capture(&pi(), ORDER).await));
    let second = server.stripe.capture(&pi(), ORDER).await;
    assert_eq!(second, Ok(Capture::Captured));
    let gone = Server::with(vec![processing(), intent("canceled")]).await;
    let answer = gone.stripe.capture(&pi(), ORDER).await;
    assert!(matches!(answer, Ok(Capture::Refused(_))), "{answer:?}");
}

#[tokio::test]
async fn a_void_tells_whether_the_money_was_taken_before() {
    let void = |replies| async {
        let server = Server::with(replies).await;
        server.stripe.void(&pi(), ORDER).await
    };
    assert_eq!(void(vec![intent("canceled")]).await, Ok(Void::Voided));
    assert_eq!(
        void(vec![unexpected_state(), intent("canceled")]).await,
        Ok(Void::Voided)
    );
    assert_eq!(
        void(vec![unexpected_state(), captured(0)]).await,
        Ok(Void::Captured)
    );
    assert!(is_unavailable(&void(vec![intent("processing")]).await));
    assert!(is_ours(
        &void(vec![unexpected_state(), intent("requires_capture")]).await
    ));
    assert!(is_unavailable(&void(vec![Reply::Never]).await));
}

async fn refund(replies: Vec<Reply>) -> (Result<Refund, PaymentFailure>, Server) {
    let server = Server::with(replies).await;
    (
        server
            .stripe
            .refund(&pi(), ORDER, Cents(0), Cents(4000))
            .await,
        server,
    )
}

#[tokio::test]
async fn a_refund_is_asked_for_only_if_it_was_not_given() {
    let given = Reply::Json(200, r#"{"id":"re_1","status":"succeeded"}"#.into());
    let (answer, server) = refund(vec![captured(0), given]).await;
    assert_eq!(answer, Ok(Refund::Refunded));
    let asked = &server.asked()[1];
    assert!(asked.starts_with("POST /v1/refunds "), "{asked}");
    assert!(
        asked.contains(&format!("idempotency-key: refund-{ORDER_TEXT}")),
        "{asked}"
    );
    assert!(
        asked.ends_with("payment_intent=pi_1&amount=4000"),
        "{asked}"
    );

    let (answer, server) = refund(vec![captured(4000)]).await;
    assert_eq!(answer, Ok(Refund::Refunded));
    assert_eq!(server.lines().len(), 1, "it only looked");
}

#[tokio::test]
async fn every_part_of_a_refund_has_a_key_of_its_own() {
    let given = || Reply::Json(200, r#"{"id":"re_1","status":"succeeded"}"#.into());
    let replies = vec![captured(1000), given(), captured(2500)];
    let server = Server::with(replies).await;
    for _ in 0..2 {
        let (already, amount) = (Cents(1000), Cents(1500));
        let part = server.stripe.refund(&pi(), ORDER, already, amount).await;
        assert_eq!(part, Ok(Refund::Refunded));
    }
    let asked = &server.asked()[1];
    let key = format!("idempotency-key: refund-{ORDER_TEXT}-after-1000\r\n");
    assert!(asked.contains(&key), "{asked}");
    assert!(
        asked.ends_with("payment_intent=pi_1&amount=1500"),
        "{asked}"
    );
    assert_eq!(server.lines().len(), 3, "the second time it only looked");
}

#[tokio::test]
async fn a_refund_that_cannot_be_given_is_refused_in_words() {
    let already = r#""code":"charge_already_refunded","message":"Charge ch_1 has been refunded.""#;
    let too_much = r#""param":"amount","message":"The amount is greater than what is left.""#;
    let failed = Reply::Json(200, r#"{"id":"re_1","status":"failed"}"#.into());
    let cases = [
        vec![captured(0), error(400, already), captured(0)],
        vec![captured(1000), error(400, too_much), captured(1000)],
        vec![captured(0), failed],
        vec![intent("requires_capture")],
        vec![intent("canceled")],
    ];
    for replies in cases {
        let (answer, _) = refund(replies).await;
        assert!(
            matches!(&answer, Ok(Refund::Refused(why)) if !why.is_empty()),
            "{answer:?}"
        );
    }
    let (answer, _) = refund(vec![captured(0), error(400, already), captured(4200)]).await;
    assert_eq!(answer, Ok(Refund::Refunded), "somebody was faster");
    let broken = || Reply::Json(500, String::new());
    assert!(is_unavailable(
        &refund(vec![captured(0), broken(), captured(0)]).await.0
    ));
    assert_eq!(
        refund(vec![captured(0), broken(), captured(4000)]).await.0,
        Ok(Refund::Refunded)
    );
    assert!(is_unavailable(
        &refund(vec![captured(0), Reply::Never]).await.0
    ));
    assert!(is_ours(&refund(vec![error(404, "")]).await.0));
}

const NO_BALANCE: &str =
    r#"{"error":{"code":"balance_insufficient","message":"There is not enough balance."}}"#;

/// The keys under which refunds were asked for.
fn refund_keys(server: &Server) -> Vec<String> {
    let asked = server.asked();
    let refunds = asked.iter().filter(|a| a.starts_with("POST /v1/refunds "));
    let keys = refunds.filter_map(|a| crate::wire::header(a, "idempotency-key"));
    keys.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_refund_that_was_rejected_before_is_asked_for_anew() {
    let given = Reply::Json(200, r#"{"id":"re_2","status":"succeeded"}"#.into());
    let (answer, server) = refund(vec![
        captured(0),
        Reply::Again(400, NO_BALANCE.into()),
        Reply::Again(400, NO_BALANCE.into()),
        given,
    ])
    .await;
    assert_eq!(answer, Ok(Refund::Refunded));
    let first = format!("refund-{ORDER_TEXT}");
    let keys = [
        first.clone(),
        format!("{first}-again-1"),
        format!("{first}-again-2"),
    ];
    assert_eq!(refund_keys(&server), keys);

    let fresh = Reply::Json(400, NO_BALANCE.into());
    let (answer, server) = refund(vec![captured(0), fresh, captured(0)]).await;
    assert!(matches!(answer, Ok(Refund::Refused(_))), "{answer:?}");
    assert_eq!(refund_keys(&server), [first], "once a try");
}

#[tokio::test]
async fn a_refund_that_the_bank_sent_back_is_asked_for_anew_and_no_other() {
    let told_before = || Reply::Again(200, r#"{"id":"re_1","status":"succeeded"}"#.into());
    let now = |status| Reply::Json(200, format!(r#"{{"id":"re_1","status":"{status}"}}"#));
    let given = Reply::Json(200, r#"{"id":"re_2","status":"pending"}"#.into());
    let (answer, server) = refund(vec![captured(0), told_before(), now("failed"), given]).await;
    assert_eq!(answer, Ok(Refund::Refunded));
    assert_eq!(refund_keys(&server).len(), 2);
    assert!(server.lines()[2].starts_with("GET /v1/refunds/re_1"));

    for status in ["pending", "succeeded"] {
        let (answer, server) = refund(vec![captured(0), told_before(), now(status)]).await;
        assert_eq!(answer, Ok(Refund::Refunded), "{status}");
        assert_eq!(refund_keys(&server).len(), 1, "{status}: never twice");
    }
    let (answer, server) = refund(vec![captured(0), told_before(), Reply::Never]).await;
    assert!(is_unavailable(&answer), "{answer:?}");
    assert_eq!(
        refund_keys(&server).len(),
        1,
        "what is unclear is no failure"
    );
}

#[tokio::test]
async fn a_look_up_says_what_stripe_has_on_record() {
    let server = Server::with(vec![captured(300)]).await;
    let found = server.stripe.look_up(&pi()).await.unwrap().unwrap();
    assert_eq!(
        found.state,
        PaymentState::Captured {
            refunded: Cents(300)
        }
    );
    assert_eq!(found.order, None);
    let line = "GET /v1/payment_intents/pi_1?expand%5B%5D=latest_charge HTTP/1.1";
    assert_eq!(server.lines(), [line]);

    let states = [
        ("requires_payment_method", PaymentState::Open),
        ("requires_confirmation", PaymentState::Open),
        ("requires_capture", PaymentState::Authorised),
        ("canceled", PaymentState::Voided),
    ];
    for (status, state) in states {
        let server = Server::with(vec![intent(status)]).await;
        let found = server.stripe.look_up(&pi()).await.unwrap().unwrap();
        assert_eq!(found.state, state, "{status}");
        assert_eq!(found.order, Some(ORDER));
        assert_eq!(found.created, Millis(1_800_000_000_000));
        assert_eq!(found.total.amount, Cents(4200));
        assert_eq!(found.total.currency.as_str(), "EUR");
    }
    let server = Server::with(vec![error(404, r#""code":"resource_missing""#)]).await;
    assert_eq!(server.stripe.look_up(&pi()).await, Ok(None));
}

#[tokio::test]
async fn a_charge_that_was_not_sent_along_is_not_taken_for_zero() {
    let bare = r#"{"id":"pi_1","amount":1,"currency":"eur","created":1,"status":"succeeded",
        "latest_charge":"ch_1"}"#;
    let server = Server::with(vec![Reply::Json(200, bare.into())]).await;
    assert!(is_unavailable(&server.stripe.look_up(&pi()).await));
}

#[tokio::test]
async fn an_id_that_could_change_the_path_is_not_sent() {
    let server = Server::with(vec![]).await;
    for id in ["", "pi_1/../refunds", "pi_1?x", "pi 1"] {
        assert!(
            is_ours(&server.stripe.look_up(&PaymentId(id.into())).await),
            "{id}"
        );
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn the_list_goes_on_after_its_last_payment() {
    let item = |id: &str, status: &str, created: u64| {
        format!(
            r#"{{"id":"{id}","amount":1,"currency":"eur","created":{created},"status":"{status}"}}"#
        )
    };
    let page = [
        item("pi_3", "canceled", 1_800_000_002),
        item("pi_2", "processing", 1_800_000_001),
        item("pi_1", "requires_capture", 1_800_000_000),
    ];
    let body = format!(r#"{{"data":[{}],"has_more":true}}"#, page.join(","));
    let oldest = item("pi_0", "canceled", 1_800_000_000);
    let last = format!(r#"{{"data":[{oldest}],"has_more":false}}"#);
    let server = Server::with(vec![Reply::Json(200, body), Reply::Json(200, last)]).await;
    let since = Millis(1_800_000_000_999);
    let first = server.stripe.list(since, None).await.unwrap();
    let ids: Vec<_> = first.items.iter().map(|p| p.id.0.as_str()).collect();
    assert_eq!(ids, ["pi_3", "pi_1"]);
    assert_eq!(first.next.as_deref(), Some("pi_1"));
    let second = server
        .stripe
        .list(since, first.next.as_deref())
        .await
        .unwrap();
    assert_eq!((second.items.len(), second.next), (1, None));
    let asked = server.lines();
    assert!(
        asked[0].contains("created%5Bgte%5D=1800000000"),
        "{asked:?}"
    );
    assert!(asked[0].contains("limit=100"), "{asked:?}");
    assert!(asked[1].contains("starting_after=pi_1"), "{asked:?}");
}

#[tokio::test]
async fn an_emulator_that_cannot_list_by_time_is_filtered_here() {
    let page = r#"{"has_more":false,"data":[
        {"id":"pi_1","amount":1,"currency":"eur","created":100,"status":"canceled"},
        {"id":"pi_2","amount":1,"currency":"eur","created":200,"status":"canceled"}]}"#;
    let cannot = error(400, r#""message":"Unexpected created""#);
    let server = Server::with(vec![cannot, Reply::Json(200, page.into())]).await;
    let page = server.stripe.list(Millis(200_000), None).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].id.0, "pi_2");
    assert!(!server.lines()[1].contains("created"));
}

#[tokio::test]
async fn an_action_is_done_once_the_bank_waits_no_longer() {
    for (status, done) in [
        ("requires_action", false),
        ("requires_capture", true),
        ("requires_payment_method", true),
        ("canceled", true),
        ("succeeded", false),
    ] {
        let server = Server::with(vec![intent(status)]).await;
        let told = server.stripe.confirm_action(&pi()).await;
        assert_eq!(told, Ok(done), "{status}");
        let asked = server.lines();
        assert!(
            asked[0].starts_with("GET /v1/payment_intents/pi_1?"),
            "{asked:?}"
        );
    }
}
