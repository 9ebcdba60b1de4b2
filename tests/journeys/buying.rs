//! What buyers do, from the queue to the gate and back.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::{order_of, text, until};
use crate::owners::wait_for_counts;
use crate::place::{Place, Sale};
use crate::visitor::{Visitor, seat_ids};
use crate::waiting::Waiting;

/// So long somebody stays inside that another who asked five times a second would be told to ask
/// less often.
const STAY: Duration = Duration::from_secs(4);

/// Waits in the room, holds a seat with the pass, and pays; the order.
async fn buy_through_the_room(sale: &Sale, buyer: &Visitor, seat: &str) -> String {
    let show = &sale.show;
    let wanted = json!({"seats": [seat]});
    buyer
        .hold(show, "without", wanted.clone())
        .await
        .problem(403, "pass_required");
    let pass = Waiting::join(buyer, show).await.pass().await;
    let held = buyer.hold_with(&pass, show, "hold", wanted).await;
    let hold = text(&held.expect(201), "hold_id").to_owned();
    let order = buyer.pays(show, &hold).await;
    assert_eq!(seat_ids(&order), [seat]);
    text(&order, "order_id").to_owned()
}

async fn waitlist_entry_becomes(buyer: &Visitor, show: &str, entry: &str, status: &str) -> Value {
    let path = format!("/api/v1/shows/{show}/waitlist/{entry}");
    until(&format!("the entry becomes {status}"), async || {
        let read = buyer.get(&path).await.expect(200);
        (read["status"] == status).then_some(read)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_queue_to_the_gate_and_back_to_whoever_waits() {
    let place = Place::find().await;
    let room = json!({"mode": "queue_all", "capacity": 10, "rate_per_second": 10});
    let sale = place.sale(2, json!({"room": room})).await;
    let show = &sale.show;
    let (ana, ben) = (place.buyer("ana").await, place.buyer("ben").await);
    let (kept, returned) = tokio::join!(
        buy_through_the_room(&sale, &ana, "A-1-1"),
        buy_through_the_room(&sale, &ben, "A-1-2"),
    );

    let tickets = ana.tickets(&kept).await;
    let code = text(&tickets[0], "code");
    for result in ["admitted", "already_used"] {
        let scan = sale.organiser.scan(show, code).await.expect(200);
        assert_eq!(
            (&scan["result"], &scan["seat"]),
            (&json!(result), &json!("A-1-1"))
        );
    }

    let eve = place.buyer("eve").await;
    let path = format!("/api/v1/shows/{show}/waitlist");
    let joined = eve.post(&path, json!({"quantity": 1})).await.expect(201);
    assert_eq!(joined["position"], 1);

    let refund = json!({"amount": 4501, "currency": "EUR"});
    let cancelled = ben.cancel(&returned, "cancel").await.expect(202);
    assert_eq!(cancelled, json!({"refund": refund, "percent": 100}));
    let ended = ben.order_becomes(&returned, "refunded").await;
    assert_eq!(ended["refund"], refund);
    let revoked = ben.tickets(&returned).await;
    assert_eq!(revoked[0]["status"], "revoked");
    let scan = sale.organiser.scan(show, text(&revoked[0], "code")).await;
    assert_eq!(scan.expect(200)["result"], "revoked");

    let entry = text(&joined, "waitlist_id");
    let offered = waitlist_entry_becomes(&eve, show, entry, "offered").await;
    assert_eq!(seat_ids(&offered["offer"]), ["A-1-2"]);
    let hold = text(&offered["offer"], "hold_id");
    eve.pays(show, hold).await;
    assert_eq!(eve.tickets(&order_of(hold)).await[0]["status"], "valid");
    waitlist_entry_becomes(&eve, show, entry, "taken").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_for_their_turn_while_others_shop_gets_it_when_they_leave() {
    let place = Place::find().await;
    let room = json!({"mode": "queue_all", "capacity": 1, "rate_per_second": 10});
    let sale = place.sale(2, json!({"room": room})).await;
    let (show, ben) = (&sale.show, place.buyer("ben").await);
    let first = Waiting::join(&place.buyer("ana").await, show).await;
    first.pass().await;
    let second = Waiting::join(&ben, show).await;
    let (pass, ()) = tokio::join!(second.pass(), async {
        tokio::time::sleep(STAY).await;
        first.leave().await.expect(204);
    });
    let held = ben.hold_with(&pass, show, "hold", json!({"seats": ["A-1-1"]}));
    held.await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_nobody_pays_goes_back_by_itself() {
    let place = Place::find().await;
    let short = json!({"hold_seconds": 2, "max_tickets_per_buyer": 2});
    let sale = place.sale(10, short).await;
    let (show, ana) = (&sale.show, place.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1", "A-1-2"]).await;
    wait_for_counts(&ana, show, 8, 2).await;
    ana.hold(show, "more", json!({"seats": ["A-1-3"]}))
        .await
        .problem(422, "limit_exceeded");
    // Nobody asks for these seats, so only the consumer of the delayed queue can free them.
    wait_for_counts(&ana, show, 10, 0).await;
    assert_eq!(ana.read_hold(show, &hold).await["status"], "expired");
    ana.hold(show, "again", json!({"seats": ["A-1-3", "A-1-4"]}))
        .await
        .expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_declined_card_another_one_pays() {
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let (show, ana) = (&sale.show, place.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    let order = order_of(&hold);
    ana.check_out(show, &hold, "first", "pm_card_chargeDeclined")
        .await
        .expect(202);
    let declined = ana.order_becomes(&order, "declined").await;
    assert!(declined["reason"].is_string() && declined["tickets"] == json!([]));
    assert_eq!(ana.read_hold(show, &hold).await["status"], "held");
    ana.check_out(show, &hold, "second", "pm_card_visa")
        .await
        .expect(202);
    // The order may be read before the second attempt has begun to work.
    until("the second card pays", async || {
        (ana.read_order(&order).await["status"] == "confirmed").then_some(())
    })
    .await;
    assert_eq!(ana.tickets(&order).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_who_want_the_same_seat_gets_it() {
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let (ana, ben) = (place.buyer("ana").await, place.buyer("ben").await);
    let wanted = json!({"seats": ["A-1-1"]});
    let (one, other) = tokio::join!(
        ana.hold(&sale.show, "a", wanted.clone()),
        ben.hold(&sale.show, "b", wanted.clone()),
    );
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
    let anybody = Visitor::anonymous(&place.url);
    let hidden = anybody.request(Method::GET, "/api/v1/orders");
    anybody.send(hidden).await.problem(401, "unauthenticated");
}
