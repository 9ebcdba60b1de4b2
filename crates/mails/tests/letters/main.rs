//! Every mail in every language: nothing missing, no link that leads nowhere, and exactly
//! the texts that were agreed on.

#![allow(clippy::unwrap_used)]

mod buttons;
mod golden;
mod samples;
mod whole;

use std::collections::BTreeSet;

use onsale_domain::language::Language;
use onsale_domain::letter::Letter;
use onsale_mails::links::PAGES;
use onsale_mails::{Rendered, render};

pub(crate) const BASE: &str = "https://onsale.example";

pub(crate) fn rendered(letter: &Letter, language: Language) -> Rendered {
    render(letter, language, BASE, |_| "t0ken".to_owned())
}

/// Whether a path fits a pattern such as `/orders/{order}`.
fn fits(path: &str, pattern: &str) -> bool {
    let (path, pattern): (Vec<_>, Vec<_>) =
        (path.split('/').collect(), pattern.split('/').collect());
    path.len() == pattern.len()
        && path
            .iter()
            .zip(&pattern)
            .all(|(part, wanted)| wanted.starts_with('{') && !part.is_empty() || part == wanted)
}

/// Every address in a text.
fn links(text: &str) -> BTreeSet<&str> {
    let ends = |c: char| c.is_whitespace() || "\"<>'".contains(c);
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    let links = starts.map(|rest| rest.split(ends).next().unwrap());
    links.filter(|link| link.contains("://")).collect()
}

#[test]
fn nothing_is_missing_in_any_mail() {
    for (name, letter) in samples::all() {
        for language in Language::ALL {
            let Rendered {
                subject,
                text,
                html,
            } = rendered(&letter, language);
            let note = format!("{name} in {language}");
            for part in [&subject, &text] {
                for wrong in ["{", "}", "None", "Some(", "#", "\u{fffd}", "null"] {
                    assert!(!part.contains(wrong), "{note}: {wrong} in {part}");
                }
                assert!(!part.trim().is_empty(), "{note}");
            }
            let (_, body) = html.split_once("</style>").unwrap();
            for wrong in [
                "{",
                "}",
                "None",
                "Some(",
                "<p></p>",
                "<td></td>",
                "></th>",
                "href=\"\"",
            ] {
                assert!(!body.contains(wrong), "{note}: {wrong} in {body}");
            }
            assert!(subject.chars().count() < 130, "{note}: {subject}");
            assert!(!subject.contains('\n'), "{note}");
            // A label without a value, or a value without a label.
            for line in text.lines() {
                assert!(
                    !line.ends_with(": ") && !line.starts_with(": "),
                    "{note}: {line}"
                );
            }
            assert!(
                html.contains(&format!("<html lang=\"{language}\"")),
                "{note}"
            );
        }
    }
}

#[test]
fn the_languages_say_different_words_about_the_same_facts() {
    for (name, letter) in samples::all() {
        let mails = Language::ALL.map(|language| rendered(&letter, language));
        let [english, translations @ ..] = &mails;
        for (i, translation) in translations.iter().enumerate() {
            let note = format!("{name} in {}", Language::ALL[i + 1]);
            assert_ne!(english.subject, translation.subject, "{note}");
            assert_eq!(links(&english.text), links(&translation.text), "{note}");
            // A paragraph that was copied and not translated.
            for line in english.text.lines().filter(|line| line.len() > 60) {
                assert!(
                    line.starts_with("http") || !translation.text.contains(line),
                    "{note}: {line}"
                );
            }
        }
    }
}

/// A colon at the beginning of a line would be read as part of the next sentence.
#[test]
fn french_keeps_its_punctuation_on_the_line_of_its_word() {
    for (name, letter) in samples::all() {
        let mail = rendered(&letter, Language::Fr);
        for part in [&mail.subject, &mail.text] {
            for wrong in [" :", " ;", " !", " ?"] {
                assert!(!part.contains(wrong), "{name}: {wrong} in {part}");
            }
        }
        let labels = mail.text.lines().filter_map(|line| line.split_once(": "));
        for (label, _) in labels {
            assert!(label.ends_with('\u{a0}'), "{name}: {label}");
        }
    }
}

#[test]
fn every_link_leads_to_a_page_and_both_parts_have_the_same() {
    let mut seen = BTreeSet::new();
    for (name, letter) in samples::all() {
        for language in Language::ALL {
            let mail = rendered(&letter, language);
            let (in_text, in_html) = (links(&mail.text), links(&mail.html));
            assert_eq!(in_text, in_html, "{name} in {language}");
            assert!(!in_text.is_empty(), "{name} in {language}");
            for link in in_text {
                let path = link
                    .strip_prefix(BASE)
                    .unwrap_or_else(|| panic!("{name}: {link}"));
                let page = PAGES.iter().find(|page| fits(path, page));
                seen.insert(*page.unwrap_or_else(|| panic!("{name}: no page for {path}")));
            }
        }
    }
    // And no page is in the list that no mail leads to.
    assert_eq!(seen, BTreeSet::from(PAGES));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    for (name, letter) in samples::all() {
        let html = rendered(&letter, Language::En).html.to_lowercase();
        for wrong in [
            "<img", "<script", "<link", "url(", "@import", "<iframe", "onload", "src=",
        ] {
            assert!(!html.contains(wrong), "{name}: {wrong}");
        }
    }
}

#[test]
fn a_sender_whose_name_is_a_link_is_told_without_it() {
    let named = |name: &str| {
        let all = samples::with_texts("Night Flight", name);
        let mut transfers = all.into_iter().filter(|(kind, _)| kind == "transfer");
        rendered(&transfers.next().unwrap().1, Language::En)
    };
    let mail = named("Ana https://evil.example/win");
    assert!(mail.text.contains("Ana wants to give"), "{}", mail.text);
    let mail = named("www.evil.example");
    assert!(
        mail.text.contains("Somebody wants to give"),
        "{}",
        mail.text
    );
    assert!(!mail.html.contains("evil"), "{}", mail.html);
}

#[test]
fn what_strangers_wrote_is_text_and_nothing_else() {
    let wild = "<b>x</b>\" onclick='y'\r\nBcc: thief@example.org\u{202e}& {title}";
    for (name, letter) in samples::with_text(wild) {
        for language in Language::ALL {
            let mail = rendered(&letter, language);
            assert!(!mail.html.contains("<b>"), "{name}");
            assert!(!mail.html.contains("onclick='"), "{name}");
            assert!(!mail.text.contains("\nBcc"), "{name}: {}", mail.text);
            assert!(!mail.subject.contains(['\r', '\n', '\u{202e}']), "{name}");
            assert!(!mail.text.contains('\u{202e}'), "{name}");
        }
    }
    let endless = "ü".repeat(5_000);
    for (name, letter) in samples::with_text(&endless) {
        let subject = rendered(&letter, Language::De).subject;
        assert!(subject.chars().count() < 140, "{name}: {}", subject.len());
    }
}
