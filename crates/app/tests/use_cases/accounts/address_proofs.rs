//! Proving an address: whatever dies on the way, the link is mailed, and a repeated proof
//! changes nothing.

use onsale_app::Error;
use onsale_app::ports::Store;
use onsale_domain::account::Role;
use onsale_test_support::{Fault, MemoryWorld};

use super::resets::announced;
use super::{IDLE_MS, NOW, drain, somebody, with_fault};

#[tokio::test]
async fn a_link_to_prove_an_address_is_announced_once_whatever_died_before() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let ana = somebody(&world.app, "ana", Role::Buyer).await;
            let ask = || world.app.ask_address_proof(&ana);
            let reached = with_fault(&world, nth, fault, ask()).await;
            ask().await.unwrap();
            // Its message is lost, or comes twice.
            let messages = world.saga_queue.take_due();
            if nth % 2 == 0 {
                for message in messages.iter().chain(&messages) {
                    world.app.drive(message).await.unwrap();
                }
            }
            world.clock.advance(IDLE_MS);
            world.app.reconcile_open().await.unwrap();
            drain(&world).await;
            assert_eq!(announced(&world).len(), 1, "{fault:?} at call {nth}");
            if !reached {
                // The session, the account and its address, the link and its message.
                assert_eq!(nth, 5);
                break;
            }
        }
    }
}

#[tokio::test]
async fn an_address_is_proven_since_the_first_try_that_was_stored() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let ana = somebody(&world.app, "ana", Role::Buyer).await;
            let bo = somebody(&world.app, "bo", Role::Buyer).await;
            world.app.ask_address_proof(&ana).await.unwrap();
            drain(&world).await;
            let link = announced(&world)[0];
            let prove = || world.app.prove_address(&ana, link);
            let reached = with_fault(&world, nth, fault, prove()).await;
            let store: &Store = &world.store;
            let proven = async || store.account(ana.account).await.unwrap().unwrap().proven;
            let first = proven().await;
            world.clock.advance(60_000);
            for _ in 0..2 {
                prove().await.unwrap();
                let since = first.unwrap_or(NOW + 60_000);
                assert_eq!(proven().await, Some(since), "{fault:?} at call {nth}");
            }
            let other = world.app.prove_address(&bo, link).await;
            assert_eq!(other, Err(Error::NotFound("link to prove an address")));
            world.app.ask_address_proof(&ana).await.unwrap();
            drain(&world).await;
            assert_eq!(announced(&world).len(), 1, "nothing is left to prove");
            if !reached {
                // The link, and the account.
                assert_eq!(nth, 2);
                assert_eq!(first, Some(NOW));
                break;
            }
        }
    }
}
