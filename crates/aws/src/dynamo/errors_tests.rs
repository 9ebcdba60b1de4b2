//! What the errors of DynamoDB become.

use aws_sdk_dynamodb::error::ErrorMetadata;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use onsale_table::Key;

use super::super::values::item_attributes;
use super::*;

fn reason(code: &str) -> CancellationReason {
    CancellationReason::builder().code(code).build()
}

fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
    codes.iter().map(|code| reason(code)).collect()
}

fn stored() -> Attributes {
    item_attributes(&Key::new("ORD#1", "ORD"), Item::new().with("v", 2u64))
}

fn service<E>(error: E) -> SdkError<E, ()> {
    SdkError::service_error(error, ())
}

fn with_code(code: &str) -> SdkError<UpdateItemError, ()> {
    let metadata = ErrorMetadata::builder().code(code).message("why").build();
    service(UpdateItemError::generic(metadata))
}

#[test]
fn a_refusal_counts_only_when_every_part_was_judged() {
    let judged = |codes: &[&str]| judgement(&reasons(codes));
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

#[test]
fn a_cancelled_transaction_names_what_each_refusing_part_found() {
    let found = CancellationReason::builder()
        .code(CONDITION_FAILED)
        .set_item(Some(stored()))
        .build();
    let reasons = [reason("None"), found, reason(CONDITION_FAILED)];
    let item = Item::new().with("v", 2u64);
    assert_eq!(
        cancellation(&reasons),
        Some(TransactFailed::Refused(vec![
            None,
            Some(Some(item)),
            Some(None)
        ]))
    );
}

#[test]
fn a_transaction_that_was_throttled_is_unavailable_and_one_in_the_way_is_a_conflict() {
    let cancelled = |codes: &[&str]| {
        let metadata = ErrorMetadata::builder()
            .code("TransactionCanceledException")
            .build();
        let error = TransactionCanceledException::builder()
            .set_cancellation_reasons(Some(reasons(codes)))
            .meta(metadata)
            .build();
        let error = TransactWriteItemsError::TransactionCanceledException(error);
        transact_failed(service(error))
    };
    let conflict = TransactFailed::Error(TableError::Conflict);
    assert_eq!(cancelled(&["None", "TransactionConflict"]), conflict);
    assert_eq!(cancelled(&[CONDITION_FAILED, "ThrottlingError"]), conflict);
    for throttled in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
        let failed = cancelled(&["None", throttled]);
        let what = "TransactionCanceledException: ".to_owned();
        let unavailable = TransactFailed::Error(TableError::Unavailable(what));
        assert_eq!(failed, unavailable, "{throttled}");
    }
    let what = "ValidationError: ".to_owned();
    let invalid = TransactFailed::Error(TableError::Invalid(what));
    assert_eq!(cancelled(&[PART_INVALID, "None"]), invalid);
}

#[test]
fn a_refused_write_returns_the_item_without_its_key() {
    let refusal = |item: Option<Attributes>| {
        let refusal = ConditionalCheckFailedException::builder()
            .set_item(item)
            .build();
        failed(service(UpdateItemError::ConditionalCheckFailedException(
            refusal,
        )))
    };
    let item = Item::new().with("v", 2u64);
    assert_eq!(refusal(Some(stored())), Failed::Refused(Some(item)));
    assert_eq!(refusal(None), Failed::Refused(None));
    let odd = Attributes::from([("odd".to_owned(), AttributeValue::Bool(true))]);
    let unreadable = TableError::Invalid("unreadable attribute odd".to_owned());
    assert_eq!(refusal(Some(odd)), Failed::Error(unreadable));
}

#[test]
fn an_item_of_nothing_but_its_key_is_an_item() {
    let key_only = item_attributes(&Key::new("ORD#1", "ORD"), Item::new());
    assert_eq!(found(Some(&key_only)), Ok(Some(Item::new())));
}

#[test]
fn a_conflict_is_told_from_an_invalid_request_and_from_no_answer() {
    let conflict = Failed::Error(TableError::Conflict);
    assert_eq!(failed(with_code(CONFLICT)), conflict);
    let invalid = TableError::Invalid("ValidationException: why".to_owned());
    assert_eq!(failed(with_code(INVALID)), Failed::Error(invalid));
    let throttled = TableError::Unavailable("ThrottlingException: why".to_owned());
    let failed = failed(with_code("ThrottlingException"));
    assert_eq!(failed, Failed::Error(throttled));
}
