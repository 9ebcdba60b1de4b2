//! Reading and writing the attributes of an item.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use onsale_app::ports::{StoreError, Stored};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) type Item = HashMap<String, AttributeValue>;

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(crate) fn bytes(value: impl Into<Vec<u8>>) -> AttributeValue {
    AttributeValue::B(Blob::new(value))
}

/// A time in whole seconds, as DynamoDB wants it for the time to live (`forget_at`).
pub(crate) fn seconds(at: Millis) -> AttributeValue {
    number(at.0.div_ceil(1_000))
}

pub(crate) fn json(value: &impl Serialize) -> Stored<AttributeValue> {
    serde_json::to_string(value)
        .map(AttributeValue::S)
        .map_err(|e| StoreError::Corrupt(e.to_string()))
}

fn missing(name: &str) -> StoreError {
    StoreError::Corrupt(format!("attribute {name} is missing or of another type"))
}

pub(crate) fn get_text<'a>(item: &'a Item, name: &str) -> Stored<&'a str> {
    let value = item.get(name).and_then(|v| v.as_s().ok());
    value.map(String::as_str).ok_or_else(|| missing(name))
}

pub(crate) fn get_number(item: &Item, name: &str) -> Stored<u64> {
    let value = item.get(name).and_then(|v| v.as_n().ok());
    value
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| missing(name))
}

/// A number of a smaller type.
pub(crate) fn get_small<T: TryFrom<u64>>(item: &Item, name: &str) -> Stored<T> {
    T::try_from(get_number(item, name)?).map_err(|_| missing(name))
}

pub(crate) fn get_bytes<'a>(item: &'a Item, name: &str) -> Stored<&'a [u8]> {
    let value = item.get(name).and_then(|v| v.as_b().ok());
    value.map(AsRef::as_ref).ok_or_else(|| missing(name))
}

pub(crate) fn get_json<T: DeserializeOwned>(item: &Item, name: &str) -> Stored<T> {
    serde_json::from_str(get_text(item, name)?)
        .map_err(|e| StoreError::Corrupt(format!("attribute {name}: {e}")))
}

pub(crate) fn get_request(item: &Item) -> Option<RequestHash> {
    get_bytes(item, "req")
        .ok()?
        .try_into()
        .ok()
        .map(RequestHash)
}

/// The item of a document: its version, its JSON and the request that made it.
pub(crate) fn document(
    mut item: Item,
    value: &impl Serialize,
    request: Option<RequestHash>,
) -> Stored<Item> {
    item.insert("v".to_owned(), number(1));
    item.insert("doc".to_owned(), json(value)?);
    if let Some(request) = request {
        item.insert("req".to_owned(), bytes(request.0));
    }
    Ok(item)
}
