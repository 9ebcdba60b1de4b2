//! The parts of a list: `limit` and `cursor` in, `items` and `next_cursor` out.
//!
//! A list that asks for nothing else takes a `PageQuery`. Any other query names the two
//! fields itself: serde cannot both flatten and refuse unknown fields.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use onsale_app::ports::Page;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

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

/// Where a page begins: what the `next_cursor` of the page before stands for. It is sent as
/// base64url, so that it can be put into an address as it is, whatever the place in a list
/// is spelt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    pub const MAX_CHARS: usize = 512;

    /// The `next_cursor` that stands for this place.
    pub fn encoded(place: String) -> String {
        URL_SAFE_NO_PAD.encode(place)
    }

    fn decoded(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let place = String::from_utf8(bytes).ok()?;
        let fits = !text.is_empty() && text.len() <= Self::MAX_CHARS;
        fits.then_some(Self(place))
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("must be the next_cursor of a page");
        Self::decoded(&text).ok_or_else(wrong)
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

/// The query of a list that asks for nothing but a page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    #[serde(default)]
    #[param(inline, value_type = Option<Limit>)]
    pub limit: Limit,
    #[param(inline, value_type = Option<Cursor>)]
    pub cursor: Option<Cursor>,
}

impl PageQuery {
    /// The place that the page begins after.
    pub fn after(&self) -> Option<&str> {
        self.cursor.as_ref().map(|cursor| cursor.0.as_str())
    }
}

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
    /// A list that is short enough to be told at once.
    pub fn whole(items: Vec<T>) -> Self {
        Self {
            items,
            next_cursor: None,
        }
    }

    pub fn from_page<U>(page: Page<U>, item: impl FnMut(U) -> T) -> Self {
        Self {
            items: page.items.into_iter().map(item).collect(),
            next_cursor: page.next.map(Cursor::encoded),
        }
    }
}
