//! An internal call that verifies is one that was signed: this method, address and body,
//! in these headers, about now.
//!
//! An input is the three headers, method, address and body with zero bytes between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::internal_call::{CallError, InternalKeys, SignedCall, TOLERANCE_MS};
use onsale_domain::time::Millis;
use onsale_fuzz::{NOW, start_from};
use std::sync::LazyLock;

type Call = (&'static str, &'static str, &'static [u8], Millis);
const CALLS: [Call; 4] = [
    ("GET", "/internal/shows/shw_1/room?since=7", b"", NOW),
    (
        "POST",
        "/internal/a",
        b"{\"seats\":[1,2]}",
        Millis(NOW.0 + TOLERANCE_MS),
    ),
    (
        "POST",
        "/internal/a",
        b"\0\n\xff",
        Millis(NOW.0 - TOLERANCE_MS),
    ),
    ("DELETE", "/", b"late", Millis(NOW.0 - TOLERANCE_MS - 1)),
];

static KEYS: LazyLock<InternalKeys> = LazyLock::new(|| {
    let keys = "k-2:abcdefghijklmnopqrstuvwxyz012345,k-1:ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";
    keys.parse().expect("two keys")
});

fn start() {
    let inputs = CALLS.map(|(method, target, body, at)| {
        let SignedCall {
            time,
            key,
            signature,
        } = KEYS.sign(method, target, body, at);
        let texts = [&*time, &key, &signature, method, target, ""].join("\0");
        [texts.as_bytes(), body].concat()
    });
    start_from("internal_call", inputs);
}

fn read(input: &[u8]) -> Option<([&str; 5], &[u8])> {
    let mut parts = input.splitn(6, |byte| *byte == 0);
    let mut texts = [""; 5];
    for text in &mut texts {
        *text = std::str::from_utf8(parts.next()?).ok()?;
    }
    Some((texts, parts.next()?))
}

fuzz_target!(init: start(), |input: &[u8]| {
    let Some(([time, key, signature, method, target], body)) = read(input) else { return };
    let verdict = KEYS.verify(method, target, body, time, key, signature, NOW);
    let signed = matches!(verdict, Ok(()) | Err(CallError::OutOfTime));
    let genuine = CALLS.iter().find(|(known, at, content, _)| {
        method.eq_ignore_ascii_case(known) && target == *at && body == *content
    });
    if signed {
        let (_, _, _, at) = genuine.expect("a call that was never signed");
        assert_eq!(time, at.0.to_string());
        let again = KEYS.sign(method, target, body, *at);
        assert_eq!((&*again.key, &*again.signature), (key, signature));
        let in_time = NOW.0.abs_diff(at.0) <= TOLERANCE_MS;
        assert_eq!(verdict.is_ok(), in_time);
    }
});
