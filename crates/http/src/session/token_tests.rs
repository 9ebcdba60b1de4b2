//! A token is ours or it is nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use onsale_app::Caller;
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{SessionSigner, SessionVerifier};

const NOW: Millis = Millis(1_800_000_000_000);
const SECRET: [u8; 32] = [7; 32];
const KEY_ID: &str = "k1";

fn session() -> Session {
    Session {
        id: SessionId::from_bytes([1; 16]),
        account: AccountId::from_bytes([2; 16]),
        opened: NOW,
        expires: NOW + 3_600_000,
        epoch: 0,
        device: None,
    }
}

fn claims() -> Value {
    json!({
        "sub": session().account, "jti": session().id, "role": "buyer",
        "iat": NOW.0 / 1_000, "exp": NOW.0 / 1_000 + 3_600,
        "aud": "onsale", "iss": "onsale",
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[field] = value;
    claims
}

fn without(field: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(field);
    claims
}

fn header() -> Value {
    json!({"typ": "JWT", "alg": "EdDSA", "kid": KEY_ID})
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

fn signed_with(secret: [u8; 32], header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let signature = SigningKey::from_bytes(&secret).sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

fn signed(header: &Value, claims: &Value) -> String {
    signed_with(SECRET, header, claims)
}

/// HMAC-SHA-256 with a 32-byte key, as RFC 2104 has it.
fn hmac_signed(key: &[u8; 32], header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let pad = |byte: u8| -> Vec<u8> {
        let mut block = [byte; 64];
        block.iter_mut().zip(key).for_each(|(b, k)| *b ^= k);
        block.to_vec()
    };
    let inner = Sha256::digest([pad(0x36), message.as_bytes().to_vec()].concat());
    let mac = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac))
}

fn verifier() -> SessionVerifier {
    SessionSigner::from_secret(KEY_ID, SECRET).verifier()
}

#[test]
fn our_own_token_is_taken_until_it_runs_out() {
    let signer = SessionSigner::from_secret(KEY_ID, SECRET);
    let token = signer.sign(&session(), Role::Organiser).unwrap();
    let caller = Caller {
        account: session().account,
        session: session().id,
        role: Role::Organiser,
    };
    assert_eq!(verifier().verify(&token, NOW), Some(caller));
    let last = session().expires.saturating_sub(1);
    assert_eq!(verifier().verify(&token, last), Some(caller));
    assert_eq!(verifier().verify(&token, session().expires), None);
    assert_eq!(signer.sign(&session(), Role::Organiser).unwrap(), token);
    // What the table below changes is taken when nothing is changed.
    assert!(
        verifier()
            .verify(&signed(&header(), &claims()), NOW)
            .is_some()
    );
}

#[test]
fn a_token_carries_what_its_session_is_suspected_of() {
    let signer = SessionSigner::from_secret(KEY_ID, SECRET);
    let read = |token: &str| verifier().verify_suspected(token, NOW).unwrap().1;
    for suspicion in [Suspicion::Nothing, Suspicion::Unusual, Suspicion::Automated] {
        let token = signer.sign_suspected(&session(), Role::Buyer, suspicion);
        assert_eq!(read(&token.unwrap()), suspicion);
    }
    // A token of yesterday has no such claim, and one of tomorrow may say more.
    assert_eq!(read(&signed(&header(), &claims())), Suspicion::Nothing);
    let more = signed(&header(), &with("sus", json!(3)));
    assert_eq!(read(&more), Suspicion::Automated);
    let unsuspected = signer.sign(&session(), Role::Buyer).unwrap();
    assert_eq!(read(&unsuspected), Suspicion::Nothing);
}

#[test]
fn every_other_token_is_refused() {
    let good = signed(&header(), &claims());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let public = SigningKey::from_bytes(&SECRET).verifying_key().to_bytes();
    let other_role = {
        let (head, _) = message.split_once('.').unwrap();
        let body = URL_SAFE_NO_PAD.encode(with("role", json!("organiser")).to_string());
        format!("{head}.{body}.{signature}")
    };
    let header_with = |field: &str, value: Value| {
        let mut header = header();
        header[field] = value;
        header
    };
    let unsigned = |alg: &str| {
        let header = header_with("alg", json!(alg));
        [self::message(&header, &claims()), String::new()].join(".")
    };
    let mut flipped = URL_SAFE_NO_PAD.decode(signature).unwrap();
    flipped[10] ^= 1;
    let cases: Vec<(&str, String)> = vec![
        (
            "a flipped bit",
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(flipped)),
        ),
        (
            "a forged signature",
            format!("{message}.{}", URL_SAFE_NO_PAD.encode([0; 64])),
        ),
        ("another role under the same signature", other_role),
        (
            "a token that has run out",
            signed(&header(), &with("exp", json!(NOW.0 / 1_000))),
        ),
        ("no expiry", signed(&header(), &without("exp"))),
        (
            "an expiry that is no number",
            signed(&header(), &with("exp", json!("never"))),
        ),
        (
            "a negative expiry",
            signed(&header(), &with("exp", json!(-1))),
        ),
        ("alg none", unsigned("none")),
        ("alg None", unsigned("None")),
        ("no signature", unsigned("EdDSA")),
        (
            "alg none with our signature",
            signed(&header_with("alg", json!("none")), &claims()),
        ),
        (
            "HS256 with the public key as its secret",
            hmac_signed(&public, &header_with("alg", json!("HS256")), &claims()),
        ),
        (
            "HS256 passed off as EdDSA",
            hmac_signed(&public, &header(), &claims()),
        ),
        (
            "another algorithm named",
            signed(&header_with("alg", json!("ES256")), &claims()),
        ),
        ("another key", signed_with([8; 32], &header(), &claims())),
        (
            "another audience",
            signed(&header(), &with("aud", json!("elsewhere"))),
        ),
        ("no audience", signed(&header(), &without("aud"))),
        (
            "several audiences, ours among them",
            signed(&header(), &with("aud", json!(["onsale", "b"]))),
        ),
        (
            "another issuer",
            signed(&header(), &with("iss", json!("elsewhere"))),
        ),
        ("no issuer", signed(&header(), &without("iss"))),
        (
            "no key id",
            signed(&json!({"typ": "JWT", "alg": "EdDSA"}), &claims()),
        ),
        (
            "an unknown key id",
            signed(&header_with("kid", json!("k2")), &claims()),
        ),
        (
            "an unknown critical extension",
            signed(&header_with("crit", json!(["b64"])), &claims()),
        ),
        (
            "an unknown role",
            signed(&header(), &with("role", json!("operator"))),
        ),
        ("no session", signed(&header(), &without("jti"))),
        ("no account", signed(&header(), &without("sub"))),
        (
            "a session for an account",
            signed(&header(), &with("sub", json!(session().id))),
        ),
        ("a truncated token", good[..good.len() - 10].to_owned()),
        ("two parts", message.to_owned()),
        ("four parts", format!("{good}.x")),
        ("a padded signature", format!("{good}==")),
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("garbage", "not a token at all \u{1f3ab}".to_owned()),
        ("endless", "a.".repeat(100_000)),
    ];
    for (name, token) in cases {
        assert_eq!(verifier().verify(&token, NOW), None, "{name}");
    }
}

#[test]
fn a_new_key_is_introduced_while_old_tokens_run_out() {
    let (old, new) = (
        SessionSigner::from_secret("2026", [1; 32]),
        SessionSigner::from_secret("2027", [2; 32]),
    );
    let keys = format!("{}, {}", new.public_key(), old.public_key());
    let verifier = SessionVerifier::parse(&keys).unwrap();
    for signer in [&old, &new] {
        let token = signer.sign(&session(), Role::Buyer).unwrap();
        assert!(verifier.verify(&token, NOW).is_some());
    }
    // A key answers to its own name only.
    let impostor = SessionSigner::from_secret("2027", [1; 32]);
    let token = impostor.sign(&session(), Role::Buyer).unwrap();
    assert_eq!(verifier.verify(&token, NOW), None);
}

#[test]
fn keys_are_read_from_their_text_and_mistakes_do_not_print_it() {
    let seed = URL_SAFE_NO_PAD.encode(SECRET);
    let signer = SessionSigner::parse(&format!("{KEY_ID}:{seed}")).unwrap();
    let token = signer.sign(&session(), Role::Buyer).unwrap();
    assert!(verifier().verify(&token, NOW).is_some());
    assert!(!format!("{signer:?}").contains(&seed));
    for wrong in [
        "",
        ":",
        "k1",
        &seed,
        &format!(":{seed}"),
        "k1:c2hvcnQ",
        &format!("k 1:{seed}"),
    ] {
        let why = SessionSigner::parse(wrong).unwrap_err();
        assert!(!why.contains(&seed), "{why}");
    }
    let public = signer.public_key();
    for wrong in [
        String::new(),
        format!("{public},"),
        format!("{public},{public}"),
        // The neutral point: every signature would match it.
        format!(
            "k1:{}",
            URL_SAFE_NO_PAD.encode([&[1u8][..], &[0; 31]].concat())
        ),
    ] {
        assert!(SessionVerifier::parse(&wrong).is_err(), "{wrong}");
    }
}
