//! Reading and writing the attributes of an item.

use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use onsale_table::{Item, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{StoreError, Stored, corrupt};

/// When an item may be forgotten: the attribute of the time to live.
pub(crate) const FORGET_AT: &str = "forget_at";
/// The JSON of a document.
pub(crate) const DOC: &str = "doc";
/// The version of a document.
pub(crate) const VERSION: &str = "v";
/// The hash of the request that created an item.
pub(crate) const REQUEST: &str = "req";

/// A time in whole seconds, as the time to live has it.
pub(crate) fn seconds(at: Millis) -> Value {
    Value::from(at.0.div_ceil(1_000))
}

pub(crate) fn json(value: &impl Serialize) -> Stored<Value> {
    serde_json::to_string(value)
        .map(Value::Text)
        .map_err(corrupt)
}

fn missing(name: &str) -> StoreError {
    StoreError::Corrupt(format!("attribute {name} is missing or of another type"))
}

pub(crate) fn get_text<'a>(item: &'a Item, name: &str) -> Stored<&'a str> {
    item.text(name).ok_or_else(|| missing(name))
}

/// A number of any unsigned type.
pub(crate) fn get_number<T: TryFrom<i128>>(item: &Item, name: &str) -> Stored<T> {
    let number = item.number(name).and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| missing(name))
}

pub(crate) fn get_millis(item: &Item, name: &str) -> Stored<Millis> {
    get_number(item, name).map(Millis)
}

pub(crate) fn get_bytes<'a>(item: &'a Item, name: &str) -> Stored<&'a [u8]> {
    item.bytes(name).ok_or_else(|| missing(name))
}

pub(crate) fn get_parsed<T: std::str::FromStr>(item: &Item, name: &str) -> Stored<T> {
    get_text(item, name)?.parse().map_err(|_| missing(name))
}

pub(crate) fn get_json<T: DeserializeOwned>(item: &Item, name: &str) -> Stored<T> {
    serde_json::from_str(get_text(item, name)?)
        .map_err(|e| StoreError::Corrupt(format!("attribute {name}: {e}")))
}

/// What `read` makes of the item, if the item has the attribute at all.
pub(crate) fn if_present<T>(
    item: &Item,
    name: &str,
    read: impl FnOnce(&Item, &str) -> Stored<T>,
) -> Stored<Option<T>> {
    item.has(name).then(|| read(item, name)).transpose()
}

pub(crate) fn get_request(item: &Item) -> Option<RequestHash> {
    item.bytes(REQUEST)?.try_into().ok().map(RequestHash)
}
