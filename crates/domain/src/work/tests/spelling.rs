//! A payload is changed, respelled or made up.

use super::*;

#[test]
fn every_changed_character_is_refused() {
    let text = solved_payload();
    for at in 0..text.len() {
        for byte in 0..=127u8 {
            let mut changed = text.clone().into_bytes();
            if changed[at] == byte {
                continue;
            }
            changed[at] = byte;
            let changed = String::from_utf8(changed).unwrap();
            assert!(check(&changed).is_err(), "{byte} at {at}");
        }
    }
}

#[test]
fn every_changed_byte_inside_is_refused() {
    let json = json_of(&solved_payload()).into_bytes();
    for at in 0..json.len() {
        for byte in 0..=255u8 {
            let mut changed = json.clone();
            if changed[at] == byte {
                continue;
            }
            changed[at] = byte;
            assert!(check(&STANDARD.encode(changed)).is_err(), "{byte} at {at}");
        }
    }
}

#[test]
fn every_shorter_text_is_refused() {
    let text = solved_payload();
    let json = json_of(&text);
    for end in 0..text.len() {
        assert_eq!(check(&text[..end]), Err(WorkError::Malformed));
    }
    for end in 0..json.len() {
        assert_eq!(
            check(&STANDARD.encode(&json[..end])),
            Err(WorkError::Malformed)
        );
    }
}

/// The same values in another spelling are the same ticket, never a second one.
#[test]
fn spaces_order_and_escapes_change_nothing() {
    let text = solved_payload();
    let json = json_of(&text);
    let (challenge, solution) = json
        .strip_prefix("{\"challenge\":")
        .and_then(|rest| rest.strip_suffix('}'))
        .and_then(|rest| rest.split_once(",\"solution\":"))
        .unwrap();
    let first = check(&text).unwrap();
    for respelled in [
        format!("{{\"solution\":{solution},\"challenge\":{challenge}}}"),
        json.replace(',', " ,\n\t").replace(':', " : "),
        json.replace("\"cost\"", "\"c\\u006fst\""),
        json.replace("shw_", "\\u0073hw_"),
        json.replace(
            "\"algorithm\":\"SHA-256\",\"cost\":1,",
            "\"cost\":1,\"algorithm\":\"SHA-256\",",
        ),
        json.replace("\"counter\":300", "\"time\":12.5,\"counter\":300"),
        json.replace("\"counter\":300", "\"counter\":300,\"time\":0"),
    ] {
        assert_ne!(respelled, json);
        assert_eq!(
            check(&STANDARD.encode(&respelled)),
            Ok(first.clone()),
            "{respelled}"
        );
    }
}

#[test]
fn what_altcha_would_read_otherwise_is_malformed() {
    let show_member = format!("\"show\":\"{}\"", show(1));
    let json = json_of(&solved_payload());
    let list_of_values = {
        let challenge = challenge();
        let signature = challenge.signature;
        let parameters = challenge.parameters.signed_text();
        json.replace(
            &challenge.to_json(),
            &format!("[{parameters},\"{signature}\"]"),
        )
    };
    assert_ne!(list_of_values, json);
    let mut malformed = vec![STANDARD.encode(list_of_values)];
    for (from, to) in [
        // A member twice, with the same value and with another.
        ("\"cost\":1", "\"cost\":1,\"cost\":1"),
        ("\"cost\":1", "\"cost\":2,\"cost\":1"),
        (
            show_member.as_str(),
            &format!("{show_member},{show_member}"),
        ),
        ("\"counter\":300", "\"counter\":300,\"counter\":300"),
        ("{\"challenge\"", "{\"challenge\":{},\"challenge\""),
        // Members that we never write.
        ("\"cost\":1", "\"cost\":1,\"memoryCost\":1"),
        ("\"cost\":1", "\"cost\":1,\"keySignature\":\"00\""),
        ("\"data\":{", "\"data\":{\"vip\":true,"),
        ("\"data\":{", "\"data\":{\"waitUntil\":null,"),
        ("\"counter\":300", "\"counter\":300,\"time\":null"),
        ("{\"challenge\"", "{\"test\":true,\"challenge\""),
        // Other algorithms, lengths and spellings of numbers.
        ("SHA-256", "SHA-512"),
        ("SHA-256", "sha-256"),
        ("\"keyLength\":32", "\"keyLength\":16"),
        ("\"cost\":1", "\"cost\":1.0"),
        ("\"cost\":1", "\"cost\":1e0"),
        ("\"cost\":1", "\"cost\":\"1\""),
        ("\"counter\":300", "\"counter\":300.5"),
        ("\"counter\":300", "\"counter\":-1"),
        ("\"counter\":300", "\"counter\":4294967596"),
        ("\"expiresAt\":1800000300", "\"expiresAt\":null"),
        (
            "\"expiresAt\":1800000300",
            "\"expiresAt\":18446744073709551615",
        ),
        ("\"expiresAt\":1800000300", "\"expiresAt\":253402300800"),
        ("shw_01", "SHW_01"),
        ("\"nonce\":\"a7", "\"nonce\":\"A7"),
        ("\"nonce\":\"a7", "\"nonce\":\""),
        ("\"nonce\":\"a7", "\"nonce\":\"a7a7"),
        ("\"keyPrefix\":\"", "\"keyPrefix\":\"0"),
        ("\"keyPrefix\":\"", "\"keyPrefix\":\"00"),
    ] {
        malformed.push(edited(from, to));
    }
    malformed.push(STANDARD.encode(format!("{json}{json}")));
    malformed.push(STANDARD.encode(format!("[{json}]")));
    malformed.push(json.clone());
    malformed.push(format!(" {}", solved_payload()));
    malformed.push(solved_payload().replace('=', ""));
    for text in malformed {
        assert_eq!(check(&text), Err(WorkError::Malformed), "{text}");
    }
}

#[test]
fn a_short_prefix_is_refused() {
    for prefix in ["", "0", "00", "000", "00000"] {
        assert!(KeyPrefix::read(prefix).is_none(), "{prefix}");
    }
    assert!(KeyPrefix::read("0000").is_some());
}

#[test]
fn a_long_text_is_refused_before_it_is_read() {
    let json = json_of(&solved_payload());
    let padded = |spaces: usize| STANDARD.encode(format!("{}{json}", " ".repeat(spaces)));
    assert!(check(&padded(200)).is_ok());
    assert_eq!(check(&padded(2_000)), Err(WorkError::Malformed));
    assert_eq!(check(&"A".repeat(50_000_000)), Err(WorkError::Malformed));
    let nested = STANDARD.encode("[".repeat(1_500));
    assert_eq!(check(&nested), Err(WorkError::Malformed));
    let nested = STANDARD.encode("{\"challenge\":".repeat(100));
    assert_eq!(check(&nested), Err(WorkError::Malformed));
}

/// Pieces of payloads in any order: nearer to the grammar than random bytes.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\u",
        "null",
        "true",
        "1",
        "1e999",
        "-0",
        " ",
        "\"challenge\":",
        "\"solution\":",
        "\"parameters\":",
        "\"signature\":",
        "\"data\":",
        "\"counter\":300",
        "\"derivedKey\":\"00\"",
        "\"cost\":1",
        "\"expiresAt\":1800000300",
        "\"algorithm\":\"SHA-256\"",
        "\"keyPrefix\":\"0000\"",
        "é",
        "\u{0}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn text_of_any_kind_is_refused(text in any::<String>()) {
        prop_assert_eq!(check(&text), Err(WorkError::Malformed));
    }

    #[test]
    fn bytes_of_any_kind_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..1_600)) {
        prop_assert_eq!(check(&STANDARD.encode(bytes)), Err(WorkError::Malformed));
    }

    #[test]
    fn json_of_any_kind_is_refused(json in pieces()) {
        prop_assert_eq!(check(&STANDARD.encode(json)), Err(WorkError::Malformed));
    }

    #[test]
    fn a_spliced_payload_is_refused_or_the_same_ticket(
        from in 0usize..1_000,
        len in 0usize..40,
        with in "[ -~]{0,40}",
    ) {
        let mut json = json_of(&solved_payload());
        let from = from % json.len();
        let to = (from + len).min(json.len());
        json.replace_range(from..to, &with);
        if let Ok(solved) = check(&STANDARD.encode(json)) {
            prop_assert_eq!(Ok(solved), check(&solved_payload()));
        }
    }

    #[test]
    fn a_challenge_says_what_was_signed(
        shows in any::<[u8; 16]>(),
        visitors in any::<[u8; 16]>(),
        cost in 1u32..=32,
        expires in 0u64..=u64::MAX,
        nonce in any::<[u8; 32]>(),
        counter in 0u16..50,
    ) {
        let mut entropy = entropy(counter);
        entropy[..32].copy_from_slice(&nonce);
        let terms = Terms {
            show: ShowId::from_bytes(shows),
            visitor: VisitorId::from_bytes(visitors),
            expires: Millis(expires),
        };
        let keys = keys(&[2, 1]);
        let challenge = issue(&terms, Cost::clamped(cost), &entropy, &keys);
        let read = Challenge::from_json(&challenge.to_json());
        prop_assert_eq!(read.as_ref(), Some(&challenge));
        let text = payload(&challenge, &challenge.solve(0..TRIES).unwrap());
        let solved = verify(&text, terms.show, terms.visitor, Millis(0), &keys).unwrap();
        prop_assert_eq!(solved.way, Way::Worked(Cost::clamped(cost)));
        prop_assert!(solved.expires <= terms.expires);
    }
}
