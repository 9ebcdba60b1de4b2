//! The table through the DynamoDB client.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use onsale_aws_emulator::Wiring;

use crate::clients::{TABLE, TEMPLATE, dynamodb, emulator, key, s};

fn cell(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

#[tokio::test]
async fn a_refused_conditional_update_returns_the_item_as_it_is() {
    let client = dynamodb(emulator().await.http_client());
    let claim = |expiry: u8, now: u8| {
        client
            .update_item()
            .table_name(TABLE)
            .set_key(Some(key("BLK#1")))
            .update_expression("SET c00 = :cell")
            .condition_expression("attribute_not_exists(c00) OR c00 < :now")
            .expression_attribute_values(":cell", cell(&[expiry, 7]))
            .expression_attribute_values(":now", cell(&[now]))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
    };
    let first = claim(100, 50).await.unwrap();
    assert_eq!(
        first.consumed_capacity().unwrap().capacity_units(),
        Some(1.0)
    );

    let refused = claim(120, 60).await.unwrap_err().into_service_error();
    assert!(
        refused.is_conditional_check_failed_exception(),
        "{refused:?}"
    );
    let aws_sdk_dynamodb::operation::update_item::UpdateItemError::ConditionalCheckFailedException(
        refused,
    ) = refused
    else {
        panic!("checked above");
    };
    assert_eq!(refused.item().unwrap()["c00"], cell(&[100, 7]));

    claim(200, 101).await.expect("a lapsed cell is free");
}

#[tokio::test]
async fn every_kind_of_request_is_understood() {
    let client = dynamodb(emulator().await.http_client());
    client
        .put_item()
        .table_name(TABLE)
        .set_item(Some(key("EVT#1")))
        .item("gsi1pk", s("EVENTS"))
        .item("gsi1sk", s("1"))
        .send()
        .await
        .unwrap();
    let put = Put::builder()
        .table_name(TABLE)
        .set_item(Some(key("EVT#2")))
        .condition_expression("attribute_not_exists(pk)")
        .build()
        .unwrap();
    let transact = || {
        client
            .transact_write_items()
            .transact_items(TransactWriteItem::builder().put(put.clone()).build())
            .send()
    };
    transact().await.unwrap();
    let cancelled = transact().await.unwrap_err().into_service_error();
    assert!(
        cancelled.is_transaction_canceled_exception(),
        "{cancelled:?}"
    );

    let keys = KeysAndAttributes::builder()
        .keys(key("EVT#1"))
        .keys(key("EVT#2"))
        .consistent_read(true)
        .build()
        .unwrap();
    let batch = client
        .batch_get_item()
        .request_items(TABLE, keys)
        .send()
        .await
        .unwrap();
    assert_eq!(batch.responses().unwrap()[TABLE].len(), 2);

    let listed = client
        .query()
        .table_name(TABLE)
        .index_name("gsi1")
        .key_condition_expression("gsi1pk = :events")
        .expression_attribute_values(":events", s("EVENTS"))
        .send()
        .await
        .unwrap();
    assert_eq!(listed.count(), 1);

    let deleted = client.delete_item().table_name(TABLE);
    deleted.set_key(Some(key("EVT#1"))).send().await.unwrap();
    let left = client.scan().table_name(TABLE).send().await.unwrap();
    assert_eq!(left.count(), 1);
}

#[tokio::test]
async fn an_operation_the_emulator_does_not_offer_is_refused_by_name() {
    let client = dynamodb(emulator().await.http_client());
    let refused = client.list_backups().send().await.unwrap_err();
    let refused = refused.into_service_error();
    assert_eq!(refused.meta().code(), Some("UnknownOperationException"));
    assert!(refused.meta().message().unwrap().contains("ListBackups"));
}

#[tokio::test]
async fn applying_the_template_again_changes_nothing() {
    let emulator = emulator().await;
    let client = dynamodb(emulator.http_client());
    let put = client.put_item().table_name(TABLE);
    put.set_item(Some(key("SHW#1"))).send().await.unwrap();
    emulator
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let found = client.scan().table_name(TABLE).send().await.unwrap();
    assert_eq!(found.count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_claims_at_once_exactly_one_wins() {
    let client = dynamodb(emulator().await.http_client());
    let mut claims = tokio::task::JoinSet::new();
    for owner in 0..50 {
        let claim = client
            .update_item()
            .table_name(TABLE)
            .set_key(Some(key("BLK#1")))
            .update_expression("SET c00 = :owner")
            .condition_expression("attribute_not_exists(c00)")
            .expression_attribute_values(":owner", s(&owner.to_string()));
        claims.spawn(async move { claim.send().await.is_ok() });
    }
    let winners = claims.join_all().await.into_iter().filter(|won| *won);
    assert_eq!(winners.count(), 1);
}
