//! Lost requests, lost replies and the counting of what was used.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use onsale_aws_emulator::testing::{Call, Fault, FaultPlan, FaultyClient, Recorder};

use crate::clients::{TABLE, dynamodb, emulator, key, s};

/// Adds one to a counter: unlike a put, its result shows how often it was applied.
async fn count_up(client: &aws_sdk_dynamodb::Client) -> bool {
    let update = client
        .update_item()
        .table_name(TABLE)
        .set_key(Some(key("SHW#1")))
        .update_expression("ADD applied :one")
        .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    update.send().await.is_ok()
}

async fn applied(client: &aws_sdk_dynamodb::Client) -> String {
    let get = client.get_item().table_name(TABLE);
    let get = get.set_key(Some(key("SHW#1"))).send().await.unwrap();
    get.item().unwrap()["applied"].as_n().unwrap().clone()
}

#[tokio::test]
async fn a_reply_dropped_after_applying_is_retried_by_the_sdk() {
    let emulator = emulator().await;
    let recorder = Recorder::new(emulator.http_client());
    let plan = FaultPlan::new().drop_reply("UpdateItem", 1);
    let faulty = FaultyClient::new(recorder.http_client(), plan);
    let client = dynamodb(faulty.http_client());
    assert!(count_up(&client).await);
    assert_eq!(applied(&client).await, "2");
    assert_eq!(recorder.usage().requests["UpdateItem"], 2);
}

#[tokio::test]
async fn a_request_lost_on_the_way_is_applied_once() {
    let emulator = emulator().await;
    let plan = FaultPlan::new().fail_before("UpdateItem", 1);
    let faulty = FaultyClient::new(emulator.http_client(), plan);
    let client = dynamodb(faulty.http_client());
    assert!(count_up(&client).await);
    assert_eq!(applied(&client).await, "1");
}

#[tokio::test]
async fn a_connection_that_stays_broken_is_an_error_in_the_end() {
    let emulator = emulator().await;
    let faulty = FaultyClient::new(emulator.http_client(), |call: &Call<'_>| {
        match call.operation {
            "UpdateItem" => Fault::DropReply,
            _ => Fault::None,
        }
    });
    let client = dynamodb(faulty.http_client());
    assert!(!count_up(&client).await);
    assert_eq!(applied(&client).await, "3");
}

#[tokio::test]
async fn the_recorder_adds_up_requests_units_and_refusals() {
    let recorder = Recorder::new(emulator().await.http_client());
    let client = dynamodb(recorder.http_client());
    count_up(&client).await;
    count_up(&client).await;
    let get = client
        .get_item()
        .table_name(TABLE)
        .set_key(Some(key("SHW#1")));
    let get = get.consistent_read(true);
    let get = get.return_consumed_capacity(ReturnConsumedCapacity::Total);
    get.send().await.unwrap();
    let put = client
        .put_item()
        .table_name(TABLE)
        .set_item(Some(key("SHW#1")));
    let put = put
        .condition_expression("attribute_not_exists(pk)")
        .item("x", s("y"));
    put.send().await.unwrap_err();

    let usage = recorder.take();
    assert_eq!(usage.total_requests(), 4);
    assert_eq!((usage.read_units, usage.write_units), (1.0, 2.0));
    assert_eq!(usage.refused_writes, 1);
    assert_eq!(recorder.usage().total_requests(), 0);
}
