//! Whatever is signed here is one thing and no other, even where all have one key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, HoldId, SessionId, ShowId, TicketId, VisitorId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::room::opaque::{Lot, PassId};
use onsale_domain::room::opening::Bucket;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::room::ticket::{Band, QueueTicket, TicketRing};
use onsale_domain::ticket_code::{TicketClaims, TicketKey, TicketKeys};
use onsale_domain::time::Millis;
use serde_json::{Value, json};

use crate::pass::PassVerifier;
use crate::prices::{PointView, PricingMode};
use crate::quote::{Quote, QuoteSigner};
use crate::session::SessionSigner;

const NOW: Millis = Millis(1_800_000_000_000);
const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const SECRET: [u8; 32] = [7; 32];
const KEY_ID: &str = "k1";

fn quotes() -> QuoteSigner {
    QuoteSigner::parse(&format!("{KEY_ID}:{}", URL_SAFE_NO_PAD.encode(SECRET))).unwrap()
}

fn queue() -> TicketRing {
    TicketRing::new(vec![(1, SECRET)]).unwrap()
}

fn session() -> Session {
    Session {
        id: SessionId::from_bytes([2; 16]),
        account: AccountId::from_bytes([3; 16]),
        opened: NOW,
        expires: NOW + 300_000,
        epoch: 0,
        device: None,
    }
}

fn pass() -> PassClaims {
    PassClaims {
        pass: PassId([4; 16]),
        show: SHOW,
        issued: NOW,
        expires: NOW + 300_000,
        key_id: KEY_ID.to_owned(),
    }
}

fn quote() -> Quote {
    let point = PointView {
        sequence: 0,
        mode: PricingMode::Fixed,
        formula: 0,
        at: NOW,
        starts_at: NOW,
        floor: 1.0,
        ceiling: 1.0,
        views: 0,
        held: 0,
        places: 0,
        sections: Vec::new(),
    };
    let total = Money {
        amount: Cents(0),
        currency: Currency::parse("EUR").unwrap(),
    };
    Quote::new(SHOW, HoldId::from_bytes([5; 16]), Vec::new(), total, point)
}

fn queue_ticket() -> QueueTicket {
    QueueTicket {
        show: SHOW,
        bucket: Bucket(0),
        band: Band::Everybody,
        lot: Lot([6; 16]),
        visitor: VisitorId::from_bytes([7; 16]),
        expires: NOW + 300_000,
    }
}

fn ticket() -> TicketClaims {
    TicketClaims {
        ticket: TicketId::from_bytes([8; 16]),
        show: SHOW,
        place: PlaceIndex(0),
        serial: 0,
    }
}

/// What the checks take a text for.
fn taken_for(text: &str) -> Vec<&'static str> {
    let sessions = SessionSigner::from_secret(KEY_ID, SECRET).verifier();
    let edge = PassKey::new(KEY_ID, &SECRET);
    let passes = PassVerifier::parse(&edge.public_key()).unwrap();
    let tickets = TicketKeys::new(vec![TicketKey::from_bytes(&SECRET).public()]).unwrap();
    let verdicts = [
        ("a session", sessions.verify(text, NOW).is_some()),
        ("a pass", passes.verify(text).is_some()),
        ("a pass at the edge", edge.read(text).is_some()),
        ("a quote", quotes().verifier().verify(text).is_some()),
        ("a queue ticket", queue().verify(text, None, NOW).is_ok()),
        ("a ticket", tickets.verify(text).is_ok()),
    ];
    let taken = verdicts.into_iter().filter(|(_, taken)| *taken);
    taken.map(|(kind, _)| kind).collect()
}

/// A JWT of these claims under the key that all share.
fn signed(claims: &Value) -> String {
    let header = json!({"typ": "JWT", "alg": "EdDSA", "kid": KEY_ID});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&header), part(claims));
    let signature = SigningKey::from_bytes(&SECRET).sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

#[test]
fn what_is_signed_as_one_thing_is_taken_for_no_other() {
    let sessions = SessionSigner::from_secret(KEY_ID, SECRET);
    let token = sessions.sign(&session(), Role::Buyer).unwrap();
    assert_eq!(taken_for(&token), ["a session"]);
    let token = PassKey::new(KEY_ID, &SECRET).sign(&pass());
    assert_eq!(taken_for(&token), ["a pass", "a pass at the edge"]);
    let token = quotes().sign(&quote()).unwrap();
    assert_eq!(taken_for(&token), ["a quote"]);
    let text = queue().sign(&queue_ticket());
    assert_eq!(taken_for(&text), ["a queue ticket"]);
    let code = TicketKey::from_bytes(&SECRET).sign(&ticket());
    assert_eq!(taken_for(&code), ["a ticket"]);
}

#[test]
fn the_issuer_tells_tokens_apart_that_say_the_same() {
    // All that a pass says and all that a quote says.
    let mut claims = json!(quote());
    claims["jti"] = json!(pass().pass);
    claims["iat"] = json!(NOW.0 / 1_000);
    claims["exp"] = json!(NOW.0 / 1_000 + 300);
    let mut of = |issuer: Value| {
        claims["iss"] = issuer;
        taken_for(&signed(&claims))
    };
    assert_eq!(of(json!("onsale-edge")), ["a pass"]);
    assert_eq!(of(json!("onsale-quotes")), ["a quote"]);
    for other in [json!("onsale"), json!("elsewhere"), json!(""), Value::Null] {
        assert!(of(other.clone()).is_empty(), "{other}");
    }
}
