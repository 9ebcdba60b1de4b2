//! `docs/EVENTS.md` is what readers of the bus build on: every example in it is exactly
//! what the code writes, and every event has one.

use std::collections::BTreeSet;

use onsale_domain::announcement::{Announcement, KINDS, VERSION};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../docs/EVENTS.md");

fn examples() -> Vec<(&'static str, Value)> {
    let sections = DOCUMENT.split("\n## ").skip(1);
    let example = |section: &'static str| {
        let (name, rest) = section.split_once('\n').unwrap();
        let (_, json) = rest.split_once("```json\n").unwrap();
        let (json, _) = json.split_once("```").unwrap();
        (name, serde_json::from_str(json).unwrap())
    };
    sections.map(example).collect()
}

#[test]
fn every_example_is_what_the_code_writes() {
    for (name, example) in examples() {
        let read: Announcement = serde_json::from_value(example.clone()).unwrap();
        assert_eq!(read.news.kind(), name);
        assert_eq!(read.version, VERSION);
        assert!(read.id.starts_with(&format!("{name}:")), "{}", read.id);
        assert_eq!(serde_json::to_value(&read).unwrap(), example, "{name}");
    }
}

#[test]
fn every_event_has_an_example() {
    let shown: BTreeSet<_> = examples().into_iter().map(|(name, _)| name).collect();
    assert_eq!(shown, BTreeSet::from(KINDS));
}
