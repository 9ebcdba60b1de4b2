use super::*;
use crate::account::Role;

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
        (ResetPurpose::LogIn, 30 * 60_000),
        (ResetPurpose::ProveAddress, 60 * 60_000),
    ] {
        let mut reset = Reset {
            id: RESET,
            account: Some(account),
            purpose,
            epoch: 4,
            asked: NOW,
            announced: true,
            used: None,
        };
        assert_eq!(reset.good_for(NOW + (lasts - 1)), Some((account, 4)));
        assert_eq!(reset.good_for(NOW + lasts), None);
        reset.account = None;
        assert_eq!(reset.good_for(NOW), None);
    }
}

#[test]
fn links_are_counted_by_address_purpose_and_window() {
    let email = |name: &str| Email::parse(&format!("{name}@example.org")).unwrap();
    let (ana, bo) = (email("ana"), email("bo"));
    let first = ResetId::nth(&ana, true, ResetPurpose::Reset, NOW, 0);
    assert_eq!(
        first,
        ResetId::nth(&ana, true, ResetPurpose::Reset, NOW + 1_000, 0)
    );
    for other in [
        ResetId::nth(&ana, true, ResetPurpose::Reset, NOW, 1),
        ResetId::nth(&bo, true, ResetPurpose::Reset, NOW, 0),
        ResetId::nth(&ana, false, ResetPurpose::Reset, NOW, 0),
        ResetId::nth(&ana, true, ResetPurpose::Invitation, NOW, 0),
        ResetId::nth(&ana, true, ResetPurpose::LogIn, NOW, 0),
        ResetId::nth(&ana, true, ResetPurpose::ProveAddress, NOW, 0),
        ResetId::nth(&ana, true, ResetPurpose::Reset, NOW + LINK_WINDOW_MS, 0),
    ] {
        assert_ne!(first, other);
    }
}

#[test]
fn a_link_works_until_the_quota_that_it_was_counted_in_ends() {
    let ana = Email::parse("ana@example.org").unwrap();
    for purpose in [
        ResetPurpose::Reset,
        ResetPurpose::LogIn,
        ResetPurpose::ProveAddress,
    ] {
        let first = |at| ResetId::nth(&ana, true, purpose, at, 0);
        for asked in [NOW, NOW + 1, NOW + (LINK_WINDOW_MS - 1)] {
            let ended = asked + purpose.lasts_ms();
            assert_ne!(first(asked), first(ended), "{purpose:?}");
        }
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

fn to_log_in() -> (Reset, Account) {
    let account = Account {
        id: AccountId::from_bytes([1; 16]),
        email: Email::parse("ana@example.org").unwrap(),
        name: "Ana".to_owned(),
        role: Role::Buyer,
        created: NOW,
        language: None,
        proven: None,
    };
    let reset = Reset {
        id: RESET,
        account: Some(account.id),
        purpose: ResetPurpose::LogIn,
        epoch: 4,
        asked: NOW,
        announced: true,
        used: None,
    };
    (reset, account)
}

#[test]
fn a_link_to_log_in_claims_an_address_that_nobody_has_proven() {
    let (reset, mut ana) = to_log_in();
    let used = reset.log_in(&ana, 4, None, NOW).unwrap();
    assert!(used.claims);
    assert_eq!(reset.epoch_after(&used), 5, "sessions from before end");
    ana.proven = Some(NOW);
    let used = reset.log_in(&ana, 4, None, NOW).unwrap();
    assert!(!used.claims);
    assert_eq!(reset.epoch_after(&used), 4, "others stay logged in");
}

#[test]
fn a_password_that_was_changed_ends_a_link_to_log_in_only_once_the_address_is_proven() {
    let (reset, mut ana) = to_log_in();
    let used = reset.log_in(&ana, 6, None, NOW).unwrap();
    assert!(used.claims);
    assert_eq!((reset.epoch_of(&used), reset.epoch_after(&used)), (6, 7));
    ana.proven = Some(NOW);
    assert_eq!(reset.log_in(&ana, 6, None, NOW), None);
}

#[test]
fn a_link_to_log_in_works_for_one_request_of_its_own_time_and_epoch() {
    let (mut reset, ana) = to_log_in();
    let key = |n| Some(RequestHash([n; 16]));
    let proven = Account {
        proven: Some(NOW),
        ..ana.clone()
    };
    let newer = reset.log_in(&proven, 5, None, NOW);
    assert_eq!(newer, None, "a newer password");
    assert_eq!(reset.log_in(&ana, 4, None, NOW + HOUR_MS), None, "too old");
    let stranger = Account {
        id: AccountId::from_bytes([2; 16]),
        ..ana.clone()
    };
    assert_eq!(reset.log_in(&stranger, 4, None, NOW), None);
    let used = reset.log_in(&ana, 4, key(1), NOW).unwrap();
    reset.used = Some(used.clone());
    assert_eq!(reset.log_in(&ana, 4, None, NOW + 1), None);
    assert_eq!(reset.log_in(&ana, 4, key(2), NOW + 1), None);
    // Also after the claim, which began the next epoch.
    assert_eq!(reset.log_in(&ana, 5, key(1), NOW + 1), Some(used));
    for other in [ResetPurpose::Reset, ResetPurpose::ProveAddress] {
        let (reset, ana) = to_log_in();
        let other = Reset {
            purpose: other,
            ..reset
        };
        assert_eq!(other.log_in(&ana, 4, None, NOW), None);
    }
}
