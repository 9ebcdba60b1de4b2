//! A pass that is believed is one that the edge signed, in its one spelling; and it counts
//! for its show and its time only.
#![no_main]

// As the functions have it, without the web framework around it.
#[path = "../../crates/http/src/ed25519.rs"]
mod ed25519;
#[path = "../../crates/http/src/key_ring.rs"]
mod key_ring;
#[path = "../../crates/http/src/named_keys.rs"]
mod named_keys;
#[allow(dead_code, reason = "only the functions publish their keys")]
#[path = "../../crates/http/src/pass/token.rs"]
mod token;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::ShowId;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::{MAX_PASS_MS, PassClaims, PassError};
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::time::{CLOCK_SKEW_MS, LAST_MOMENT, Millis};
use onsale_fuzz::{NOW, start_from};
use std::sync::LazyLock;

use token::PassVerifier;

const OTHER_SHOW: ShowId = ShowId::from_bytes([9; 16]);

static KEYS: LazyLock<[PassKey; 2]> =
    LazyLock::new(|| [PassKey::new("2027", &[1; 32]), PassKey::new("2026", &[2; 32])]);
static VERIFIER: LazyLock<PassVerifier> = LazyLock::new(|| {
    let [new, old] = &*KEYS;
    let keys = format!("{},{}", new.public_key(), old.public_key());
    PassVerifier::parse(&keys).expect("two keys")
});
/// Knows keys of the same names, and nobody's passes.
static OTHER: LazyLock<PassVerifier> = LazyLock::new(|| {
    let keys = ["2027", "2026"].map(|id| PassKey::new(id, &[3; 32]).public_key());
    PassVerifier::parse(&keys.join(",")).expect("two keys")
});

static GENUINE: LazyLock<Vec<(String, PassClaims)>> = LazyLock::new(|| {
    let passes = [
        (&KEYS[0], NOW, NOW + 300_000),
        (&KEYS[1], NOW, NOW + MAX_PASS_MS),
        (&KEYS[0], NOW, NOW + MAX_PASS_MS + 1_000),
        (&KEYS[1], Millis(0), LAST_MOMENT),
    ];
    passes
        .map(|(key, issued, expires)| PassClaims {
            pass: PassId([0xfb; 16]),
            show: ShowId::from_bytes([1; 16]),
            // A token has whole seconds.
            issued: Millis(issued.0 / 1_000 * 1_000),
            expires: Millis(expires.0 / 1_000 * 1_000),
            key_id: key.id().to_owned(),
        })
        .map(|claims| {
            let key = KEYS.iter().find(|key| key.id() == claims.key_id).expect("it is known");
            (key.sign(&claims), claims)
        })
        .into()
});

/// What a forger tries first: the claims of a genuine pass under another header.
fn forged() -> Vec<String> {
    let headers = [
        r#"{"alg":"none","kid":"2027","typ":"JWT"}"#,
        r#"{"alg":"HS256","kid":"2027","typ":"JWT"}"#,
        r#"{"alg":"EdDSA","kid":"2026","typ":"JWT"}"#,
        r#"{"alg":"EdDSA","kid":"2027","typ":"JWT","crit":["exp"]}"#,
        r#"{"alg":"EdDSA","typ":"JWT"}"#,
    ];
    let mut parts = GENUINE[0].0.splitn(3, '.').skip(1);
    let (claims, signature) = (parts.next().expect("claims"), parts.next().expect("signature"));
    let forge = |header| format!("{}.{claims}.{signature}", URL_SAFE_NO_PAD.encode(header));
    headers.map(forge).into()
}

fn start() {
    for (text, claims) in GENUINE.iter() {
        assert_eq!(VERIFIER.verify(text).as_ref(), Some(claims));
    }
    let genuine = GENUINE.iter().map(|(text, _)| text.clone());
    start_from("pass_token", genuine.chain(forged()));
}

fuzz_target!(init: start(), |text: &str| {
    let Some(claims) = VERIFIER.verify(text) else {
        return;
    };
    assert!(GENUINE.iter().any(|(signed, of)| signed == text && *of == claims), "{text}");
    assert_eq!(OTHER.verify(text), None, "another key accepts it");
    assert_eq!(claims.check(OTHER_SHOW, NOW), Err(PassError::AnotherShow));
    let ended = claims.expires + CLOCK_SKEW_MS;
    assert!(claims.check(claims.show, ended).is_err(), "it outlives its time");
    if claims.expires - claims.issued > MAX_PASS_MS {
        assert_eq!(claims.check(claims.show, NOW), Err(PassError::TooLong));
    }
});
