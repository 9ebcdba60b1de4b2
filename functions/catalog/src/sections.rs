//! The sections of a venue as an organiser writes them: rows of seats, or a capacity.

use onsale_app::venues::{NewRow, NewSeats, NewSection, SeatMarks};
use onsale_domain::layout::{FloorShape, MAX_SEAT_NUMBER, RowsShape};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::shapes::{FloorShapeBody, RowsShapeBody};

/// A section with rows, or a general one.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SectionFields")]
pub(crate) enum SectionBody {
    Seated(SeatedSection),
    General(GeneralSection),
}

#[derive(Debug, ToSchema)]
#[schema(as = SeatedSection)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeatedSection {
    /// Letters, digits and spaces.
    #[schema(min_length = 1, max_length = 20)]
    name: String,
    /// A venue has at most 10,000 rows.
    #[schema(min_items = 1, max_items = 10_000)]
    rows: Vec<RowBody>,
    /// Seat ids, such as `A-1-3`.
    #[schema(value_type = Option<Vec<String>>, max_items = 100_000)]
    not_for_sale: Vec<String>,
    /// Seat ids, such as `A-1-3`.
    #[schema(value_type = Option<Vec<String>>, max_items = 100_000)]
    accessible: Vec<String>,
    #[schema(value_type = Option<AttributesBody>)]
    attributes: AttributesBody,
    #[schema(value_type = Option<RowsShapeBody>)]
    shape: Option<RowsShape>,
}

/// What else is special about seats of the section. Seat ids, such as `A-1-3`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSeatAttributes)]
pub(crate) struct AttributesBody {
    /// Part of the stage cannot be seen from here.
    #[schema(max_items = 100_000)]
    restricted_view: Option<Vec<String>>,
    /// For people who come with somebody in an accessible place.
    #[schema(max_items = 100_000)]
    companion: Option<Vec<String>>,
}

#[derive(Debug, ToSchema)]
#[schema(as = GeneralSection)]
#[serde(deny_unknown_fields)]
pub(crate) struct GeneralSection {
    /// Letters, digits and spaces.
    #[schema(min_length = 1, max_length = 20)]
    name: String,
    #[schema(minimum = 1, maximum = 100_000)]
    capacity: u32,
    #[schema(value_type = Option<FloorShapeBody>)]
    shape: Option<FloorShape>,
}

/// Both kinds of section in one, so that a mistake is reported where it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionFields {
    name: String,
    rows: Option<Vec<RowBody>>,
    not_for_sale: Option<Vec<String>>,
    accessible: Option<Vec<String>>,
    attributes: Option<AttributesBody>,
    capacity: Option<u32>,
    /// Which shape it must be is known once the kind of the section is.
    shape: Option<serde_json::Value>,
}

impl SectionFields {
    fn has_marks(&self) -> bool {
        self.not_for_sale.is_some() || self.accessible.is_some() || self.attributes.is_some()
    }
}

/// Reads a shape as the one that its section needs.
fn read_shape<B, S>(shape: Option<serde_json::Value>) -> Result<Option<S>, String>
where
    B: serde::de::DeserializeOwned,
    S: TryFrom<B, Error = String>,
{
    let read = |value| serde_json::from_value::<B>(value).map_err(|e| format!("shape: {e}"));
    shape.map(read).transpose()?.map(S::try_from).transpose()
}

impl TryFrom<SectionFields> for SectionBody {
    type Error = String;

    fn try_from(fields: SectionFields) -> Result<Self, String> {
        let has_marks = fields.has_marks();
        match (fields.rows, fields.capacity) {
            (Some(rows), None) => Ok(Self::Seated(SeatedSection {
                name: fields.name,
                rows,
                not_for_sale: fields.not_for_sale.unwrap_or_default(),
                accessible: fields.accessible.unwrap_or_default(),
                attributes: fields.attributes.unwrap_or_default(),
                shape: read_shape::<RowsShapeBody, _>(fields.shape)?,
            })),
            (None, Some(_)) if has_marks => {
                Err("a section with a capacity has no seats to mark".into())
            }
            (None, Some(capacity)) => Ok(Self::General(GeneralSection {
                name: fields.name,
                capacity,
                shape: read_shape::<FloorShapeBody, _>(fields.shape)?,
            })),
            _ => Err("a section has either rows or a capacity".into()),
        }
    }
}

impl PartialSchema for SectionBody {
    fn schema() -> RefOr<Schema> {
        let one_of = OneOfBuilder::new()
            .item(Ref::from_schema_name(SeatedSection::name()))
            .item(Ref::from_schema_name(GeneralSection::name()));
        RefOr::T(Schema::OneOf(one_of.build()))
    }
}

impl ToSchema for SectionBody {
    fn name() -> std::borrow::Cow<'static, str> {
        "Section".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((SeatedSection::name().into(), SeatedSection::schema()));
        schemas.push((GeneralSection::name().into(), GeneralSection::schema()));
        SeatedSection::schemas(schemas);
        GeneralSection::schemas(schemas);
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Row)]
struct RowBody {
    /// Letters and digits; `GA` is reserved.
    #[schema(min_length = 1, max_length = 10)]
    label: String,
    seats: SeatsBody,
}

/// How many seats, numbered from 1, or their numbers in the order they stand.
#[derive(Debug)]
struct SeatsBody(NewSeats);

impl<'de> Deserialize<'de> for SeatsBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeatsVisitor).map(Self)
    }
}

struct SeatsVisitor;

impl<'de> Visitor<'de> for SeatsVisitor {
    type Value = NewSeats;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a number of seats up to {MAX_SEAT_NUMBER}, or a list of seat numbers"
        )
    }

    fn visit_u64<E: serde::de::Error>(self, count: u64) -> Result<NewSeats, E> {
        let fits = u16::try_from(count)
            .ok()
            .filter(|count| (1..=MAX_SEAT_NUMBER).contains(count));
        let found = serde::de::Unexpected::Unsigned(count);
        fits.map(NewSeats::Count)
            .ok_or_else(|| E::invalid_value(found, &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NewSeats, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = items.next_element()? {
            numbers.push(number);
        }
        Ok(NewSeats::Numbers(numbers))
    }
}

impl PartialSchema for SeatsBody {
    fn schema() -> RefOr<Schema> {
        let number = || {
            ObjectBuilder::new()
                .schema_type(SchemaType::new(Type::Integer))
                .minimum(Some(1))
                .maximum(Some(MAX_SEAT_NUMBER))
        };
        let numbers = ArrayBuilder::new()
            .items(number())
            .min_items(Some(1))
            .max_items(Some(MAX_SEAT_NUMBER.into()))
            .unique_items(true);
        RefOr::T(Schema::OneOf(
            OneOfBuilder::new().item(number()).item(numbers).build(),
        ))
    }
}

impl ToSchema for SeatsBody {
    fn name() -> std::borrow::Cow<'static, str> {
        "Seats".into()
    }
}

impl From<SectionBody> for NewSection {
    fn from(body: SectionBody) -> Self {
        let row = |row: RowBody| NewRow {
            label: row.label,
            seats: row.seats.0,
        };
        match body {
            SectionBody::Seated(section) => Self::Seated {
                name: section.name,
                rows: section.rows.into_iter().map(row).collect(),
                marks: SeatMarks {
                    not_for_sale: section.not_for_sale,
                    accessible: section.accessible,
                    companion: section.attributes.companion.unwrap_or_default(),
                    restricted_view: section.attributes.restricted_view.unwrap_or_default(),
                },
                shape: section.shape,
            },
            SectionBody::General(section) => Self::General {
                name: section.name,
                capacity: section.capacity,
                shape: section.shape,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Result<SectionBody, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_section_has_either_rows_or_a_capacity() {
        let seated = r#"{"name": "A", "rows": [{"label": "1", "seats": 20}]}"#;
        assert!(matches!(section(seated), Ok(SectionBody::Seated(_))));
        let general = r#"{"name": "F", "capacity": 5000}"#;
        assert!(matches!(section(general), Ok(SectionBody::General(_))));
        for wrong in [
            r#"{"name": "A"}"#,
            r#"{"name": "A", "rows": [], "capacity": 1}"#,
            r#"{"name": "A", "capacity": 1, "accessible": []}"#,
            r#"{"name": "A", "capacity": null}"#,
            r#"{"name": "A", "capacity": 1, "colour": "red"}"#,
            r#"{"name": "A", "rows": [{"label": "1", "seats": 0}]}"#,
            r#"{"name": "A", "rows": [{"label": "1", "seats": 70000}]}"#,
            r#"{"name": "A", "rows": [{"label": "1", "seats": "20"}]}"#,
            r#"{"name": "A", "rows": [{"label": "1", "seats": [1, -2]}]}"#,
            r#"{"name": "A", "capacity": 1, "attributes": {}}"#,
            r#"{"name": "A", "rows": [], "attributes": {"aisle": []}}"#,
        ] {
            assert!(section(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_shape_is_the_one_of_its_kind_in_numbers_that_a_plan_has() {
        let seated =
            |shape: &str| section(&format!(r#"{{"name": "A", "rows": [], "shape": {shape}}}"#));
        let floor = |shape: &str| {
            section(&format!(
                r#"{{"name": "F", "capacity": 9, "shape": {shape}}}"#
            ))
        };
        assert!(seated(r#"{"x": 0, "y": -2.5}"#).is_ok());
        assert!(seated(r#"{"x": 0, "y": 0, "turn": null, "aisles": null}"#).is_ok());
        assert!(floor(r#"{"x": 0, "y": 0, "width": 9.5, "height": 4}"#).is_ok());
        for wrong in [
            r#"{"x": 0}"#,
            r#"{"x": 1000.1, "y": 0}"#,
            r#"{"x": 0, "y": 1e400}"#,
            r#"{"x": 0, "y": "0"}"#,
            r#"{"x": 0, "y": 0, "turn": 361}"#,
            r#"{"x": 0, "y": 0, "curve": -1}"#,
            r#"{"x": 0, "y": 0, "row_pitch": 0}"#,
            r#"{"x": 0, "y": 0, "seat_pitch": 11}"#,
            r#"{"x": 0, "y": 0, "aisles": [-1]}"#,
            r#"{"x": 0, "y": 0, "width": 4, "height": 4}"#,
            r#"{"x": 0, "y": 0, "colour": "red"}"#,
        ] {
            assert!(seated(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            r#"{"x": 0, "y": 0}"#,
            r#"{"x": 0, "y": 0, "width": 0, "height": 4}"#,
            r#"{"x": 0, "y": 0, "width": 4, "height": 4, "curve": 1}"#,
        ] {
            assert!(floor(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seats_are_a_count_or_numbers() {
        let seats = |text: &str| serde_json::from_str::<SeatsBody>(text).unwrap().0;
        assert_eq!(seats("20"), NewSeats::Count(20));
        assert_eq!(seats("[1,2,5]"), NewSeats::Numbers(vec![1, 2, 5]));
    }
}
