//! The document as a whole: its pages, its meaning to a screen reader, its fonts, and
//! texts of every kind.

mod sample;

use onsale_tickets::{MAX_PAGES, PdfError, QrError, TicketPage, pdf};
use proptest::prelude::*;
use sample::page;

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
        let document = pdf(&pages).unwrap();
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
    let document = pdf(&[page(0), second]).unwrap();
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
fn fonts_are_embedded_in_the_parts_that_are_used() {
    let mut chinese = page(0);
    chinese.event = "上海之夜".into();
    let document = pdf(&[chinese]).unwrap();
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

#[test]
fn the_same_tickets_give_the_same_bytes() {
    assert_eq!(pdf(&[page(3)]), pdf(&[page(3)]));
}

#[test]
fn the_number_of_pages_is_bounded() {
    assert_eq!(pdf(&[]), Err(PdfError::PageCount(0)));
    let many = vec![page(0); MAX_PAGES + 1];
    assert_eq!(pdf(&many), Err(PdfError::PageCount(MAX_PAGES + 1)));
    let most = pdf(&many[1..]).unwrap();
    assert!(most.len() < 1 << 20, "{} bytes", most.len());
}

#[test]
fn a_ticket_without_a_code_is_refused() {
    let mut revoked = page(0);
    revoked.code.clear();
    assert_eq!(pdf(&[revoked]), Err(PdfError::Code(QrError::Alphabet)));
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
        let written = pdf(std::slice::from_ref(&page));
        assert!(written.is_ok(), "{text:.20}: {written:?}");
    }
}

/// Any text, and texts thick with what fonts and viewers stumble over.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\\p{Latin}\\p{Greek}\\p{Cyrillic}\\p{Han}\\p{Hangul}\\p{Kana} ]{0,120}",
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
        let written = pdf(std::slice::from_ref(&page));
        prop_assert!(written.is_ok(), "{:?}", written);
    }
}
