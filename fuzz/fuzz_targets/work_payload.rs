//! A payload that verifies carries a challenge that was signed, for this show and visitor.
//! Its JSON may be spelled in many ways; what follows from it is the same for all of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::time::Millis;
use onsale_domain::work::{
    Cost, Solved, TRIES, Terms, Way, WorkError, WorkKeys, issue, issue_waiting, payload, verify,
};
use onsale_fuzz::{NOW, start_from};
use std::sync::LazyLock;

const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const VISITOR: VisitorId = VisitorId::from_bytes([2; 16]);
const EXPIRES: Millis = Millis(NOW.0 + 300_000);
const READY: Millis = Millis(NOW.0 + 30_000);

static KEYS: LazyLock<WorkKeys> = LazyLock::new(|| {
    let keys = "the-first-secret-of-these-targets the-second-secret-of-these-targets";
    keys.parse().expect("two keys")
});

static GENUINE: LazyLock<Vec<(String, Solved)>> = LazyLock::new(|| {
    let terms = Terms {
        show: SHOW,
        visitor: VISITOR,
        expires: EXPIRES,
    };
    let worked = |cost, counter: u16| {
        let mut entropy = [0xa7; 34];
        entropy[32..].copy_from_slice(&counter.to_be_bytes());
        let challenge = issue(&terms, cost, &entropy, &KEYS);
        let solution = challenge.solve(0..TRIES).expect("ours are solvable");
        payload(&challenge, &solution)
    };
    let texts = [
        worked(Cost::FLOOR, 300),
        worked(Cost::CEILING, 5),
        issue_waiting(&terms, READY, &[0x5a; 34], &KEYS),
    ];
    let solved = |text: &String| verify(text, SHOW, VISITOR, READY, &KEYS).expect("it is genuine");
    texts
        .into_iter()
        .map(|text| (text.clone(), solved(&text)))
        .collect()
});

fn start() {
    start_from("work_payload", GENUINE.iter().map(|(text, _)| text));
}

fuzz_target!(init: start(), |text: &str| {
    let verdict = verify(text, SHOW, VISITOR, READY, &KEYS);
    let anybody = verify(text, SHOW, None, READY, &KEYS);
    match verdict {
        Ok(solved) => {
            assert!(GENUINE.iter().any(|(_, genuine)| *genuine == solved), "{text}");
            assert_eq!(anybody.as_ref(), Ok(&solved));
            let again = |show, visitor, now| verify(text, show, visitor, now, &KEYS);
            let early = again(SHOW, VISITOR, NOW);
            match solved.way {
                Way::Waited => assert_eq!(early, Err(WorkError::TooEarly { until: READY })),
                Way::Worked(_) => assert_eq!(early, Ok(solved)),
            }
            assert_eq!(again(SHOW, VISITOR, EXPIRES + 1), Err(WorkError::Expired));
            let other_show = ShowId::from_bytes([9; 16]);
            assert_eq!(again(other_show, VISITOR, READY), Err(WorkError::WrongShow));
            let other_visitor = VisitorId::from_bytes([9; 16]);
            assert_eq!(again(SHOW, other_visitor, READY), Err(WorkError::WrongVisitor));
        }
        Err(refused) => {
            // All that was signed is for this visitor, so nobody else can be meant.
            assert_eq!(anybody, Err(refused));
            assert!(!matches!(refused, WorkError::Expired | WorkError::WrongShow));
            assert!(!matches!(refused, WorkError::WrongVisitor | WorkError::TooEarly { .. }));
        }
    }
});
