//! The request that creates the table of the template.

use onsale_local_cloud::{TableIndex, TableWiring};
use serde_json::{Value, json};

/// The CreateTable request in DynamoDB's JSON.
pub(crate) fn create_request(table: &TableWiring) -> Value {
    let mut request = json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attribute_definitions(&table.attributes),
        "KeySchema": key_schema(&table.keys),
    });
    // DynamoDB refuses an empty list of indexes.
    if !table.indexes.is_empty() {
        request["GlobalSecondaryIndexes"] = table.indexes.iter().map(index_json).collect();
    }
    request
}

fn attribute_definitions(attributes: &[(String, String)]) -> Value {
    attributes
        .iter()
        .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
        .collect()
}

fn key_schema(keys: &[(String, String)]) -> Value {
    keys.iter()
        .map(|(name, role)| json!({ "AttributeName": name, "KeyType": role }))
        .collect()
}

fn index_json(index: &TableIndex) -> Value {
    let mut projection = json!({ "ProjectionType": index.projection });
    if !index.included.is_empty() {
        projection["NonKeyAttributes"] = json!(index.included);
    }
    json!({
        "IndexName": index.name,
        "KeySchema": key_schema(&index.keys),
        "Projection": projection,
    })
}
