//! Links to log in: whatever dies on the way, one request gets one session.

use onsale_app::ports::{PasswordHash, Session, Store};
use onsale_app::{App, Caller, Error, passwords};
use onsale_domain::account::Role;
use onsale_domain::announcement::News;
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ResetId};
use onsale_domain::password_reset::Reset;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_test_support::{Fault, MemoryWorld};

use super::resets::announced;
use super::{NOW, drain, email, somebody, with_fault};

const NO_SUCH_LINK: Error = Error::NotFound("link to log in");

fn key() -> IdempotencyKey {
    IdempotencyKey::parse("k").unwrap()
}

/// The sessions of an account that are open.
pub(super) async fn open_sessions(app: &App, account: AccountId) -> Vec<Session> {
    let mut open = Vec::new();
    for session in app
        .store
        .sessions_of(account, None, 100)
        .await
        .unwrap()
        .items
    {
        open.extend(app.store.session(session.id, account).await.unwrap());
    }
    open
}

async fn is_inside(world: &MemoryWorld, caller: &Caller) -> bool {
    let open = open_sessions(&world.app, caller.account).await;
    open.iter().any(|session| session.id == caller.session)
}

pub(super) async fn mailed_link(world: &MemoryWorld, name: &str) -> ResetId {
    world.app.ask_log_in_link(&email(name)).await.unwrap();
    drain(world).await;
    let told = world.bus.told();
    let link = told.iter().rev().find_map(|told| match told.news {
        News::PasswordResetAsked { reset_id, .. } => Some(reset_id),
        _ => None,
    });
    link.unwrap()
}

#[tokio::test]
async fn a_request_that_is_repeated_by_its_key_logs_in_whatever_died_before() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let before = somebody(&world.app, "ana", Role::Buyer).await;
            let link = mailed_link(&world, "ana").await;
            let key = key();
            let follow = world.app.use_log_in_link(link, Some(&key), None);
            let reached = with_fault(&world, nth, fault, follow).await;
            let again = world.app.use_log_in_link(link, Some(&key), None).await;
            let (session, account) = again.unwrap();
            assert_eq!(account.proven, Some(NOW), "{fault:?} at call {nth}");
            let store: &Store = &world.store;
            let open = store.session(session.id, account.id).await.unwrap();
            assert_eq!(open, Some(session), "{fault:?} at call {nth}");
            let stranger = store.session(before.session, account.id).await.unwrap();
            assert_eq!(stranger, None, "who was inside before is out");
            let other = world.app.use_log_in_link(link, None, None).await;
            assert_eq!(other, Err(NO_SUCH_LINK));
            if !reached {
                // Reads, the note, the claim and the session.
                assert_eq!(nth, 5);
                break;
            }
        }
    }
}

#[tokio::test]
async fn of_two_who_follow_one_link_one_is_let_in() {
    let world = MemoryWorld::new(NOW);
    somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    let follow = || world.app.use_log_in_link(link, None, None);
    let both = [follow().await, follow().await];
    assert_eq!(both.iter().filter(|one| one.is_ok()).count(), 1, "{both:?}");
}

#[tokio::test]
async fn known_or_not_the_same_is_stored_and_sent() {
    let world = MemoryWorld::new(NOW);
    somebody(&world.app, "ana", Role::Buyer).await;
    let mut calls = Vec::new();
    for name in ["ana", "nobody"] {
        world.faults.arm(None);
        world.app.ask_log_in_link(&email(name)).await.unwrap();
        calls.push(world.faults.calls());
    }
    assert_eq!(calls[0], calls[1]);
    assert_eq!(world.saga_queue.waiting().len(), 2);
}

#[tokio::test]
async fn without_a_key_a_link_opens_one_session_or_refuses_and_the_next_link_works() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let before = somebody(&world.app, "ana", Role::Buyer).await;
            let link = mailed_link(&world, "ana").await;
            let follow = || world.app.use_log_in_link(link, None, None);
            let reached = with_fault(&world, nth, fault, follow()).await;
            let again = follow().await;
            let open = open_sessions(&world.app, before.account).await;
            match again {
                // Nothing was stored before.
                Ok((session, _)) => assert_eq!(open, [session]),
                Err(refused) => assert_eq!(refused, NO_SUCH_LINK, "{fault:?} at call {nth}"),
            }
            assert!(open.len() <= 1, "{fault:?} at call {nth}: {open:?}");
            let next = mailed_link(&world, "ana").await;
            let (session, account) = world.app.use_log_in_link(next, None, None).await.unwrap();
            assert!(account.proven.is_some(), "{fault:?} at call {nth}");
            let open = open_sessions(&world.app, account.id).await;
            assert!(open.contains(&session), "{fault:?} at call {nth}");
            assert!(!is_inside(&world, &before).await, "{fault:?} at call {nth}");
            if !reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn of_two_copies_of_one_request_both_get_the_one_session() {
    let world = MemoryWorld::new(NOW);
    let before = somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    let (app, copy) = (world.app.clone(), key());
    let claimed_first = async move {
        app.use_log_in_link(link, Some(&copy), None).await.unwrap();
    };
    world.faults.before_next("write ACC", claimed_first);
    let (session, _) = world
        .app
        .use_log_in_link(link, Some(&key()), None)
        .await
        .unwrap();
    assert_eq!(open_sessions(&world.app, before.account).await, [session]);
}

/// A stranger who is inside changes the password, which begins the next epoch.
async fn change_password(world: &MemoryWorld, stranger: &Caller, epoch: u32) {
    let password = PasswordHash("of the stranger".into());
    let keep = Some(stranger.session);
    let store: &Store = &world.store;
    let changed = store.set_password(stranger.account, epoch, &password, keep);
    assert!(changed.await.unwrap());
}

/// Whoever followed a link is alone in the account, and the stranger's password is gone.
async fn assert_claimed(world: &MemoryWorld, session: Session, why: &str) {
    let open = open_sessions(&world.app, session.account).await;
    assert_eq!(open, std::slice::from_ref(&session), "{why}");
    let store: &Store = &world.store;
    let stored = store.credentials_of(session.account).await.unwrap();
    assert!(
        passwords::is_nobodys(&stored.unwrap().password),
        "{why}: the stranger could log in again"
    );
}

#[tokio::test]
async fn a_link_that_was_interrupted_sends_out_a_stranger_who_changed_the_password_in_between() {
    let world = MemoryWorld::new(NOW);
    let stranger = somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    let key = key();
    let follow = || world.app.use_log_in_link(link, Some(&key), None);
    world.faults.arm(None);
    // The use is noted, and the process dies before it claims the account.
    let nth = 3;
    assert!(with_fault(&world, nth, Fault::DieBefore, follow()).await);
    change_password(&world, &stranger, 0).await;
    let (session, account) = follow().await.unwrap();
    assert_eq!(account.proven, Some(NOW));
    assert_claimed(&world, session.clone(), "after the password was changed").await;
    assert_eq!(follow().await.unwrap().0, session, "repeated");
}

#[tokio::test]
async fn a_link_to_an_unproven_address_works_however_often_the_password_changes() {
    let world = MemoryWorld::new(NOW);
    let stranger = somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    for epoch in 0..3 {
        change_password(&world, &stranger, epoch).await;
    }
    let (session, _) = world.app.use_log_in_link(link, None, None).await.unwrap();
    assert_claimed(&world, session, "before the link was followed").await;
}

#[tokio::test]
async fn a_password_that_changes_at_the_moment_of_the_claim_does_not_stop_it() {
    let world = MemoryWorld::new(NOW);
    let stranger = somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    let store = world.store.clone();
    let change = async move {
        let password = PasswordHash("of the stranger".into());
        let keep = Some(stranger.session);
        let store: &Store = &store;
        let changed = store.set_password(stranger.account, 0, &password, keep);
        assert!(changed.await.unwrap());
    };
    world.faults.before_next("write ACC", change);
    let (session, _) = world.app.use_log_in_link(link, None, None).await.unwrap();
    assert_claimed(&world, session, "at the moment of the claim").await;
}

#[tokio::test]
async fn a_password_that_changed_ends_the_links_of_an_address_that_is_proven() {
    let world = MemoryWorld::new(NOW);
    let ana = somebody(&world.app, "ana", Role::Buyer).await;
    let store: &Store = &world.store;
    assert!(store.prove_address(ana.account, NOW).await.unwrap());
    let link = mailed_link(&world, "ana").await;
    change_password(&world, &ana, 0).await;
    let old = world.app.use_log_in_link(link, None, None).await;
    assert_eq!(old, Err(NO_SUCH_LINK));
    assert!(is_inside(&world, &ana).await);
}

#[tokio::test]
async fn an_address_gets_three_links_in_half_an_hour_however_many_accounts_have_it() {
    let world = MemoryWorld::new(NOW);
    for _ in 0..5 {
        let request = RequestHash([7; 16]);
        let (mail, name) = ("ana@example.org", "Ana");
        let registered = world
            .app
            .register_guest(mail, name, None, request, None, || true);
        let (session, account) = registered.await.unwrap();
        world.app.ask_log_in_link(&email("ana")).await.unwrap();
        drain(&world).await;
        let caller = Caller {
            account: account.id,
            session: session.id,
            role: Role::Buyer,
        };
        world.app.delete_account(&caller, None).await.unwrap();
        drain(&world).await;
    }
    assert_eq!(announced(&world).len(), 3);
}

#[tokio::test]
async fn a_stranger_who_uses_the_quota_of_an_address_up_keeps_nobody_out() {
    let world = MemoryWorld::new(NOW);
    somebody(&world.app, "ana", Role::Buyer).await;
    let store: &Store = &world.store;
    for minute in 0..120 {
        for _ in 0..4 {
            world.app.ask_log_in_link(&email("ana")).await.unwrap();
            drain(&world).await;
        }
        let last = *announced(&world).last().unwrap();
        let link = store.read::<Reset>(last).await.unwrap().unwrap().value;
        let works = link.good_for(world.app.now()).is_some();
        assert!(works, "no link works in minute {minute}");
        world.clock.advance(60_000);
    }
}

/// A link that was asked for and not mailed before its account was deleted does not keep the
/// next account of the address from a link of its own.
#[tokio::test]
async fn a_link_is_mailed_to_the_account_that_has_the_address_now() {
    let world = MemoryWorld::new(NOW);
    let before = somebody(&world.app, "ana", Role::Buyer).await;
    world.app.ask_log_in_link(&email("ana")).await.unwrap();
    let store: &Store = &world.store;
    let found = store.credentials_of(before.account).await.unwrap().unwrap();
    let gone = Deletion::begin(&found.account, None, NOW);
    assert!(store.begin_deletion(&gone, 0).await.unwrap());
    let now = somebody(&world.app, "ana", Role::Buyer).await;
    let link = mailed_link(&world, "ana").await;
    let (_, account) = world.app.use_log_in_link(link, None, None).await.unwrap();
    assert_eq!(account.id, now.account);
}
