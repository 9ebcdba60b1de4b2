//! A document that cannot be read, as a newer release may leave it to an older one.

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_app::ports::Orders;
use onsale_domain::ids::{AccountId, OrderId};

use crate::contract::fresh;
use crate::places::{START, config, in_process, wiring};
use crate::sample_orders::order;

async fn spoil(client: &aws_sdk_dynamodb::Client, id: OrderId) {
    let wiring = wiring();
    let table = wiring.table_name().unwrap();
    let all = client.scan().table_name(table).send().await.unwrap();
    let name = id.simple().to_string();
    let is_it = |pk: &AttributeValue| pk.as_s().is_ok_and(|pk| pk.contains(&name));
    let mut items = all.items.unwrap().into_iter();
    let mut item = items.find(|item| is_it(&item["pk"])).unwrap();
    let doc = AttributeValue::S(r#"{"stage":"of_tomorrow"}"#.to_owned());
    assert!(item.insert("doc".to_owned(), doc).is_some());
    let put = client.put_item().table_name(table).set_item(Some(item));
    put.send().await.unwrap();
}

#[tokio::test]
async fn an_order_that_cannot_be_read_keeps_no_other_from_being_driven() {
    let mut http = None;
    let world = in_process(|client| {
        http = Some(client.clone());
        client
    })
    .await;
    let client = config(http.unwrap(), "http://cloud.local").dynamodb();
    let account = AccountId::from_bytes(fresh());
    let (spoilt, sound) = (order(account, START), order(account, START));
    for order in [&spoilt, &sound] {
        world.store.create_order(order).await.unwrap();
    }
    spoil(&client, spoilt.id).await;
    world.clock.advance(10 * 60_000);
    let report = world.app.reconcile_open().await.unwrap();
    assert_eq!(report.driven_again, 1);
    assert_eq!(report.alarms.len(), 1, "{:?}", report.alarms);
    assert!(report.alarms[0].contains(&spoilt.id.to_string()));
}
