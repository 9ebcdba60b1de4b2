use super::*;

const NOW: Millis = Millis(1_800_000_000_000);
const RESET: ResetId = ResetId::from_bytes([7; 16]);

fn keys(text: &str) -> ResetKeys {
    text.parse().unwrap()
}

fn ring() -> ResetKeys {
    keys(&format!("2:{},1:{}", "22".repeat(32), "11".repeat(32)))
}

#[test]
fn a_token_is_good_under_every_key_of_the_ring_and_no_other() {
    let old = keys(&format!("1:{}", "11".repeat(32)));
    let new = ring();
    for token in [old.token(RESET), new.token(RESET)] {
        assert_eq!(new.verify(&token.to_string()), Some(RESET));
    }
    let mailed = new.token(RESET).to_string();
    assert_eq!(old.verify(&mailed), None, "the new key is not known there");
    let stranger = keys(&format!("2:{}", "33".repeat(32)));
    assert_eq!(stranger.verify(&mailed), None);
    assert_eq!(
        format!("{:?} {new:?}", new.token(RESET)),
        "ResetToken(…) ResetKeys[2, 1]"
    );
}

#[test]
fn a_forged_token_is_none() {
    let keys = ring();
    let token = keys.token(RESET).to_string();
    let other = keys.token(ResetId::from_bytes([8; 16])).to_string();
    let (id, proof) = token.split_once('.').unwrap();
    let mut forged = vec![
        String::new(),
        id.to_owned(),
        format!("{id}."),
        format!("{id}.2."),
        format!("{token}."),
        format!("{token}A"),
        format!(" {token}"),
        token.to_uppercase(),
        token.replace(".2.", ".1."),
        token.replace(".2.", ".02."),
        token.replace(".2.", ".+2."),
        format!("{}.{proof}", other.split_once('.').unwrap().0),
        "x".repeat(10_000),
    ];
    for place in 0..token.len() {
        let mut bytes = token.clone().into_bytes();
        bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
        forged.push(String::from_utf8(bytes).unwrap());
    }
    for text in forged {
        assert_eq!(keys.verify(&text), None, "{text}");
    }
    assert_eq!(keys.verify(&token), Some(RESET));
}

#[test]
fn keys_are_read_strictly() {
    let key = "11".repeat(32);
    let nine: Vec<String> = (0..9).map(|n| format!("{n}:{key}")).collect();
    for (text, why) in [
        (String::new(), ResetKeysError::Text),
        (key.clone(), ResetKeysError::Text),
        (format!("256:{key}"), ResetKeysError::Text),
        (format!("1:{}", "1".repeat(63)), ResetKeysError::Text),
        (format!("1:{key},"), ResetKeysError::Text),
        (format!("1:{key},1:{key}"), ResetKeysError::Twice),
        (nine.join(","), ResetKeysError::Count),
    ] {
        assert_eq!(text.parse::<ResetKeys>().unwrap_err(), why, "{text}");
    }
}

#[test]
fn a_link_works_for_half_an_hour_and_an_invitation_for_a_week() {
    let account = AccountId::from_bytes([1; 16]);
    for (purpose, lasts) in [
        (ResetPurpose::Reset, 30 * 60_000),
        (ResetPurpose::Invitation, 7 * 86_400_000),
    ] {
        let mut reset = Reset {
            id: RESET,
            account: Some(account),
            purpose,
            epoch: 4,
            asked: NOW,
            announced: true,
        };
        assert_eq!(reset.good_for(NOW + (lasts - 1)), Some((account, 4)));
        assert_eq!(reset.good_for(NOW + lasts), None);
        reset.account = None;
        assert_eq!(reset.good_for(NOW), None);
    }
}

#[test]
fn resets_are_counted_by_address_purpose_and_hour() {
    let email = |name: &str| Email::parse(&format!("{name}@example.org")).unwrap();
    let (ana, bo) = (email("ana"), email("bo"));
    let account = Some(AccountId::from_bytes([1; 16]));
    let first = ResetId::nth(&ana, account, ResetPurpose::Reset, NOW, 0);
    assert_eq!(
        first,
        ResetId::nth(&ana, account, ResetPurpose::Reset, NOW + 1_000, 0)
    );
    for other in [
        ResetId::nth(&ana, account, ResetPurpose::Reset, NOW, 1),
        ResetId::nth(&bo, account, ResetPurpose::Reset, NOW, 0),
        ResetId::nth(&ana, None, ResetPurpose::Reset, NOW, 0),
        ResetId::nth(&ana, account, ResetPurpose::Invitation, NOW, 0),
        ResetId::nth(&ana, account, ResetPurpose::Reset, NOW + HOUR_MS, 0),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn a_browser_is_known_for_the_address_that_logged_in_on_it() {
    let email = |name: &str| Email::parse(&format!("{name}@example.org")).unwrap();
    let old = keys(&format!("1:{}", "11".repeat(32)));
    let proof = old.known_device(&email("ana"));
    assert!(
        ring().knows_device(&email("ana"), &proof),
        "the key is still known"
    );
    assert!(!ring().knows_device(&email("bo"), &proof));
    let stranger = keys(&format!("1:{}", "33".repeat(32)));
    assert!(!stranger.knows_device(&email("ana"), &proof));
    for forged in [
        "",
        "1",
        "1.",
        &proof[1..],
        &format!("{proof}A"),
        &proof.replace("1.", "2."),
    ] {
        assert!(!ring().knows_device(&email("ana"), forged), "{forged}");
    }
    let reset = old.token(RESET).to_string();
    assert!(!old.knows_device(&email("ana"), &reset));
}
