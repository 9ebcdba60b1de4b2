//! Links that are mailed, accounts without a password, and leaving: nothing is lost when a
//! process dies.

mod address_proofs;
mod guests;
mod leaving;
mod links;
mod resets;
mod staff;

use std::time::Duration;

use onsale_app::ports::{Credentials, Registration, Session};
use onsale_app::{App, Caller, passwords};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::time::Millis;
use onsale_test_support::{Fault, MemoryWorld};

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);
/// More than reconciling waits before it takes something for forgotten.
pub(crate) const IDLE_MS: u64 = 3 * 60_000;

/// An account with an open session. Its password is nobody's: hashing takes long.
pub(crate) async fn somebody(app: &App, name: &str, role: Role) -> Caller {
    let mut entropy = [0; 10];
    app.entropy.fill(&mut entropy);
    let id = AccountId::new(app.now(), entropy);
    let new = Credentials {
        account: Account {
            id,
            email: email(name),
            name: name.to_owned(),
            role,
            created: app.now(),
            language: None,
            proven: None,
        },
        password: passwords::nobodys(),
        epoch: 0,
        request: None,
    };
    let registered = app.store.register(&new, None).await.unwrap();
    assert_eq!(registered, Registration::Registered);
    session_of(app, id, role).await
}

/// An open session of an account that never had another epoch.
pub(crate) async fn session_of(app: &App, account: AccountId, role: Role) -> Caller {
    let session = Session {
        id: SessionId::from_bytes(*account.as_bytes()),
        account,
        opened: app.now(),
        expires: app.now() + 60 * 24 * 3_600_000,
        epoch: 0,
        device: None,
    };
    app.store.open_session(&session).await.unwrap();
    Caller {
        account,
        session: session.id,
        role,
    }
}

pub(crate) fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

/// Does what every message that is due asks, as often as it takes.
pub(crate) async fn drain(world: &MemoryWorld) {
    for _ in 0..20 {
        let due = world.saga_queue.take_due();
        if due.is_empty() {
            return;
        }
        for message in due {
            // A message that fails comes again; reconciling stands in for that.
            let _ = world.app.drive(&message).await;
        }
    }
    panic!("messages never end");
}

/// Runs `work` with a fault at its `nth` call; whether there was such a call.
pub(crate) async fn with_fault<F: Future>(
    world: &MemoryWorld,
    nth: usize,
    fault: Fault,
    work: F,
) -> bool {
    world.faults.arm(Some((nth, fault)));
    // A process that dies never comes back: it is dropped.
    let _ = tokio::time::timeout(Duration::from_millis(20), work).await;
    let reached = world.faults.calls().len() > nth;
    world.faults.arm(None);
    reached
}
