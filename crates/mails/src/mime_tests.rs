use super::*;
use mail_parser::{MessageParser, MimeHeaders};
use proptest::prelude::*;

fn sender() -> Sender {
    "Onsale <tickets@onsale.example>".parse().unwrap()
}

fn message(subject: &str, text: &str, html: &str, pdf: &[u8]) -> String {
    let attachment = Attachment {
        file_name: "tickets.pdf".to_owned(),
        content_type: "application/pdf",
        bytes: pdf.to_vec(),
    };
    Message {
        from: &sender(),
        to: &Email::parse("ana@example.org").unwrap(),
        subject,
        at: Millis(1_800_000_000_000),
        token: "0123456789abcdef",
        language: "en",
        text,
        html,
        attachments: &[attachment],
    }
    .write()
}

fn check_wire(raw: &str) {
    assert!(raw.is_ascii());
    assert!(!raw.replace("\r\n", "").contains(['\r', '\n']));
    for line in raw.split("\r\n") {
        assert!(line.len() <= 78, "{line}");
    }
}

#[test]
fn another_reader_finds_what_was_written() {
    let html = "<p>Größe &amp; 東京 🎟</p>\n";
    let raw = message(
        "Grüße aus 東京: Night Flight",
        "Größe = ja\n.\nFrom me\n",
        html,
        b"%PDF\0\xff",
    );
    check_wire(&raw);
    let read = MessageParser::default().parse(raw.as_bytes()).unwrap();
    assert_eq!(read.subject(), Some("Grüße aus 東京: Night Flight"));
    assert_eq!(
        read.body_text(0).unwrap().replace("\r\n", "\n"),
        "Größe = ja\n.\nFrom me\n"
    );
    assert_eq!(read.body_html(0).unwrap().replace("\r\n", "\n"), html);
    assert_eq!(read.attachment_count(), 1);
    let attached = read.attachment(0).unwrap();
    assert_eq!(attached.attachment_name(), Some("tickets.pdf"));
    assert_eq!(attached.contents(), b"%PDF\0\xff");
    let from = read.from().unwrap().first().unwrap();
    assert_eq!(from.name(), Some("Onsale"));
    assert_eq!(from.address(), Some("tickets@onsale.example"));
    assert_eq!(
        read.to().unwrap().first().unwrap().address(),
        Some("ana@example.org")
    );
    assert_eq!(read.date().unwrap().to_timestamp(), 1_800_000_000);
    assert_eq!(read.message_id(), Some("0123456789abcdef@onsale.example"));
}

#[test]
fn no_subject_begins_another_header() {
    let raw = message(
        "Night\r\nBcc: thief@example.org\r\n\r\nbody",
        "t\n",
        "h\n",
        b"",
    );
    let read = MessageParser::default().parse(raw.as_bytes()).unwrap();
    assert!(read.bcc().is_none());
    assert_eq!(read.subject(), Some("Night Bcc: thief@example.org body"));
    assert_eq!(raw.matches("\r\nBcc").count(), 0);
}

#[test]
fn a_sender_is_a_name_and_an_address() {
    let plain: Sender = "box@onsale.example".parse().unwrap();
    assert_eq!(plain.name, "Onsale");
    let named: Sender = "Bühne, \"Nord\" <box@onsale.example>".parse().unwrap();
    assert_eq!(named.name, "Bühne, \"Nord\"");
    for wrong in [
        "",
        "box",
        "a <b",
        "x <y@z.example> trailing",
        "bücher <ü@z.example>",
    ] {
        assert!(wrong.parse::<Sender>().is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn any_text_comes_back(subject in "\\PC{1,120}", text in "(\\PC{0,200}\n){0,5}", pdf in any::<Vec<u8>>()) {
        let raw = message(&subject, &text, "<p>x</p>\n", &pdf);
        check_wire(&raw);
        let read = MessageParser::default().parse(raw.as_bytes()).unwrap();
        prop_assert_eq!(read.subject().unwrap_or_default(), line(&subject, 250));
        prop_assert_eq!(read.body_text(0).unwrap_or_default().replace("\r\n", "\n"), text);
        prop_assert_eq!(read.attachment(0).unwrap().contents(), pdf.as_slice());
    }
}
