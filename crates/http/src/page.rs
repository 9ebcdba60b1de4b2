//! The parts of a list: `limit` and `cursor` in, `items` and `next_cursor` out.
//!
//! A query names the two fields itself (`#[serde(default)] limit: Limit`,
//! `cursor: Option<Cursor>`): serde cannot both flatten and refuse unknown fields.

use onsale_app::ports::Page;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// How many items a page has: 1–100, and 20 unless told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub usize);

impl Limit {
    pub const MAX: usize = 100;
    pub const DEFAULT: usize = 20;
}

impl Default for Limit {
    fn default() -> Self {
        Self(Self::DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let count = digits.then(|| text.parse().ok()).flatten();
        count
            .filter(|count| (1..=Self::MAX).contains(count))
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("must be a whole number from 1 to 100"))
    }
}

impl PartialSchema for Limit {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .minimum(Some(1))
            .maximum(Some(Self::MAX))
            .default(Some(Self::DEFAULT.into()));
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl ToSchema for Limit {}

/// Where a page begins: the `next_cursor` of the page before, as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    pub const MAX_CHARS: usize = 512;
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.chars().count() > Self::MAX_CHARS {
            return Err(serde::de::Error::custom(
                "must be the next_cursor of a page",
            ));
        }
        Ok(Self(text))
    }
}

impl PartialSchema for Cursor {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .min_length(Some(1))
            .max_length(Some(Self::MAX_CHARS));
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl ToSchema for Cursor {}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// Pass it as `cursor` to get the next page. Absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_cursor: Option<String>,
}

impl<T> List<T> {
    pub fn from_page<U>(page: Page<U>, item: impl FnMut(U) -> T) -> Self {
        Self {
            items: page.items.into_iter().map(item).collect(),
            next_cursor: page.next,
        }
    }
}
