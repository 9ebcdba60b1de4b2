//! What an SDK error means: refused by its condition, worth repeating, or our fault.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;
use onsale_app::ports::StoreError;

use crate::attributes::Item;

/// Anything that is not a refusal. The text has the error's code and never the
/// request, which may hold secrets.
pub(crate) fn unavailable<E: ProvideErrorMetadata, R>(error: SdkError<E, R>) -> StoreError {
    let what = match &error {
        SdkError::ServiceError(service) => {
            let (code, message) = (service.err().code(), service.err().message());
            format!("{}: {}", code.unwrap_or("error"), message.unwrap_or(""))
        }
        SdkError::TimeoutError(_) => "timeout".to_owned(),
        SdkError::DispatchFailure(_) => "connection failed".to_owned(),
        SdkError::ResponseError(_) => "unreadable answer".to_owned(),
        _ => "the request could not be built".to_owned(),
    };
    tracing::warn!(what, "the store does not answer");
    StoreError::Unavailable(what)
}

pub(crate) fn corrupt(what: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(what.to_string())
}

/// How one write on cells went wrong.
pub(crate) enum Failed {
    /// Its condition did not hold; the items that refused, where they exist.
    Condition(Vec<Option<Item>>),
    /// Another transaction was on the same item: repeat. It says nothing about cells.
    Conflict,
    Error(StoreError),
}

impl From<Failed> for StoreError {
    /// For writes that expect no refusal, or have dealt with it.
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Error(error) => error,
            Failed::Conflict => Self::Unavailable("transactions are in the way".into()),
            Failed::Condition(_) => Self::Unavailable("a condition did not hold".into()),
        }
    }
}

pub(crate) fn failed_update<R>(error: SdkError<UpdateItemError, R>) -> Failed {
    match &error {
        SdkError::ServiceError(service) => match service.err() {
            UpdateItemError::ConditionalCheckFailedException(refused) => {
                Failed::Condition(vec![refused.item().cloned()])
            }
            UpdateItemError::TransactionConflictException(_) => Failed::Conflict,
            _ => Failed::Error(unavailable(error)),
        },
        _ => Failed::Error(unavailable(error)),
    }
}

pub(crate) const CONDITION_FAILED: &str = "ConditionalCheckFailed";

#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    /// Every part was judged, and some refuse.
    Refused,
    /// A part was not judged, so the others prove nothing yet.
    Pending,
    None,
}

fn judgement(reasons: &[CancellationReason]) -> Judgement {
    let codes = || reasons.iter().filter_map(CancellationReason::code);
    let refused = codes().any(|code| code == CONDITION_FAILED);
    let all_judged = codes().all(|code| code == CONDITION_FAILED || code == "None");
    if codes().any(|code| code == "TransactionConflict") {
        return Judgement::Pending;
    }
    match (refused, all_judged) {
        (true, true) => Judgement::Refused,
        (true, false) => Judgement::Pending,
        (false, _) => Judgement::None,
    }
}

/// The reasons of a cancelled transaction, one for each of its items.
pub(crate) fn cancellation<R>(
    error: SdkError<TransactWriteItemsError, R>,
) -> Result<Vec<CancellationReason>, Failed> {
    match &error {
        SdkError::ServiceError(service) => match service.err() {
            TransactWriteItemsError::TransactionCanceledException(cancelled) => {
                let reasons = cancelled.cancellation_reasons();
                match judgement(reasons) {
                    Judgement::Refused => Ok(reasons.to_vec()),
                    Judgement::Pending => Err(Failed::Conflict),
                    Judgement::None => Err(Failed::Error(unavailable(error))),
                }
            }
            TransactWriteItemsError::TransactionInProgressException(_) => Err(Failed::Conflict),
            _ => Err(Failed::Error(unavailable(error))),
        },
        _ => Err(Failed::Error(unavailable(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_counts_only_when_every_part_was_judged() {
        let judged = |codes: &[&str]| {
            let reason = |code: &&str| CancellationReason::builder().code(*code).build();
            judgement(&codes.iter().map(reason).collect::<Vec<_>>())
        };
        assert_eq!(judged(&["None", CONDITION_FAILED]), Judgement::Refused);
        for unjudged in [
            "TransactionConflict",
            "ThrottlingError",
            "ProvisionedThroughputExceeded",
        ] {
            let mixed = judged(&[CONDITION_FAILED, unjudged]);
            assert_eq!(mixed, Judgement::Pending, "{unjudged}");
        }
        let conflict = judged(&["None", "TransactionConflict"]);
        assert_eq!(conflict, Judgement::Pending);
        assert_eq!(judged(&["None", "ThrottlingError"]), Judgement::None);
        assert_eq!(judged(&["ValidationError", "None"]), Judgement::None);
    }
}
