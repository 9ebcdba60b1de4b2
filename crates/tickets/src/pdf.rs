//! Tickets as one PDF document: a page for each, a title, an outline and the tag tree.

use krilla::configure::{Accessibility, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::tagging::TagTree;
use krilla::{Document, SerializeSettings};

use onsale_domain::language::Language;

use crate::design::{self, HEIGHT, WIDTH};
use crate::fonts::Fonts;
use crate::page::TicketPage;
use crate::pen::Pen;
use crate::qr::{QrError, Symbol};
use crate::words::Words;

/// More tickets than one order has; a document stays below a megabyte.
pub const MAX_PAGES: usize = 100;

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

/// The tickets as a tagged PDF/UA-1 document, one A6 page for each. `language` is that of
/// what the page itself says; names are in any language.
pub fn pdf(tickets: &[TicketPage], language: Language) -> Result<Vec<u8>, PdfError> {
    if !(1..=MAX_PAGES).contains(&tickets.len()) {
        return Err(PdfError::PageCount(tickets.len()));
    }
    let fonts = Fonts::get().ok_or(PdfError::Font)?;
    let mut document = Document::new_with(settings()?);
    let mut tags = TagTree::new().with_lang(Some(language.to_string()));
    let words = Words::of(language);
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
        tags.push(design::draw(&mut pen, page_index, &ticket, &symbol, words));
        surface.finish();
        page.finish();
        let top = XyzDestination::new(page_index, Point::from_xy(0.0, 0.0));
        outline.push_child(OutlineNode::new(outline_text(&ticket, language), top));
        if page_index == 0 {
            title = words.title(tickets.len(), &ticket.event);
        }
    }
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

pub(crate) fn settings() -> Result<SerializeSettings, PdfError> {
    let configuration = ConfigurationBuilder::new()
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .map_err(|error| PdfError::Write(format!("{error:?}")))?;
    Ok(SerializeSettings {
        configuration,
        ..SerializeSettings::default()
    })
}

fn outline_text(ticket: &TicketPage, language: Language) -> String {
    match ticket.place(language) {
        place if place.is_empty() => ticket.event.clone(),
        place => format!("{}, {place}", ticket.event),
    }
}
