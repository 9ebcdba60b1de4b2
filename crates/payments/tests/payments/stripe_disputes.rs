//! What Stripe has on record of banks that took money back.

use crate::replies::{ORDER, ORDER_TEXT, error, is_ours, is_unavailable, pi};
use crate::scripted::{Reply, Server};
use onsale_app::ports::Payments;
use onsale_domain::payment::ChargeBack;
use onsale_domain::time::Millis;

const SINCE: Millis = Millis(1_800_000_000_999);

fn dispute(id: &str, status: &str, stack: &str) -> String {
    format!(
        r#"{{"id":"{id}","object":"dispute","status":"{status}","payment_intent":{{"id":"pi_1",
        "metadata":{{"order_id":"{ORDER_TEXT}","onsale_stack":"{stack}"}}}}}}"#
    )
}

fn page(disputes: &[String], has_more: bool) -> Reply {
    let data = disputes.join(",");
    Reply::Json(200, format!(r#"{{"data":[{data}],"has_more":{has_more}}}"#))
}

fn ours() -> ChargeBack {
    ChargeBack {
        payment: pi(),
        order: ORDER,
    }
}

#[tokio::test]
async fn money_is_gone_unless_the_bank_only_asks_or_gave_it_back() {
    let cases = [
        ("needs_response", true),
        ("under_review", true),
        ("lost", true),
        ("warning_needs_response", false),
        ("warning_under_review", false),
        ("warning_closed", false),
        ("won", false),
    ];
    for (status, gone) in cases {
        let server = Server::with(vec![page(&[dispute("dp_1", status, "onsale")], false)]).await;
        let told = server.stripe.charge_backs(SINCE, None).await.unwrap();
        let expected = if gone { vec![ours()] } else { vec![] };
        assert_eq!(told.items, expected, "{status}");
        assert_eq!(told.next, None);
    }
}

#[tokio::test]
async fn disputes_are_asked_for_page_by_page_and_only_ours_are_told() {
    let of_no_intent = r#"{"id":"dp_2","status":"lost","payment_intent":null}"#;
    let first = [
        dispute("dp_4", "lost", "onsale"),
        dispute("dp_3", "lost", "somebody else's"),
        of_no_intent.to_owned(),
    ];
    let last = [dispute("dp_1", "lost", "onsale")];
    let server = Server::with(vec![page(&first, true), page(&last, false)]).await;
    let told = server.stripe.charge_backs(SINCE, None).await.unwrap();
    assert_eq!(told.items, [ours()]);
    assert_eq!(told.next.as_deref(), Some("dp_2"));
    let told = server.stripe.charge_backs(SINCE, told.next.as_deref());
    let told = told.await.unwrap();
    assert_eq!((told.items, told.next), (vec![ours()], None));
    let query = "limit=50&expand%5B%5D=data.payment_intent&created%5Bgte%5D=1800000000";
    let lines = [
        format!("GET /v1/disputes?{query} HTTP/1.1"),
        format!("GET /v1/disputes?{query}&starting_after=dp_2 HTTP/1.1"),
    ];
    assert_eq!(server.lines(), lines);
}

#[tokio::test]
async fn an_emulator_without_disputes_has_none_and_stripe_is_believed_to_have_a_list() {
    let none = Reply::Json(404, "404: Not Found".into());
    let server = Server::with(vec![none]).await;
    let told = server.stripe.charge_backs(SINCE, None).await.unwrap();
    assert_eq!((told.items, told.next), (vec![], None));
    let rejected = error(404, r#""code":"resource_missing""#);
    let server = Server::with(vec![rejected]).await;
    assert!(is_ours(&server.stripe.charge_backs(SINCE, None).await));
    let server = Server::with(vec![Reply::Never]).await;
    let silent = server.stripe.charge_backs(SINCE, None).await;
    assert!(is_unavailable(&silent), "{silent:?}");
}
