//! When a condition holds, and what a refusal reports.

use std::collections::BTreeSet;

use onsale_table::{Condition, Failed, Item, Table, Update, Value};

use crate::engine::{key, on_every_engine, put, stored};

on_every_engine!(
    conditions_on_existence_hold_as_named,
    conditions_on_a_number_compare_by_size,
    conditions_on_texts_and_bytes_compare_byte_by_byte,
    a_comparison_never_holds_for_a_missing_attribute_or_another_kind,
    conditions_on_sets_count_and_look_up_elements,
    sizes_of_texts_and_bytes_are_their_lengths,
    conditions_combine,
    a_refusal_writes_nothing_and_returns_the_item,
    a_refusal_without_an_item_returns_none,
);

/// Checks which conditions hold for the item, by updates that they allow or refuse.
async fn check(table: &dyn Table, item: Option<Item>, holding: &[Condition], not: &[Condition]) {
    let key = key("A#1", "a");
    if let Some(item) = &item {
        put(table, &key, item.clone()).await;
    }
    for (conditions, holds) in [(not, false), (holding, true)] {
        for condition in conditions {
            let touched = Update::when(condition.clone()).set("touched", "yes");
            let result = table.update(&key, &touched).await;
            match holds {
                true => assert_eq!(result, Ok(()), "{condition:?}"),
                false => assert_eq!(result, Err(Failed::Refused(item.clone())), "{condition:?}"),
            }
            table.delete(&key).await.unwrap();
            if let Some(item) = &item {
                put(table, &key, item.clone()).await;
            }
        }
    }
}

fn element(name: &'static str, element: &str) -> Condition {
    Condition::Contains(name.into(), element.to_owned())
}

fn smaller(name: &'static str, limit: u64) -> Condition {
    Condition::SmallerThan(name.into(), limit)
}

fn set(elements: &[&str]) -> Value {
    let elements: BTreeSet<String> = elements.iter().map(|e| (*e).to_owned()).collect();
    Value::Texts(elements)
}

async fn conditions_on_existence_hold_as_named(table: &dyn Table) {
    let of_none = [Condition::New, Condition::lacks("a")];
    let of_one = [
        Condition::Exists,
        Condition::has("a"),
        Condition::lacks("b"),
    ];
    let not_of_one = [Condition::New, Condition::lacks("a"), Condition::has("b")];
    check(
        table,
        None,
        &of_none,
        &[Condition::Exists, Condition::has("a")],
    )
    .await;
    check(
        table,
        Some(Item::new().with("a", 1u64)),
        &of_one,
        &not_of_one,
    )
    .await;
}

async fn conditions_on_a_number_compare_by_size(table: &dyn Table) {
    let item = Item::new().with("n", 10u64).with("low", -5i64);
    let holding = [
        Condition::equal("n", 10u64),
        Condition::below("n", 11u64),
        Condition::at_most("n", 10u64),
        Condition::at_most("n", u64::MAX),
        Condition::above("n", 9u64),
        Condition::above("n", i64::MIN),
        Condition::below("low", -4i64),
        Condition::above("low", -50i64),
    ];
    let not = [
        Condition::equal("n", 1u64),
        Condition::below("n", 10u64),
        Condition::below("n", 9u64),
        Condition::at_most("n", 9u64),
        Condition::above("n", 10u64),
        Condition::below("low", -5i64),
    ];
    check(table, Some(item), &holding, &not).await;
}

async fn conditions_on_texts_and_bytes_compare_byte_by_byte(table: &dyn Table) {
    let item = Item::new().with("t", "\u{ffff}").with("b", vec![1u8, 2]);
    let holding = [
        Condition::equal("t", "\u{ffff}"),
        Condition::below("t", "\u{1d11e}"),
        Condition::above("t", "zz"),
        Condition::equal("b", vec![1u8, 2]),
        Condition::below("b", vec![1u8, 2, 0]),
        Condition::at_most("b", vec![1u8, 2]),
        Condition::above("b", vec![1u8]),
    ];
    let not = [
        Condition::above("t", "\u{1d11e}"),
        Condition::below("b", vec![1u8]),
        Condition::equal("b", vec![2u8, 1]),
    ];
    check(table, Some(item), &holding, &not).await;
}

async fn a_comparison_never_holds_for_a_missing_attribute_or_another_kind(table: &dyn Table) {
    let item = Item::new().with("n", "3").with("b", vec![3u8]);
    let mut not = Vec::new();
    for name in ["n", "b", "missing"] {
        not.push(Condition::equal(name, 3u64));
        not.push(Condition::below(name, 4u64));
        not.push(Condition::at_most(name, 3u64));
        not.push(Condition::above(name, 2u64));
        not.push(element(name, "3"));
    }
    not.push(smaller("missing", 100));
    check(table, Some(item), &[], &not).await;
    table.delete(&key("A#1", "a")).await.unwrap();
    check(table, None, &[], &not).await;
}

async fn conditions_on_sets_count_and_look_up_elements(table: &dyn Table) {
    let item = Item::new().with("s", set(&["one", "two"])).with("n", 1u64);
    let holding = [
        smaller("s", 3),
        element("s", "one"),
        Condition::equal("s", set(&["two", "one"])),
    ];
    let not = [
        smaller("s", 2),
        element("s", "three"),
        Condition::equal("s", set(&["one"])),
        // Numbers have no size.
        smaller("n", 100),
    ];
    check(table, Some(item), &holding, &not).await;
}

async fn sizes_of_texts_and_bytes_are_their_lengths(table: &dyn Table) {
    let item = Item::new().with("t", "abc").with("b", vec![0u8; 4]);
    let holding = [smaller("t", 4), smaller("b", 5)];
    check(
        table,
        Some(item),
        &holding,
        &[smaller("t", 3), smaller("b", 4)],
    )
    .await;
}

async fn conditions_combine(table: &dyn Table) {
    let yes = || Condition::has("a");
    let no = || Condition::has("b");
    let holding = [
        yes().and(yes()),
        yes().or(no()),
        no().or(yes().and(no().or(yes()))),
        Condition::All(vec![yes(), yes(), yes()]),
        Condition::Any(vec![no(), no(), yes()]),
    ];
    let not = [
        yes().and(no()),
        no().or(no()),
        Condition::All(vec![yes(), no().or(no())]),
    ];
    check(table, Some(Item::new().with("a", 1u64)), &holding, &not).await;
}

async fn a_refusal_writes_nothing_and_returns_the_item(table: &dyn Table) {
    let key = key("A#1", "a");
    let item = Item::new().with("n", 1u64).with("s", set(&["one"]));
    put(table, &key, item.clone()).await;
    let refused = Err(Failed::Refused(Some(item.clone())));
    assert_eq!(table.put_new(&key, Item::new()).await, refused);
    let update = Update::when(Condition::New).set("n", 2u64);
    assert_eq!(table.update(&key, &update).await, refused);
    let returned = table.update_returning(&key, &update).await;
    assert_eq!(returned, Err(Failed::Refused(Some(item.clone()))));
    assert_eq!(stored(table, &key).await, Some(item));
}

async fn a_refusal_without_an_item_returns_none(table: &dyn Table) {
    let key = key("A#1", "a");
    let update = Update::when(Condition::Exists).set("n", 2u64);
    assert_eq!(
        table.update(&key, &update).await,
        Err(Failed::Refused(None))
    );
    assert_eq!(stored(table, &key).await, None);
}
