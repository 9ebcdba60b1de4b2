//! Staff accounts, and the trail of what organisers did.

use onsale_app::events::EventChange;
use onsale_app::shows::{RoomChange, ShowChange};
use onsale_app::{App, Error};
use onsale_domain::account::Role;
use onsale_domain::announcement::News;
use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::ids::ShowId;
use onsale_domain::password_reset::ResetPurpose;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_test_support::stage::{Plan, Stage};
use onsale_test_support::{Fault, MemoryWorld};

use super::{NOW, drain, email, somebody, with_fault};

fn request() -> RequestHash {
    RequestHash::of(b"staff")
}

async fn trail(app: &App, show: ShowId) -> Vec<AuditEntry> {
    app.store.audit_of(show, None, 100).await.unwrap().items
}

async fn actions(app: &App, show: ShowId) -> Vec<AuditAction> {
    let entries = trail(app, show).await;
    entries.into_iter().map(|entry| entry.action).collect()
}

#[tokio::test]
async fn staff_scans_at_its_shows_until_it_is_removed_and_organisers_cost_no_read_more() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let ours = Stage::set(app, &Plan::default()).await.unwrap();
    let other = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = ours.organiser().await.unwrap();
    let shows = [ours.show.id];
    let (account, staff) = app
        .add_staff(&organiser, email("gate"), "Gate", &shows, None, request())
        .await
        .unwrap();
    assert_eq!(
        (account.role, staff.organiser),
        (Role::Staff, organiser.account)
    );
    let foreign = app
        .add_staff(
            &organiser,
            email("x"),
            "X",
            &[other.show.id],
            None,
            request(),
        )
        .await;
    assert!(matches!(foreign, Err(Error::Forbidden(_))));
    drain(&world).await;
    let invited = world.bus.told();
    assert!(matches!(
        invited[0].news,
        News::PasswordResetAsked { account_id, purpose: ResetPurpose::Invitation, .. } if account_id == account.id
    ));

    let gate = super::session_of(app, account.id, Role::Staff).await;
    let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
    let scan = |caller, show| app.scan(caller, show, &keys, "code", "north", None);
    scan(&gate, ours.show.id).await.unwrap();
    assert!(matches!(
        scan(&gate, other.show.id).await,
        Err(Error::Forbidden(_))
    ));
    world.faults.arm(None);
    scan(&organiser, ours.show.id).await.unwrap();
    assert_eq!(world.faults.calls_of("get STF"), 0);

    let stranger = other.organiser().await.unwrap();
    let not_theirs = app.remove_staff(&stranger, account.id).await;
    assert_eq!(not_theirs, Err(Error::NotFound("staff account")));
    for _ in 0..2 {
        app.remove_staff(&organiser, account.id).await.unwrap();
    }
    assert_eq!(scan(&gate, ours.show.id).await, Err(Error::Unauthenticated));
    let listed = app.list_staff(&organiser, None, 10).await.unwrap();
    assert!(listed.items.is_empty());
    drain(&world).await;
    let mut actions = actions(app, ours.show.id).await;
    actions.sort_by_key(|action| *action as u8);
    assert_eq!(
        actions,
        [AuditAction::StaffAdded, AuditAction::StaffRemoved]
    );
}

#[tokio::test]
async fn an_address_is_staff_of_one_organiser_or_has_an_account_of_its_own() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let ours = Stage::set(app, &Plan::default()).await.unwrap();
    let theirs = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = ours.organiser().await.unwrap();
    let rival = theirs.organiser().await.unwrap();
    somebody(app, "ana", Role::Buyer).await;
    let taken = app
        .add_staff(
            &organiser,
            email("ana"),
            "Ana",
            &[ours.show.id],
            None,
            request(),
        )
        .await;
    assert_eq!(taken.unwrap_err(), Error::EmailTaken);
    app.add_staff(
        &organiser,
        email("gate"),
        "Gate",
        &[ours.show.id],
        None,
        request(),
    )
    .await
    .unwrap();
    let rivals = app
        .add_staff(
            &rival,
            email("gate"),
            "Gate",
            &[theirs.show.id],
            None,
            request(),
        )
        .await;
    assert_eq!(rivals.unwrap_err(), Error::EmailTaken);
    let again = app
        .add_staff(
            &organiser,
            email("gate"),
            "Other",
            &[ours.show.id],
            None,
            request(),
        )
        .await
        .unwrap();
    assert_eq!(again.0.name, "Gate");
    assert_eq!(actions(app, ours.show.id).await, [AuditAction::StaffAdded]);
    let nothing = app
        .add_staff(&organiser, email("n"), "N", &[], None, request())
        .await;
    assert!(matches!(nothing, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn a_key_makes_one_staff_account() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = stage.organiser().await.unwrap();
    let shows = [stage.show.id];
    let add = async |name: &str, request: &[u8]| {
        let (key, request) = (IdempotencyKey::parse("k"), RequestHash::of(request));
        let (to, key) = (email(name), key.as_ref());
        app.add_staff(&organiser, to, "Gate", &shows, key, request)
            .await
    };
    let (first, _) = add("gate", b"gate").await.unwrap();
    let (again, _) = add("gate", b"gate").await.unwrap();
    assert_eq!(first.id, again.id);
    let renamed = add("gate", b"another name").await;
    assert_eq!(renamed.unwrap_err(), Error::IdempotencyMismatch);
    let other = add("door", b"door").await;
    assert_eq!(other.unwrap_err(), Error::IdempotencyMismatch);
    drain(&world).await;
    assert_eq!(world.bus.told().len(), 1, "one invitation");
}

#[tokio::test]
async fn making_staff_again_finishes_what_was_cut_off() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let world = MemoryWorld::new(NOW);
            let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
            let organiser = stage.organiser().await.unwrap();
            let show = stage.show.id;
            let shows = [show];
            let add = || {
                world
                    .app
                    .add_staff(&organiser, email("gate"), "Gate", &shows, None, request())
            };
            let reached = with_fault(&world, nth, fault, add()).await;
            add().await.unwrap();
            drain(&world).await;
            assert_eq!(actions(&world.app, show).await, [AuditAction::StaffAdded]);
            let invited = world.bus.told();
            assert_eq!(invited.len(), 1, "{fault:?} at call {nth}: {invited:?}");
            if !reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn every_change_of_a_show_leaves_an_entry_and_no_change_leaves_none() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = stage.organiser().await.unwrap();
    let id = stage.show.id;
    let capacity = RoomChange {
        capacity: Some(77),
        ..RoomChange::default()
    };
    let change = ShowChange {
        room: capacity,
        ..ShowChange::default()
    };
    for _ in 0..2 {
        app.change_show(&organiser, id, &change).await.unwrap();
        world.clock.advance(1_000);
    }
    app.cancel_show(&organiser, id).await.unwrap();
    let entries = trail(app, id).await;
    let actions: Vec<_> = entries.iter().map(|entry| entry.action).collect();
    assert_eq!(
        actions,
        [AuditAction::ShowCancelled, AuditAction::RoomChanged]
    );
    let room = &entries[1];
    assert_eq!(room.account, organiser.account);
    assert_eq!(room.changes[0].before.as_deref(), Some("500"));
    assert_eq!(room.changes[0].after.as_deref(), Some("77"));
    let page = app.audit_trail(&organiser, id, None, 1).await.unwrap();
    assert_eq!(page.items, entries[..1]);
    let buyer = stage.buyer(1).await.unwrap();
    let foreign = app.audit_trail(&buyer, id, None, 10).await;
    assert!(matches!(foreign, Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn a_change_of_an_event_is_on_the_trails_of_its_shows() {
    let world = MemoryWorld::new(NOW);
    let app = &world.app;
    let stage = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = stage.organiser().await.unwrap();
    let (id, show) = (stage.show.event_id, stage.show.id);
    let change = EventChange {
        title: Some("Another night".into()),
        ..EventChange::default()
    };
    for _ in 0..2 {
        app.change_event(&organiser, id, &change).await.unwrap();
    }
    let trail = trail(app, show).await;
    let [entry] = &trail[..] else {
        panic!("the same again is no change: {trail:?}");
    };
    assert_eq!(
        (entry.action, entry.account),
        (AuditAction::EventChanged, organiser.account)
    );
    let changed = AuditChange::new(
        "title",
        Some("Rehearsal".into()),
        Some("Another night".into()),
    );
    assert_eq!(entry.changes, [changed]);
}
