//! A receipt as PDF: who sold what to whom, what was paid, and what was paid back. Sheets of
//! A4, as many as the places take.

use std::num::NonZeroU16;

use krilla::Document;
use krilla::destination::XyzDestination;
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::tagging::{ListNumbering, Tag, TagGroup, TagTree};
use onsale_domain::language::Language;

use crate::fonts::{Fonts, Weight};
use crate::lines::Fit;
use crate::look::{self, Colour};
use crate::pdf::{PdfError, settings};
use crate::pen::{Pen, Style};
use crate::receipt_words::ReceiptWords;
use crate::text::clean;

/// What a receipt says. Every text may come from a stranger; none of them can break the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub number: String,
    /// When it was paid, as it is to be read.
    pub paid_at_text: String,
    pub buyer: String,
    pub seller: String,
    pub event: String,
    pub starts_at_text: String,
    pub venue: String,
    /// Each place with its price.
    pub places: Vec<(String, String)>,
    pub total: String,
    /// What was paid back, each with the place or nothing for the whole order.
    pub refunds: Vec<(Option<String>, String)>,
}

// Lengths are in points, 1/72 of an inch; A4 is 210 by 297 mm.
const WIDTH: f32 = 595.28;
const HEIGHT: f32 = 841.89;
const MARGIN: f32 = 56.0;
const INNER_WIDTH: f32 = WIDTH - 2.0 * MARGIN;
const LABEL_WIDTH: f32 = 120.0;
const AMOUNT_WIDTH: f32 = 110.0;
const GAP: f32 = 6.0;
/// A row of three lines ends above the margin.
const LAST_ROW: f32 = HEIGHT - MARGIN - 45.0;

const INK: Colour = look::LIGHT.ink;
const QUIET: Colour = look::LIGHT.quiet;
const LINE: Colour = look::LIGHT.line;

const TITLE: Style = style(Weight::Bold, INK, &[Fit::new(24.0, 1)]);
const LABEL: Style = style(Weight::Regular, QUIET, &[Fit::new(10.0, 2)]);
const TEXT: Style = style(Weight::Regular, INK, &[Fit::new(11.0, 3)]);
const SUM: Style = style(Weight::Bold, INK, &[Fit::new(11.0, 1), Fit::new(9.0, 1)]);

const fn style(weight: Weight, colour: Colour, ways: &'static [Fit]) -> Style {
    Style {
        weight,
        colour,
        ways,
    }
}

enum Row {
    /// A label and its text.
    Fact(&'static str, String),
    /// A text, and an amount on the right.
    Amount(Style, String, String),
    Rule,
}

impl Receipt {
    fn rows(&self, words: &'static ReceiptWords) -> Vec<Row> {
        let facts = [
            (words.number, &self.number),
            (words.paid_at, &self.paid_at_text),
            (words.seller, &self.seller),
            (words.buyer, &self.buyer),
            (words.event, &self.event),
            (words.when, &self.starts_at_text),
            (words.place, &self.venue),
        ];
        let fact = |(label, text): (&'static str, &String)| {
            let text = clean(text);
            (!text.is_empty()).then_some(Row::Fact(label, text))
        };
        let mut rows: Vec<_> = facts.into_iter().filter_map(fact).collect();
        let amount = |style, what: &str, sum: &str| Row::Amount(style, clean(what), clean(sum));
        rows.push(Row::Rule);
        let places = self.places.iter();
        rows.extend(places.map(|(place, price)| amount(TEXT, place, price)));
        rows.push(Row::Rule);
        rows.push(amount(SUM, words.total, &self.total));
        for (place, sum) in &self.refunds {
            let what = match place {
                Some(place) => format!("{}: {place}", words.refunded),
                None => words.refunded.to_owned(),
            };
            rows.push(amount(TEXT, &what, &format!("−{sum}")));
        }
        rows
    }
}

/// The receipt as a tagged PDF/UA-1 document.
pub fn receipt(receipt: &Receipt, language: Language) -> Result<Vec<u8>, PdfError> {
    let fonts = Fonts::get().ok_or(PdfError::Font)?;
    let words = ReceiptWords::of(language);
    let mut document = Document::new_with(settings()?);
    let mut tags = TagTree::new().with_lang(Some(language.to_string()));
    let title = format!("{} {}", words.title, clean(&receipt.number));
    let mut rows = receipt.rows(words).into_iter().peekable();
    let mut is_first = true;
    while rows.peek().is_some() {
        let size = PageSettings::from_wh(WIDTH, HEIGHT)
            .ok_or_else(|| PdfError::Write("the size of the page".to_owned()))?;
        let mut page = document.start_page_with(size);
        let mut surface = page.surface();
        let mut pen = Pen {
            surface: &mut surface,
            fonts,
        };
        let mut section = TagGroup::new(Tag::Section);
        let mut y = MARGIN;
        if is_first {
            y = heading(&mut pen, &title, y, &mut section);
        }
        let mut list = TagGroup::new(Tag::L(ListNumbering::None));
        while let Some(row) = rows.next_if(|_| y <= LAST_ROW) {
            y = draw(&mut pen, &row, y, &mut list);
        }
        section.push(list);
        tags.push(section);
        surface.finish();
        page.finish();
        is_first = false;
    }
    let mut outline = Outline::new();
    let top = XyzDestination::new(0, Point::from_xy(0.0, 0.0));
    outline.push_child(OutlineNode::new(title.clone(), top));
    document.set_tag_tree(tags);
    document.set_outline(outline);
    document.set_metadata(
        Metadata::new()
            .title(title)
            .language(language.to_string())
            .creator("Onsale".to_owned()),
    );
    document
        .finish()
        .map_err(|error| PdfError::Write(format!("{error:?}")))
}

fn heading(pen: &mut Pen<'_, '_>, title: &str, y: f32, tags: &mut TagGroup) -> f32 {
    let block = pen.set(title, TITLE, INNER_WIDTH);
    let mut tag = TagGroup::new(Tag::Hn(NonZeroU16::MIN, Some(title.to_owned())));
    let bottom = pen.draw(&block, MARGIN, y, &mut tag);
    tags.push(tag);
    bottom + 3.0 * GAP
}

/// Draws a row as an item of the list. Returns its lower edge.
fn draw(pen: &mut Pen<'_, '_>, row: &Row, y: f32, list: &mut TagGroup) -> f32 {
    let right = WIDTH - MARGIN;
    let (label, text, label_x, text_x) = match row {
        Row::Rule => {
            let y = y + GAP;
            pen.dashed_line(Point::from_xy(MARGIN, y), Point::from_xy(right, y), LINE);
            return y + 2.0 * GAP;
        }
        Row::Fact(label, text) => {
            let label = pen.set(label, LABEL, LABEL_WIDTH - GAP);
            let text = pen.set(text, TEXT, INNER_WIDTH - LABEL_WIDTH);
            (label, text, MARGIN, MARGIN + LABEL_WIDTH)
        }
        Row::Amount(style, what, sum) => {
            let what = pen.set(what, *style, INNER_WIDTH - AMOUNT_WIDTH - GAP);
            let sum = pen.set(sum, SUM, AMOUNT_WIDTH);
            let left = right - pen.width(&sum);
            (what, sum, MARGIN, left)
        }
    };
    let mut label_tag = TagGroup::new(Tag::Lbl);
    let below_label = pen.draw(&label, label_x, y, &mut label_tag);
    let mut text_tag = TagGroup::new(Tag::LBody);
    let below_text = pen.draw(&text, text_x, y, &mut text_tag);
    let mut item = TagGroup::new(Tag::LI);
    item.push(label_tag);
    item.push(text_tag);
    list.push(item);
    below_label.max(below_text) + GAP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(places: usize) -> Receipt {
        let place = |n| (format!("Stalls, row 1, seat {n}"), "€45.00".to_owned());
        Receipt {
            number: "7K2M-9QX".into(),
            paid_at_text: "Friday, 2 July 2027, 20:00 CEST".into(),
            buyer: "Ana\r\nSchäfer".into(),
            seller: "Harbour Hall".into(),
            event: "Night Flight ".repeat(40),
            starts_at_text: "Friday, 9 July 2027, 20:00 CEST".into(),
            venue: String::new(),
            places: (1..=places).map(place).collect(),
            total: "€90.00".into(),
            refunds: vec![(None, "€45.00".into())],
        }
    }

    /// The pages of a document that was written, by the entries of its page tree.
    fn pages(pdf: &[u8]) -> usize {
        let text = String::from_utf8_lossy(pdf);
        text.matches("/Type/Page/").count() + text.matches("/Type /Page\n").count()
    }

    #[test]
    fn a_receipt_is_tagged_in_every_language_and_goes_on_another_sheet() {
        for language in Language::ALL {
            let short = receipt(&sample(2), language).unwrap();
            assert!(short.starts_with(b"%PDF-"), "{language}");
            assert_eq!(pages(&short), 1, "{language}");
            let long = receipt(&sample(50), language).unwrap();
            assert_eq!(pages(&long), 2, "{language}");
        }
    }

    #[test]
    fn the_same_receipt_is_always_the_same_bytes() {
        let of = || receipt(&sample(3), Language::De).unwrap();
        assert_eq!(of(), of());
    }
}
