//! What a buyer asks to hold: chosen seats, the best available, or general places.

use onsale_app::holds::Wish;
use onsale_domain::best_available::Together;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_http::Problem;
use serde::Deserialize;
use serde_json::json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Exactly one of the three; the others are left out or `null`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldRequest {
    seats: Option<Vec<String>>,
    best_available: Option<BestAvailable>,
    general: Option<General>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BestAvailable {
    quantity: u32,
    section: Option<String>,
    max_price: Option<MaxPrice>,
    together: Option<Neighbours>,
    allow_fewer: Option<bool>,
    accessible: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaxPrice {
    amount: u64,
    currency: Currency,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Neighbours {
    Required,
    #[default]
    Preferred,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct General {
    section: String,
    quantity: u32,
}

impl HoldRequest {
    pub(crate) fn into_wish(self) -> Result<Wish, Problem> {
        match (self.seats, self.best_available, self.general) {
            (Some(seats), None, None) => Ok(Wish::Seats(seats)),
            (None, Some(best), None) => Ok(Wish::Best {
                quantity: best.quantity as usize,
                section: best.section,
                max_price: best.max_price.map(|price| Money {
                    amount: Cents(price.amount),
                    currency: price.currency,
                }),
                together: match best.together.unwrap_or_default() {
                    Neighbours::Required => Together::Required,
                    Neighbours::Preferred => Together::Preferred,
                },
                allow_fewer: best.allow_fewer.unwrap_or_default(),
                accessible: best.accessible.unwrap_or_default(),
            }),
            (None, None, Some(general)) => Ok(Wish::General {
                section: general.section,
                quantity: general.quantity as usize,
            }),
            _ => Err(Problem::invalid(
                "Send exactly one of seats, best_available and general.",
            )),
        }
    }
}

/// Written by hand: the derived schema of a union would admit unknown fields.
impl PartialSchema for HoldRequest {
    fn schema() -> RefOr<Schema> {
        let quantity = json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 4_294_967_295u32});
        let section = json!({"type": "string", "minLength": 1, "maxLength": 20});
        let only = |name: &str, schema: serde_json::Value| {
            json!({
                "type": "object", "required": [name], "additionalProperties": false,
                "properties": {name: schema},
            })
        };
        let schema = json!({"oneOf": [
            only("seats", json!({
                "type": "array", "minItems": 1,
                "items": {"type": "string", "examples": ["A-12-7"]},
            })),
            only("best_available", json!({
                "type": "object", "required": ["quantity"], "additionalProperties": false,
                "properties": {
                    "quantity": quantity,
                    "section": {"type": ["string", "null"], "minLength": 1, "maxLength": 20},
                    "max_price": {
                        "type": ["object", "null"], "required": ["amount", "currency"], "additionalProperties": false,
                        "properties": {
                            "amount": {"type": "integer", "minimum": 0},
                            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                        },
                    },
                    "together": {
                        "type": ["string", "null"], "enum": ["required", "preferred", null],
                        "default": "preferred",
                    },
                    "allow_fewer": {"type": ["boolean", "null"], "default": false},
                    "accessible": {
                        "type": ["boolean", "null"], "default": false,
                        "description": "At least one of the places is accessible; the others are companion places or neighbours where there are any. Where no accessible place is free the answer is `seats_taken`. Left out, accessible and companion places are given only where no others serve the wish.",
                    },
                },
            })),
            only("general", json!({
                "type": "object", "required": ["section", "quantity"], "additionalProperties": false,
                "properties": {"section": section, "quantity": quantity},
            })),
        ]});
        // The literal above is a schema; a slip in it shows in the document's test.
        serde_json::from_value(schema).map_or_else(|_| RefOr::T(Schema::default()), RefOr::T)
    }
}

impl ToSchema for HoldRequest {}
