//! Accounts, sessions, and what an account has of a show.

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::buyer::{Buyer, Entry};
use onsale_domain::ids::{AccountId, HoldId, SessionId, ShowId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::Cents;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use onsale_store::{Credentials, PasswordHash, Registration, Replaced, Session, Store};

use super::{NOW, fresh};

contract! {
    a_session_is_gone_once_closed,
    an_email_belongs_to_one_account,
    a_buyer_moves_under_its_version_only,
}

async fn a_session_is_gone_once_closed(store: &Store) {
    let session = Session {
        id: SessionId::from_bytes(fresh()),
        account: AccountId::from_bytes(fresh()),
        opened: NOW,
        expires: NOW + 60_000,
        epoch: 0,
        device: None,
    };
    assert_eq!(
        store.session(session.id, session.account).await.unwrap(),
        None
    );
    assert_eq!(store.open_session(&session).await.unwrap(), session);
    let later = Session {
        opened: NOW + 1,
        ..session.clone()
    };
    assert_eq!(
        store.open_session(&later).await.unwrap(),
        session,
        "the one that is open"
    );
    let show = ShowId::from_bytes(fresh());
    let (read, _) = store
        .session_and_buyer(session.id, show, session.account)
        .await
        .unwrap();
    assert_eq!(read, Some(session.clone()));
    store.close_session(session.id).await.unwrap();
    store.close_session(session.id).await.unwrap();
    assert_eq!(
        store.session(session.id, session.account).await.unwrap(),
        None
    );
    let (read, _) = store
        .session_and_buyer(session.id, show, session.account)
        .await
        .unwrap();
    assert_eq!(read, None);
    assert_eq!(
        store.open_session(&session).await.unwrap().expires,
        Millis(0),
        "its key opens it no more"
    );
    store
        .close_session(SessionId::from_bytes(fresh()))
        .await
        .unwrap();
}

async fn an_email_belongs_to_one_account(store: &Store) {
    let tag = AccountId::from_bytes(fresh());
    let email = Email::parse(&format!("{tag}@example.org")).unwrap();
    let credentials = |id| Credentials {
        account: Account {
            id,
            email: email.clone(),
            name: "Zoë 東京".into(),
            role: Role::Organiser,
            language: None,
            proven: None,
            created: NOW,
        },
        password: PasswordHash("secret".into()),
        epoch: 0,
        request: Some(RequestHash([3; 16])),
    };
    let first = credentials(AccountId::from_bytes(fresh()));
    let second = credentials(AccountId::from_bytes(fresh()));
    assert_eq!(store.credentials(&email).await.unwrap(), None);
    assert_eq!(
        store.register(&first, None).await.unwrap(),
        Registration::Registered
    );
    let taken = store.register(&second, None).await.unwrap();
    assert_eq!(taken, Registration::EmailTaken(Box::new(first.clone())));
    assert_eq!(store.account(second.account.id).await.unwrap(), None);
    assert_eq!(
        store.credentials(&email).await.unwrap(),
        Some(first.clone())
    );
    assert!(store.rename(first.account.id, "New").await.unwrap());
    assert_eq!(
        store.account(first.account.id).await.unwrap().unwrap().name,
        "New"
    );
    assert!(!store.rename(second.account.id, "New").await.unwrap());
}

async fn a_buyer_moves_under_its_version_only(store: &Store) {
    let (show, account) = (ShowId::from_bytes(fresh()), AccountId::from_bytes(fresh()));
    assert_eq!(store.buyer(show, account).await.unwrap(), Buyer::default());
    let hold = HoldId::from_bytes(fresh());
    let entry = Entry::held(
        hold,
        NOW + 1,
        RequestHash([1; 16]),
        vec![PlaceIndex(4)],
        vec![Cents(5)],
        NOW,
    );
    let first = Buyer::default().record(entry, 6, NOW).unwrap();
    let put =
        |buyer: Buyer| async move { store.replace_buyer(show, account, &buyer).await.unwrap() };
    assert_eq!(put(first.clone()).await, Replaced::Done);
    assert_eq!(put(first.clone()).await, Replaced::Lost(first.clone()));
    let second = first.release(hold, NOW).unwrap();
    assert_eq!(put(second.clone()).await, Replaced::Done);
    assert_eq!(put(second.clone()).await, Replaced::Lost(second.clone()));
    let session = SessionId::from_bytes(fresh());
    assert_eq!(
        store
            .session_and_buyer(session, show, account)
            .await
            .unwrap(),
        (None, second)
    );
}
