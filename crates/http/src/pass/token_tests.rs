//! A pass is the edge's, for this show and this time, or it is nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::{PassClaims, PassError};
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::time::Millis;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::PassVerifier;
use crate::session::SessionSigner;

const NOW: Millis = Millis(1_800_000_000_000);
const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const SECRET: [u8; 32] = [7; 32];
const KEY_ID: &str = "k1";

fn claims() -> Value {
    json!({
        "iss": "onsale-edge", "aud": SHOW, "jti": PassId([2; 16]),
        "iat": NOW.0 / 1_000, "exp": NOW.0 / 1_000 + 300,
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

fn header_with(field: &str, value: Value) -> Value {
    let mut header = json!({"typ": "JWT", "alg": "EdDSA", "kid": KEY_ID});
    header[field] = value;
    header
}

fn header() -> Value {
    header_with("typ", json!("JWT"))
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

fn verifier() -> PassVerifier {
    PassVerifier::parse(&PassKey::new(KEY_ID, &SECRET).public_key()).unwrap()
}

/// The two questions that a hold asks of a pass.
fn counts(token: &str) -> bool {
    let pass = verifier().verify(token);
    pass.is_some_and(|pass| pass.check(SHOW, NOW).is_ok())
}

#[test]
fn what_the_edge_signs_is_read_as_it_was_meant() {
    let pass = PassClaims {
        pass: PassId([2; 16]),
        show: SHOW,
        issued: NOW,
        expires: NOW + 300_000,
        key_id: KEY_ID.to_owned(),
    };
    let token = PassKey::new(KEY_ID, &SECRET).sign(&pass);
    assert_eq!(verifier().verify(&token), Some(pass));
    // What the table below changes counts when nothing is changed.
    assert!(counts(&token) && counts(&signed(&header(), &claims())));
}

#[test]
fn every_other_token_lets_nobody_in() {
    let good = signed(&header(), &claims());
    let (message, signature) = good.rsplit_once('.').unwrap();
    let public = SigningKey::from_bytes(&SECRET).verifying_key().to_bytes();
    let other_show = {
        let (head, _) = message.split_once('.').unwrap();
        let aud = json!(ShowId::from_bytes([9; 16]));
        let body = URL_SAFE_NO_PAD.encode(with("aud", aud).to_string());
        format!("{head}.{body}.{signature}")
    };
    let unsigned = |alg: &str| {
        let header = header_with("alg", json!(alg));
        [self::message(&header, &claims()), String::new()].join(".")
    };
    let session = SessionSigner::from_secret(KEY_ID, SECRET).sign(
        &Session {
            id: SessionId::from_bytes([2; 16]),
            account: AccountId::from_bytes([3; 16]),
            opened: NOW,
            expires: NOW + 300_000,
            epoch: 0,
            device: None,
        },
        Role::Buyer,
    );
    let seconds = NOW.0 / 1_000;
    #[rustfmt::skip]
    let cases: Vec<(&str, String)> = vec![
        ("a forged signature", format!("{message}.{}", URL_SAFE_NO_PAD.encode([0; 64]))),
        ("another show under the same signature", other_show),
        ("a pass that has run out", signed(&header(), &with("exp", json!(seconds - 5)))),
        ("a pass from the future", signed(&header(), &with("iat", json!(seconds + 6)))),
        ("a pass that lasts too long", signed(&header(), &with("exp", json!(seconds + 901)))),
        ("a pass for ever", signed(&header(), &with("exp", json!(u64::MAX)))),
        ("no expiry", signed(&header(), &without("exp"))),
        ("no time of issue", signed(&header(), &without("iat"))),
        ("a time that is no number", signed(&header(), &with("exp", json!("never")))),
        ("alg none", unsigned("none")),
        ("no signature", unsigned("EdDSA")),
        ("alg none with the edge's signature", signed(&header_with("alg", json!("none")), &claims())),
        ("HS256 with the public key as its secret", hmac_signed(&public, &header_with("alg", json!("HS256")), &claims())),
        ("HS256 passed off as EdDSA", hmac_signed(&public, &header(), &claims())),
        ("another algorithm named", signed(&header_with("alg", json!("ES256")), &claims())),
        ("another key", signed_with([8; 32], &header(), &claims())),
        ("an unknown key id", signed(&header_with("kid", json!("k2")), &claims())),
        ("no key id", signed(&json!({"typ": "JWT", "alg": "EdDSA"}), &claims())),
        ("an unknown critical extension", signed(&header_with("crit", json!(["b64"])), &claims())),
        ("another show", signed(&header(), &with("aud", json!(ShowId::from_bytes([9; 16]))))),
        ("several shows", signed(&header(), &with("aud", json!([SHOW])))),
        ("no show", signed(&header(), &without("aud"))),
        ("another issuer", signed(&header(), &with("iss", json!("onsale")))),
        ("no issuer", signed(&header(), &without("iss"))),
        ("no pass id", signed(&header(), &without("jti"))),
        ("an id that is no pass", signed(&header(), &with("jti", json!("02")))),
        ("a session, even under the same key", session.unwrap()),
        ("a truncated token", good[..good.len() - 10].to_owned()),
        ("two parts", message.to_owned()),
        ("nothing", String::new()),
        ("endless", "a.".repeat(100_000)),
    ];
    for (name, token) in cases {
        assert!(!counts(&token), "{name}");
    }
    let late = verifier().verify(&good).unwrap();
    assert_eq!(
        late.check(SHOW, NOW + 305_000),
        Err(PassError::Expired),
        "the same pass, later"
    );
}

#[test]
fn a_pass_is_no_session() {
    let sessions = SessionSigner::from_secret(KEY_ID, SECRET).verifier();
    assert_eq!(sessions.verify(&signed(&header(), &claims()), NOW), None);
}

#[test]
fn a_new_key_is_introduced_while_old_passes_run_out() {
    let (old, new) = (
        PassKey::new("2026", &[1; 32]),
        PassKey::new("2027", &[2; 32]),
    );
    let text = format!("{}, {}", new.public_key(), old.public_key());
    let verifier = PassVerifier::parse(&text).unwrap();
    for (kid, secret) in [("2026", [1; 32]), ("2027", [2; 32])] {
        let token = signed_with(secret, &header_with("kid", json!(kid)), &claims());
        assert!(verifier.verify(&token).is_some(), "{kid}");
    }
    // A key answers to its own name only.
    let impostor = signed_with([1; 32], &header_with("kid", json!("2027")), &claims());
    assert_eq!(verifier.verify(&impostor), None);
    let listed: Vec<_> = verifier.jwks().into_iter().map(|jwk| jwk.kid).collect();
    assert_eq!(listed, ["2027", "2026"]);
}

#[test]
fn keys_may_be_left_out_but_not_misspelt() {
    let none = PassVerifier::parse(" ").unwrap();
    assert_eq!(none.verify(&signed(&header(), &claims())), None);
    assert!(none.jwks().is_empty());
    let public = PassKey::new(KEY_ID, &SECRET).public_key();
    for wrong in [
        format!("{public},"),
        format!("{public},{public}"),
        "k1".to_owned(),
    ] {
        assert!(PassVerifier::parse(&wrong).is_err(), "{wrong}");
    }
}
