//! People type codes in many ways, and all of them mean one code: what is read is what
//! was typed without hyphens, spaces, case and look-alikes, and is real only if signed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanCode, FanKeyId, FanKeys, FanSerial};
use onsale_fuzz::start_from;
use std::sync::LazyLock;

const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const ISSUED: [(u8, u32); 4] = [(7, 0), (7, 1), (7, u32::MAX), (0, 0x0f0f_0f0f)];

static KEYS: LazyLock<FanKeys> = LazyLock::new(|| {
    FanKeys::new(vec![(FanKeyId(7), [1; 32]), (FanKeyId(0), [2; 32])]).expect("two keys")
});

static GENUINE: LazyLock<Vec<(FanSerial, FanCode)>> = LazyLock::new(|| {
    let code = |key, serial| KEYS.code(SHOW, FanKeyId(key), serial).expect("a known key");
    ISSUED
        .map(|(key, serial)| (FanSerial(serial), code(key, FanSerial(serial))))
        .into()
});

fn start() {
    let spelled = GENUINE.iter().flat_map(|(_, code)| {
        let text = code.to_string();
        let plain = text.replace('-', "");
        [
            plain.to_lowercase().replace('0', "o").replace('1', "l"),
            plain,
            text,
        ]
    });
    start_from("fan_code", spelled);
}

/// The rules of the spelling, once more and by other means.
fn plain(text: &str) -> String {
    let letters = text.chars().filter(|c| !matches!(c, '-' | ' '));
    let letters = letters.map(|c| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    });
    letters.collect()
}

fuzz_target!(init: start(), |text: &str| {
    let Ok(code) = text.parse::<FanCode>() else {
        let plain = plain(text);
        let known = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() && !"ILOU".contains(c);
        let sound = plain.len() == 24 && plain.chars().all(known) && text.len() <= 48;
        assert!(!sound, "a sound code is refused: {text}");
        return;
    };
    let written = code.to_string();
    assert_eq!(plain(&written), plain(text));
    assert!(written.split('-').all(|group| group.len() == 4) && written.len() == 29);
    assert_eq!(written.parse::<FanCode>(), Ok(code));

    let verdict = KEYS.verify(SHOW, &code);
    let issued = GENUINE.iter().find(|(_, genuine)| *genuine == code);
    assert_eq!(verdict.ok(), issued.map(|(serial, _)| *serial), "{text}");
    assert!(KEYS.verify(ShowId::from_bytes([2; 16]), &code).is_err(), "another show accepts it");
});
