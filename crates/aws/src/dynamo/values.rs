//! Values, keys and items as DynamoDB's attribute values, and back.
//!
//! The key is stored as two attributes of the item. They are added here when an item is written
//! and taken out when it is read, so that nothing above sees them among the attributes.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use onsale_table::{Item, Key, Row, TableError, Value};

/// The attributes of an item as the SDK has them.
pub(super) type Attributes = HashMap<String, AttributeValue>;

/// The attribute with the partition key.
pub(super) const PK: &str = "pk";
/// The attribute with the sort key.
pub(super) const SK: &str = "sk";

pub(super) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(super) fn attribute(value: Value) -> AttributeValue {
    match value {
        Value::Text(text) => AttributeValue::S(text),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::Bytes(bytes) => AttributeValue::B(Blob::new(bytes)),
        Value::Texts(set) => AttributeValue::Ss(set.into_iter().collect()),
    }
}

/// An empty set is not stored, and DynamoDB refuses a request that has one.
pub(super) fn is_stored(value: &Value) -> bool {
    !matches!(value, Value::Texts(set) if set.is_empty())
}

pub(super) fn key_attributes(key: &Key) -> Attributes {
    HashMap::from([
        (PK.to_owned(), text(&key.pk)),
        (SK.to_owned(), text(key.sk.as_ref())),
    ])
}

/// The whole item: its attributes and those of its key.
pub(super) fn item_attributes(key: &Key, item: Item) -> Attributes {
    let stored = item.into_iter().filter(|(_, value)| is_stored(value));
    let mut attributes: Attributes = stored
        .map(|(name, value)| (name.into_owned(), attribute(value)))
        .collect();
    attributes.extend(key_attributes(key));
    attributes
}

/// Names the attribute and never its value, which may be a secret.
fn unreadable(name: &str) -> TableError {
    TableError::Invalid(format!("unreadable attribute {name}"))
}

fn value(name: &str, attribute: AttributeValue) -> Result<Value, TableError> {
    match attribute {
        AttributeValue::S(text) => Ok(Value::Text(text)),
        AttributeValue::N(number) => match number.parse() {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => Err(unreadable(name)),
        },
        AttributeValue::B(bytes) => Ok(Value::Bytes(bytes.into_inner())),
        AttributeValue::Ss(set) => Ok(Value::Texts(set.into_iter().collect())),
        _ => Err(unreadable(name)),
    }
}

/// The text of one attribute, which is taken out.
pub(super) fn take_text(attributes: &mut Attributes, name: &str) -> Result<String, TableError> {
    match attributes.remove(name) {
        Some(AttributeValue::S(text)) => Ok(text),
        _ => Err(unreadable(name)),
    }
}

fn take_key(attributes: &mut Attributes) -> Result<Key, TableError> {
    let pk = take_text(attributes, PK)?;
    Ok(Key::new(pk, take_text(attributes, SK)?))
}

pub(super) fn key(mut attributes: Attributes) -> Result<Key, TableError> {
    take_key(&mut attributes)
}

/// The item without its key.
pub(super) fn item(attributes: Attributes) -> Result<Item, TableError> {
    let own = attributes
        .into_iter()
        .filter(|(name, _)| name != PK && name != SK);
    own.map(|(name, attribute)| {
        let value = value(&name, attribute)?;
        Ok((name.into(), value))
    })
    .collect()
}

pub(super) fn row(mut attributes: Attributes) -> Result<Row, TableError> {
    let key = take_key(&mut attributes)?;
    let item = item(attributes)?;
    Ok(Row { key, item })
}

pub(super) fn rows(found: Option<Vec<Attributes>>) -> Result<Vec<Row>, TableError> {
    found.unwrap_or_default().into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn texts(elements: &[&str]) -> Value {
        Value::Texts(elements.iter().map(|&e| e.to_owned()).collect())
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let key = Key::new("ORD#1", "ORD");
        let mut item = Item::new()
            .with("t", "text")
            .with("most", u64::MAX)
            .with("least", i64::MIN)
            .with("b", vec![0u8, 255]);
        item.set("s", texts(&["one", "two"]));
        let attributes = item_attributes(&key, item.clone());
        assert_eq!(attributes["most"], AttributeValue::N(u64::MAX.to_string()));
        assert_eq!(row(attributes), Ok(Row { key, item }));
    }

    #[test]
    fn an_empty_set_is_not_written() {
        let mut item = Item::new();
        item.set("s", Value::Texts(BTreeSet::new()));
        let key = Key::new("DEV#1", "DEV");
        assert_eq!(item_attributes(&key, item), key_attributes(&key));
    }

    #[test]
    fn an_unreadable_attribute_is_named_without_its_value() {
        for secret in [
            AttributeValue::L(vec![text("secret")]),
            AttributeValue::N("1.5".to_owned()),
        ] {
            let attributes = HashMap::from([("odd".to_owned(), secret)]);
            let error = TableError::Invalid("unreadable attribute odd".to_owned());
            assert_eq!(item(attributes), Err(error));
        }
    }

    #[test]
    fn a_row_without_its_key_is_unreadable() {
        let attributes = HashMap::from([(PK.to_owned(), text("ORD#1"))]);
        assert!(row(attributes).is_err());
    }
}
