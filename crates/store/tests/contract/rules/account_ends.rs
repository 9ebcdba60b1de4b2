//! What ends sessions and accounts: new passwords, links that set one, and leaving.

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ResetId, SessionId, ShowId};
use onsale_domain::language::Language;
use onsale_domain::password_reset::{Reset, ResetPurpose, ResetUse};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::fan_code::{FanKeyId, FanSerial};
use onsale_domain::room::fans::Fan;
use onsale_store::{
    Credentials, List, PasswordHash, Registration, Session, Store, Versioned, Written,
};

use super::{NOW, eventually, fresh};

contract! {
    a_new_password_ends_every_session_but_one,
    a_password_is_set_once_for_each_epoch,
    a_session_of_an_epoch_that_has_ended_never_begins,
    sessions_are_listed_newest_first,
    a_deleted_account_is_nobody_and_its_email_is_free,
    a_deletion_moves_under_its_version_and_is_listed_while_it_is_open,
    a_reset_is_listed_until_it_is_announced,
    an_address_is_proven_once_and_a_claim_ends_what_was_before,
    an_address_is_found_at_every_show_it_registered_for_and_forgotten,
}

fn email(id: AccountId) -> Email {
    Email::parse(&format!("{id}@example.org")).unwrap()
}

pub(super) async fn registered(store: &Store) -> Credentials {
    let id = AccountId::from_bytes(fresh());
    let new = Credentials {
        account: Account {
            id,
            email: email(id),
            name: "Zoë".into(),
            role: Role::Buyer,
            created: NOW,
            language: None,
            proven: None,
        },
        password: PasswordHash("first".into()),
        epoch: 0,
        request: Some(RequestHash([3; 16])),
    };
    let answer = store.register(&new, None).await.unwrap();
    assert_eq!(answer, Registration::Registered);
    new
}

fn session(account: AccountId, epoch: u32, after_ms: u64) -> Session {
    Session {
        id: SessionId::from_bytes(fresh()),
        account,
        opened: NOW + after_ms,
        expires: NOW + 60_000,
        epoch,
        device: None,
    }
}

async fn is_open(store: &Store, session: &Session) -> bool {
    let show = ShowId::from_bytes(fresh());
    let alone = store.session(session.id, session.account).await.unwrap();
    let (beside, _) = store
        .session_and_buyer(session.id, show, session.account)
        .await
        .unwrap();
    assert_eq!(alone, beside, "one rule for both reads");
    alone.is_some()
}

async fn a_new_password_ends_every_session_but_one(store: &Store) {
    let (ana, bo) = (registered(store).await, registered(store).await);
    let id = ana.account.id;
    let (kept, other) = (session(id, 0, 0), session(id, 0, 1));
    let bos = session(bo.account.id, 0, 0);
    for session in [&kept, &other, &bos] {
        store.open_session(session).await.unwrap();
        assert!(is_open(store, session).await);
    }
    let second = PasswordHash("second".into());
    let set = store.set_password(id, 0, &second, Some(kept.id)).await;
    assert!(set.unwrap());
    assert!(is_open(store, &kept).await);
    assert!(!is_open(store, &other).await);
    assert!(is_open(store, &bos).await, "nobody else's");
    let found = store.credentials_of(id).await.unwrap().unwrap();
    assert_eq!((found.password, found.epoch), (second, 1));
    let third = PasswordHash("third".into());
    assert!(store.set_password(id, 1, &third, None).await.unwrap());
    assert!(!is_open(store, &kept).await);
}

async fn a_password_is_set_once_for_each_epoch(store: &Store) {
    let ana = registered(store).await;
    let id = ana.account.id;
    let hashes: Vec<_> = (0..4).map(|n| PasswordHash(format!("hash {n}"))).collect();
    let sets = hashes
        .iter()
        .map(|hash| store.set_password(id, 0, hash, None));
    let done = futures_util::future::join_all(sets).await;
    let done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
    assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
    let found = store.credentials_of(id).await.unwrap().unwrap();
    let winner = done.iter().position(|done| *done).unwrap();
    assert_eq!((&found.password, found.epoch), (&hashes[winner], 1));
    let nobody = AccountId::from_bytes(fresh());
    assert!(
        !store
            .set_password(nobody, 0, &hashes[0], None)
            .await
            .unwrap()
    );
    assert_eq!(store.credentials_of(nobody).await.unwrap(), None);
}

async fn a_session_of_an_epoch_that_has_ended_never_begins(store: &Store) {
    let ana = registered(store).await;
    let id = ana.account.id;
    let second = PasswordHash("second".into());
    assert!(store.set_password(id, 0, &second, None).await.unwrap());
    // A log-in that had read the old password comes late.
    let (late, new) = (session(id, 0, 5), session(id, 1, 5));
    store.open_session(&late).await.unwrap();
    store.open_session(&new).await.unwrap();
    assert!(!is_open(store, &late).await);
    assert!(is_open(store, &new).await);
}

async fn sessions_are_listed_newest_first(store: &Store) {
    let id = AccountId::from_bytes(fresh());
    let opened = [session(id, 0, 0), session(id, 0, 10), session(id, 0, 20)];
    for session in &opened {
        store.open_session(session).await.unwrap();
    }
    store
        .open_session(&session(AccountId::from_bytes(fresh()), 0, 0))
        .await
        .unwrap();
    let newest: Vec<_> = opened.iter().rev().cloned().collect();
    eventually(newest.clone(), || async {
        store.sessions_of(id, None, 10).await.unwrap().items
    })
    .await;
    let first = store.sessions_of(id, None, 2).await.unwrap();
    assert_eq!(first.items, newest[..2]);
    let rest = store
        .sessions_of(id, first.next.as_deref(), 2)
        .await
        .unwrap();
    assert_eq!((rest.items.as_slice(), rest.next), (&newest[2..], None));
}

async fn a_deleted_account_is_nobody_and_its_email_is_free(store: &Store) {
    let ana = registered(store).await;
    let (id, email) = (ana.account.id, ana.account.email.clone());
    let open = session(id, 0, 0);
    store.open_session(&open).await.unwrap();
    let deletion = Deletion::begin(&ana.account, None, NOW);
    assert!(
        !store.begin_deletion(&deletion, 1).await.unwrap(),
        "another epoch"
    );
    assert!(is_open(store, &open).await, "all or nothing");
    assert!(store.begin_deletion(&deletion, 0).await.unwrap());
    assert!(store.begin_deletion(&deletion, 0).await.unwrap(), "again");
    assert!(!is_open(store, &open).await);
    assert_eq!(store.account(id).await.unwrap(), None);
    assert_eq!(store.credentials_of(id).await.unwrap(), None);
    assert_eq!(store.credentials(&email).await.unwrap(), None);
    assert!(!store.rename(id, "Nobody").await.unwrap());
    assert!(!store.set_language(id, Language::De).await.unwrap());
    let hash = PasswordHash("back".into());
    for epoch in [0, 1] {
        assert!(!store.set_password(id, epoch, &hash, None).await.unwrap());
    }
    let same_id = store.register(&ana, None).await.unwrap();
    assert_eq!(same_id, Registration::IdTaken, "an id is somebody's once");
    let mut other = ana.clone();
    other.account.id = AccountId::from_bytes(fresh());
    let registered = store.register(&other, None).await.unwrap();
    assert_eq!(registered, Registration::Registered);
    // The old deletion again does not touch who has the email now.
    store.begin_deletion(&deletion, 0).await.unwrap();
    assert_eq!(store.credentials(&email).await.unwrap(), Some(other));
}

async fn a_deletion_moves_under_its_version_and_is_listed_while_it_is_open(store: &Store) {
    let ana = registered(store).await;
    let id = ana.account.id;
    assert_eq!(store.read::<Deletion>(id).await.unwrap(), None);
    let begun = Deletion::begin(&ana.account, None, NOW);
    assert!(store.begin_deletion(&begun, 0).await.unwrap());
    let listed = || async {
        store
            .ids_in::<Deletion>(&List::OpenDeletions)
            .await
            .unwrap()
            .contains(&id)
    };
    eventually(true, listed).await;
    let mut deletion = store.read::<Deletion>(id).await.unwrap().unwrap();
    assert_eq!((deletion.version, &deletion.value), (1, &begun));
    while deletion.value.is_open() {
        let stale = deletion.clone();
        deletion.value = deletion.value.step_done(NOW);
        let written = store.replace(&deletion).await.unwrap();
        assert_eq!(written, Written::Done(deletion.version + 1));
        deletion.version += 1;
        let lost = store.replace(&stale).await.unwrap();
        assert_eq!(lost, Written::Lost(deletion.clone()));
    }
    eventually(false, listed).await;
}

async fn a_reset_is_listed_until_it_is_announced(store: &Store) {
    let reset = Reset {
        id: ResetId::from_bytes(fresh()),
        account: Some(AccountId::from_bytes(fresh())),
        purpose: ResetPurpose::Invitation,
        epoch: 2,
        asked: NOW,
        announced: false,
        used: None,
    };
    assert_eq!(store.read::<Reset>(reset.id).await.unwrap(), None);
    assert_eq!(store.create(&reset).await.unwrap(), Written::Done(1));
    let mut stored = store.read::<Reset>(reset.id).await.unwrap().unwrap();
    assert_eq!(stored.value, reset);
    let again = store.create(&reset).await.unwrap();
    assert_eq!(again, Written::Lost(stored.clone()));
    let listed = || async {
        store
            .ids_in::<Reset>(&List::OpenResets)
            .await
            .unwrap()
            .contains(&reset.id)
    };
    eventually(true, listed).await;
    stored.value.announced = true;
    assert_eq!(store.replace(&stored).await.unwrap(), Written::Done(2));
    eventually(false, listed).await;
    let used = ResetUse {
        at: NOW,
        by: Some(RequestHash([5; 16])),
        claims: true,
        epoch: Some(3),
    };
    let noted = |mut reset: Versioned<Reset>, version| {
        reset.version = version;
        reset.value.used = Some(used.clone());
        reset
    };
    let late = store.replace(&noted(stored.clone(), 1)).await;
    assert!(matches!(late.unwrap(), Written::Lost(_)), "used once");
    let first = store.replace(&noted(stored.clone(), 2)).await;
    assert_eq!(first.unwrap(), Written::Done(3));
    let found = store.read::<Reset>(reset.id).await.unwrap().unwrap();
    assert_eq!(found.value.used, Some(used));
}

async fn an_address_is_proven_once_and_a_claim_ends_what_was_before(store: &Store) {
    let (ana, bo) = (registered(store).await, registered(store).await);
    let nobody = AccountId::from_bytes(fresh());
    assert!(!store.prove_address(nobody, NOW).await.unwrap());
    let proven = async |id| store.account(id).await.unwrap().unwrap().proven;
    for later in 0..2 {
        let now = NOW + later;
        assert!(store.prove_address(ana.account.id, now).await.unwrap());
        assert_eq!(proven(ana.account.id).await, Some(NOW));
    }
    let id = bo.account.id;
    let before = session(id, 0, 0);
    store.open_session(&before).await.unwrap();
    let nobodys = PasswordHash("nobody's".into());
    assert!(!store.claim_account(id, 1, &nobodys, NOW).await.unwrap());
    for _ in 0..2 {
        let claimed = store.claim_account(id, 0, &nobodys, NOW + 7).await;
        // The second time it is done already.
        assert_eq!(claimed, Ok(true));
        let found = store.credentials_of(id).await.unwrap().unwrap();
        assert_eq!((found.epoch, &found.password), (1, &nobodys));
        assert_eq!(found.account.proven, Some(NOW + 7));
    }
    // Another claim comes too late.
    assert!(!store.claim_account(id, 0, &nobodys, NOW + 8).await.unwrap());
    assert_eq!(store.session(before.id, id).await.unwrap(), None);
    let after = session(id, 1, 0);
    store.open_session(&after).await.unwrap();
    assert_eq!(store.session(after.id, id).await.unwrap(), Some(after));
}

async fn an_address_is_found_at_every_show_it_registered_for_and_forgotten(store: &Store) {
    let email = email(AccountId::from_bytes(fresh()));
    let fan = |after_ms| Fan {
        email: email.clone(),
        key: FanKeyId(1),
        serial: FanSerial(0),
        registered: NOW + after_ms,
    };
    let shows = [ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh())];
    store.add_fan(shows[0], &fan(0)).await.unwrap();
    store.add_fan(shows[1], &fan(5)).await.unwrap();
    let found = || async { store.fan_of(&email, None, 10).await.unwrap().items };
    eventually(vec![(shows[1], fan(5)), (shows[0], fan(0))], found).await;
    for _ in 0..2 {
        store.remove_fan(shows[0], &email).await.unwrap();
    }
    eventually(vec![(shows[1], fan(5))], found).await;
    assert_eq!(store.fan(shows[0], &email).await.unwrap(), None);
}
