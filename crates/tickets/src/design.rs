//! The design of a ticket, from top to bottom: what, when and where, which seat, the
//! code, whose.
//!
//! The page is A6: it fills a phone held upright, and four of them fit a sheet of A4.
//! Texts shrink, break and finally end in an ellipsis. The code takes the room that they
//! leave: 180 points on most tickets, and 130 below the longest texts, which is 0.86 mm
//! for each of its modules.

use krilla::geom::{Point, Rect, Transform};
use krilla::tagging::{BBox, ListNumbering, Tag, TagGroup};
use std::num::NonZeroU16;

use crate::fonts::Weight;
use crate::lines::Fit;
use crate::look::{self, Colour};
use crate::page::{Detail, TicketPage};
use crate::pen::{BASELINE, Pen, Style};
use crate::qr::{QUIET_ZONE, Symbol};
use crate::words::Words;

// Lengths are in points, 1/72 of an inch; A6 is 105 by 148 mm.
pub(crate) const WIDTH: f32 = 297.64;
pub(crate) const HEIGHT: f32 = 419.53;
const MARGIN: f32 = 20.0;
const INNER_WIDTH: f32 = WIDTH - 2.0 * MARGIN;
const GUTTER: f32 = 10.0;

// A ticket is printed, so it is light; and a scanner wants black.
const ROOM: Colour = look::LIGHT.room;
const CARD: Colour = look::LIGHT.card;
const INK: Colour = look::LIGHT.ink;
const QUIET: Colour = look::LIGHT.quiet;
const LINE: Colour = look::LIGHT.line;
const STUB: Colour = look::LIGHT.stub;
const ON_STUB: Colour = look::LIGHT.on_stub;
const BLACK: Colour = Colour(0, 0, 0);
/// Where the ticket is torn.
const NOTCH: f32 = 8.0;

const KIND: Style = style(Weight::Bold, ON_STUB, &[Fit::new(7.5, 1)]);
const TITLE: Style = style(
    Weight::Bold,
    ON_STUB,
    &[Fit::new(22.0, 2), Fit::new(18.0, 3), Fit::new(15.0, 4)],
);
const WHEN: Style = style(
    Weight::Bold,
    INK,
    &[Fit::new(12.5, 1), Fit::new(11.0, 1), Fit::new(10.0, 2)],
);
const WHERE: Style = style(Weight::Regular, INK, &[Fit::new(10.5, 1), Fit::new(9.5, 2)]);
const LABEL: Style = style(Weight::Regular, QUIET, &[Fit::new(6.5, 1)]);
const SEAT: Style = style(
    Weight::Bold,
    INK,
    &[
        Fit::new(15.0, 1),
        Fit::new(12.0, 1),
        Fit::new(10.0, 1),
        Fit::new(8.5, 2),
    ],
);
const HOLDER: Style = style(
    Weight::Bold,
    INK,
    &[Fit::new(9.0, 1), Fit::new(7.5, 1), Fit::new(6.5, 2)],
);
const TICKET_ID: Style = style(Weight::Regular, INK, &[Fit::new(6.5, 1), Fit::new(6.0, 2)]);

const fn style(weight: Weight, colour: Colour, ways: &'static [Fit]) -> Style {
    Style {
        weight,
        colour,
        ways,
    }
}

/// Draws the ticket and returns its part of the tag tree, in reading order.
pub(crate) fn draw(
    pen: &mut Pen<'_, '_>,
    page_index: usize,
    page: &TicketPage,
    symbol: &Symbol,
    words: &'static Words,
) -> TagGroup {
    let mut tags = TagGroup::new(Tag::Section);
    // Grounds go beyond the edges, so that no white line remains where a printer rounds.
    pen.backdrop(Rect::from_ltrb(-1.0, -1.0, WIDTH + 1.0, HEIGHT + 1.0), CARD);
    let mut y = heading(pen, page, words, &mut tags) + 12.0;
    y = paragraph(pen, &page.starts_at_text, WHEN, y, &mut tags) + 1.0;
    y = paragraph(pen, &page.venue_and_city(), WHERE, y, &mut tags) + 10.0;
    y = cells(pen, &page.details(words), &[SEAT], y, &mut tags) + 9.0;
    let right = Point::from_xy(WIDTH - MARGIN, y);
    pen.dashed_line(Point::from_xy(MARGIN, y), right, LINE);
    pen.dots(
        &[Point::from_xy(0.0, y), Point::from_xy(WIDTH, y)],
        NOTCH,
        ROOM,
    );

    let foot = HEIGHT - 50.0;
    tags.push(code(
        pen,
        page_index,
        symbol,
        (y, foot),
        words.symbol(&page.ticket_id),
    ));
    cells(
        pen,
        &page.whose(words),
        &[HOLDER, TICKET_ID],
        foot,
        &mut tags,
    );
    paragraph(pen, words.note, LABEL, HEIGHT - 18.0, &mut tags);
    tags
}

/// The title on the band of a stub. Returns the lower edge of the band.
fn heading(pen: &mut Pen<'_, '_>, page: &TicketPage, words: &Words, tags: &mut TagGroup) -> f32 {
    let title = pen.set(&page.event, TITLE, INNER_WIDTH);
    let band = (30.0 + title.height() + 18.0).max(84.0);
    let rect = Rect::from_ltrb(-1.0, -1.0, WIDTH + 1.0, band);
    pen.backdrop(rect, STUB);

    let kind = pen.set(words.kind, KIND, INNER_WIDTH);
    let mut kind_tag = TagGroup::new(Tag::P);
    pen.draw(&kind, MARGIN, 17.0, &mut kind_tag);
    let mut title_tag = TagGroup::new(Tag::Hn(NonZeroU16::MIN, Some(page.event.clone())));
    pen.draw(&title, MARGIN, 30.0, &mut title_tag);
    // A screen reader starts with the title, whatever stands above it.
    tags.push(title_tag);
    tags.push(kind_tag);
    band
}

fn paragraph(pen: &mut Pen<'_, '_>, text: &str, style: Style, y: f32, tags: &mut TagGroup) -> f32 {
    let block = pen.set(text, style, INNER_WIDTH);
    let mut tag = TagGroup::new(Tag::P);
    let bottom = pen.draw(&block, MARGIN, y, &mut tag);
    tags.push(tag);
    bottom
}

/// Details side by side, as a list for a screen reader: the first in the first style, and
/// so on, the last style for all that remain. Returns the lower edge.
fn cells(
    pen: &mut Pen<'_, '_>,
    details: &[Detail<'_>],
    styles: &[Style],
    y: f32,
    tags: &mut TagGroup,
) -> f32 {
    let shares: f32 = details.iter().map(|detail| detail.share).sum();
    let room = INNER_WIDTH - GUTTER * details.len().saturating_sub(1) as f32;
    let styles = styles
        .iter()
        .chain(styles.iter().last().into_iter().cycle());
    let cells: Vec<_> = details
        .iter()
        .zip(styles)
        .map(|(detail, style)| {
            let width = room * detail.share / shares;
            let label = pen.set(detail.label, LABEL, width);
            (label, pen.set(detail.text, *style, width), width)
        })
        .collect();
    let largest = cells.iter().map(|cell| cell.1.size()).fold(0.0, f32::max);
    let mut list = TagGroup::new(Tag::L(ListNumbering::None));
    let mut x = MARGIN;
    let mut bottom = y;
    for (label, text, width) in cells {
        let mut label_tag = TagGroup::new(Tag::Lbl);
        let below = pen.draw(&label, x, y, &mut label_tag);
        // Texts of different sizes stand on one line.
        let below = below + (largest - text.size()) * BASELINE;
        let mut text_tag = TagGroup::new(Tag::LBody);
        bottom = pen.draw(&text, x, below, &mut text_tag).max(bottom);
        let mut item = TagGroup::new(Tag::LI);
        item.push(label_tag);
        item.push(text_tag);
        list.push(item);
        x += width + GUTTER;
    }
    tags.push(list);
    bottom
}

/// The symbol, as large as the room between two heights allows.
fn code(
    pen: &mut Pen<'_, '_>,
    page_index: usize,
    symbol: &Symbol,
    (top, bottom): (f32, f32),
    alt: String,
) -> TagGroup {
    let side = (bottom - top).min(INNER_WIDTH);
    let left = (WIDTH - side) / 2.0;
    // One unit per module keeps the drawing short: every coordinate is a small number.
    let module = side / (symbol.size() + 2 * QUIET_ZONE) as f32;
    let to_page = Transform::from_row(module, 0.0, 0.0, module, left, top);
    let bar = |(column, row, length): (u32, u32, u32)| {
        let (x, y) = (column + QUIET_ZONE, row + QUIET_ZONE);
        Rect::from_xywh(x as f32, y as f32, length as f32, 1.0)
    };
    let bars: Vec<Rect> = symbol.bars().into_iter().filter_map(bar).collect();
    let drawn = pen.figure(&bars, BLACK, to_page);
    let bounds = Rect::from_xywh(left, top, side, side).map(|rect| BBox::new(page_index, rect));
    let mut figure = TagGroup::new(Tag::Figure(Some(alt)).with_bbox(bounds));
    figure.push(drawn);
    figure
}
