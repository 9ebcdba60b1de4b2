//! What a page says of a ticket.

use onsale_domain::language::Language;

use crate::places::place;
use crate::text::clean;
use crate::words::Words;

/// One ticket. Every text may come from a stranger; none of them can break the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketPage {
    pub event: String,
    pub venue: String,
    pub city: String,
    /// When it starts, as it is to be read.
    pub starts_at_text: String,
    pub section: String,
    /// The row and the seat; neither for general admission.
    pub row: Option<String>,
    pub seat: Option<String>,
    pub price_text: String,
    pub holder: String,
    pub ticket_id: String,
    /// What the QR symbol says.
    pub code: String,
}

impl TicketPage {
    /// The same page with texts that are fit to print. The code is left alone: it has an
    /// alphabet of its own, which the QR symbol checks.
    pub(crate) fn cleaned(&self) -> Self {
        let event = clean(&self.event);
        Self {
            // PDF/UA wants a heading with a title on every ticket.
            event: if event.is_empty() {
                "Ticket".to_owned()
            } else {
                event
            },
            venue: clean(&self.venue),
            city: clean(&self.city),
            starts_at_text: clean(&self.starts_at_text),
            section: clean(&self.section),
            row: self.row.as_deref().map(clean),
            seat: self.seat.as_deref().map(clean),
            price_text: clean(&self.price_text),
            holder: clean(&self.holder),
            ticket_id: clean(&self.ticket_id),
            code: self.code.clone(),
        }
    }

    /// Where to sit or stand, in a few words.
    pub(crate) fn place(&self, language: Language) -> String {
        let (row, seat) = (self.row.as_deref(), self.seat.as_deref());
        place(&self.section, row, seat, language)
    }

    pub(crate) fn venue_and_city(&self) -> String {
        let parts = [self.venue.as_str(), self.city.as_str()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    pub(crate) fn details(&self, words: &'static Words) -> Vec<Detail<'_>> {
        let mut details = vec![Detail::new(words.section, &self.section, 2.0)];
        match (&self.row, &self.seat) {
            (None, None) => details.push(Detail::new(words.place, words.free_choice, 2.6)),
            (row, seat) => {
                details.extend(row.iter().map(|row| Detail::new(words.row, row, 1.0)));
                details.extend(seat.iter().map(|seat| Detail::new(words.seat, seat, 1.0)));
            }
        }
        details.push(Detail::new(words.price, &self.price_text, 1.6));
        details.retain(|detail| !detail.text.is_empty());
        details
    }

    pub(crate) fn whose(&self, words: &Words) -> [Detail<'_>; 2] {
        [
            Detail::new(words.name, &self.holder, 1.0),
            Detail::new(words.ticket, &self.ticket_id, 1.1),
        ]
    }
}

/// A text with its label, and its share of the width of the page.
pub(crate) struct Detail<'a> {
    pub(crate) label: &'static str,
    pub(crate) text: &'a str,
    pub(crate) share: f32,
}

impl<'a> Detail<'a> {
    fn new(label: &'static str, text: &'a str, share: f32) -> Self {
        Self { label, text, share }
    }
}
