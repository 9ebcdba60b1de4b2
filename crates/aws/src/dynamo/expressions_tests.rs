//! The exact expressions of the writes that Onsale makes.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::*;

fn condition(condition: &Condition) -> Expressions {
    Expressions::of_condition(Some(condition))
}

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

#[test]
fn a_claim_of_two_cells_sends_the_cell_and_the_horizon_once() {
    let free = |cell: &'static str| Condition::lacks(cell).or(Condition::below(cell, [7u8]));
    let closed = Condition::lacks("x");
    let claim = Update::when(closed.and(free("c00")).and(free("c01")))
        .set("c00", [9u8])
        .set("c01", [9u8]);
    let claim = Expressions::of_update(&claim);
    assert_eq!(claim.update.as_deref(), Some("SET #n0 = :v0, #n1 = :v0"));
    assert_eq!(
        claim.condition.as_deref(),
        Some(
            "attribute_not_exists(#n2) AND (attribute_not_exists(#n0) OR #n0 < :v1) \
             AND (attribute_not_exists(#n1) OR #n1 < :v1)"
        )
    );
    let names = [("#n0", "c00"), ("#n1", "c01"), ("#n2", "x")];
    let names = names.map(|(placeholder, name)| (placeholder.to_owned(), name.to_owned()));
    assert_eq!(claim.names, Some(HashMap::from(names)));
    let values = [(":v0", [9u8]), (":v1", [7u8])];
    let values = values.map(|(v, bytes)| (v.to_owned(), AttributeValue::B(Blob::new(bytes))));
    assert_eq!(claim.values, Some(HashMap::from(values)));
}

#[test]
fn a_versioned_replacement_compares_the_version_that_was_read() {
    let replacement = Update::when(Condition::equal("v", 3u64))
        .set("v", 4u64)
        .set("doc", "{}")
        .remove("lst");
    let replacement = Expressions::of_update(&replacement);
    assert_eq!(
        replacement.update.as_deref(),
        Some("SET #n0 = :v0, #n1 = :v1 REMOVE #n2")
    );
    assert_eq!(replacement.condition.as_deref(), Some("#n0 = :v2"));
    let values = replacement.values.unwrap();
    assert_eq!(values[":v0"], number(4));
    assert_eq!(values[":v1"], AttributeValue::S("{}".to_owned()));
    assert_eq!(values[":v2"], number(3));
}

#[test]
fn a_device_has_room_for_an_account_or_knows_it() {
    let accounts = Name::from("accs");
    let room = Condition::SmallerThan(accounts.clone(), 3);
    let known = Condition::Contains(accounts, "a1".to_owned());
    let open = Condition::above("forget_at", 50u64).and(room.or(known));
    let device = Update::when(Condition::lacks("forget_at").or(open)).insert("accs", "a1");
    let device = Expressions::of_update(&device);
    assert_eq!(device.update.as_deref(), Some("ADD #n0 :v0"));
    assert_eq!(
        device.condition.as_deref(),
        Some(
            "attribute_not_exists(#n1) OR (#n1 > :v1 \
             AND (size(#n0) < :v2 OR contains(#n0, :v3)))"
        )
    );
    let values = device.values.unwrap();
    assert_eq!(values[":v0"], AttributeValue::Ss(vec!["a1".to_owned()]));
    assert_eq!(values[":v2"], number(3));
    assert_eq!(values[":v3"], AttributeValue::S("a1".to_owned()));
}

#[test]
fn the_clauses_are_set_remove_and_add_whatever_the_order_of_the_actions() {
    let update = Update::always()
        .add("n", -2)
        .remove("old")
        .set_if_missing("at", 5u64);
    let update = Expressions::of_update(&update);
    assert_eq!(
        update.update.as_deref(),
        Some("SET #n2 = if_not_exists(#n2, :v1) REMOVE #n1 ADD #n0 :v0")
    );
    assert_eq!(update.condition, None);
    assert_eq!(
        update.values.unwrap()[":v0"],
        AttributeValue::N("-2".to_owned())
    );
}

#[test]
fn an_update_without_actions_has_no_update_expression() {
    let update = Expressions::of_update(&Update::when(Condition::Exists));
    assert_eq!(update.update, None);
    assert_eq!(update.condition.as_deref(), Some("attribute_exists(pk)"));
    assert_eq!((update.names, update.values), (None, None));
}

#[test]
fn an_empty_all_is_no_condition_and_an_empty_any_never_holds() {
    assert_eq!(condition(&Condition::All(Vec::new())).condition, None);
    assert_eq!(
        condition(&Condition::Any(Vec::new())).condition.as_deref(),
        Some("attribute_exists(pk) AND attribute_not_exists(pk)")
    );
}

#[test]
fn a_condition_that_always_holds_leaves_no_placeholder_behind() {
    let always = Condition::below("n", 3u64).or(Condition::All(Vec::new()));
    let nothing = condition(&always);
    assert_eq!(nothing.condition, None);
    assert_eq!((nothing.names, nothing.values), (None, None));
    let both = condition(&Condition::New.and(always));
    assert_eq!(both.condition.as_deref(), Some("attribute_not_exists(pk)"));
    assert_eq!((both.names, both.values), (None, None));
}

#[test]
fn no_parentheses_stand_directly_around_others() {
    let either = Condition::Exists.or(Condition::Any(Vec::new()));
    let nested = Condition::All(vec![Condition::Any(vec![either]), Condition::has("a")]);
    assert_eq!(
        condition(&nested).condition.as_deref(),
        Some(
            "(attribute_exists(pk) OR (attribute_exists(pk) AND attribute_not_exists(pk))) \
             AND attribute_exists(#n0)"
        )
    );
}

#[test]
fn an_empty_set_is_not_sent() {
    let empty = || Value::Texts(BTreeSet::new());
    let update = Update::when(Condition::equal("s", empty()))
        .set("s", empty())
        .set_if_missing("t", empty());
    let update = Expressions::of_update(&update);
    assert_eq!(update.update.as_deref(), Some("REMOVE #n0"));
    assert_eq!(update.condition.as_deref(), Some(NEVER));
    assert_eq!(update.values, None);
}
