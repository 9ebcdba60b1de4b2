use super::*;
use proptest::prelude::*;

const NOW: Millis = Millis(1_800_000_000_000);

fn ring(ids: &[u8]) -> TicketRing {
    TicketRing::new(ids.iter().map(|id| (*id, [*id; 32])).collect()).unwrap()
}

fn ticket() -> QueueTicket {
    QueueTicket {
        show: ShowId::from_bytes([0x3c; 16]),
        bucket: Bucket(70_001),
        band: Band::Everybody,
        lot: Lot([9; 16]),
        visitor: VisitorId::from_bytes([7; 16]),
        expires: NOW + 1,
    }
}

fn any_ticket() -> impl Strategy<Value = QueueTicket> {
    let names = (any::<[u8; 16]>(), any::<[u8; 16]>(), any::<[u8; 16]>());
    (names, any::<u32>(), any::<bool>(), any::<u64>()).prop_map(|(names, bucket, fan, expires)| {
        QueueTicket {
            show: ShowId::from_bytes(names.0),
            bucket: Bucket(bucket),
            band: if fan { Band::Fan } else { Band::Everybody },
            lot: Lot(names.1),
            visitor: VisitorId::from_bytes(names.2),
            expires: Millis(expires),
        }
    })
}

proptest! {
    #[test]
    fn a_ticket_says_what_was_signed(ticket in any_ticket()) {
        let text = ring(&[1]).sign(&ticket);
        prop_assert_eq!(text.len(), TICKET_LEN);
        let before = ticket.expires.saturating_sub(1);
        if before < ticket.expires {
            prop_assert_eq!(ring(&[1]).verify(&text, None, before), Ok(ticket));
        }
        prop_assert_eq!(ring(&[1]).verify(&text, None, ticket.expires), Err(TicketError::Expired));
    }

    #[test]
    fn a_changed_character_is_noticed(at in 0..TICKET_LEN, to in "[A-Za-z0-9_-]") {
        let text = ring(&[1]).sign(&ticket());
        let mut changed = text.clone();
        changed.replace_range(at..=at, &to);
        prop_assume!(changed != text);
        prop_assert!(ring(&[1]).verify(&changed, None, NOW).is_err());
    }

    #[test]
    fn text_of_any_kind_is_refused(text in any::<String>()) {
        prop_assert_eq!(ring(&[1]).verify(&text, None, NOW), Err(TicketError::Malformed));
    }

    #[test]
    fn made_up_tickets_of_the_right_shape_are_refused(text in "AQ[A-Za-z0-9_-]{125}") {
        prop_assert!(ring(&[1]).verify(&text, None, NOW).is_err());
    }
}

#[test]
fn a_ticket_serves_for_a_day_after_the_opening_wherever_that_is_moved() {
    let ticket = ticket();
    let text = ring(&[1]).sign(&ticket);
    for opens in [None, Some(Millis(0)), Some(NOW.saturating_sub(TICKET_MS))] {
        assert_eq!(ticket.serves_until(opens), ticket.expires);
    }
    let opens = NOW + 3 * TICKET_MS;
    let ends = opens + TICKET_MS;
    assert_eq!(ticket.serves_until(Some(opens)), ends);
    let verify = |now| ring(&[1]).verify(&text, Some(opens), now);
    assert_eq!(verify(ends.saturating_sub(1)), Ok(ticket));
    assert_eq!(verify(ends), Err(TicketError::Expired));
}

#[test]
fn keys_rotate() {
    let text = ring(&[1]).sign(&ticket());
    assert_eq!(ring(&[2, 1]).verify(&text, None, NOW), Ok(ticket()));
    assert_eq!(
        ring(&[2]).verify(&text, None, NOW),
        Err(TicketError::UnknownKey)
    );
    let newer = ring(&[2, 1]).sign(&ticket());
    assert_eq!(
        ring(&[1]).verify(&newer, None, NOW),
        Err(TicketError::UnknownKey)
    );
    let other_secret = TicketRing::new(vec![(1, [8; 32])]).unwrap();
    assert_eq!(
        other_secret.verify(&text, None, NOW),
        Err(TicketError::BadSignature)
    );
    assert_eq!(TicketRing::new(vec![]).unwrap_err(), RingError::Count);
    let twice = vec![(1, [1; 32]), (1, [2; 32])];
    assert_eq!(TicketRing::new(twice).unwrap_err(), RingError::Twice);
}

#[test]
fn a_ticket_has_one_spelling() {
    let text = ring(&[1]).sign(&ticket());
    let last = text.chars().last().unwrap();
    // The last character carries four bits of the signature and two that must be zero.
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let stray = alphabet
        .chars()
        .nth(alphabet.find(last).unwrap() + 1)
        .unwrap();
    let respelled = format!("{}{stray}", &text[..TICKET_LEN - 1]);
    for wrong in [
        respelled,
        format!("{text}="),
        text.replace('A', "+"),
        format!(" {text}"),
    ] {
        assert_eq!(
            ring(&[1]).verify(&wrong, None, NOW),
            Err(TicketError::Malformed),
            "{wrong}"
        );
    }
}

#[test]
fn a_signature_for_another_purpose_is_no_ticket() {
    let claims = write_claims(1, &ticket());
    let elsewhere = keyed_hash(&[1; 32], &[&claims]);
    let text = URL_SAFE_NO_PAD.encode([&claims[..], &elsewhere].concat());
    assert_eq!(
        ring(&[1]).verify(&text, None, NOW),
        Err(TicketError::BadSignature)
    );
}

#[test]
fn a_challenge_and_a_code_of_the_same_bytes_are_different_lots() {
    const KEY: Key = [3; 32];
    assert_eq!(Lot::of_challenge(&KEY, b"x"), Lot::of_challenge(&KEY, b"x"));
    assert_ne!(Lot::of_challenge(&KEY, b"x"), Lot::of_challenge(&KEY, b"y"));
    assert_ne!(Lot::of_challenge(&KEY, b"x"), Lot::of_fan_code(&KEY, b"x"));
    let other = Lot::of_challenge(&[4; 32], b"x");
    assert_ne!(Lot::of_challenge(&KEY, b"x"), other);
}

#[test]
fn a_printed_ring_keeps_its_secrets() {
    assert_eq!(format!("{:?}", ring(&[3, 4])), "TicketRing[3, 4]");
}

#[test]
fn an_unsigned_copy_gives_the_same_draw_and_lets_nobody_in() {
    let text = ticket().unsigned();
    let read = QueueTicket::read_unverified(&text).unwrap();
    let drawn = |ticket: &QueueTicket| (ticket.show, ticket.bucket, ticket.band, ticket.lot);
    assert_eq!(drawn(&read), drawn(&ticket()));
    assert_ne!(read.visitor, ticket().visitor);
    let refused = ring(&[0]).verify(&text, None, NOW);
    assert_eq!(refused, Err(TicketError::BadSignature));
}
