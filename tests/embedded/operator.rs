//! What an operator on the machine may ask, with the platform running and without it.

use std::os::unix::fs::PermissionsExt;

use reqwest::Method;
use serde_json::{Value, json};

use crate::command_line::{onsale, onsale_at, reconcile};
use crate::orders::text;
use crate::sale::Sale;
use crate::visitor::Visitor;

const UNKNOWN: &str = "ord_00000000000000000000000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn reconciling_says_the_same_with_the_platform_and_without_it() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let first = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
    ana.buys(&sale.show, &["A-1-3"]).await;
    ana.holds(&sale.show, &["A-1-4"]).await;
    let first = text(&first, "order_id");
    ana.cancel(first, "c").await.expect(202);
    ana.order_becomes(first, "refunded").await;
    let Sale { server, data, .. } = sale;
    let running = reconcile(data.path()).await;
    assert_eq!((running.free, running.held, running.sold), (18, 1, 1));
    assert_eq!(running.capacity, 20);
    assert_eq!((running.payments, running.orphans), (2, 0));
    assert_eq!((running.captured, running.refunded), (3 * 4501, 2 * 4501));
    assert!(server.stop().await.success());
    assert_eq!(reconcile(data.path()).await, running);
}

#[tokio::test(flavor = "multi_thread")]
async fn resuming_an_order_that_is_unknown_or_not_stuck_says_so() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    let Sale { server, data, .. } = sale;
    let mut server = Some(server);
    for _ in ["running", "stopped"] {
        let said = onsale_at(data.path(), &["resume", UNKNOWN]).await;
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains("no such order"), "{said:?}");
        let said = onsale_at(data.path(), &["resume", order]).await;
        assert_eq!(said.code, 0, "{said:?}");
        assert!(
            said.out.contains(order) && said.out.contains("not stuck"),
            "{said:?}"
        );
        let said = onsale_at(data.path(), &["resume", "my order"]).await;
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains("ord_"), "{said:?}");
        if let Some(server) = server.take() {
            assert_eq!(ana.read_order(order).await, bought);
            assert!(server.stop().await.success());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sending_a_mail_again_that_is_unknown_or_not_parked_says_so() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    crate::mails::mails(&ana, "ana", 1).await;
    let order = text(&bought, "order_id");
    let me = ana.get("/api/v1/me").await.expect(200);
    let mail = format!("OrderConfirmed:{order}:{}", text(&me, "account_id"));
    let Sale { server, data, .. } = sale;
    let mut server = Some(server);
    for _ in ["running", "stopped"] {
        for args in [&["resend"][..], &["resend", "--all"]] {
            let said = onsale_at(data.path(), args).await;
            assert_eq!((said.code, said.out.as_str()), (0, "No mail is parked.\n"));
        }
        let said = onsale_at(data.path(), &["resend", "OrderConfirmed:x&y"]).await;
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains("no such mail"), "{said:?}");
        let said = onsale_at(data.path(), &["resend", &mail]).await;
        assert_eq!(said.code, 0, "{said:?}");
        assert!(
            said.out.contains(&mail) && said.out.contains("not parked"),
            "{said:?}"
        );
        if let Some(server) = server.take() {
            assert!(server.stop().await.success());
        }
    }
    let said = onsale_at(data.path(), &["resend", &mail, "--all"]).await;
    assert_eq!(said.code, 2, "one of them, or all: {said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_organiser_of_the_show_resumes_over_http() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    let path = format!("/api/v1/orders/{}/resume", text(&bought, "order_id"));
    let other = Visitor::new(&sale.server.url, "other", "organiser").await;
    let resume = async |visitor: &Visitor| visitor.post(&path, Value::Null).await;
    resume(&sale.organiser).await.problem(409, "conflict");
    resume(&ana).await.problem(403, "forbidden");
    resume(&other).await.problem(404, "not_found");
    resume(&Visitor::anonymous(&sale.server.url))
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_not_there_is_not_made() {
    let empty = tempfile::tempdir().unwrap();
    let missing = empty.path().join("missing");
    for args in [&["reconcile"][..], &["resume", UNKNOWN], &["resend"]] {
        let said = onsale_at(&missing, args).await;
        assert_eq!(said.code, 1, "{said:?}");
        assert!(
            said.err.contains("no data folder") && said.err.contains("--data"),
            "{said:?}"
        );
    }
    assert!(!missing.exists());
    let said = onsale(&["verify", "CODE", "--data", missing.to_str().unwrap()]).await;
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("--jwks"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_of_the_data_folder_there_are_no_operator_routes() {
    let sale = Sale::small(json!({})).await;
    let resume = format!("/operator/orders/{UNKNOWN}/resume");
    let mut strangers = vec![Visitor::anonymous(&sale.server.url), sale.organiser.clone()];
    let mut guessing = Visitor::anonymous(&sale.server.url);
    guessing.token = "guessed".to_owned();
    strangers.push(guessing);
    for stranger in &strangers {
        let resend = "/operator/mails/resend?mail=x";
        let all = "/operator/mails/resend-all";
        for path in [
            "/operator/reconcile",
            &resume,
            "/operator/mails",
            resend,
            all,
        ] {
            let request = stranger.request(Method::POST, path);
            assert_eq!(stranger.send(request).await.status, 404, "{path}");
        }
    }
    let announced = std::fs::read_to_string(sale.data.path().join("operator")).unwrap();
    let mut operator = Visitor::anonymous(&sale.server.url);
    operator.token = announced.trim().split_once(' ').unwrap().1.to_owned();
    let request = operator.request(Method::POST, "/operator/reconcile");
    assert_eq!(operator.send(request).await.status, 200);
    for secret in ["operator", "session.key", "ticket.key", "edge.bindings"] {
        let file = sale.data.path().join(secret).metadata().unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{secret}");
    }
}
