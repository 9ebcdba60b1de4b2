//! The table of the template has the shape that the store needs.

use onsale_store::SCHEMA;
use onsale_table::{Index, Projection};

use crate::places::wiring;

/// An index in the words of the template.
fn declared(index: &Index) -> (String, [&'static str; 2], &'static str) {
    let projection = match index.projection {
        Projection::Keys => "KEYS_ONLY",
        Projection::All => "ALL",
    };
    (index.name.to_owned(), [index.pk, index.sk], projection)
}

#[test]
fn the_template_declares_the_indexes_and_the_time_to_live_of_the_schema() {
    let table = wiring().table.unwrap();
    let found: Vec<_> = table
        .indexes
        .iter()
        .map(|index| {
            let keys = [index.keys[0].0.as_str(), index.keys[1].0.as_str()];
            (index.name.clone(), keys, index.projection.as_str())
        })
        .collect();
    let wanted: Vec<_> = SCHEMA.indexes.iter().map(declared).collect();
    assert_eq!(found, wanted);
    assert_eq!(table.ttl_attribute.as_deref(), Some(SCHEMA.forget_at));
}
