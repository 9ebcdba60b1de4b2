//! The table through the DynamoDB client.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};
use onsale_local_cloud::{CloudError, LocalCloud, TableWiring, Wiring};

use crate::clients::{TABLE, TEMPLATE, cloud, dynamodb, key, s};

fn cell(bytes: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

#[tokio::test]
async fn a_refused_conditional_update_returns_the_item_as_it_is() {
    let client = dynamodb(cloud().await.http_client());
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
    let client = dynamodb(cloud().await.http_client());
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
async fn an_operation_the_cloud_does_not_offer_is_refused_by_name() {
    let client = dynamodb(cloud().await.http_client());
    let refused = client.list_backups().send().await.unwrap_err();
    let refused = refused.into_service_error();
    assert_eq!(refused.meta().code(), Some("UnknownOperationException"));
    assert!(refused.meta().message().unwrap().contains("ListBackups"));
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let wiring = Wiring::parse(TEMPLATE).unwrap();
    for round in 0..3 {
        let cloud = LocalCloud::open(dir.path()).unwrap();
        cloud.apply(&wiring).await.unwrap();
        let client = dynamodb(cloud.http_client());
        let found = client.scan().table_name(TABLE).send().await.unwrap();
        assert_eq!(found.count(), round);
        let item = key(&format!("SHW#{round}"));
        let put = client.put_item().table_name(TABLE);
        put.set_item(Some(item)).send().await.unwrap();
    }
}

#[tokio::test]
async fn a_table_of_another_shape_is_refused_with_the_reason() {
    let cloud = cloud().await;
    let wiring = Wiring::parse(TEMPLATE).unwrap().table.unwrap();
    let refusal = async |change: fn(&mut TableWiring)| {
        let mut table = wiring.clone();
        change(&mut table);
        let wiring = Wiring {
            table: Some(table),
            ..Wiring::default()
        };
        match cloud.apply(&wiring).await.unwrap_err() {
            CloudError::Table { reason, .. } => reason,
            other => panic!("{other}"),
        }
    };
    let keys = refusal(|table| table.keys.truncate(1)).await;
    assert!(keys.contains("key schema"), "{keys}");
    let index = refusal(|table| table.indexes[1].keys.truncate(1)).await;
    assert!(index.contains("gsi2"), "{index}");
    let projection = refusal(|table| table.indexes[0].projection = "KEYS_ONLY".to_owned()).await;
    assert!(projection.contains("gsi1"), "{projection}");
}

#[tokio::test]
async fn a_table_of_an_earlier_version_gets_the_new_indexes_with_its_old_items() {
    let dir = tempfile::tempdir().unwrap();
    let now = Wiring::parse(TEMPLATE).unwrap();
    let mut earlier = now.clone();
    let table = earlier.table.as_mut().unwrap();
    table.indexes.truncate(1);
    table
        .attributes
        .retain(|(name, _)| !name.starts_with("gsi") || name.starts_with("gsi1"));

    let cloud = LocalCloud::open(dir.path()).unwrap();
    cloud.apply(&earlier).await.unwrap();
    let put = async |client: &aws_sdk_dynamodb::Client, pk: &str| {
        let put = client.put_item().table_name(TABLE).set_item(Some(key(pk)));
        let put = put.item("gsi4pk", s("OPEN")).item("gsi4sk", s(pk));
        put.item("note", s("beside the keys")).send().await.unwrap();
    };
    put(&dynamodb(cloud.http_client()), "ORD#old").await;
    drop(cloud);

    let cloud = LocalCloud::open(dir.path()).unwrap();
    for _ in 0..2 {
        cloud.apply(&now).await.unwrap();
    }
    let client = dynamodb(cloud.http_client());
    put(&client, "ORD#young").await;
    let open = client
        .query()
        .table_name(TABLE)
        .index_name("gsi4")
        .key_condition_expression("gsi4pk = :open")
        .expression_attribute_values(":open", s("OPEN"))
        .send()
        .await
        .unwrap();
    let found: Vec<_> = open.items().iter().map(|item| &item["pk"]).collect();
    assert_eq!(found, [&s("ORD#old"), &s("ORD#young")]);
    assert!(
        !open.items()[0].contains_key("note"),
        "only keys are listed"
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_an_error_and_not_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let missing = LocalCloud::open(&dir.path().join("missing")).unwrap_err();
    assert!(matches!(missing, CloudError::Open { .. }), "{missing:?}");

    std::fs::write(
        dir.path().join("table.db"),
        b"this is a letter to my aunt, not a database",
    )
    .unwrap();
    let foreign = LocalCloud::open(dir.path()).unwrap_err();
    assert!(foreign.to_string().contains("table.db"), "{foreign}");
}

#[tokio::test]
async fn items_past_their_time_to_live_are_swept() {
    let cloud = cloud().await;
    let client = dynamodb(cloud.http_client());
    let wiring = Wiring::parse(TEMPLATE).unwrap();
    let attribute = wiring.table.unwrap().ttl_attribute.unwrap();
    for (pk, ttl) in [("SES#old", "1000"), ("SES#new", "99999999999")] {
        let put = client.put_item().table_name(TABLE).set_item(Some(key(pk)));
        let put = put.item(&attribute, AttributeValue::N(ttl.to_owned()));
        put.send().await.unwrap();
    }
    assert_eq!(cloud.sweep_expired_items().await.unwrap(), 1);
    let left = client.scan().table_name(TABLE).send().await.unwrap();
    assert_eq!(left.items()[0]["pk"], s("SES#new"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_claims_at_once_exactly_one_wins() {
    let client = dynamodb(cloud().await.http_client());
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
