//! What every button says, where it leads, and what has to be there: in
//! `crates/mails/buttons.json`, for the test that follows the buttons in a browser.
//! `ONSALE_WRITE_GOLDEN=1 cargo test -p onsale-mails buttons` writes the file anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use onsale_domain::language::Language;
use onsale_domain::letter::Letter;
use onsale_mails::Rendered;
use onsale_mails::links::{Control, PROMISES};
use serde_json::{Map, Value, json};

use crate::{BASE, fits, rendered, samples};

fn kind(letter: &Letter) -> String {
    let stored = serde_json::to_value(letter).unwrap();
    stored["kind"].as_str().unwrap().to_owned()
}

/// The label of the button and the path that it leads to.
fn button(mail: &Rendered) -> (String, String) {
    let (_, rest) = mail.html.split_once("<a class=\"button\" href=\"").unwrap();
    let (href, rest) = rest.split_once('"').unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
    let (label, _) = rest.split_once("</a>").unwrap();
    (
        label.to_owned(),
        href.strip_prefix(BASE).unwrap().to_owned(),
    )
}

fn control(control: Control) -> Value {
    match control {
        Control::Button(name) => json!({"role": "button", "name": name}),
        Control::Picture(name) => json!({"role": "img", "name": name}),
        Control::Heading(name) => json!({"role": "heading", "name": name}),
        Control::EventTitle => json!({"text": "the title of the event"}),
    }
}

#[test]
fn every_button_leads_where_its_letter_promised() {
    let mut kinds = BTreeSet::new();
    let mut listed = Vec::new();
    for (name, letter) in samples::all() {
        let kind = kind(&letter);
        let promise = PROMISES.iter().find(|promise| promise.letter == kind);
        let promise = promise.unwrap_or_else(|| panic!("{name}: no promise of {kind}"));
        let mut labels = Map::new();
        for language in Language::ALL {
            let (label, path) = button(&rendered(&letter, language));
            assert!(fits(&path, promise.page), "{name}: {path}");
            labels.insert(language.to_string(), label.into());
        }
        // A letter of several reasons has one button.
        if kinds.insert(kind.clone()) {
            listed.push(
                json!({"letter": kind, "button": labels, "page": promise.page,
                "control": control(promise.control)}),
            );
        }
    }
    assert_eq!(kinds.len(), PROMISES.len(), "a promise without a letter");

    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("buttons.json");
    let text = serde_json::to_string_pretty(&listed).unwrap() + "\n";
    if std::env::var_os("ONSALE_WRITE_GOLDEN").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(known, text, "buttons.json has changed");
}

/// A letter that names a time to act by names the zone of the venue with it.
#[test]
fn whatever_is_reserved_until_a_time_says_in_which_zone() {
    for (name, letter) in samples::all() {
        let acts = matches!(
            letter,
            Letter::Decline { .. } | Letter::Offer { .. } | Letter::YourTurn { .. }
        );
        for language in Language::ALL {
            let text = rendered(&letter, language).text.replace("\n  ", " ");
            let until = text.lines().filter(|line| line.contains("12:30"));
            let until: Vec<_> = until.collect();
            assert_eq!(until.len(), usize::from(acts), "{name}: {text}");
            for line in until {
                assert!(line.ends_with("CEST (Europe/Berlin)"), "{name}: {line}");
            }
        }
    }
}
