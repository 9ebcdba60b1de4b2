//! Staff at the gates, what only organisers may do, and the trail of what they did.

use onsale_domain::password_reset::ResetPurpose;
use reqwest::Method;
use serde_json::{Value, json};

use crate::account_ends::{follow, links};
use crate::orders::text;
use crate::sale::Sale;
use crate::visitor::Visitor;

/// A staff account of the sale's organiser that followed its invitation.
async fn staff(sale: &Sale, name: &str, shows: &[&str]) -> (Visitor, String) {
    let email = format!("{name}@example.org");
    let body = json!({"email": email, "name": name, "show_ids": shows});
    let made = sale.organiser.post("/api/v1/staff", body).await.expect(201);
    assert_eq!(
        (&made["role"], &made["show_ids"]),
        (&json!("staff"), &json!(shows))
    );
    let id = text(&made, "account_id").to_owned();
    let mut gate = Visitor::anonymous(&sale.server.url);
    let links = links(sale, &email, ResetPurpose::Invitation);
    assert_eq!(follow(&gate, &links, "correct horse").await, 1);
    gate.log_in(name).await;
    (gate, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_scans_at_its_show_until_it_is_removed() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let order = ana.buys(&sale.show, &["A-1-1"]).await;
    let tickets = ana.tickets(text(&order, "order_id")).await;
    let code = text(&tickets[0], "code");
    let (gate, id) = staff(&sale, "gate", &[&sale.show]).await;
    let matinee = sale
        .organiser
        .show(&sale.event, json!({"A": 4501}), json!({}))
        .await;
    gate.scan(&matinee, code).await.problem(403, "forbidden");
    assert_eq!(
        gate.scan(&sale.show, code).await.expect(200)["result"],
        "admitted"
    );

    let more = json!({"email": "gate@example.org", "name": "x", "show_ids": [matinee]});
    let more = sale.organiser.post("/api/v1/staff", more).await.expect(201);
    assert_eq!(more["show_ids"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&more["name"], text(&more, "account_id")),
        (&json!("gate"), &*id)
    );
    gate.scan(&matinee, code).await.expect(200);
    let listed = sale.organiser.get("/api/v1/staff").await.expect(200);
    assert_eq!(listed["items"], json!([more]));

    let other = Visitor::new(&sale.server.url, "other", "organiser").await;
    let path = format!("/api/v1/staff/{id}");
    other.delete(&path).await.problem(404, "not_found");
    let foreign = json!({"email": "z@example.org", "name": "z", "show_ids": [sale.show]});
    other
        .post("/api/v1/staff", foreign)
        .await
        .problem(403, "forbidden");
    for email in ["gate@example.org", "ana@example.org"] {
        let show = other
            .show(
                &other
                    .event(&other.venue(json!([crate::visitor::rows("A", 1, 1)])).await)
                    .await,
                json!({"A": 1}),
                json!({}),
            )
            .await;
        let body = json!({"email": email, "name": "z", "show_ids": [show]});
        other
            .post("/api/v1/staff", body)
            .await
            .problem(409, "email_taken");
    }

    for _ in 0..2 {
        sale.organiser.delete(&path).await.expect(204);
    }
    gate.scan(&sale.show, code)
        .await
        .problem(401, "unauthenticated");
    let listed = sale.organiser.get("/api/v1/staff").await.expect(200);
    assert_eq!(listed["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_and_buyers_may_do_nothing_that_is_an_organisers() {
    let sale = Sale::small(json!({"starts_at": "2099-06-01T19:00:00Z"})).await;
    let (gate, id) = staff(&sale, "gate", &[&sale.show]).await;
    let ana = sale.buyer("ana").await;
    let (show, event) = (&sale.show, &sale.event);
    let room = json!({"mode": "queue", "capacity": 5, "rate_per_second": 1});
    let new_show =
        json!({"starts_at": "2099-06-01T19:00:00Z", "currency": "EUR", "prices": {"A": 1}});
    let venue = json!({"name": "Hall", "city": "Graz", "timezone": "Europe/Vienna", "sections": [crate::visitor::rows("A", 1, 1)]});
    let new_event =
        json!({"title": "E", "category": "c", "venue_id": "ven_00000000000000000000000000000000"});
    let new_staff = json!({"email": "s@example.org", "name": "s", "show_ids": [show]});
    let table: Vec<(Method, String, Option<Value>)> = vec![
        (Method::POST, "/api/v1/venues".into(), Some(venue)),
        (Method::POST, "/api/v1/events".into(), Some(new_event)),
        (
            Method::PATCH,
            format!("/api/v1/events/{event}"),
            Some(json!({"title": "X"})),
        ),
        (
            Method::POST,
            format!("/api/v1/events/{event}/shows"),
            Some(new_show),
        ),
        (
            Method::PATCH,
            format!("/api/v1/shows/{show}"),
            Some(json!({"hold_seconds": 5})),
        ),
        (Method::POST, format!("/api/v1/shows/{show}/cancel"), None),
        (
            Method::GET,
            format!("/api/v1/shows/{show}/cancellation"),
            None,
        ),
        (
            Method::PUT,
            format!("/api/v1/shows/{show}/room"),
            Some(room),
        ),
        (
            Method::POST,
            format!("/api/v1/shows/{show}/fan-codes"),
            Some(json!({"count": 1})),
        ),
        (Method::GET, format!("/api/v1/shows/{show}/fans"), None),
        (Method::GET, format!("/api/v1/shows/{show}/audit"), None),
        (Method::POST, "/api/v1/staff".into(), Some(new_staff)),
        (Method::GET, "/api/v1/staff".into(), None),
        (Method::DELETE, format!("/api/v1/staff/{id}"), None),
    ];
    for (method, path, body) in table {
        for visitor in [&gate, &ana, &Visitor::anonymous(&sale.server.url)] {
            let mut request = visitor
                .request(method.clone(), &path)
                .header("idempotency-key", "k");
            if let Some(body) = &body {
                request = request.json(body);
            }
            let answer = visitor.send(request).await;
            let expected = if visitor.token.is_empty() { 401 } else { 403 };
            assert_eq!(
                answer.status.as_u16(),
                expected,
                "{method} {path}: {}",
                answer.body
            );
        }
    }
    let show = ana.get(&format!("/api/v1/shows/{show}")).await.expect(200);
    assert_eq!(show["status"], "on_sale", "nothing of it was done");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trail_tells_what_was_done_to_a_show() {
    let sale = Sale::small(json!({"draft": true})).await;
    let path = format!("/api/v1/shows/{}", sale.show);
    let organiser = &sale.organiser;
    organiser
        .patch(&path, json!({"status": "on_sale"}))
        .await
        .expect(200);
    organiser
        .patch(&path, json!({"prices": {"A": 5000}}))
        .await
        .expect(200);
    organiser
        .patch(&path, json!({"prices": {"A": 5000}}))
        .await
        .expect(200);
    let room = json!({"mode": "off", "capacity": 7, "rate_per_second": 20});
    let request = organiser
        .request(Method::PUT, &format!("{path}/room"))
        .json(&room);
    organiser.send(request).await.expect(200);
    organiser
        .post(&format!("{path}/fan-codes"), json!({"count": 3}))
        .await;
    let (_, staff) = staff(&sale, "gate", &[&sale.show]).await;
    organiser
        .delete(&format!("/api/v1/staff/{staff}"))
        .await
        .expect(204);
    let request = organiser
        .request(Method::POST, &format!("{path}/cancel"))
        .header("idempotency-key", "c");
    organiser.send(request).await.expect(202);

    let wanted = [
        "show_created",
        "show_published",
        "show_changed",
        "room_changed",
        "fan_codes_made",
        "staff_added",
        "staff_removed",
        "show_cancelled",
    ];
    let mut entries = Vec::new();
    for _ in 0..50 {
        entries.clear();
        let mut next = String::new();
        loop {
            let page = organiser
                .get(&format!("{path}/audit?limit=3{next}"))
                .await
                .expect(200);
            entries.extend(page["items"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        if entries.len() == wanted.len() {
            break;
        }
        // What is removed is noted in the background.
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let mut actions: Vec<_> = entries.iter().map(|entry| text(entry, "action")).collect();
    let mut sorted = wanted.to_vec();
    sorted.sort();
    actions.sort();
    assert_eq!(actions, sorted);
    let changed = entries
        .iter()
        .find(|entry| entry["action"] == "show_changed")
        .unwrap();
    let expected = json!([{"field": "prices", "before": "A 4501", "after": "A 5000"}]);
    assert_eq!(changed["changes"], expected);
    assert!(changed["at"].is_string() && text(changed, "account_id").starts_with("acc_"));
    let other = Visitor::new(&sale.server.url, "other", "organiser").await;
    other
        .get(&format!("{path}/audit"))
        .await
        .problem(403, "forbidden");
    let unknown = path.replace(&sale.show[4..], &"0".repeat(32));
    organiser
        .get(&format!("{unknown}/audit"))
        .await
        .problem(404, "not_found");
}
