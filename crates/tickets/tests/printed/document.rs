//! The document as a whole: its pages, its meaning to a screen reader, its fonts, and
//! texts of every kind.

use crate::sample::page;
use onsale_domain::language::Language;
use onsale_tickets::{MAX_PAGES, PdfError, QrError, TicketPage, pdf};
use proptest::prelude::*;
use std::process::Command;

fn count(document: &[u8], what: &str) -> usize {
    document
        .windows(what.len())
        .filter(|window| *window == what.as_bytes())
        .count()
}

fn has(document: &[u8], what: &str) -> bool {
    count(document, what) > 0
}

#[test]
fn every_ticket_has_a_page() {
    for tickets in [1, 2, 7] {
        let pages: Vec<_> = (0..tickets).map(page).collect();
        let document = pdf(&pages, Language::En).unwrap();
        assert!(document.starts_with(b"%PDF-1.7"));
        assert!(has(&document, &format!("/Count {tickets}")));
        assert_eq!(
            count(&document, "/Type/Page/") + count(&document, "/Type /Page\n"),
            usize::from(tickets)
        );
    }
}

#[test]
fn a_screen_reader_finds_title_language_headings_and_the_code() {
    let mut second = page(1);
    second.seat = Some("35".into());
    let document = pdf(&[page(0), second], Language::En).unwrap();
    assert!(has(&document, "<pdfuaid:part>1</pdfuaid:part>"));
    assert!(has(&document, "2 tickets: The Night Trains: Farewell Tour"));
    assert!(has(&document, "/Lang(en)") || has(&document, "/Lang (en)"));
    assert!(has(&document, "/Marked true"));
    assert!(has(&document, "/DisplayDocTitle true"));
    assert_eq!(count(&document, "/S/H1") + count(&document, "/S /H1"), 2);
    assert_eq!(
        count(&document, "/S/Figure") + count(&document, "/S /Figure"),
        2
    );
    assert!(has(
        &document,
        &format!("QR code of ticket {}", page(0).ticket_id)
    ));
    assert!(has(&document, "Balcony, row 12, seat 35"), "the outline");
}

#[test]
fn a_ticket_speaks_the_language_of_its_owner() {
    let mut standing = page(1);
    (standing.row, standing.seat) = (None, None);
    let pages = [page(0), standing];
    for (language, said) in [
        (
            Language::En,
            [
                "2 tickets: The",
                "Section",
                "Row",
                "Free choice",
                "Show this code",
            ],
        ),
        (
            Language::De,
            [
                "2 Tickets: The",
                "Bereich",
                "Reihe",
                "Freie Platzwahl",
                "Zeigen Sie",
            ],
        ),
        (
            Language::Fr,
            [
                "2 billets\u{a0}: The",
                "Zone",
                "Rang",
                "Placement libre",
                "Présentez",
            ],
        ),
        (
            Language::Es,
            [
                "2 entradas: The",
                "Zona",
                "Fila",
                "Sin numerar",
                "Muestre este",
            ],
        ),
    ] {
        let document = pdf(&pages, language).unwrap();
        let [title, printed @ ..] = said;
        assert!(has(&document, title), "{title}");
        let tag = format!("/Lang({language})");
        assert!(has(&document, &tag) || has(&document, &tag.replace('(', " (")));
        if let Some(text) = copied(&document) {
            for said in printed {
                assert!(text.contains(said), "{said} in {text}");
            }
        }
    }
}

#[test]
fn fonts_are_embedded_in_the_parts_that_are_used() {
    let mut chinese = page(0);
    chinese.event = "上海之夜".into();
    let document = pdf(&[chinese], Language::En).unwrap();
    for font in [
        "+NotoSans-Regular",
        "+NotoSans-Bold",
        "+NotoSansCJKsc-Regular",
    ] {
        assert!(has(&document, font), "{font}");
    }
    assert!(has(&document, "/FontFile2") && has(&document, "/FontFile3"));
    assert!(document.len() < 60_000, "{} bytes", document.len());
}

/// What a viewer copies from the document, in the order in which it is read; `None` where
/// there is no viewer.
#[allow(clippy::unwrap_used)] // a helper that fails fails its test
fn copied(document: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tickets.pdf"), document).unwrap();
    let read = Command::new("pdftotext")
        .args(["-enc", "UTF-8", "tickets.pdf", "-"])
        .current_dir(folder.path())
        .output();
    let Ok(read) = read else {
        eprintln!(
            "SKIPPED: pdftotext is missing. On Debian and Ubuntu: apt-get install poppler-utils"
        );
        return None;
    };
    assert!(read.status.success());
    // It marks what runs from right to left.
    let marks = ['\u{202a}', '\u{202b}', '\u{202c}'];
    Some(String::from_utf8(read.stdout).unwrap().replace(marks, ""))
}

const NAMES: [(&str, &str); 18] = [
    ("Arabic", "محمد علی\u{200c}رضا"),
    ("Armenian", "Մարտիրոս Սարյան"),
    ("Bengali", "রবীন্দ্রনাথ সেন"),
    ("Devanagari", "राजेन्द्र क्षीरसागर"),
    ("Ethiopic", "አበበ ቢቂላ"),
    ("Georgian", "ნინო ანანიაშვილი"),
    ("Gujarati", "નરસિંહ મહેતા"),
    ("Gurmukhi", "ਗੁਰੂ ਨਾਨਕ"),
    ("Hebrew", "דוד בן גוריון"),
    ("Kannada", "ಕುವೆಂಪು"),
    ("Khmer", "ស៊ីន ស៊ីសាមុត"),
    ("Lao", "ວຽງຈັນ"),
    ("Malayalam", "യേശുദാസ്"),
    ("Myanmar", "မြန်မာ"),
    ("Sinhala", "ශ්\u{200d}රී ලංකා"),
    ("Tamil", "கண்ணதாசன்"),
    ("Telugu", "త్యాగరాజు"),
    ("Thai", "สมศักดิ์"),
];

#[test]
fn names_in_every_script_have_a_font_and_are_copied_as_they_were_written() {
    for (script, name) in NAMES {
        let mut ticket = page(0);
        ticket.event = name.into();
        let document = pdf(&[ticket], Language::En).unwrap();
        let font = format!("+NotoSans{script}-Regular");
        assert!(has(&document, &font), "{script}");
        assert!(document.len() < 60_000, "{} bytes", document.len());
        if let Some(text) = copied(&document) {
            assert!(text.contains(name), "{script}: {text}");
            assert!(!text.contains('\u{fffd}'), "{script}: {text}");
        }
    }
}

#[test]
fn a_name_that_turns_around_does_not_turn_the_ticket_around() {
    for turn in ['\u{202e}', '\u{202b}', '\u{2067}', '\u{200f}'] {
        let (mut turned, mut plain) = (page(0), page(0));
        turned.holder = format!("{turn}Zoë 12");
        turned.venue = format!("Harbour{turn} Hall");
        plain.holder = "Zoë 12".into();
        assert_eq!(
            pdf(&[turned], Language::En),
            pdf(&[plain], Language::En),
            "{turn:?}"
        );
    }
}

#[test]
fn the_same_tickets_give_the_same_bytes() {
    assert_eq!(pdf(&[page(3)], Language::En), pdf(&[page(3)], Language::En));
}

#[test]
fn the_number_of_pages_is_bounded() {
    assert_eq!(pdf(&[], Language::En), Err(PdfError::PageCount(0)));
    let many = vec![page(0); MAX_PAGES + 1];
    assert_eq!(
        pdf(&many, Language::En),
        Err(PdfError::PageCount(MAX_PAGES + 1))
    );
    let most = pdf(&many[1..], Language::En).unwrap();
    assert!(most.len() < 1 << 20, "{} bytes", most.len());
}

#[test]
fn a_ticket_without_a_code_is_refused() {
    let mut revoked = page(0);
    revoked.code.clear();
    assert_eq!(
        pdf(&[revoked], Language::En),
        Err(PdfError::Code(QrError::Alphabet))
    );
}

#[test]
fn empty_and_endless_texts_still_make_a_page() {
    for text in [
        "",
        " \n\0",
        "a",
        &"W".repeat(100_000),
        &"中".repeat(50_000),
        "👩‍👩‍👧",
        "שלום",
        &"שלום 12 ".repeat(5_000),
        &"محمد".repeat(10_000),
        &"क्ष्".repeat(10_000),
        "ܫܠܡܐ 12 שלום 👩",
    ] {
        let page = TicketPage {
            event: text.into(),
            venue: text.into(),
            city: text.into(),
            starts_at_text: text.into(),
            section: text.into(),
            row: Some(text.into()),
            seat: Some(text.into()),
            price_text: text.into(),
            holder: text.into(),
            ticket_id: text.into(),
            code: page(0).code,
        };
        let written = pdf(std::slice::from_ref(&page), Language::En);
        assert!(written.is_ok(), "{text:.20}: {written:?}");
    }
}

/// Any text, and texts thick with what fonts and viewers stumble over.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\p{Latin}\\p{Greek}\\p{Cyrillic}\\p{Han}\\p{Hangul}\\p{Kana} ]{0,120}",
        "[\\p{Arabic}\\p{Hebrew}\\p{Syriac}0-9a-c ()\u{200c}\u{200d}\u{202e}\u{2067}]{0,120}",
        "[\\p{Devanagari}\\p{Bengali}\\p{Gujarati}\\p{Gurmukhi}\\p{Tamil}\\p{Telugu}\u{200d} ]{0,120}",
        "[\\p{Kannada}\\p{Malayalam}\\p{Sinhala}\\p{Thai}\\p{Lao}\\p{Khmer}\\p{Myanmar}\u{200c} ]{0,120}",
        "[\\p{Armenian}\\p{Georgian}\\p{Ethiopic}\\p{Tibetan} ]{0,120}",
        "[\\p{M}\\p{Cf}\\p{Cc}\\p{Z}a-c\u{1100}-\u{11ff}]{0,60}",
    ]
}

proptest! {
    // Each case writes a whole document.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_breaks_the_document(texts in prop::array::uniform9(hostile())) {
        let [event, venue, city, starts_at_text, section, row, price_text, holder, ticket_id] = texts;
        let seat = (!row.is_empty()).then(|| row.clone());
        let page = TicketPage {
            event, venue, city, starts_at_text, section, seat, row: Some(row), price_text, holder,
            ticket_id, code: page(0).code,
        };
        let written = pdf(std::slice::from_ref(&page), Language::En);
        prop_assert!(written.is_ok(), "{:?}", written);
    }
}
