//! What an error of the SDK means: refused by its condition, worth repeating, or our mistake.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::CancellationReason;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use onsale_table::{Failed, Item, TableError, TransactFailed};

use super::values::{Attributes, item};

/// The code of a request that DynamoDB never takes, such as an addition to a text.
const INVALID: &str = "ValidationException";
const CONFLICT: &str = "TransactionConflictException";

/// Anything that is not a refusal. The text has the error's code and message and never the
/// request, which may hold secrets.
pub(super) fn table_error<E: ProvideErrorMetadata, R>(error: SdkError<E, R>) -> TableError {
    let what = match &error {
        SdkError::ServiceError(service) => {
            let (code, message) = (service.err().code(), service.err().message());
            let what = format!("{}: {}", code.unwrap_or("error"), message.unwrap_or(""));
            if code == Some(INVALID) {
                return invalid(what);
            }
            what
        }
        SdkError::TimeoutError(_) => "timeout".to_owned(),
        SdkError::DispatchFailure(_) => "connection failed".to_owned(),
        SdkError::ResponseError(_) => "unreadable answer".to_owned(),
        _ => "the request could not be built".to_owned(),
    };
    tracing::warn!(what, "the table does not answer");
    TableError::Unavailable(what)
}

/// A request that DynamoDB refuses however often it is sent.
fn invalid(what: String) -> TableError {
    tracing::error!(what, "the table does not take the request");
    TableError::Invalid(what)
}

/// A part of a request without a field that DynamoDB demands.
pub(super) fn incomplete(error: aws_sdk_dynamodb::error::BuildError) -> TableError {
    TableError::Invalid(error.to_string())
}

/// The error of a write of one item, which its condition can refuse.
pub(super) trait WriteError: ProvideErrorMetadata {
    fn refusal(&self) -> Option<&ConditionalCheckFailedException>;
}

impl WriteError for PutItemError {
    fn refusal(&self) -> Option<&ConditionalCheckFailedException> {
        match self {
            Self::ConditionalCheckFailedException(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl WriteError for UpdateItemError {
    fn refusal(&self) -> Option<&ConditionalCheckFailedException> {
        match self {
            Self::ConditionalCheckFailedException(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl WriteError for DeleteItemError {
    fn refusal(&self) -> Option<&ConditionalCheckFailedException> {
        match self {
            Self::ConditionalCheckFailedException(refusal) => Some(refusal),
            _ => None,
        }
    }
}

/// Why a write of one item did not take place.
pub(super) fn failed<E: WriteError, R>(error: SdkError<E, R>) -> Failed {
    if let Some(error) = error.as_service_error() {
        if let Some(refusal) = error.refusal() {
            return match found(refusal.item()) {
                Ok(found) => Failed::Refused(found),
                Err(unreadable) => Failed::Error(unreadable),
            };
        }
        if error.code() == Some(CONFLICT) {
            return Failed::Error(TableError::Conflict);
        }
    }
    Failed::Error(table_error(error))
}

/// The item that refused; `None`: nothing is stored under the key. A stored item has at least
/// its key, so one without attributes is none.
fn found(attributes: Option<&Attributes>) -> Result<Option<Item>, TableError> {
    let stored = attributes.filter(|attributes| !attributes.is_empty());
    stored.cloned().map(item).transpose()
}

const CONDITION_FAILED: &str = "ConditionalCheckFailed";
const PART_INVALID: &str = "ValidationError";

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

/// Why a transaction did not take place.
pub(super) fn transact_failed<R>(error: SdkError<TransactWriteItemsError, R>) -> TransactFailed {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            let reasons = cancelled.cancellation_reasons();
            match cancellation(reasons) {
                Some(failed) => failed,
                None => table_error(error).into(),
            }
        }
        Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
            TableError::Conflict.into()
        }
        _ => table_error(error).into(),
    }
}

/// What the reasons of a cancelled transaction, one for each part, say about it; `None`:
/// nothing but that it was cancelled, by throttling for example.
fn cancellation(reasons: &[CancellationReason]) -> Option<TransactFailed> {
    let is_invalid = |reason: &&CancellationReason| reason.code() == Some(PART_INVALID);
    if let Some(reason) = reasons.iter().find(is_invalid) {
        // Whatever the other parts say: repeating it never helps.
        let what = format!("{PART_INVALID}: {}", reason.message().unwrap_or(""));
        return Some(invalid(what).into());
    }
    match judgement(reasons) {
        Judgement::Refused => Some(refused(reasons)),
        Judgement::Pending => Some(TableError::Conflict.into()),
        Judgement::None => None,
    }
}

fn refused(reasons: &[CancellationReason]) -> TransactFailed {
    let part = |reason: &CancellationReason| match reason.code() {
        Some(CONDITION_FAILED) => found(reason.item()).map(Some),
        _ => Ok(None),
    };
    match reasons.iter().map(part).collect() {
        Ok(parts) => TransactFailed::Refused(parts),
        Err(unreadable) => TransactFailed::Error(unreadable),
    }
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
