//! Prices that follow demand: what buyers are asked, and how anybody can check it.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::command_line::onsale_at;
use crate::orders::{text, until};
use crate::sale::Sale;
use crate::visitor::{Visitor, rows};

#[tokio::test(flavor = "multi_thread")]
async fn a_quote_is_fixed_signed_and_can_be_made_again() {
    let sale = Sale::small(json!({})).await;
    let pricing = format!("/api/v1/shows/{}/pricing", sale.show);
    let buyer = sale.buyer("buyer").await;
    let dynamic = json!({"mode": "dynamic", "floor": 0.75});
    buyer
        .put(&pricing, dynamic.clone())
        .await
        .problem(403, "forbidden");
    for (body, what) in [
        (json!({"mode": "dynamic", "floor": 0.5}), "floor"),
        (json!({"mode": "dynamic", "ceiling": 4}), "ceiling"),
        (json!({"mode": "fixed", "floor": 0.8}), "floor and ceiling"),
    ] {
        let refused = sale.organiser.put(&pricing, body).await;
        let problem = refused.problem(400, "invalid_request");
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .to_lowercase()
                .contains(what),
            "{problem}"
        );
    }
    let now = sale.organiser.put(&pricing, dynamic).await.expect(200);
    assert_eq!(
        now,
        json!({"mode": "dynamic", "floor": 0.75, "ceiling": 3.0})
    );

    let show = format!("/api/v1/shows/{}", sale.show);
    let read = Visitor::anonymous(&sale.server.url)
        .get(&show)
        .await
        .expect(200);
    assert_eq!(read["pricing"]["mode"], "dynamic");
    let seats = json!({"seats": ["A-1-1", "A-1-2"]});
    let held = buyer.hold(&sale.show, "k", seats.clone()).await.expect(201);
    let price = &held["seats"][0]["price"];
    assert_eq!(*price, read["prices"]["A"], "as it was seen");
    assert!(
        price["amount"].as_u64().unwrap() < 4_501,
        "nothing is sold: {price}"
    );
    let total = price["amount"].as_u64().unwrap() * 2;
    assert_eq!(held["total"]["amount"], total);
    assert_eq!(held["pricing"]["sections"][0]["price"], *price);

    let again = buyer.hold(&sale.show, "k", seats).await.expect(201);
    assert_eq!(again, held, "the same quote, to the letter");
    let hold = held["hold_id"].as_str().unwrap();
    assert_eq!(
        buyer.read_hold(&sale.show, hold).await["quote"],
        held["quote"]
    );
    let log = Visitor::anonymous(&sale.server.url);
    let log = log.get(&format!("{show}/prices")).await.expect(200);
    assert_eq!(log["items"][0], held["pricing"], "published for everybody");
    assert_eq!(held["pricing"]["mode"], "dynamic");
    let before = &log["items"][1];
    assert_eq!(
        (&before["mode"], &before["sequence"]),
        (&json!("fixed"), &json!(0)),
        "as the show began"
    );

    let quote = held["quote"].as_str().unwrap();
    let said = onsale_at(sale.data.path(), &["verify-quote", quote]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("every price follows"), "{said:?}");
    let forged = format!(
        "{}A{}",
        &quote[..quote.len() - 9],
        &quote[quote.len() - 8..]
    );
    let said = onsale_at(sale.data.path(), &["verify-quote", &forged]).await;
    assert_ne!(said.code, 0, "{said:?}");

    let order = buyer.pays(&sale.show, hold).await;
    assert_eq!(order["total"]["amount"], total, "what was quoted is paid");
    let fixed = json!({"mode": "fixed"});
    sale.organiser.put(&pricing, fixed).await.expect(200);
    assert_eq!(
        buyer.read_hold(&sale.show, hold).await["quote"],
        held["quote"]
    );
}

/// One of two places was put back, and the other is free at the price of now.
#[tokio::test(flavor = "multi_thread")]
async fn a_quote_tells_face_values_from_prices_of_demand() {
    let sale = Sale::open(json!([rows("A", 1, 2)]), json!({"A": 4501}), json!({})).await;
    let show = format!("/api/v1/shows/{}", sale.show);
    let (pricing, dynamic) = (format!("{show}/pricing"), json!({"mode": "dynamic"}));
    sale.organiser.put(&pricing, dynamic).await.expect(200);
    let (ana, bo, di) = (
        sale.buyer("ana").await,
        sale.buyer("bo").await,
        sale.buyer("di").await,
    );
    let first = ana.buys(&sale.show, &["A-1-1"]).await;
    let second = di.buys(&sale.show, &["A-1-2"]).await;
    let paid = &first["total"];
    // Another base price is another point at once.
    let dearer = json!({"prices": {"A": 9_000}});
    sale.organiser.patch(&show, dearer).await.expect(200);
    let waitlist = format!("{show}/waitlist");
    let joined = bo.post(&waitlist, json!({"quantity": 2})).await.expect(201);
    let cancelled = di.cancel(text(&second, "order_id"), "c").await;
    cancelled.expect(202);
    let ticket = &ana.tickets(text(&first, "order_id")).await[0];
    let put_back = format!("/api/v1/tickets/{}/return", text(ticket, "ticket_id"));
    ana.post(&put_back, json!({})).await.expect(202);
    let entry = format!("{waitlist}/{}", text(&joined, "waitlist_id"));
    let offer = until("an offer", async || {
        let entry = bo.get(&entry).await.expect(200);
        (entry["status"] == "offered").then(|| entry["offer"].clone())
    })
    .await;

    let hold = text(&offer, "hold_id");
    let held = bo.read_hold(&sale.show, hold).await;
    let by_demand = &held["pricing"]["sections"][0]["price"];
    assert_ne!(by_demand, paid);
    assert_eq!(
        held["seats"],
        json!([
            {"seat": "A-1-1", "price": paid, "face_value": paid},
            {"seat": "A-1-2", "price": by_demand},
        ])
    );
    assert_eq!(offer["seats"], held["seats"]);
    let quote = text(&held, "quote");
    let said = onsale_at(sale.data.path(), &["verify-quote", quote]).await;
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("put back"), "{said:?}");
    let order = bo.pays(&sale.show, hold).await;
    assert_eq!(order["total"], held["total"], "what was quoted is paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_tells_which_fixed_price_was_asked_when() {
    let sale = Sale::small(json!({})).await;
    let show = format!("/api/v1/shows/{}", sale.show);
    let pricing = format!("{show}/pricing");
    let change = async |body: Value| sale.organiser.patch(&show, body).await.expect(200);
    change(json!({"prices": {"A": 5_000}})).await;
    change(json!({"prices": {"A": 5_000}, "max_tickets_per_buyer": 7})).await;
    for body in [json!({"mode": "dynamic"}), json!({"mode": "fixed"})] {
        sale.organiser.put(&pricing, body).await.expect(200);
    }
    let anybody = Visitor::anonymous(&sale.server.url);
    let log = anybody.get(&format!("{show}/prices")).await.expect(200);
    let points = log["items"].as_array().unwrap();
    let told = points.iter().rev().map(|point| {
        let price = &point["sections"][0]["price"];
        (point["mode"].as_str().unwrap(), price["amount"].clone())
    });
    let told: Vec<_> = told.collect();
    let by_demand = told[2].1.clone();
    assert_eq!(
        told,
        [
            ("fixed", json!(4_501)),
            ("fixed", json!(5_000)),
            ("dynamic", by_demand),
            ("fixed", json!(5_000)),
        ]
    );
    let fixed = &points[0];
    assert_eq!(
        (&fixed["formula"], &fixed["floor"]),
        (&json!(0), &json!(1.0))
    );
    let section = &fixed["sections"][0];
    assert_eq!(section["multiplier"], 1.0);
    assert_eq!(
        section["reasons"],
        json!({"occupancy": 0.0, "demand": 0.0, "time": 0.0, "bound": 0.0})
    );
    let at =
        |point: &Value| OffsetDateTime::parse(point["at"].as_str().unwrap(), &Rfc3339).unwrap();
    let times: Vec<_> = points.iter().map(at).collect();
    assert!(
        times.is_sorted_by(|later, earlier| later >= earlier),
        "{times:?}"
    );
}
