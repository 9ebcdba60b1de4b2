//! What a ticket says beside the texts of the event and its owner, in each language.

use onsale_domain::language::Language;

pub(crate) struct Words {
    /// What the page is, in capitals.
    pub(crate) kind: &'static str,
    pub(crate) section: &'static str,
    pub(crate) row: &'static str,
    pub(crate) seat: &'static str,
    /// Instead of row and seat.
    pub(crate) place: &'static str,
    pub(crate) free_choice: &'static str,
    pub(crate) price: &'static str,
    pub(crate) name: &'static str,
    pub(crate) ticket: &'static str,
    pub(crate) note: &'static str,
    tickets: &'static str,
    colon: &'static str,
    /// The picture for a screen reader; `#` stands for the id of the ticket.
    symbol: &'static str,
}

const ENGLISH: Words = Words {
    kind: "TICKET",
    section: "Section",
    row: "Row",
    seat: "Seat",
    place: "Place",
    free_choice: "Free choice",
    price: "Price",
    name: "Name",
    ticket: "Ticket",
    note: "Show this code at the entrance. It admits one person, once.",
    tickets: "tickets",
    colon: ":",
    symbol: "QR code of ticket #, to be scanned at the entrance.",
};

const GERMAN: Words = Words {
    kind: "TICKET",
    section: "Bereich",
    row: "Reihe",
    seat: "Platz",
    place: "Platz",
    free_choice: "Freie Platzwahl",
    price: "Preis",
    name: "Name",
    ticket: "Ticket",
    note: "Zeigen Sie diesen Code am Eingang. Er lässt eine Person ein einziges Mal ein.",
    tickets: "Tickets",
    colon: ":",
    symbol: "QR-Code des Tickets #, zum Scannen am Eingang.",
};

const FRENCH: Words = Words {
    kind: "BILLET",
    section: "Zone",
    row: "Rang",
    seat: "Place",
    place: "Place",
    free_choice: "Placement libre",
    price: "Prix",
    name: "Nom",
    ticket: "Billet",
    note: "Présentez ce code à l’entrée. Il laisse entrer une seule personne, une seule fois.",
    tickets: "billets",
    colon: "\u{a0}:",
    symbol: "Code QR du billet #, à scanner à l’entrée.",
};

const SPANISH: Words = Words {
    kind: "ENTRADA",
    section: "Zona",
    row: "Fila",
    seat: "Asiento",
    place: "Lugar",
    free_choice: "Sin numerar",
    price: "Precio",
    name: "Nombre",
    ticket: "Entrada",
    note: "Muestre este código en el acceso. Permite la entrada de una persona, una sola vez.",
    tickets: "entradas",
    colon: ":",
    symbol: "Código QR de la entrada #, para escanear en el acceso.",
};

impl Words {
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &ENGLISH,
            Language::De => &GERMAN,
            Language::Fr => &FRENCH,
            Language::Es => &SPANISH,
        }
    }

    /// The title of a document.
    pub(crate) fn title(&self, tickets: usize, event: &str) -> String {
        match tickets {
            1 => format!("{}{} {event}", self.ticket, self.colon),
            n => format!("{n} {}{} {event}", self.tickets, self.colon),
        }
    }

    pub(crate) fn symbol(&self, ticket_id: &str) -> String {
        self.symbol.replace('#', ticket_id)
    }
}
