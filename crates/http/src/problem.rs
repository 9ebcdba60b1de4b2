//! Refusals of handlers. What one is, and what each error becomes, is in `onsale-wire`; here
//! is how the document describes it.

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};

pub use onsale_wire::{Code, PROBLEM_MEDIA_TYPE, Problem};

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

/// The name of the schema in the document.
pub const SCHEMA_NAME: &str = "Problem";

pub fn schema() -> RefOr<Schema> {
    let names = Code::ALL
        .iter()
        .map(|code| format!("urn:onsale:{}", code.name()));
    let integer = || ObjectBuilder::new().schema_type(SchemaType::new(Type::Integer));
    let schema = ObjectBuilder::new()
        .description(Some(
            "Why a request was refused (RFC 9457). Some codes carry further fields.",
        ))
        .property("type", text().enum_values(Some(names)))
        .property("title", text())
        .property("status", integer().minimum(Some(400)).maximum(Some(599)))
        .property(
            "detail",
            text().description(Some("What happened and what to do next.")),
        )
        .property(
            "taken",
            ArrayBuilder::new()
                .items(text())
                .description(Some("seats_taken: the places that cannot be had.")),
        )
        .property(
            "on_sale_at",
            text().format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))),
        )
        .property(
            "limit",
            integer().description(Some("limit_exceeded: the limit.")),
        )
        .property(
            "challenge",
            ObjectBuilder::new()
                .schema_type(SchemaType::new(Type::Object))
                .description(Some(
                    "work_required: an ALTCHA v2 challenge, to be solved by the client.",
                )),
        )
        .property(
            "refund",
            ObjectBuilder::new()
                .schema_type(SchemaType::new(Type::Object))
                .description(Some(
                    "conflict, where `expected_refund` is not right: what would go back by now.",
                )),
        )
        .property(
            "percent",
            integer().description(Some("The share of the price that `refund` is.")),
        )
        .required("type")
        .required("title")
        .required("status")
        .required("detail");
    RefOr::T(Schema::Object(schema.build()))
}

#[cfg(test)]
mod tests {
    use axum::http::header;
    use axum::response::IntoResponse;
    use onsale_app::Error;
    use onsale_domain::room::pass::PassError;
    use onsale_domain::time::Millis;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_refusal_has_the_code_and_status_of_the_contract() {
        let on_sale_at = Some(Millis(1_800_000_000_000));
        let reason = "it is not on sale";
        let cases = [
            (Error::Invalid("no seats".into()), "invalid_request", 400),
            (Error::Unauthenticated, "unauthenticated", 401),
            (Error::WrongCredentials, "unauthenticated", 401),
            (Error::Forbidden("not yours"), "forbidden", 403),
            (Error::PassRequired(None), "pass_required", 403),
            (
                Error::PassRequired(Some(PassError::Closed)),
                "pass_required",
                403,
            ),
            (Error::FreeInTheRoom, "pass_required", 403),
            (Error::NotFound("show"), "not_found", 404),
            (Error::EmailTaken, "email_taken", 409),
            (Error::SeatsTaken(vec!["A-1-1".into()]), "seats_taken", 409),
            (Error::SeatsTaken(vec![]), "seats_taken", 409),
            (Error::NotOnSale { reason, on_sale_at }, "not_on_sale", 409),
            (Error::Conflict("being paid"), "conflict", 409),
            (Error::RequestInFlight, "request_in_flight", 409),
            (Error::HoldExpired, "hold_expired", 410),
            (
                Error::LimitExceeded {
                    limit: 6,
                    of: "tickets",
                },
                "limit_exceeded",
                422,
            ),
            (Error::IdempotencyMismatch, "idempotency_mismatch", 422),
            (Error::WorkRequired, "work_required", 428),
            (
                Error::RateLimited { retry_after_s: 12 },
                "rate_limited",
                429,
            ),
            (Error::Corrupt, "internal", 500),
            (Error::OthersWereFaster, "unavailable", 503),
            (Error::Unavailable, "unavailable", 503),
        ];
        for (error, code, status) in cases {
            let problem = Problem::from(error);
            let body = problem.to_json();
            assert_eq!(body["type"], format!("urn:onsale:{code}"));
            assert_eq!(body["status"], status);
            assert!(body["detail"].as_str().unwrap().ends_with('.'), "{body}");
            let response = problem.into_response();
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers()[header::CONTENT_TYPE], PROBLEM_MEDIA_TYPE);
            let waits = response.headers().contains_key(header::RETRY_AFTER);
            assert_eq!(waits, status == 429 || status == 503, "{code}");
        }
    }

    #[test]
    fn a_pass_that_does_not_count_is_told_why() {
        for (why, said) in [
            (PassError::Closed, "The pass has ended."),
            (
                PassError::AnotherAccount,
                "The pass is used by another account.",
            ),
            (PassError::AnotherShow, "The pass is for another show."),
            (PassError::Expired, "The pass has expired."),
        ] {
            let problem = Problem::from(Error::PassRequired(Some(why)));
            assert!(problem.detail().starts_with(said), "{}", problem.detail());
        }
    }

    #[test]
    fn the_fields_of_a_refusal_come_along() {
        let taken = Problem::from(Error::SeatsTaken(vec!["A-1-1".into()])).to_json();
        assert_eq!(taken["taken"], json!(["A-1-1"]));
        // A place that nobody may have is named there as well.
        let detail = taken["detail"].as_str().unwrap();
        assert!(detail.contains("not for sale"), "{detail}");
        assert_eq!(
            Problem::from(Error::SeatsTaken(vec![])).to_json()["taken"],
            json!([])
        );
        let on_sale_at = Some(Millis(1_800_000_000_000));
        let early = Problem::from(Error::NotOnSale {
            reason: "too early",
            on_sale_at,
        })
        .to_json();
        assert_eq!(early["on_sale_at"], "2027-01-15T08:00:00Z");
        assert_eq!(early["detail"], "Too early.");
        let over = Problem::from(Error::LimitExceeded {
            limit: 6,
            of: "tickets",
        })
        .to_json();
        assert_eq!(over["limit"], 6);
    }
}
