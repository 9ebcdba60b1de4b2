//! At the gate: a ticket admits once, and only a real one.

use futures_util::future::join_all;
use serde_json::json;

use crate::command_line::{onsale, onsale_at};
use crate::orders::text;
use crate::qr;
use crate::sale::Sale;
use crate::visitor::Visitor;

/// A ticket that was bought: its id and its code.
async fn ticket(sale: &Sale, buyer: &Visitor, seat: &str) -> (String, String) {
    let order = buyer.buys(&sale.show, &[seat]).await;
    let tickets = buyer.tickets(text(&order, "order_id")).await;
    let field = |name| text(&tickets[0], name).to_owned();
    (field("ticket_id"), field("code"))
}

/// The code with another character in this place.
fn changed(code: &str, place: usize) -> String {
    let mut bytes = code.as_bytes().to_vec();
    bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_scans_at_once_admit_one() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let (id, code) = ticket(&sale, &ana, "A-1-1").await;
    let scans = join_all((0..50).map(|_| sale.organiser.scan(&sale.show, &code))).await;
    let scans: Vec<_> = scans.into_iter().map(|scan| scan.expect(200)).collect();
    let admitted: Vec<_> = scans.iter().filter(|s| s["result"] == "admitted").collect();
    assert_eq!(admitted.len(), 1);
    let used_at = &admitted[0]["used_at"];
    assert!(used_at.is_string());
    for scan in &scans {
        assert!(scan["result"] == "admitted" || scan["result"] == "already_used");
        assert_eq!(
            (text(scan, "ticket_id"), text(scan, "seat")),
            (&*id, "A-1-1")
        );
        assert_eq!(
            (&scan["used_at"], &scan["gate"]),
            (used_at, &json!("north"))
        );
    }
    let order = id_of_only_order(&ana).await;
    assert_eq!(ana.tickets(&order).await[0]["status"], "used");
}

async fn id_of_only_order(buyer: &Visitor) -> String {
    let listed = buyer.get("/api/v1/orders").await.expect(200);
    let [order] = listed["items"].as_array().unwrap().as_slice() else {
        panic!("{listed}");
    };
    text(order, "order_id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_with_one_changed_character_is_no_ticket_at_the_gate_or_offline() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let (id, code) = ticket(&sale, &ana, "A-1-1").await;
    let forged = (0..code.len()).map(|place| changed(&code, place));
    for forged in forged.chain([String::new(), code.clone() + "A", "A".repeat(1_000)]) {
        let scan = sale.organiser.scan(&sale.show, &forged).await.expect(200);
        assert_eq!(scan["result"], "invalid", "{forged}");
        assert!(scan["reason"].is_string() && scan.get("ticket_id").is_none());
    }

    let (_, jwks) = ana.bytes("/.well-known/jwks.json").await;
    let saved = sale.data.path().join("saved-jwks.json");
    std::fs::write(&saved, jwks).unwrap();
    let saved = saved.to_str().unwrap();
    let said = onsale(&["verify", &code, "--jwks", saved]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains(&id) && said.out.contains(&sale.show),
        "{said:?}"
    );
    let said = onsale_at(sale.data.path(), &["verify", &code]).await;
    assert_eq!(said.code, 0, "{said:?}");
    for place in [0, code.len() / 2, code.len() - 1] {
        let forged = changed(&code, place);
        let with_jwks = onsale(&["verify", &forged, "--jwks", saved]).await;
        let with_data = onsale_at(sale.data.path(), &["verify", &forged]).await;
        for said in [with_jwks, with_data] {
            assert_eq!(said.code, 1, "{said:?}");
            assert!(
                said.out.is_empty() && said.err.contains("not a ticket"),
                "{said:?}"
            );
        }
    }
    let scan = sale.organiser.scan(&sale.show, &code).await.expect(200);
    assert_eq!(scan["result"], "admitted", "no forgery has used it up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_of_another_platform_is_not_verified() {
    let (ours, theirs) = tokio::join!(Sale::small(json!({})), Sale::small(json!({})));
    let ana = theirs.buyer("ana").await;
    let (_, code) = ticket(&theirs, &ana, "A-1-1").await;
    let scan = ours.organiser.scan(&ours.show, &code).await.expect(200);
    assert_eq!(
        (&scan["result"], &scan["reason"]),
        (&json!("invalid"), &json!("unknown_key"))
    );
    let said = onsale_at(ours.data.path(), &["verify", &code]).await;
    assert_eq!(said.code, 1, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_ticket_is_revoked_at_the_gate_and_on_paper() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let (id, code) = ticket(&sale, &ana, "A-1-1").await;
    let order = id_of_only_order(&ana).await;
    ana.cancel(&order, "c").await.expect(202);
    ana.order_becomes(&order, "refunded").await;
    let scan = sale.organiser.scan(&sale.show, &code).await.expect(200);
    assert_eq!(
        (text(&scan, "result"), text(&scan, "ticket_id")),
        ("revoked", &*id)
    );
    for kind in ["pdf", "svg"] {
        let path = format!("/api/v1/tickets/{id}/{kind}");
        ana.get(&path).await.problem(409, "conflict");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_admits_to_its_show_only_and_only_its_organiser_scans() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let (_, code) = ticket(&sale, &ana, "A-1-1").await;
    let matinee = sale
        .organiser
        .show(&sale.event, json!({"A": 4501}), json!({}))
        .await;
    let scan = sale.organiser.scan(&matinee, &code).await.expect(200);
    assert_eq!(
        (&scan["result"], &scan["reason"]),
        (&json!("invalid"), &json!("wrong_show"))
    );

    let other = Visitor::new(&sale.server.url, "other", "organiser").await;
    for stranger in [&other, &ana] {
        let scan = stranger.scan(&sale.show, &code).await;
        scan.problem(403, "forbidden");
    }
    let anonymous = Visitor::anonymous(&sale.server.url);
    let scan = anonymous.scan(&sale.show, &code).await;
    scan.problem(401, "unauthenticated");
    for gate in ["", &"n".repeat(65)] {
        let body = json!({"code": code, "gate": gate});
        let path = format!("/api/v1/shows/{}/scans", sale.show);
        let scan = sale.organiser.post(&path, body).await;
        scan.problem(400, "invalid_request");
    }
    let scan = sale.organiser.scan(&sale.show, &code).await.expect(200);
    assert_eq!(scan["result"], "admitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_printed_for_its_owner_only_and_its_symbol_says_the_code() {
    let sale = Sale::small(json!({})).await;
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    let (id, code) = ticket(&sale, &ana, "A-1-1").await;
    let (svg_path, pdf_path) = (
        format!("/api/v1/tickets/{id}/svg"),
        format!("/api/v1/tickets/{id}/pdf"),
    );
    let (headers, svg) = ana.bytes(&svg_path).await;
    assert_eq!(headers["content-type"], "image/svg+xml");
    assert_eq!(headers["cache-control"], "private, no-store");
    assert_eq!(qr::read_svg(std::str::from_utf8(&svg).unwrap()), code);

    let (headers, pdf) = ana.bytes(&pdf_path).await;
    assert_eq!(headers["content-type"], "application/pdf");
    assert_eq!(headers["cache-control"], "private, no-store");
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 1_000);

    for path in [&svg_path, &pdf_path] {
        for other in [&bo, &sale.organiser] {
            other.get(path).await.problem(404, "not_found");
        }
        let anonymous = Visitor::anonymous(&sale.server.url);
        anonymous.get(path).await.problem(401, "unauthenticated");
    }
}
