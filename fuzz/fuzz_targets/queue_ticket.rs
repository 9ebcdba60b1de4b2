//! A queue ticket that verifies is one that was signed, in its one spelling.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::opening::Bucket;
use onsale_domain::room::ticket::{Band, QueueTicket, TicketRing};
use onsale_domain::time::{LAST_MOMENT, Millis};
use onsale_fuzz::{NOW, start_from};
use std::sync::LazyLock;

static RING: LazyLock<TicketRing> =
    LazyLock::new(|| TicketRing::new(vec![(7, [1; 32]), (0, [2; 32])]).expect("two keys"));
static OTHER: LazyLock<TicketRing> =
    LazyLock::new(|| TicketRing::new(vec![(7, [3; 32])]).expect("one key"));

static GENUINE: LazyLock<Vec<(String, QueueTicket)>> = LazyLock::new(|| {
    let tickets = [
        (0, Band::Everybody, NOW + 1),
        (1, Band::Fan, NOW + 86_400_000),
        (u32::MAX, Band::Everybody, LAST_MOMENT),
        (61, Band::Fan, Millis(u64::MAX)),
    ];
    tickets
        .map(|(bucket, band, expires)| QueueTicket {
            show: ShowId::from_bytes([bucket as u8; 16]),
            bucket: Bucket(bucket),
            band,
            lot: Lot([0xfb; 16]),
            visitor: VisitorId::from_bytes([9; 16]),
            expires,
        })
        .map(|ticket| (RING.sign(&ticket), ticket))
        .into()
});

fn start() {
    for (text, ticket) in GENUINE.iter() {
        assert_eq!(RING.verify(text, None, NOW), Ok(*ticket));
    }
    start_from("queue_ticket", GENUINE.iter().map(|(text, _)| text));
}

fuzz_target!(init: start(), |text: &str| {
    if let Ok(ticket) = RING.verify(text, None, NOW) {
        assert!(GENUINE.iter().any(|(signed, of)| signed == text && *of == ticket), "{text}");
        assert_eq!(RING.sign(&ticket), text);
        assert!(RING.verify(text, None, ticket.expires).is_err(), "it outlives its time");
        assert!(OTHER.verify(text, None, NOW).is_err(), "another secret accepts it");
    }
});
