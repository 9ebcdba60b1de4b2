//! What the index keeps of an event.
//!
//! Words are kept without frequencies or positions: a hit is ranked by where and how
//! exactly a word was met, never by how rare it is (see `query`). Everything that filters,
//! sorts or counts is a column; what the list shows is stored beside.

use onsale_app::events::facet_key;
use onsale_app::ports::Versioned;
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::EventId;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::show::StoredStatus;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{TantivyDocument, Term};

use crate::words::words;

/// Rises with every change of the schema, of the words or of the stored event. Each
/// format has snapshots of its own, so that old and new readers do not meet.
pub(crate) const FORMAT: u32 = 1;

pub(crate) const ID_HIGH: &str = "id_high";
pub(crate) const ID_LOW: &str = "id_low";
pub(crate) const VERSION: &str = "version";
pub(crate) const CREATED: &str = "created";
pub(crate) const TITLE_WORDS: &str = "title_words";
pub(crate) const CITY: &str = "city";
pub(crate) const CATEGORY: &str = "category";
pub(crate) const LAT: &str = "lat";
pub(crate) const LON: &str = "lon";
/// The shows, in two columns of equal length.
pub(crate) const SHOW_AT: &str = "show_at";
pub(crate) const SHOW_OFFER: &str = "show_offer";

#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub schema: Schema,
    id: Field,
    id_high: Field,
    id_low: Field,
    version: Field,
    created: Field,
    title_words: Field,
    pub title: Field,
    /// Venue, city and category.
    pub place: Field,
    pub description: Field,
    pub city_key: Field,
    pub category_key: Field,
    city: Field,
    category: Field,
    pub lat: Field,
    lon: Field,
    show_at: Field,
    show_offer: Field,
    /// The earliest and the latest show that is not cancelled, and the latest of all: to
    /// leave most events out before their shows are looked at.
    pub first_at: Field,
    pub last_at: Field,
    pub last_of_all: Field,
    pub stored: Field,
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let words = || {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer("raw")
                .set_index_option(IndexRecordOption::Basic)
                .set_fieldnorms(false);
            TextOptions::default().set_indexing_options(indexing)
        };
        let column = || NumericOptions::default().set_fast();
        let texts = || TextOptions::default().set_fast("raw");
        let id = builder.add_text_field("id", STRING);
        let id_high = builder.add_u64_field(ID_HIGH, column());
        let id_low = builder.add_u64_field(ID_LOW, column());
        let version = builder.add_u64_field(VERSION, column());
        let created = builder.add_u64_field(CREATED, column());
        let title_words = builder.add_u64_field(TITLE_WORDS, column());
        let title = builder.add_text_field("title", words());
        let place = builder.add_text_field("place", words());
        let description = builder.add_text_field("description", words());
        let city_key = builder.add_text_field("city_key", words());
        let category_key = builder.add_text_field("category_key", words());
        let city = builder.add_text_field(CITY, texts());
        let category = builder.add_text_field(CATEGORY, texts());
        let lat = builder.add_f64_field(LAT, column());
        let lon = builder.add_f64_field(LON, column());
        let show_at = builder.add_u64_field(SHOW_AT, column());
        let show_offer = builder.add_u64_field(SHOW_OFFER, column());
        let first_at = builder.add_u64_field("first_at", column());
        let last_at = builder.add_u64_field("last_at", column());
        let last_of_all = builder.add_u64_field("last_of_all", column());
        let stored = builder.add_bytes_field("stored", STORED);
        Self {
            schema: builder.build(),
            id,
            id_high,
            id_low,
            version,
            created,
            title_words,
            title,
            place,
            description,
            city_key,
            category_key,
            city,
            category,
            lat,
            lon,
            show_at,
            show_offer,
            first_at,
            last_at,
            last_of_all,
            stored,
        }
    }

    /// What an event is found by when it is replaced.
    pub(crate) fn id_term(&self, id: EventId) -> Term {
        Term::from_field_text(self.id, &id.simple().to_string())
    }

    pub(crate) fn document(
        &self,
        event: &Versioned<Event>,
    ) -> Result<TantivyDocument, serde_json::Error> {
        let (version, event) = (event.version, &event.value);
        let mut doc = TantivyDocument::default();
        let (high, low) = halves(event.id);
        doc.add_text(self.id, event.id.simple().to_string());
        doc.add_u64(self.id_high, high);
        doc.add_u64(self.id_low, low);
        doc.add_u64(self.version, version);
        doc.add_u64(self.created, event.created.0);
        doc.add_u64(self.title_words, words(&event.title).len() as u64);
        add_words(&mut doc, self.title, &event.title);
        for text in [&event.venue, &event.city, &event.category] {
            add_words(&mut doc, self.place, text);
        }
        if let Some(description) = &event.description {
            add_words(&mut doc, self.description, description);
        }
        add_term(&mut doc, self.city_key, facet_key(&event.city));
        add_term(&mut doc, self.category_key, facet_key(&event.category));
        doc.add_text(self.city, event.city.trim());
        doc.add_text(self.category, event.category.trim());
        if let Some(at) = event.location {
            doc.add_f64(self.lat, at.lat);
            doc.add_f64(self.lon, at.lon);
        }
        self.add_shows(&mut doc, event);
        let stored = Event {
            description: None,
            shows: public_shows(event).cloned().collect(),
            ..event.clone()
        };
        doc.add_bytes(self.stored, &serde_json::to_vec(&stored)?);
        Ok(doc)
    }

    fn add_shows(&self, doc: &mut TantivyDocument, event: &Event) {
        for show in public_shows(event) {
            doc.add_u64(self.show_at, show.starts_at.0);
            doc.add_u64(self.show_offer, Offer::of(show).packed());
        }
        let live = || public_shows(event).filter(|show| show.status != StoredStatus::Cancelled);
        let times = |show: &ShowSummary| show.starts_at.0;
        let bounds = [
            (self.first_at, live().map(times).min()),
            (self.last_at, live().map(times).max()),
            (self.last_of_all, public_shows(event).map(times).max()),
        ];
        for (field, bound) in bounds {
            if let Some(bound) = bound {
                doc.add_u64(field, bound);
            }
        }
    }
}

fn public_shows(event: &Event) -> impl Iterator<Item = &ShowSummary> {
    event
        .shows
        .iter()
        .filter(|show| show.status != StoredStatus::Draft)
}

pub(crate) fn halves(id: EventId) -> (u64, u64) {
    let number = u128::from_be_bytes(*id.as_bytes());
    ((number >> 64) as u64, number as u64)
}

fn add_words(doc: &mut TantivyDocument, field: Field, text: &str) {
    add_terms(doc, field, words(text).iter().flat_map(|word| word.terms()));
}

fn add_term(doc: &mut TantivyDocument, field: Field, term: String) {
    add_terms(doc, field, std::iter::once(term));
}

fn add_terms(doc: &mut TantivyDocument, field: Field, terms: impl Iterator<Item = String>) {
    let tokens = terms.enumerate().map(|(position, text)| Token {
        position,
        text,
        ..Token::default()
    });
    let text = PreTokenizedString {
        text: String::new(),
        tokens: tokens.collect(),
    };
    doc.add_pre_tokenized_text(field, text);
}

/// What a show asks, in one number: a bit for cancelled, three letters of currency, and
/// the lowest price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    pub cancelled: bool,
    pub currency: u64,
    pub price: u64,
}

const PRICE_BITS: u32 = 48;
const PRICE_MAX: u64 = (1 << PRICE_BITS) - 1;
const CANCELLED: u64 = 1 << 63;

/// Three capital letters in 15 bits.
pub(crate) fn currency_number(currency: Currency) -> u64 {
    let letters = currency.to_string();
    letters.bytes().fold(0, |number, letter| {
        number << 5 | u64::from(letter.saturating_sub(b'A') & 31)
    })
}

impl Offer {
    fn of(show: &ShowSummary) -> Self {
        let Cents(price) = show.from_price.amount;
        Self {
            cancelled: show.status == StoredStatus::Cancelled,
            currency: currency_number(show.from_price.currency),
            price,
        }
    }

    fn packed(self) -> u64 {
        let cancelled = if self.cancelled { CANCELLED } else { 0 };
        cancelled | self.currency << PRICE_BITS | self.price.min(PRICE_MAX)
    }

    pub(crate) fn unpacked(number: u64) -> Self {
        Self {
            cancelled: number & CANCELLED != 0,
            currency: (number & !CANCELLED) >> PRICE_BITS,
            price: number & PRICE_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_reads_back() {
        for currency in ["EUR", "AAA", "ZZZ"] {
            let currency = currency_number(Currency::parse(currency).unwrap());
            for (cancelled, price) in [(true, 0), (false, PRICE_MAX), (true, 4_500)] {
                let offer = Offer {
                    cancelled,
                    currency,
                    price,
                };
                assert_eq!(Offer::unpacked(offer.packed()), offer);
            }
        }
    }
}
