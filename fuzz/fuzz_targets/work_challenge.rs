//! A challenge that can be read is written in one way, and reading that gives it back.
//! Once its signature counts for nothing, no JSON of a stranger is a solved payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::time::Millis;
use onsale_domain::work::{Challenge, Cost, Terms, WorkError, WorkKeys, issue, payload, verify};
use onsale_fuzz::{NOW, start_from};
use std::sync::LazyLock;

const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const TERMS: Terms = Terms {
    show: SHOW,
    visitor: VisitorId::from_bytes([2; 16]),
    expires: Millis(NOW.0 + 300_000),
};

static STRANGER: LazyLock<WorkKeys> = LazyLock::new(|| {
    "a-secret-that-we-do-not-share-with-them"
        .parse()
        .expect("a key")
});
static OURS: LazyLock<WorkKeys> =
    LazyLock::new(|| "the-first-secret-of-these-targets".parse().expect("a key"));

fn start() {
    let genuine = [(Cost::FLOOR, 0), (Cost::CEILING, 0xff)]
        .map(|(cost, byte)| issue(&TERMS, cost, &[byte; 34], &STRANGER).to_json());
    // ALTCHA's own servers plant nothing and ask for a short prefix; clients may indent.
    let short = genuine[0].replace("\"keyPrefix\":\"", "\"keyPrefix\":\"0000\",\"x\":\"");
    let spaced = genuine[0].replace(',', ",\n  ").replace(':', ": ");
    assert!(
        genuine
            .iter()
            .chain([&spaced])
            .all(|json| Challenge::from_json(json).is_some())
    );
    start_from("work_challenge", genuine.iter().chain([&short, &spaced]));
}

fuzz_target!(init: start(), |json: &str| {
    let Some(challenge) = Challenge::from_json(json) else { return };
    let written = challenge.to_json();
    assert_eq!(Challenge::from_json(&written).as_ref(), Some(&challenge));
    assert!((Cost::FLOOR.hashes()..=Cost::CEILING.hashes()).contains(&challenge.cost().hashes()));
    // A handful of tries: a search would eat the time.
    if let Some(solution) = challenge.solve(0..4) {
        let text = payload(&challenge, &solution);
        let refused = verify(&text, SHOW, None, NOW, &OURS);
        assert_eq!(refused, Err(WorkError::BadSignature));
    }
});
