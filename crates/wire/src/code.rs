//! The codes of refusals. A code has one status and one title wherever it is given.

use http::StatusCode;

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
    NotAdmitted "not_admitted" TOO_EARLY "Not your turn yet",
    WorkRequired "work_required" PRECONDITION_REQUIRED "Work is required",
    RateLimited "rate_limited" TOO_MANY_REQUESTS "Too many requests",
    Internal "internal" INTERNAL_SERVER_ERROR "Something is wrong on our side",
    Unavailable "unavailable" SERVICE_UNAVAILABLE "Try again",
}
