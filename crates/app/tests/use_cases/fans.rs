//! Verified fans: codes by the batch, and people who register before the sale.

use std::collections::BTreeSet;

use onsale_app::{Caller, Error};
use onsale_domain::account::Email;
use onsale_domain::audit::AuditAction;
use onsale_domain::event::Event;
use onsale_domain::ids::ShowId;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::room::fan_code::{FanCode, FanKeyId, FanKeys};
use onsale_domain::room::fans::{MAX_CODES, MAX_REGISTERED};
use onsale_domain::show::{Show, StoredStatus};
use onsale_domain::time::Millis;
use onsale_test_support::stage::{Plan, Stage};
use onsale_test_support::{Fault, MemoryWorld};

const NOW: Millis = Millis(1_800_000_000_000);
const HOUR_MS: u64 = 3_600_000;

struct Scene {
    world: MemoryWorld,
    show: ShowId,
    organiser: Caller,
    stranger: Caller,
}

/// A show whose sale begins in an hour.
async fn scene() -> Scene {
    let world = MemoryWorld::new(NOW);
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let scene = Scene {
        show: stage.show.id,
        organiser: stage.organiser().await.unwrap(),
        stranger: stage.buyer(1).await.unwrap(),
        world,
    };
    scene
        .change(|show| show.on_sale_at = Some(NOW + HOUR_MS))
        .await;
    scene
}

fn keys() -> FanKeys {
    FanKeys::new(vec![(FanKeyId(1), [7; 32])]).unwrap()
}

/// The keys after a change: the old codes still count.
fn newer_keys() -> FanKeys {
    FanKeys::new(vec![(FanKeyId(2), [8; 32]), (FanKeyId(1), [7; 32])]).unwrap()
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

impl Scene {
    async fn change(&self, change: impl FnOnce(&mut onsale_domain::show::Show)) {
        let store = &self.world.app.store;
        let mut show = store.read::<Show>(self.show).await.unwrap().unwrap();
        let event = store
            .read::<Event>(show.value.event_id)
            .await
            .unwrap()
            .unwrap();
        change(&mut show.value);
        assert!(
            store
                .replace_show(&show, &event, Default::default())
                .await
                .unwrap()
        );
        // A show may be remembered for a second.
        self.world.clock.advance(1_000);
    }

    async fn codes(&self, count: u32, key: Option<&str>) -> Result<Vec<FanCode>, Error> {
        let key = key.map(self::key);
        let app = &self.world.app;
        app.make_fan_codes(&self.organiser, self.show, count, key.as_ref(), &keys())
            .await
    }

    async fn register(&self, name: &str) -> Result<(), Error> {
        let app = &self.world.app;
        app.register_fan(self.show, email(name), &keys()).await
    }

    async fn fans(&self, keys: &FanKeys) -> Result<Vec<(Email, FanCode)>, Error> {
        let app = &self.world.app;
        let list = app.begin_fan_list(&self.organiser, self.show).await?;
        Ok(app.fans_with_codes(&list, None, keys).await?.items)
    }
}

#[tokio::test]
async fn no_two_calls_share_a_code_and_all_of_them_are_good() {
    let scene = scene().await;
    let first = scene.codes(300, None).await.unwrap();
    let second = scene.codes(200, None).await.unwrap();
    let all: BTreeSet<String> = first
        .iter()
        .chain(&second)
        .map(FanCode::to_string)
        .collect();
    assert_eq!(all.len(), 500);
    for code in first.iter().chain(&second) {
        assert!(keys().verify(scene.show, code).is_ok());
    }
}

#[tokio::test]
async fn the_same_key_gives_the_same_codes_even_under_a_new_signing_key() {
    let scene = scene().await;
    let first = scene.codes(5, Some("k")).await.unwrap();
    assert_eq!(scene.codes(5, Some("k")).await.unwrap(), first);
    let k = key("k");
    let app = &scene.world.app;
    let (organiser, newer) = (&scene.organiser, newer_keys());
    let again = app.make_fan_codes(organiser, scene.show, 5, Some(&k), &newer);
    assert_eq!(again.await.unwrap(), first);
    let other = scene.codes(6, Some("k")).await;
    assert_eq!(other, Err(Error::IdempotencyMismatch));
    assert_ne!(scene.codes(5, Some("l")).await.unwrap(), first);
}

#[tokio::test]
async fn a_batch_whose_answer_was_lost_is_found_again() {
    for call in 0..2 {
        for fault in [Fault::FailBefore, Fault::FailAfter] {
            let scene = scene().await;
            scene.world.faults.arm(Some((call, fault)));
            let lost = scene.codes(5, Some("k")).await;
            assert_eq!(lost, Err(Error::Unavailable), "{call} {fault:?}");
            let codes = scene.codes(5, Some("k")).await.unwrap();
            assert_eq!(scene.codes(5, Some("k")).await.unwrap(), codes);
            let others = scene.codes(5, None).await.unwrap();
            assert!(others.iter().all(|code| !codes.contains(code)));
        }
    }
}

#[tokio::test]
async fn a_show_has_at_most_a_million_codes_and_a_request_ten_thousand() {
    let scene = scene().await;
    for count in [0, 10_001] {
        let refused = scene.codes(count, None).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{count}");
    }
    let store = &scene.world.app.store;
    let taken = store.take_serials(scene.show, MAX_CODES - 10, MAX_CODES);
    taken.await.unwrap().unwrap();
    let over = Error::LimitExceeded {
        limit: 1_000_000,
        of: "fan codes for a show",
    };
    assert_eq!(scene.codes(11, None).await, Err(over));
    assert_eq!(scene.codes(10, None).await.unwrap().len(), 10);
}

#[tokio::test]
async fn whoever_registers_leaves_half_of_the_codes_to_the_organiser() {
    let scene = scene().await;
    let store = &scene.world.app.store;
    let taken = store.take_serials(scene.show, MAX_REGISTERED - 1, MAX_CODES);
    taken.await.unwrap().unwrap();
    scene.register("last").await.unwrap();
    let over = Error::LimitExceeded {
        limit: u64::from(MAX_REGISTERED),
        of: "fan codes for a show",
    };
    assert_eq!(scene.register("late").await, Err(over));
    scene.register("last").await.unwrap();
    assert_eq!(scene.codes(10_000, None).await.unwrap().len(), 10_000);
}

#[tokio::test]
async fn only_the_owner_makes_codes_and_sees_fans() {
    let scene = scene().await;
    let (app, keys) = (&scene.world.app, keys());
    let made = app.make_fan_codes(&scene.stranger, scene.show, 1, None, &keys);
    assert!(matches!(made.await, Err(Error::Forbidden(_))));
    let seen = app.begin_fan_list(&scene.stranger, scene.show);
    assert!(matches!(seen.await, Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn whoever_reads_the_addresses_of_fans_is_on_the_trail() {
    let scene = scene().await;
    scene.register("ana").await.unwrap();
    assert_eq!(scene.fans(&keys()).await.unwrap().len(), 1);
    let trail = scene.world.app.store.audit_of(scene.show, None, 10);
    let trail = trail.await.unwrap().items;
    let noted: Vec<_> = trail.iter().map(|e| (e.action, e.account)).collect();
    let by = scene.organiser.account;
    assert_eq!(noted, [(AuditAction::FansListed, by)], "{trail:?}");
}

#[tokio::test]
async fn an_address_that_registers_again_keeps_its_one_code() {
    let scene = scene().await;
    scene.register("ana").await.unwrap();
    let first = scene.fans(&keys()).await.unwrap();
    for _ in 0..3 {
        scene.register("ana").await.unwrap();
    }
    scene.register("ben").await.unwrap();
    // Under a new signing key as well: a second code would be a second chance.
    let fans = scene.fans(&newer_keys()).await.unwrap();
    assert_eq!(fans.len(), 2);
    assert!(fans.contains(&first[0]));
    let used = scene.world.app.store.take_serials(scene.show, 1, MAX_CODES);
    assert_eq!(used.await.unwrap().unwrap().0, 2, "one serial a fan");
    for (_, code) in &fans {
        assert!(newer_keys().verify(scene.show, code).is_ok());
    }
    let forgot_the_old = FanKeys::new(vec![(FanKeyId(2), [8; 32])]).unwrap();
    let refused = scene.fans(&forgot_the_old).await;
    assert!(matches!(refused, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn fans_register_until_the_sale_begins() {
    let scene = scene().await;
    scene.world.clock.advance(HOUR_MS - 2_001);
    scene.register("ana").await.unwrap();
    scene.world.clock.advance(1_001);
    let refused = scene.register("ben").await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(scene.fans(&keys()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_registers_for_a_draft_or_a_cancelled_show() {
    let scene = scene().await;
    scene.change(|show| show.status = StoredStatus::Draft).await;
    assert_eq!(scene.register("ana").await, Err(Error::NotFound("show")));
    scene
        .change(|show| show.status = StoredStatus::Cancelled)
        .await;
    let refused = scene.register("ana").await;
    assert!(matches!(refused, Err(Error::NotOnSale { .. })));
    let unknown = ShowId::from_bytes([9; 16]);
    let app = &scene.world.app;
    let refused = app.register_fan(unknown, email("ana"), &keys()).await;
    assert_eq!(refused, Err(Error::NotFound("show")));
}
