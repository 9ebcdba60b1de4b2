//! Tickets as one PDF document: a page for each, a title, an outline and the tag tree.

use krilla::configure::{Accessibility, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::tagging::TagTree;
use krilla::{Document, SerializeSettings};

use crate::design::{self, HEIGHT, WIDTH};
use crate::fonts::Fonts;
use crate::page::TicketPage;
use crate::pen::Pen;
use crate::qr::{QrError, Symbol};

/// More tickets than one order has; a document stays below a megabyte.
pub const MAX_PAGES: usize = 100;

/// The language of what the page itself says. Names are in any language.
const LANGUAGE: &str = "en";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    #[error("a document has 1 to {MAX_PAGES} tickets, not {0}")]
    PageCount(usize),
    #[error(transparent)]
    Code(#[from] QrError),
    #[error("a font in the program cannot be read")]
    Font,
    #[error("the document could not be written: {0}")]
    Write(String),
}

/// The tickets as a tagged PDF/UA-1 document, one A6 page for each.
pub fn pdf(tickets: &[TicketPage]) -> Result<Vec<u8>, PdfError> {
    if !(1..=MAX_PAGES).contains(&tickets.len()) {
        return Err(PdfError::PageCount(tickets.len()));
    }
    let fonts = Fonts::get().ok_or(PdfError::Font)?;
    let mut document = Document::new_with(settings()?);
    let mut tags = TagTree::new().with_lang(Some(LANGUAGE.to_owned()));
    let mut outline = Outline::new();
    let mut title = String::new();
    for (page_index, ticket) in tickets.iter().enumerate() {
        let ticket = ticket.cleaned();
        let symbol = Symbol::of(&ticket.code)?;
        let size = PageSettings::from_wh(WIDTH, HEIGHT)
            .ok_or_else(|| PdfError::Write("the size of the page".to_owned()))?;
        let mut page = document.start_page_with(size);
        let mut surface = page.surface();
        let mut pen = Pen {
            surface: &mut surface,
            fonts,
        };
        tags.push(design::draw(&mut pen, page_index, &ticket, &symbol));
        surface.finish();
        page.finish();
        let top = XyzDestination::new(page_index, Point::from_xy(0.0, 0.0));
        outline.push_child(OutlineNode::new(outline_text(&ticket), top));
        if page_index == 0 {
            title = document_title(&ticket, tickets.len());
        }
    }
    document.set_tag_tree(tags);
    document.set_outline(outline);
    document.set_metadata(
        Metadata::new()
            .title(title)
            .language(LANGUAGE.to_owned())
            .creator("Onsale".to_owned()),
    );
    document
        .finish()
        .map_err(|error| PdfError::Write(format!("{error:?}")))
}

fn settings() -> Result<SerializeSettings, PdfError> {
    let configuration = ConfigurationBuilder::new()
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .map_err(|error| PdfError::Write(format!("{error:?}")))?;
    Ok(SerializeSettings {
        configuration,
        ..SerializeSettings::default()
    })
}

fn document_title(ticket: &TicketPage, count: usize) -> String {
    match count {
        1 => format!("Ticket: {}", ticket.event),
        _ => format!("{count} tickets: {}", ticket.event),
    }
}

fn outline_text(ticket: &TicketPage) -> String {
    match ticket.place() {
        place if place.is_empty() => ticket.event.clone(),
        place => format!("{}, {place}", ticket.event),
    }
}
