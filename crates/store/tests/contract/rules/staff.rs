//! Staff of organisers.

use std::collections::BTreeSet;

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::staff::Staff;
use onsale_store::{Credentials, PasswordHash, Registration, Store, Written};

use super::account_ends::registered;
use super::{NOW, eventually, fresh};

contract! {
    staff_is_made_with_its_account_or_not_at_all,
    staff_is_listed_by_organiser_and_gone_with_its_account,
}

fn staff(organiser: AccountId, after_ms: u64) -> (Credentials, Staff) {
    let id = AccountId::from_bytes(fresh());
    let credentials = Credentials {
        account: Account {
            id,
            email: Email::parse(&format!("{id}@example.org")).unwrap(),
            name: "Gate".into(),
            role: Role::Staff,
            created: NOW,
            language: None,
            proven: None,
        },
        password: PasswordHash("none".into()),
        epoch: 0,
        request: None,
    };
    let staff = Staff {
        account: id,
        organiser,
        shows: BTreeSet::from([ShowId::from_bytes(fresh())]),
        added: NOW + after_ms,
    };
    (credentials, staff)
}

async fn staff_is_made_with_its_account_or_not_at_all(store: &Store) {
    let taken = registered(store).await;
    let (mut new, made) = staff(AccountId::from_bytes(fresh()), 0);
    let email = new.account.email.clone();
    new.account.email = taken.account.email.clone();
    let refused = store.register(&new, Some(&made)).await.unwrap();
    assert_eq!(refused, Registration::EmailTaken(Box::new(taken)));
    assert_eq!(store.read::<Staff>(made.account).await.unwrap(), None);
    new.account.email = email;
    let done = store.register(&new, Some(&made)).await.unwrap();
    assert_eq!(done, Registration::Registered);
    let mut stored = store.read::<Staff>(made.account).await.unwrap().unwrap();
    assert_eq!((stored.version, &stored.value), (1, &made));
    let more = ShowId::from_bytes(fresh());
    stored.value = made.with_shows(&[more]).unwrap().unwrap();
    assert_eq!(store.replace(&stored).await.unwrap(), Written::Done(2));
    let lost = store.replace(&stored).await.unwrap();
    assert!(matches!(lost, Written::Lost(current) if current.value.may_scan(more)));
}

async fn staff_is_listed_by_organiser_and_gone_with_its_account(store: &Store) {
    let organiser = AccountId::from_bytes(fresh());
    let made = [staff(organiser, 0), staff(organiser, 10)];
    let other = staff(AccountId::from_bytes(fresh()), 0);
    for (credentials, staff) in made.iter().chain([&other]) {
        store.register(credentials, Some(staff)).await.unwrap();
    }
    let listed = || async { store.staff_of(organiser, None, 10).await.unwrap().items };
    eventually(vec![made[0].1.clone(), made[1].1.clone()], listed).await;
    let page = store.staff_of(organiser, None, 1).await.unwrap();
    assert_eq!(page.items, [made[0].1.clone()]);
    let rest = store
        .staff_of(organiser, page.next.as_deref(), 1)
        .await
        .unwrap();
    assert_eq!(rest.items, [made[1].1.clone()]);
    let (gone, staff) = made[0].clone();
    let deletion = Deletion::begin(&gone.account, Some(staff), NOW);
    assert!(store.begin_deletion(&deletion, 0).await.unwrap());
    assert_eq!(store.read::<Staff>(gone.account.id).await.unwrap(), None);
    eventually(vec![made[1].1.clone()], listed).await;
}
