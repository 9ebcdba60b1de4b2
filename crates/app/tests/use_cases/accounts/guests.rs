//! Accounts without a password: whatever dies on the way, an address has one account, and one
//! request opens one session.

use onsale_app::ports::{Session, Store};
use onsale_app::{Error, Result};
use onsale_domain::account::{Account, Role};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_test_support::{Fault, MemoryWorld};

use super::links::{mailed_link, open_sessions};
use super::resets::announced;
use super::{NOW, drain, email, somebody, with_fault};

async fn register(world: &MemoryWorld, key: Option<&str>) -> Result<(Session, Account)> {
    let key = key.map(|key| IdempotencyKey::parse(key).unwrap());
    let request = RequestHash([7; 16]);
    let (email, name) = ("ana@example.org", "Ana");
    let app = &world.app;
    app.register_guest(email, name, key.as_ref(), request, None, || true)
        .await
}

#[tokio::test]
async fn a_guest_who_repeats_the_request_by_its_key_gets_one_account_and_one_session() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let work = register(&world, Some("k"));
            let reached = with_fault(&world, nth, fault, work).await;
            let mut answers = Vec::new();
            for _ in 0..2 {
                world.clock.advance(1_000);
                answers.push(register(&world, Some("k")).await.unwrap());
            }
            assert_eq!(answers[0].0, answers[1].0, "{fault:?} at call {nth}");
            let (session, account) = &answers[0];
            let store: &Store = &world.store;
            let stored = store.credentials(&email("ana")).await.unwrap().unwrap();
            assert_eq!(stored.account.id, account.id, "{fault:?} at call {nth}");
            let open = open_sessions(&world.app, account.id).await;
            assert_eq!(
                open,
                std::slice::from_ref(session),
                "{fault:?} at call {nth}"
            );
            drain(&world).await;
            assert_eq!(announced(&world), [], "no link is needed");
            if !reached {
                // The account and its session.
                assert_eq!(nth, 2);
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_guest_who_repeats_the_request_without_a_key_gets_a_link_to_the_one_account() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let reached = with_fault(&world, nth, fault, register(&world, None)).await;
            let store: &Store = &world.store;
            let before = store.credentials(&email("ana")).await.unwrap();
            let again = register(&world, None).await;
            let account = match (before, again) {
                (None, Ok((_, account))) => account.id,
                (Some(before), Err(Error::EmailTaken)) => before.account.id,
                other => panic!("{fault:?} at call {nth}: {other:?}"),
            };
            let link = mailed_link(&world, "ana").await;
            let (_, logged_in) = world.app.use_log_in_link(link, None, None).await.unwrap();
            assert_eq!(logged_in.id, account, "{fault:?} at call {nth}");
            if !reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn an_address_that_is_taken_gets_one_link_whatever_died_before() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            somebody(&world.app, "ana", Role::Buyer).await;
            let work = register(&world, Some("k"));
            let reached = with_fault(&world, nth, fault, work).await;
            let again = register(&world, Some("k")).await;
            assert_eq!(again, Err(Error::EmailTaken), "{fault:?} at call {nth}");
            drain(&world).await;
            assert_eq!(announced(&world).len(), 1, "{fault:?} at call {nth}");
            if !reached {
                // The account; whose address it is, twice in two reads; the link and its message.
                assert_eq!(nth, 7);
                break;
            }
        }
    }
}
