use super::*;
use proptest::prelude::*;

fn key(seed: u8) -> TicketKey {
    TicketKey::from_bytes(&[seed; 32])
}

fn keys(seeds: &[u8]) -> TicketKeys {
    TicketKeys::new(seeds.iter().map(|s| key(*s).public()).collect()).unwrap()
}

fn claims() -> TicketClaims {
    TicketClaims {
        ticket: TicketId::from_bytes([0xa5; 16]),
        show: ShowId::from_bytes([0x3c; 16]),
        place: PlaceIndex(70_001),
        serial: 2,
    }
}

fn any_claims() -> impl Strategy<Value = TicketClaims> {
    (
        any::<[u8; 16]>(),
        any::<[u8; 16]>(),
        any::<u32>(),
        any::<u8>(),
    )
        .prop_map(|(t, s, p, serial)| TicketClaims {
            ticket: TicketId::from_bytes(t),
            show: ShowId::from_bytes(s),
            place: PlaceIndex(p),
            serial,
        })
}

proptest! {
    #[test]
    fn a_code_says_what_was_signed(claims in any_claims(), secret in any::<[u8; 32]>()) {
        let key = TicketKey::from_bytes(&secret);
        let code = key.sign(&claims);
        prop_assert_eq!(code.len(), CODE_LEN);
        let keys = TicketKeys::new(vec![key.public()]).unwrap();
        prop_assert_eq!(keys.verify(&code), Ok(claims));
    }

    #[test]
    fn text_of_any_kind_and_length_is_refused(text in any::<String>()) {
        prop_assert_eq!(keys(&[1]).verify(&text), Err(CodeError::Malformed));
    }

    #[test]
    fn made_up_codes_of_the_right_shape_are_refused(text in "A[A-Z2-7]{168}[AEIMQUY4]") {
        prop_assert!(keys(&[1]).verify(&text).is_err());
    }

    #[test]
    fn bytes_have_one_spelling(bytes in prop::collection::vec(any::<u8>(), BYTES_LEN)) {
        let bytes: [u8; BYTES_LEN] = bytes.try_into().unwrap();
        let text = base32(&bytes);
        prop_assert_eq!(from_base32(text.as_bytes()), Some(bytes));
        let lower = text.to_lowercase();
        prop_assert!(lower == text || from_base32(lower.as_bytes()).is_none());
    }

    #[test]
    fn key_texts_of_any_kind_never_panic(text in any::<String>()) {
        let _ = text.parse::<TicketKey>();
        let _ = text.parse::<TicketKeys>();
    }
}

#[test]
fn the_format_does_not_change_under_tickets_already_sold() {
    let code = concat!(
        "AE2HKD4YUWS2LJNFUWS2LJNFUWS2LJNFUU6DYPB4HQ6DYPB4HQ6DYPB4HQ6AAAIROEBJOZLIZ54E66RTH6KYI",
        "DXTB33H7YQQ55QO7WDYQQOFHOVO7E3Q75OPE4FPTAI54KKPOMUZUPSNEKMW5RWATNIJAM3XDTQCBMQHJW4OBI",
    );
    assert_eq!(key(1).sign(&claims()), code);
    assert_eq!(keys(&[1]).verify(code), Ok(claims()));
}

#[test]
fn every_changed_bit_is_refused() {
    let keys = keys(&[1]);
    let bytes = from_base32(key(1).sign(&claims()).as_bytes()).unwrap();
    for bit in 0..BYTES_LEN * 8 {
        let mut changed = bytes;
        changed[bit / 8] ^= 1 << (bit % 8);
        let expected = match bit / 8 {
            0 => CodeError::Malformed,
            1..5 => CodeError::UnknownKey,
            _ => CodeError::BadSignature,
        };
        assert_eq!(keys.verify(&base32(&changed)), Err(expected), "bit {bit}");
    }
}

#[test]
fn every_changed_character_is_refused() {
    let keys = keys(&[1]);
    let code = key(1).sign(&claims());
    for at in 0..CODE_LEN {
        let original = code.as_bytes()[at];
        let value = ALPHABET.iter().position(|c| *c == original).unwrap();
        let neighbour = ALPHABET[(value + 1) % 32];
        let foreign = (0x20..0x7f).filter(|c| !ALPHABET.contains(c));
        for other in foreign.chain([neighbour]) {
            let mut changed = code.clone().into_bytes();
            changed[at] = other;
            let changed = String::from_utf8(changed).unwrap();
            assert!(keys.verify(&changed).is_err(), "{changed}");
        }
    }
}

#[test]
fn a_longer_shorter_or_differently_written_code_is_malformed() {
    let keys = keys(&[1]);
    let code = key(1).sign(&claims());
    for text in [
        String::new(),
        code[1..].to_owned(),
        code[..CODE_LEN - 1].to_owned(),
        format!("{code}A"),
        format!("{code}======"),
        format!(" {code}"),
        format!("{code}\n"),
        code.to_lowercase(),
        "€".repeat(CODE_LEN),
        "A".repeat(1 << 20),
    ] {
        assert_eq!(keys.verify(&text), Err(CodeError::Malformed), "{text:.60}");
    }
    // 106 bytes leave two bits of the last character unused. They are always zero.
    let last = code.as_bytes()[CODE_LEN - 1];
    let value = ALPHABET.iter().position(|c| *c == last).unwrap();
    for unused in 1..4 {
        let spelling = format!(
            "{}{}",
            &code[..CODE_LEN - 1],
            char::from(ALPHABET[value | unused])
        );
        assert_eq!(keys.verify(&spelling), Err(CodeError::Malformed));
    }
}

#[test]
fn a_code_of_another_key_is_unknown_and_both_rotated_keys_count() {
    let old = key(1).sign(&claims());
    let new = key(2).sign(&claims());
    assert_eq!(keys(&[2]).verify(&old), Err(CodeError::UnknownKey));
    let rotated = keys(&[2, 1]);
    assert_eq!(rotated.verify(&old), Ok(claims()));
    assert_eq!(rotated.verify(&new), Ok(claims()));
}

#[test]
fn a_signature_without_the_purpose_is_refused() {
    let key = key(1);
    let mut bytes = [0; BYTES_LEN];
    bytes[..CLAIMS_LEN].copy_from_slice(&write_claims(key.id, &claims()));
    let signature = key.secret.sign(&bytes[..CLAIMS_LEN]);
    bytes[CLAIMS_LEN..].copy_from_slice(&signature.to_bytes());
    assert_eq!(
        keys(&[1]).verify(&base32(&bytes)),
        Err(CodeError::BadSignature)
    );
}

#[test]
fn keys_have_text_forms() {
    let secret: TicketKey = URL_SAFE_NO_PAD.encode([7; 32]).parse().unwrap();
    assert_eq!(secret.sign(&claims()), key(7).sign(&claims()));
    let both = keys(&[2, 1]);
    assert_eq!(both.to_string().parse(), Ok(both.clone()));
    let spaced = both.to_string().replace(',', ", ");
    assert_eq!(spaced.parse(), Ok(both));
}

#[test]
fn texts_that_are_no_keys_are_refused() {
    let good = key(1).public().to_string();
    for text in [
        "",
        "AAAA",
        &format!("{good}="),
        &format!("{good}A"),
        &good[..42],
    ] {
        assert_eq!(text.parse::<TicketKey>().unwrap_err(), KeyError::Text);
        assert_eq!(text.parse::<TicketKeys>(), Err(KeyError::Text), "{text}");
    }
    assert_eq!(
        format!("{good},{good}").parse::<TicketKeys>(),
        Err(KeyError::Twice)
    );
    assert_eq!(TicketKeys::new(vec![]), Err(KeyError::Count));
    let nine: Vec<_> = (0..9).map(|s| key(s).public().to_string()).collect();
    assert_eq!(nine.join(",").parse::<TicketKeys>(), Err(KeyError::Count));
}

#[test]
fn a_public_key_of_small_order_is_refused() {
    let mut identity = [0; 32];
    identity[0] = 1;
    for weak in [[0; 32], identity] {
        assert_eq!(TicketPublicKey::from_bytes(&weak), Err(KeyError::Point));
    }
}

#[test]
fn a_key_names_itself_by_the_hash_of_its_public_half() {
    // The key pair of RFC 8032, section 7.1, test 1, as RFC 8037 publishes it.
    let secret: TicketKey = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
        .parse()
        .unwrap();
    let jwk = secret.public().jwk();
    assert_eq!(jwk.x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    assert_eq!(jwk.kid, "21fe31df");
    assert_eq!(keys(&[3, 4]).jwks()[1], key(4).public().jwk());
}

#[test]
fn the_secret_is_not_printed() {
    let text = format!("{:?}", key(1));
    assert_eq!(text, format!("TicketKey({})", key(1).public().id()));
}
