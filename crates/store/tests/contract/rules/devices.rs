//! The accounts that were seen on a device.

use onsale_domain::device::{MAX_ACCOUNTS, WINDOW_MS};
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_store::Store;

use super::{NOW, fresh};

contract! {
    a_device_counts_its_accounts_once_each,
    a_device_forgets_its_accounts_when_the_window_is_over,
    a_device_counts_no_further_than_it_has_to,
}

fn account() -> AccountId {
    AccountId::from_bytes(fresh())
}

async fn a_device_counts_its_accounts_once_each(store: &Store) {
    let device = VisitorId::from_bytes(fresh());
    let note = async |account| store.note_account(device, account, NOW).await.unwrap();
    let (ana, ben) = (account(), account());
    assert_eq!(note(ana).await, 1);
    assert_eq!(note(ana).await, 1);
    assert_eq!(note(ben).await, 2);
    assert_eq!(note(ana).await, 2);
    let other = VisitorId::from_bytes(fresh());
    assert_eq!(store.note_account(other, ana, NOW).await.unwrap(), 1);
}

async fn a_device_forgets_its_accounts_when_the_window_is_over(store: &Store) {
    let device = VisitorId::from_bytes(fresh());
    let note = async |account, at| store.note_account(device, account, at).await.unwrap();
    let (ana, ben) = (account(), account());
    assert_eq!(note(ana, NOW).await, 1);
    let last = NOW + (WINDOW_MS - 1_000);
    assert_eq!(note(ben, last).await, 2, "the window began with the first");
    let over = NOW + WINDOW_MS;
    assert_eq!(note(ben, over).await, 1);
    assert_eq!(note(ana, over + 1_000).await, 2);
}

async fn a_device_counts_no_further_than_it_has_to(store: &Store) {
    let device = VisitorId::from_bytes(fresh());
    let first = account();
    for n in 0..MAX_ACCOUNTS {
        let account = if n == 0 { first } else { account() };
        let seen = store.note_account(device, account, NOW).await.unwrap();
        assert_eq!(seen, n + 1);
    }
    for account in [account(), first] {
        let seen = store.note_account(device, account, NOW).await.unwrap();
        assert_eq!(seen, MAX_ACCOUNTS);
    }
    let over = NOW + WINDOW_MS;
    let seen = store.note_account(device, first, over).await.unwrap();
    assert_eq!(seen, 1, "a full device is forgotten like any other");
}
