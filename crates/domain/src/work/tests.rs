use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

const NOW: Millis = Millis(1_800_000_000_000);
const EXPIRES: Millis = Millis(1_800_000_300_000);
const SECRETS: [&str; 3] = [
    "the-first-secret-of-these-tests-0",
    "the-second-secret-of-these-tests-",
    "the-third-secret-of-these-tests-2",
];

fn show(byte: u8) -> ShowId {
    ShowId::from_bytes([byte; 16])
}

fn visitor(byte: u8) -> VisitorId {
    VisitorId::from_bytes([byte; 16])
}

/// The first key signs.
fn keys(order: &[usize]) -> WorkKeys {
    let secrets: Vec<_> = order.iter().map(|i| SECRETS[*i]).collect();
    secrets.join(",").parse().unwrap()
}

fn terms() -> Terms {
    Terms {
        show: show(1),
        visitor: visitor(2),
        expires: EXPIRES,
    }
}

fn entropy(counter: u16) -> WorkEntropy {
    let mut entropy = [0xa7; 34];
    entropy[32..].copy_from_slice(&counter.to_be_bytes());
    entropy
}

fn challenge() -> Challenge {
    issue(&terms(), Cost::FLOOR, &entropy(300), &keys(&[0]))
}

fn solved_payload() -> String {
    let challenge = challenge();
    payload(&challenge, &challenge.solve(0..TRIES).unwrap())
}

fn check(text: &str) -> Result<Solved, WorkError> {
    verify(text, show(1), visitor(2), NOW, &keys(&[0]))
}

fn json_of(text: &str) -> String {
    String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
}

fn edited(from: &str, to: &str) -> String {
    let json = json_of(&solved_payload());
    assert_eq!(json.matches(from).count(), 1, "{from} in {json}");
    STANDARD.encode(json.replace(from, to))
}

/// Without a planted counter, as a free search in ALTCHA is: many counters solve it.
fn open_challenge(prefix: &str) -> Challenge {
    let mut parameters = challenge().parameters;
    parameters.key_prefix = KeyPrefix::read(prefix).unwrap();
    parameters.sign(keys(&[0]).current())
}

#[test]
fn a_solved_challenge_earns_a_ticket() {
    let solved = check(&solved_payload()).unwrap();
    assert_eq!(solved.way, Way::Worked(Cost::FLOOR));
    assert_eq!(solved.expires, EXPIRES);
    assert_eq!(
        std::str::from_utf8(solved.signed_bytes()).unwrap(),
        "{\"algorithm\":\"SHA-256\",\"cost\":1,\"data\":{\"key\":\"7f1955fc\",\
         \"show\":\"shw_01010101010101010101010101010101\",\
         \"visitor\":\"vis_02020202020202020202020202020202\"},\
         \"expiresAt\":1800000300,\"keyLength\":32,\
         \"keyPrefix\":\"8a958ee8b9b953f41f7a085cc473fc2d\",\
         \"nonce\":\"a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7\",\
         \"salt\":\"a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7\"}"
    );
}

#[test]
fn the_planted_counter_is_the_first_that_solves_it() {
    for counter in [0, 1, 300, u16::MAX] {
        let challenge = issue(&terms(), Cost::FLOOR, &entropy(counter), &keys(&[0]));
        let solution = challenge.solve(0..TRIES).unwrap();
        assert_eq!(solution.counter(), u32::from(counter));
        assert!(check(&payload(&challenge, &solution)).is_ok());
    }
}

#[test]
fn several_solutions_of_one_challenge_are_one_ticket() {
    let challenge = open_challenge("a7c0");
    let mut signed = Vec::new();
    let mut from = 0;
    while signed.len() < 3 {
        let solution = challenge.solve(from..u32::MAX).unwrap();
        from = solution.counter() + 1;
        signed.push(check(&payload(&challenge, &solution)).unwrap());
    }
    assert!(signed.iter().all(|s| s == &signed[0]));
}

#[test]
fn other_challenges_are_other_tickets() {
    let mut tickets = std::collections::HashSet::new();
    for byte in 0..=255 {
        let mut entropy = entropy(0);
        entropy[usize::from(byte % 32)] = byte;
        let challenge = issue(&terms(), Cost::FLOOR, &entropy, &keys(&[0]));
        let solution = challenge.solve(0..1).unwrap();
        let solved = check(&payload(&challenge, &solution)).unwrap();
        tickets.insert(solved.signed_bytes().to_vec());
    }
    assert_eq!(tickets.len(), 256);
}

#[test]
fn a_challenge_of_one_visitor_or_show_is_no_use_to_another() {
    let text = solved_payload();
    let keys = keys(&[0]);
    assert_eq!(
        verify(&text, show(9), visitor(2), NOW, &keys),
        Err(WorkError::WrongShow)
    );
    assert_eq!(
        verify(&text, show(1), visitor(9), NOW, &keys),
        Err(WorkError::WrongVisitor)
    );
}

#[test]
fn a_challenge_is_good_until_its_last_moment() {
    let text = solved_payload();
    let at = |now| verify(&text, show(1), visitor(2), now, &keys(&[0])).map(|_| ());
    assert_eq!(at(Millis(0)), Ok(()));
    assert_eq!(at(EXPIRES), Ok(()));
    assert_eq!(at(EXPIRES + 1), Err(WorkError::Expired));
    assert_eq!(at(Millis(u64::MAX)), Err(WorkError::Expired));
}

#[test]
fn a_challenge_never_outlives_its_terms() {
    let terms = Terms {
        expires: EXPIRES + 999,
        ..terms()
    };
    let challenge = issue(&terms, Cost::FLOOR, &entropy(0), &keys(&[0]));
    let text = payload(&challenge, &challenge.solve(0..TRIES).unwrap());
    assert_eq!(check(&text).unwrap().expires, EXPIRES);
}

#[test]
fn who_has_no_script_waits_instead() {
    let until = NOW + 29_500;
    let text = issue_waiting(&terms(), until, &entropy(40_000), &keys(&[0]));
    let at = |now| verify(&text, show(1), visitor(2), now, &keys(&[0]));
    // Whole seconds: never earlier than said.
    let ready = NOW + 30_000;
    let early = Err(WorkError::TooEarly { until: ready });
    assert_eq!(at(NOW), early);
    assert_eq!(at(NOW + 29_999), early);
    assert_eq!(at(ready).unwrap().way, Way::Waited);
    assert_eq!(at(EXPIRES + 1), Err(WorkError::Expired));

    let json = json_of(&text);
    for (from, to) in [
        (",\"waitUntil\":1800000030", ""),
        ("\"waitUntil\":1800000030", "\"waitUntil\":1800000000"),
    ] {
        assert!(json.contains(from), "{json}");
        let hurried = STANDARD.encode(json.replace(from, to));
        assert_eq!(check(&hurried), Err(WorkError::BadSignature));
    }
}

#[test]
fn keys_change_while_challenges_are_out() {
    let text = solved_payload();
    let under = |order: &[usize]| verify(&text, show(1), visitor(2), NOW, &keys(order)).map(|_| ());
    assert_eq!(under(&[1, 0]), Ok(()));
    assert_eq!(under(&[2, 1, 0]), Ok(()));
    assert_eq!(under(&[1, 2]), Err(WorkError::BadSignature));
}

#[test]
fn a_challenge_under_one_key_cannot_name_another() {
    let (first, second) = (keys(&[0]), keys(&[1, 0]));
    let id = |keys: &WorkKeys| format!("\"key\":\"{}\"", keys.current().id());
    let text = edited(&id(&first), &id(&second));
    assert_eq!(
        verify(&text, show(1), visitor(2), NOW, &second),
        Err(WorkError::BadSignature)
    );
}

#[test]
fn weak_and_repeated_keys_are_refused() {
    let ring = |text: &str| text.parse::<WorkKeys>().map(|_| ());
    assert_eq!(ring(""), Err(KeyError::Count));
    assert_eq!(ring("short"), Err(KeyError::Text));
    assert_eq!(ring(&"x".repeat(257)), Err(KeyError::Text));
    assert_eq!(ring(&"é".repeat(20)), Err(KeyError::Text));
    assert_eq!(ring(&[SECRETS[0]; 2].join(" ")), Err(KeyError::Twice));
    let many: Vec<_> = (10..10 + MAX_KEYS)
        .map(|i| format!("{}{i}", SECRETS[0]))
        .collect();
    assert_eq!(ring(&many.join(",")), Ok(()));
    assert_eq!(
        ring(&[many.join(","), SECRETS[0].into()].join(",")),
        Err(KeyError::Count)
    );
}

#[test]
fn a_key_keeps_its_secret_to_itself() {
    let keys = keys(&[0, 1]);
    assert!(!format!("{keys:?}").contains("secret"));
}

#[test]
fn what_is_never_asked_for_is_refused_even_when_signed() {
    assert_eq!(Cost::clamped(0), Cost::FLOOR);
    assert_eq!(Cost::clamped(u32::MAX), Cost::CEILING);
    let json = json_of(&solved_payload());
    let challenge = challenge();
    for (from, to) in [
        ("\"cost\":1", "\"cost\":0"),
        ("\"cost\":1", "\"cost\":33"),
        ("\"cost\":1", "\"cost\":4294967295"),
        ("SHA-256", "SHA-512"),
        ("\"keyLength\":32", "\"keyLength\":16"),
        ("\"data\":{", "\"data\":{\"band\":1,"),
    ] {
        let before = challenge.parameters.signed_text();
        let after = before.replace(from, to);
        let signature = keys(&[0]).current().sign(after.as_bytes());
        let json = json
            .replace(&before, &after)
            .replace(&challenge.signature.to_string(), &signature.to_string());
        assert!(json.contains(to) && json.contains(&signature.to_string()));
        assert_eq!(check(&STANDARD.encode(json)), Err(WorkError::Malformed));
    }
}

#[test]
fn a_slow_phone_meets_the_hardest_challenge_in_five_seconds_even_with_the_worst_luck() {
    let worst = Cost::CEILING.hashes() * TRIES;
    assert!(worst <= LONGEST_WORK_S * PHONE_HASHES_PER_SECOND);
    assert_eq!((LONGEST_WORK_S, Cost::CEILING.hashes()), (5, 19));
}

#[test]
fn every_cost_is_solved_and_verified() {
    for cost in 1..=Cost::CEILING.hashes() {
        let challenge = issue(&terms(), Cost::clamped(cost), &entropy(20), &keys(&[0]));
        let solution = challenge.solve(0..TRIES).unwrap();
        assert_eq!(solution.counter(), 20);
        let solved = check(&payload(&challenge, &solution)).unwrap();
        assert_eq!(solved.way, Way::Worked(Cost::clamped(cost)));
    }
}

#[test]
fn a_key_that_nobody_searched_for_solves_nothing() {
    let challenge = challenge();
    let parameters = &challenge.parameters;
    let wrong_counter = Solution::new(
        301,
        derive_key(&parameters.nonce, &parameters.salt, Cost::FLOOR, 301),
    );
    let wrong_key = Solution::new(300, Hex([0; 32]));
    // The prefix is public, so anybody can write a key that begins with it.
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(parameters.key_prefix.as_bytes());
    for solution in [wrong_counter, wrong_key, Solution::new(300, Hex(bytes))] {
        let text = payload(&challenge, &solution);
        assert_eq!(check(&text), Err(WorkError::NotSolved));
    }
}

#[test]
fn a_challenge_survives_its_json() {
    let challenge = challenge();
    assert_eq!(Challenge::from_json(&challenge.to_json()), Some(challenge));
    assert_eq!(Challenge::from_json(&" ".repeat(1_000_000)), None);
}

mod spelling;
