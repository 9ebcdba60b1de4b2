//! Whole messages, read by somebody else's parser.

use std::sync::Arc;

use mail_parser::{MessageParser, MimeHeaders};
use onsale_app::ports::LetterWriter;
use onsale_domain::account::Email;
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, TEMPLATES};
use onsale_domain::mail::MailId;
use onsale_domain::password_reset::{ResetKeyId, ResetKeys};
use onsale_domain::time::Millis;
use onsale_mails::{MailWriter, Settings, render};

use crate::{BASE, samples};

fn keys() -> ResetKeys {
    ResetKeys::new(vec![(ResetKeyId(1), [7; 32])]).unwrap()
}

fn writer() -> MailWriter {
    MailWriter::new(Settings {
        sender: "Bühne & Co. <box@onsale.example>".parse().unwrap(),
        base_url: format!("{BASE}/"),
        language: Language::En,
        reset_keys: Some(Arc::new(keys())),
    })
}

fn composed(letter: onsale_domain::letter::Letter, language: Language) -> Composed {
    Composed {
        to: Email::parse("ana@example.org").unwrap(),
        language,
        letter,
        templates: TEMPLATES,
        at: Millis(1_800_000_000_000),
        head: None,
    }
}

#[test]
fn every_mail_arrives_as_it_was_meant_and_is_the_same_each_time() {
    for (name, letter) in samples::all() {
        for language in Language::ALL {
            let id = MailId::stored(format!("{name}:acc_1"));
            let token = |reset| keys().token(reset).to_string();
            let expected = render(&letter, language, BASE, token);
            let composed = composed(letter.clone(), language);
            let raw = writer().message(&id, &composed).unwrap();
            assert_eq!(raw, writer().message(&id, &composed).unwrap(), "{name}");
            assert!(
                raw.is_ascii() && raw.split("\r\n").all(|line| line.len() <= 78),
                "{name}"
            );
            let read = MessageParser::default().parse(raw.as_bytes()).unwrap();
            assert_eq!(read.subject(), Some(expected.subject.as_str()), "{name}");
            let unix =
                |text: Option<std::borrow::Cow<'_, str>>| text.unwrap().replace("\r\n", "\n");
            assert_eq!(unix(read.body_text(0)), expected.text, "{name}");
            assert_eq!(unix(read.body_html(0)), expected.html, "{name}");
            let from = read.from().unwrap().first().unwrap();
            assert_eq!(from.name(), Some("Bühne & Co."), "{name}");
            let pdfs = usize::from(name == "confirmation");
            assert_eq!(read.attachment_count(), pdfs, "{name}");
            if let Some(pdf) = read.attachment(0) {
                assert!(pdf.contents().starts_with(b"%PDF-"), "{name}");
                assert!(pdf.attachment_name().unwrap().ends_with(".pdf"), "{name}");
            }
        }
    }
}

/// Another sender, another address of the platform and another key, as after years.
#[test]
fn a_stored_letter_is_written_again_after_the_settings_have_changed() {
    let later = MailWriter::new(Settings {
        sender: "Another Box <new@elsewhere.example>".parse().unwrap(),
        base_url: "https://elsewhere.example".into(),
        language: Language::De,
        reset_keys: Some(Arc::new(
            ResetKeys::new(vec![(ResetKeyId(2), [8; 32]), (ResetKeyId(1), [7; 32])]).unwrap(),
        )),
    });
    for (name, letter) in samples::all() {
        let id = MailId::stored(format!("{name}:acc_1"));
        let head = writer().letterhead(&letter);
        let stored = Composed {
            head,
            ..composed(letter, Language::En)
        };
        let text = serde_json::to_string(&stored).unwrap();
        let stored: Composed = serde_json::from_str(&text).unwrap();
        let then = writer().message(&id, &stored).unwrap();
        assert_eq!(later.message(&id, &stored).unwrap(), then, "{name}");
        let today = Composed {
            head: None,
            ..stored
        };
        assert_ne!(later.message(&id, &today).unwrap(), then, "{name}");
    }
}

#[test]
fn an_address_beyond_ascii_is_refused() {
    let (_, letter) = samples::all().remove(1);
    let mut composed = composed(letter, Language::En);
    composed.to = Email::parse("zoë@example.org").unwrap();
    let refused = writer().message(&MailId::stored("x"), &composed);
    assert!(refused.is_err());
}
