//! Where the emulator `localstripe` falls short of Stripe. It answers in words that
//! Stripe never uses, so nothing here happens against the real one.

use http::StatusCode;

use super::failure::CallError;

/// It cannot confirm with a method: the method has to be set on the payment before.
pub(super) fn cannot_confirm_with_a_method(error: &CallError) -> bool {
    matches!(error, CallError::Broken(why) if why == "500: Not implemented")
}

/// It has no disputes, and does not know the address of their list.
pub(super) fn has_no_disputes(error: &CallError) -> bool {
    matches!(error, CallError::NoAnswer(why) if why == "404 without an explanation")
}

/// It cannot list by the time of creation: the caller filters.
pub(super) fn cannot_list_by_time(error: &CallError) -> bool {
    matches!(error, CallError::Rejected(rejection)
        if rejection.status == StatusCode::BAD_REQUEST && rejection.message == "Unexpected created")
}
