//! Links that set a password.

use onsale_app::Error;
use onsale_app::ports::List;
use onsale_domain::account::Role;
use onsale_domain::announcement::News;
use onsale_domain::ids::ResetId;
use onsale_domain::password_reset::{LINK_WINDOW_MS, Reset};
use onsale_test_support::{Fault, MemoryWorld};

use super::{IDLE_MS, NOW, drain, email, somebody, with_fault};

/// The resets that were announced, each as often as it was.
pub(super) fn announced(world: &MemoryWorld) -> Vec<ResetId> {
    let told = world.bus.told().into_iter();
    let resets = told.filter_map(|told| match told.news {
        News::PasswordResetAsked { reset_id, .. } => Some(reset_id),
        _ => None,
    });
    resets.collect()
}

#[tokio::test]
async fn a_link_is_announced_whatever_dies_on_the_way() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            somebody(&world.app, "ana", Role::Buyer).await;
            let ask = async {
                world.app.ask_password_reset(&email("ana")).await?;
                for message in world.saga_queue.take_due() {
                    world.app.drive(&message).await?;
                }
                Ok::<_, Error>(())
            };
            let reached = with_fault(&world, nth, fault, ask).await;
            let stored = !world.store_is_empty_of_resets().await;
            world.clock.advance(IDLE_MS);
            world.app.reconcile_open().await.unwrap();
            drain(&world).await;
            let mut told = announced(&world);
            told.dedup();
            assert_eq!(told.len(), usize::from(stored), "{fault:?} at call {nth}");
            world.clock.advance(IDLE_MS);
            assert_eq!(world.app.reconcile_open().await.unwrap().driven_again, 0);
            if !reached {
                assert!(stored);
                break;
            }
        }
    }
}

trait Resets {
    async fn store_is_empty_of_resets(&self) -> bool;
}

impl Resets for MemoryWorld {
    /// Whether nothing was stored: then whoever asked was told so, or asks again.
    async fn store_is_empty_of_resets(&self) -> bool {
        use onsale_app::ports::Store;
        let store: &Store = &self.store;
        store
            .ids_in::<Reset>(&List::OpenResets)
            .await
            .unwrap()
            .is_empty()
            && announced(self).is_empty()
    }
}

#[tokio::test]
async fn known_or_not_the_same_is_stored_and_sent_and_only_the_known_is_told() {
    let world = MemoryWorld::new(NOW);
    let ana = somebody(&world.app, "ana", Role::Buyer).await;
    let mut calls = Vec::new();
    for name in ["ana", "nobody"] {
        world.faults.arm(None);
        world.app.ask_password_reset(&email(name)).await.unwrap();
        calls.push(world.faults.calls());
    }
    assert_eq!(calls[0], calls[1]);
    assert_eq!(world.saga_queue.waiting().len(), 2);
    drain(&world).await;
    let told = world.bus.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        matches!(told[0].news, News::PasswordResetAsked { account_id, .. } if account_id == ana.account)
    );
}

#[tokio::test]
async fn an_address_gets_three_links_in_half_an_hour() {
    let world = MemoryWorld::new(NOW);
    somebody(&world.app, "ana", Role::Buyer).await;
    for _ in 0..10 {
        world.app.ask_password_reset(&email("ana")).await.unwrap();
        // Asked twice before the first is on its way: one mail.
        world.app.ask_password_reset(&email("ana")).await.unwrap();
        drain(&world).await;
    }
    let mut told = announced(&world);
    assert_eq!(told.len(), 3);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 3);
    for (wait_ms, links) in [(LINK_WINDOW_MS - 1, 3), (1, 4)] {
        world.clock.advance(wait_ms);
        world.app.ask_password_reset(&email("ana")).await.unwrap();
        drain(&world).await;
        assert_eq!(announced(&world).len(), links);
    }
}

#[tokio::test]
async fn a_link_works_once_and_takes_older_ones_and_every_session_with_it() {
    let world = MemoryWorld::new(NOW);
    let ana = somebody(&world.app, "ana", Role::Buyer).await;
    for _ in 0..3 {
        world.app.ask_password_reset(&email("ana")).await.unwrap();
        drain(&world).await;
    }
    let links = announced(&world);
    let gone = Err(Error::NotFound("link to set a password"));
    let too_short = world.app.use_reset(links[1], "short", false).await;
    assert!(matches!(too_short, Err(Error::Invalid(_))));
    world.app.check_session(&ana).await.unwrap();
    world
        .app
        .use_reset(links[1], "a new horse", false)
        .await
        .unwrap();
    assert_eq!(
        world.app.check_session(&ana).await,
        Err(Error::Unauthenticated)
    );
    for link in &links {
        assert_eq!(
            world.app.use_reset(*link, "another horse", false).await,
            gone
        );
    }
    let log_in = |password| world.app.log_in("ana@example.org", password, None, None);
    assert_eq!(log_in("another horse").await, Err(Error::WrongCredentials));
    log_in("a new horse").await.unwrap();
    assert_eq!(
        world
            .app
            .use_reset(ResetId::from_bytes([9; 16]), "any horse", false)
            .await,
        gone
    );
}

#[tokio::test]
async fn a_repeated_request_is_done_while_the_password_is_the_one_it_set() {
    let world = MemoryWorld::new(NOW);
    let ana = somebody(&world.app, "ana", Role::Buyer).await;
    world.app.ask_password_reset(&email("ana")).await.unwrap();
    drain(&world).await;
    let link = announced(&world)[0];
    let gone = Err(Error::NotFound("link to set a password"));
    let set = |password, repeats| world.app.use_reset(link, password, repeats);
    set("a new horse", true).await.unwrap();
    set("a new horse", true).await.unwrap();
    assert_eq!(set("a new horse", false).await, gone);
    assert_eq!(set("another horse", true).await, gone);
    let ana = super::session_of(&world.app, ana.account, Role::Buyer).await;
    let newer = world
        .app
        .change_password(&ana, Some("a new horse"), "a newer horse");
    newer.await.unwrap();
    assert_eq!(set("a newer horse", true).await, gone);
}

#[tokio::test]
async fn a_link_of_half_an_hour_ago_is_none() {
    let world = MemoryWorld::new(NOW);
    somebody(&world.app, "ana", Role::Buyer).await;
    world.app.ask_password_reset(&email("ana")).await.unwrap();
    drain(&world).await;
    world.clock.advance(30 * 60_000);
    let late = world
        .app
        .use_reset(announced(&world)[0], "a new horse", false)
        .await;
    assert_eq!(late, Err(Error::NotFound("link to set a password")));
}
