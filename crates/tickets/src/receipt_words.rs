//! The words of a receipt in each language.

use onsale_domain::language::Language;

pub(crate) struct ReceiptWords {
    pub(crate) title: &'static str,
    pub(crate) number: &'static str,
    pub(crate) paid_at: &'static str,
    pub(crate) seller: &'static str,
    pub(crate) buyer: &'static str,
    pub(crate) event: &'static str,
    pub(crate) when: &'static str,
    pub(crate) place: &'static str,
    pub(crate) total: &'static str,
    pub(crate) refunded: &'static str,
}

const ENGLISH: ReceiptWords = ReceiptWords {
    title: "Receipt",
    number: "Order number",
    paid_at: "Paid",
    seller: "Seller",
    buyer: "Buyer",
    event: "Event",
    when: "When",
    place: "Where",
    total: "Total, all fees and taxes included",
    refunded: "Paid back",
};

const GERMAN: ReceiptWords = ReceiptWords {
    title: "Beleg",
    number: "Bestellnummer",
    paid_at: "Bezahlt",
    seller: "Verkäufer",
    buyer: "Käufer",
    event: "Veranstaltung",
    when: "Wann",
    place: "Wo",
    total: "Summe, alle Gebühren und Steuern enthalten",
    refunded: "Erstattet",
};

const FRENCH: ReceiptWords = ReceiptWords {
    title: "Reçu",
    number: "Numéro de commande",
    paid_at: "Payé",
    seller: "Vendeur",
    buyer: "Acheteur",
    event: "Événement",
    when: "Quand",
    place: "Où",
    total: "Total, tous frais et taxes compris",
    refunded: "Remboursé",
};

const SPANISH: ReceiptWords = ReceiptWords {
    title: "Recibo",
    number: "Número de pedido",
    paid_at: "Pagado",
    seller: "Vendedor",
    buyer: "Comprador",
    event: "Evento",
    when: "Cuándo",
    place: "Dónde",
    total: "Total, con todos los gastos e impuestos",
    refunded: "Reembolsado",
};

impl ReceiptWords {
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &ENGLISH,
            Language::De => &GERMAN,
            Language::Fr => &FRENCH,
            Language::Es => &SPANISH,
        }
    }
}
