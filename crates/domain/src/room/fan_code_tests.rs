use super::*;
use proptest::prelude::*;

const SHOW: ShowId = ShowId::from_bytes([3; 16]);
const OTHER_SHOW: ShowId = ShowId::from_bytes([4; 16]);
const OLD: FanKeyId = FanKeyId(1);
const NEW: FanKeyId = FanKeyId(2);

fn keys() -> FanKeys {
    FanKeys::new(vec![(NEW, [8; 32]), (OLD, [7; 32])]).unwrap()
}

fn issued(serial: u32) -> FanCode {
    let keys = keys();
    keys.code(SHOW, keys.signing(), FanSerial(serial)).unwrap()
}

#[test]
fn a_code_is_what_everybody_else_computes() {
    // Python: b32crockford(bytes([1]) + (77).to_bytes(4, "big") + hmac.new(bytes([7]) * 32,
    //   b"onsale fan code\0" + bytes([3]) * 16 + bytes([1]) + (77).to_bytes(4, "big"),
    //   "sha256").digest()[:10])
    let code = keys().code(SHOW, OLD, FanSerial(77)).unwrap();
    assert_eq!(code.to_string(), EXPECTED);
}

const EXPECTED: &str = "0400-002D-6ETQ-X6K2-8ZM7-WNDQ";

#[test]
fn a_code_is_read_as_people_type_it_and_means_one_lot() {
    let code = issued(12);
    let text = code.to_string();
    assert_eq!(text.len(), 29);
    let plain = text.replace('-', "");
    let spaced = text.replace('-', " ");
    for typed in [
        text.to_lowercase(),
        plain.clone(),
        spaced,
        format!(" {text} "),
        text.replace('0', "O").replace('1', "I"),
        text.replace('0', "o").replace('1', "l"),
        text.replace('1', "L"),
    ] {
        let read: FanCode = typed.parse().unwrap();
        assert_eq!(read, code, "{typed}");
        assert_eq!(read.to_string(), text);
    }
    let short = plain[1..].to_owned();
    let long = format!("{plain}0");
    let endless = format!("{plain}{}", " ".repeat(100));
    let exotic = plain.replacen(&plain[..1], "０", 1);
    for wrong in [
        "",
        "hello",
        "U000-0000-0000-0000-0000-0000",
        "0000_0000_0000_0000_0000_0000",
        &short,
        &long,
        &endless,
        &exotic,
    ] {
        let read = wrong.parse::<FanCode>();
        assert_eq!(read, Err(FanCodeError::Malformed), "{wrong}");
    }
}

#[test]
fn a_new_key_signs_and_the_old_codes_stay_what_they_were() {
    let before = FanKeys::new(vec![(OLD, [7; 32])]).unwrap();
    let code = before.code(SHOW, OLD, FanSerial(5)).unwrap();
    let after = keys();
    assert_eq!(after.signing(), NEW);
    assert_eq!(after.verify(SHOW, &code), Ok(FanSerial(5)));
    assert_eq!(after.code(SHOW, OLD, FanSerial(5)), Some(code));
    assert_eq!(
        before.verify(SHOW, &issued(5)),
        Err(FanCodeError::UnknownKey)
    );
    assert_eq!(before.code(SHOW, NEW, FanSerial(5)), None);
    let impostor = FanKeys::new(vec![(OLD, [9; 32])]).unwrap();
    let refused = Err(FanCodeError::NotOfThisShow);
    assert_eq!(impostor.verify(SHOW, &code), refused);
}

#[test]
fn keys_are_read_from_their_text_and_never_shown() {
    let text = format!("2:{}, 1:{}", "08".repeat(32), "07".repeat(32));
    let read: FanKeys = text.parse().unwrap();
    assert_eq!(read.verify(SHOW, &issued(1)), Ok(FanSerial(1)));
    assert_eq!(format!("{read:?}"), "FanKeys[2, 1]");
    assert_eq!(format!("{:?}", issued(1)), "FanCode(…)");

    let one = format!("1:{}", "07".repeat(32));
    let nine: Vec<String> = (1..=9)
        .map(|id| format!("{id}:{}", "07".repeat(32)))
        .collect();
    let cases = [
        (String::new(), FanKeysError::Text),
        (one.replace("1:", "256:"), FanKeysError::Text),
        (one.replace("1:", ":"), FanKeysError::Text),
        (one[..60].to_owned(), FanKeysError::Text),
        (one.replace('7', "g"), FanKeysError::Text),
        (format!("{one},"), FanKeysError::Text),
        (format!("{one},{one}"), FanKeysError::Twice),
        (nine.join(","), FanKeysError::Count),
    ];
    for (wrong, why) in cases {
        assert_eq!(wrong.parse::<FanKeys>().unwrap_err(), why, "{wrong}");
    }
}

proptest! {
    #[test]
    fn every_issued_code_is_good_for_its_show_only(serial: u32, secret: [u8; 32], id: u8) {
        let keys = FanKeys::new(vec![(FanKeyId(id), secret)]).unwrap();
        let code = keys.code(SHOW, keys.signing(), FanSerial(serial)).unwrap();
        let read: FanCode = code.to_string().parse().unwrap();
        prop_assert_eq!(keys.verify(SHOW, &read), Ok(FanSerial(serial)));
        prop_assert_eq!(keys.verify(OTHER_SHOW, &read), Err(FanCodeError::NotOfThisShow));
    }

    #[test]
    fn a_code_with_one_changed_character_is_refused(
        serial: u32, place in 0..CODE_CHARS, step in 1usize..32,
    ) {
        let mut text = issued(serial).to_string().replace('-', "").into_bytes();
        let was = ALPHABET.iter().position(|b| *b == text[place]).unwrap();
        text[place] = ALPHABET[(was + step) % 32];
        let changed: FanCode = String::from_utf8(text).unwrap().parse().unwrap();
        prop_assert!(keys().verify(SHOW, &changed).is_err());
    }

    #[test]
    fn any_text_is_read_or_refused_and_read_codes_keep_their_spelling(text: String) {
        if let Ok(code) = text.parse::<FanCode>() {
            prop_assert_eq!(code.to_string().parse::<FanCode>(), Ok(code));
        }
    }
}
