//! Refusals as RFC 9457 problems. Each says what happened, what was kept, and what to
//! do next; none says anything about how the service is built.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use onsale_app::Error;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};

pub const MEDIA_TYPE: &str = "application/problem+json";

/// How long a caller waits after `unavailable`: long enough for a throttled table or a
/// restarting part to recover, short enough for a buyer.
const UNAVAILABLE_RETRY_S: u64 = 1;

macro_rules! codes {
    ($($variant:ident $name:literal $status:ident $title:literal,)*) => {
        /// The codes of the public contract: `type` is `urn:onsale:<code>`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($variant,)* }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

codes! {
    InvalidRequest "invalid_request" BAD_REQUEST "The request is not valid",
    Unauthenticated "unauthenticated" UNAUTHORIZED "Not logged in",
    Forbidden "forbidden" FORBIDDEN "Not allowed",
    PassRequired "pass_required" FORBIDDEN "A pass is required",
    NotFound "not_found" NOT_FOUND "Not found",
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "Method not allowed",
    EmailTaken "email_taken" CONFLICT "The email is taken",
    SeatsTaken "seats_taken" CONFLICT "Seats are taken",
    NotOnSale "not_on_sale" CONFLICT "Not on sale",
    RequestInFlight "request_in_flight" CONFLICT "Under way",
    Conflict "conflict" CONFLICT "Not possible now",
    HoldExpired "hold_expired" GONE "The hold has expired",
    PayloadTooLarge "payload_too_large" PAYLOAD_TOO_LARGE "The body is too large",
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "Not JSON",
    LimitExceeded "limit_exceeded" UNPROCESSABLE_ENTITY "Over the limit",
    IdempotencyMismatch "idempotency_mismatch" UNPROCESSABLE_ENTITY "The key was used for another request",
    WorkRequired "work_required" PRECONDITION_REQUIRED "Work is required",
    RateLimited "rate_limited" TOO_MANY_REQUESTS "Too many requests",
    Internal "internal" INTERNAL_SERVER_ERROR "Something is wrong on our side",
    Unavailable "unavailable" SERVICE_UNAVAILABLE "Try again",
}

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    fields: Map<String, Value>,
    retry_after_s: Option<u64>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fields: Map::new(),
            retry_after_s: None,
        }
    }

    pub fn invalid(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(
            Code::NotFound,
            format!("There is no such {what}. Check the address; ids are case-sensitive."),
        )
    }

    pub fn internal() -> Self {
        Self::new(
            Code::Internal,
            "The request could not be completed and the failure was recorded. \
             Repeating it with the same Idempotency-Key is safe.",
        )
    }

    /// Adds an extension field, such as `taken` of `seats_taken`.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    pub fn code(&self) -> Code {
        self.code
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn to_json(&self) -> Value {
        let mut body = self.fields.clone();
        body.insert(
            "type".into(),
            json!(format!("urn:onsale:{}", self.code.name())),
        );
        body.insert("title".into(), json!(self.code.title()));
        body.insert("status".into(), json!(self.code.status().as_u16()));
        body.insert("detail".into(), json!(self.detail));
        Value::Object(body)
    }
}

/// The reason may quote what was sent; a page of it helps nobody.
fn cut(mut reason: String) -> String {
    const MOST_CHARS: usize = 300;
    if let Some((end, _)) = reason.char_indices().nth(MOST_CHARS) {
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(reason) => Self::invalid(sentence(&cut(reason))),
            Error::Unauthenticated => Self::new(
                Code::Unauthenticated,
                "The session is missing, has ended or cannot be trusted. \
                 Log in with POST /api/v1/sessions and repeat the request.",
            ),
            // One text for both, or a stranger could learn who has an account.
            Error::WrongCredentials => {
                Self::new(Code::Unauthenticated, "The email or the password is wrong.")
            }
            Error::Forbidden(reason) => Self::new(Code::Forbidden, sentence(reason)),
            Error::PassRequired(None) => Self::new(
                Code::PassRequired,
                "This show has a waiting room. Join it, and repeat the request with the pass.",
            ),
            Error::PassRequired(Some(why)) => Self::new(
                Code::PassRequired,
                format!(
                    "{} Nothing was held. Join the waiting room of this show, and repeat the \
                     request with the pass you get there.",
                    sentence(&why.to_string())
                ),
            ),
            Error::FreeInTheRoom => Self::new(
                Code::PassRequired,
                "What you would wait for is not sold out, and this show has a waiting room. \
                 Join that, and hold the places with the pass you get there.",
            ),
            Error::NotFound(what) => Self::not_found(what),
            Error::EmailTaken => Self::new(
                Code::EmailTaken,
                "An account with this email exists and was not changed. Log in, or use another email.",
            ),
            Error::SeatsTaken(taken) if taken.is_empty() => Self::new(
                Code::SeatsTaken,
                "No places that fit could be had: none is free, or others were quicker each time. \
                 Nothing was held. Try again, ask for fewer, or for another section.",
            )
            .with("taken", taken),
            Error::SeatsTaken(taken) => Self::new(
                Code::SeatsTaken,
                "The places named in `taken` cannot be had: others have them, or they are not \
                 for sale. Nothing was held. Choose other places, or ask for the best available.",
            )
            .with("taken", taken),
            Error::OthersWereFaster => Self::new(
                Code::Unavailable,
                "Places that fit were free, and others had them first each time. Nothing was \
                 held. Try again.",
            )
            .retry_after(UNAVAILABLE_RETRY_S),
            Error::NotOnSale { reason, on_sale_at } => {
                let problem = Self::new(Code::NotOnSale, sentence(reason));
                match on_sale_at {
                    Some(moment) => problem.with("on_sale_at", moment.to_string()),
                    None => problem,
                }
            }
            Error::Conflict(reason) => Self::new(Code::Conflict, sentence(reason)),
            Error::RequestInFlight => Self::new(
                Code::RequestInFlight,
                "An attempt to pay for this hold is under way. Read the order until it is \
                 decided; if the card is declined, try another one then.",
            ),
            Error::HoldExpired => Self::new(
                Code::HoldExpired,
                "The hold has expired and its places are free for others. Place a new hold.",
            ),
            Error::LimitExceeded { limit, of } => Self::new(
                Code::LimitExceeded,
                format!("At most {limit} {of}. What you had before is unchanged."),
            )
            .with("limit", limit),
            Error::IdempotencyMismatch => Self::new(
                Code::IdempotencyMismatch,
                "This Idempotency-Key came with a different request before, and that one stands. \
                 Send the first request again, or use a new key.",
            ),
            // The function that asked knows the challenge and puts it in.
            Error::WorkRequired => Self::new(
                Code::WorkRequired,
                "This account is asked for some work first. Nothing was changed.",
            ),
            Error::RateLimited { retry_after_s } => Self::new(
                Code::RateLimited,
                format!("Too many requests. Nothing was changed. Try again in {retry_after_s} s."),
            )
            .retry_after(retry_after_s),
            Error::Unavailable => Self::new(
                Code::Unavailable,
                "A part of the service did not answer in time, so the request may or may not \
                 have taken effect. Repeat it with the same Idempotency-Key: it happens once.",
            )
            .retry_after(UNAVAILABLE_RETRY_S),
            Error::Corrupt => Self::internal(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.code.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == Code::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A use case gives its reason in a few words; a person reads a sentence.
fn sentence(reason: &str) -> String {
    let mut rest = reason.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    let text: String = first.chain(rest).collect();
    let ended = text.ends_with(['.', '!', '?']);
    if ended { text } else { text + "." }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

impl utoipa::PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
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
            .required("type")
            .required("title")
            .required("status")
            .required("detail");
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl utoipa::ToSchema for Problem {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Problem")
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::room::pass::PassError;
    use onsale_domain::time::Millis;

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
            assert_eq!(response.headers()[header::CONTENT_TYPE], MEDIA_TYPE);
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
