//! Items: named values under a key.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The name of an attribute. Names in the program are constants; those that were read are owned.
pub type Name = Cow<'static, str>;

/// The key of one item: a partition, and a place in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: Cow<'static, str>,
}

impl Key {
    pub fn new(pk: impl Into<String>, sk: impl Into<Cow<'static, str>>) -> Self {
        Self {
            pk: pk.into(),
            sk: sk.into(),
        }
    }
}

/// The value of an attribute. Values of one kind are ordered: numbers by size, texts and bytes
/// byte by byte, as DynamoDB orders them. Values of two kinds are never equal, and neither is
/// below the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    /// Holds every `u64` and `i64`.
    Number(i128),
    Bytes(Vec<u8>),
    /// A set of texts. An empty set is not stored.
    Texts(BTreeSet<String>),
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

/// The attributes of an item, without those of its key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item(BTreeMap<Name, Value>);

impl Item {
    pub fn new() -> Self {
        Self::default()
    }

    /// Like [`Item::set`], for items that are built in one expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    pub fn set(&mut self, name: impl Into<Name>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<i128> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match self.get(name)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn texts(&self, name: &str) -> Option<&BTreeSet<String>> {
        match self.get(name)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.0.iter()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|name, _| keep(name));
    }
}

impl FromIterator<(Name, Value)> for Item {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(attributes: I) -> Self {
        Self(attributes.into_iter().collect())
    }
}

impl IntoIterator for Item {
    type Item = (Name, Value);
    type IntoIter = std::collections::btree_map::IntoIter<Name, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// An item with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub item: Item,
}
