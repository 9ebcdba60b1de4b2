//! What an operator sees of functions that run as Lambdas: lines and metrics in their log groups.

use serde_json::{Value, json};

use super::Cloud;
use crate::orders::{order_of, until};
use crate::place::Place;

/// A line of this log group with this word in it, once there is one that is right.
async fn line(cloud: &Cloud, group: &str, word: &str, right: impl Fn(&Value) -> bool) -> Value {
    until(&format!("{word} in {group}"), async || {
        let told = cloud.stack(&["logs", group, word]).await;
        let mut lines = told
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok());
        lines.find(&right)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_that_the_edge_gives_a_request_leads_to_its_saga_and_the_order_is_counted() {
    let Some(cloud) = Cloud::find().await else {
        return;
    };
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let ana = place.buyer("ana").await;
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let begun = ana.check_out(&sale.show, &hold, "pay", "pm_card_visa");
    let begun = begun.await;
    let id = begun.headers["x-request-id"].to_str().unwrap().to_owned();
    begun.expect(202);
    let order = order_of(&hold);
    ana.order_becomes(&order, "confirmed").await;

    let is_request = |line: &Value| line["message"] == "request";
    let request = line(&cloud, "CheckoutLogs", &id, is_request).await;
    assert_eq!(request["function"], "checkout");
    assert_eq!(request["request_id"], id.as_str());
    assert_eq!(request["status"], 202);

    let is_step = |line: &Value| line["message"] == "a step is done";
    let step = line(&cloud, "DriveSagaLogs", &id, is_step).await;
    assert_eq!(step["function"], "drive-saga");
    assert_eq!(step["request_id"], id.as_str());
    assert_eq!(step["order"], order.as_str());

    let is_confirmed = |line: &Value| line["status"] == "confirmed";
    let word = "onsale_bookings_total";
    let counted = line(&cloud, "DriveSagaLogs", word, is_confirmed).await;
    let described = &counted["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(described["Namespace"], "Onsale");
    assert_eq!(counted["Stack"], "onsale-emulated");
    assert!(counted[word].as_f64().unwrap() >= 1.0, "{counted}");
}
