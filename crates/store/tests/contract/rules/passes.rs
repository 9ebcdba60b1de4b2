//! Passes of a waiting room: whose they are, and which have ended.

use onsale_domain::ids::{AccountId, SessionId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_store::{EndedPass, Store};

use super::{NOW, eventually, fresh};

contract! {
    a_pass_is_its_first_accounts,
    of_many_accounts_at_once_one_gets_the_pass,
    a_closed_pass_stays_closed,
    ended_passes_are_listed_from_a_time_on,
}

fn used(account: AccountId) -> PassUse {
    PassUse {
        account: Some(account),
        closed: false,
    }
}

async fn read(store: &Store, pass: PassId) -> Option<PassUse> {
    let (session, show) = (SessionId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    let account = AccountId::from_bytes(fresh());
    let read = store.read_for_hold(session, show, account, Some(pass), false);
    read.await.unwrap().pass
}

async fn a_pass_is_its_first_accounts(store: &Store) {
    let (pass, other) = (PassId(fresh()), PassId(fresh()));
    let (ana, bo) = (
        AccountId::from_bytes(fresh()),
        AccountId::from_bytes(fresh()),
    );
    assert_eq!(read(store, pass).await, None);
    for _ in 0..2 {
        assert_eq!(store.take_pass(pass, ana, NOW).await.unwrap(), used(ana));
    }
    assert_eq!(store.take_pass(pass, bo, NOW).await.unwrap(), used(ana));
    assert_eq!(read(store, pass).await, Some(used(ana)));
    assert_eq!(read(store, other).await, None);
    assert_eq!(store.take_pass(other, bo, NOW).await.unwrap(), used(bo));
}

async fn of_many_accounts_at_once_one_gets_the_pass(store: &Store) {
    let pass = PassId(fresh());
    let accounts: Vec<_> = (0..16).map(|_| AccountId::from_bytes(fresh())).collect();
    let racers = accounts
        .iter()
        .map(|account| async move { (*account, store.take_pass(pass, *account, NOW).await) });
    let answers = futures_util::future::join_all(racers).await;
    let winners = answers
        .iter()
        .filter(|(account, answer)| answer.as_ref().unwrap() == &used(*account));
    assert_eq!(winners.count(), 1);
}

async fn a_closed_pass_stays_closed(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let account = AccountId::from_bytes(fresh());
    for taken in [true, false] {
        let pass = PassId(fresh());
        if taken {
            store.take_pass(pass, account, NOW).await.unwrap();
        }
        store.close_pass(pass, show, NOW).await.unwrap();
        store.close_pass(pass, show, NOW + 1).await.unwrap();
        let closed = PassUse {
            account: taken.then_some(account),
            closed: true,
        };
        assert_eq!(read(store, pass).await, Some(closed));
        assert_eq!(store.take_pass(pass, account, NOW).await.unwrap(), closed);
    }
}

async fn ended_passes_are_listed_from_a_time_on(store: &Store) {
    let (show, other) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    let passes: Vec<_> = (0..5).map(|_| PassId(fresh())).collect();
    for (n, pass) in (0..).zip(&passes) {
        store.close_pass(*pass, show, NOW + n * 10).await.unwrap();
        // Closing again changes neither the time nor the place in the list.
        store.close_pass(*pass, show, NOW + 1_000).await.unwrap();
    }
    let elsewhere = PassId(fresh());
    store.close_pass(elsewhere, other, NOW).await.unwrap();
    let open = PassId(fresh());
    let account = AccountId::from_bytes(fresh());
    store.take_pass(open, account, NOW).await.unwrap();
    let from = |n: usize| -> Vec<EndedPass> {
        let listed = (0..).zip(&passes).skip(n);
        listed
            .map(|(n, pass)| EndedPass {
                pass: *pass,
                at: NOW + n * 10,
            })
            .collect()
    };
    let ended = |since, limit| async move { store.passes_ended(show, since, limit).await.unwrap() };
    eventually(from(0), || ended(NOW, 100)).await;
    assert_eq!(ended(NOW + 10, 100).await, from(1));
    assert_eq!(ended(NOW + 11, 100).await, from(2));
    assert_eq!(ended(NOW, 2).await, from(0)[..2]);
    assert_eq!(ended(NOW + 41, 100).await, []);
}
