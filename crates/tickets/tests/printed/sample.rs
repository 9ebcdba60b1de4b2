//! A ticket with a code that was really signed.

use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::ticket_code::{TicketClaims, TicketKey};
use onsale_tickets::TicketPage;

fn claims(serial: u8) -> TicketClaims {
    TicketClaims {
        ticket: TicketId::from_bytes([serial; 16]),
        show: ShowId::from_bytes([0x5a; 16]),
        place: PlaceIndex(1_234),
        serial,
    }
}

pub fn real_code(serial: u8) -> String {
    TicketKey::from_bytes(&[7; 32]).sign(&claims(serial))
}

pub fn page(serial: u8) -> TicketPage {
    TicketPage {
        event: "The Night Trains: Farewell Tour".into(),
        venue: "Harbour Hall".into(),
        city: "Hamburg".into(),
        starts_at_text: "Saturday, 14 November 2026, 20:00".into(),
        section: "Balcony".into(),
        row: Some("12".into()),
        seat: Some("34".into()),
        price_text: "€45.00".into(),
        holder: "Zoë Müller-Łukaszewicz".into(),
        ticket_id: claims(serial).ticket.to_string(),
        code: real_code(serial),
    }
}
