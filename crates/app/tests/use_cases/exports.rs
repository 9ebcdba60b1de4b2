//! Exports: every row once, whoever dies on the way, and for nobody but the organiser.

use futures_util::FutureExt;
use onsale_app::exports::Portion;
use onsale_app::ports::{Credentials, Fetched, Objects, PasswordHash, Session, WriteExport};
use onsale_app::{Caller, Error};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::audit::AuditAction;
use onsale_domain::export::{Export, ExportKind, ExportStatus, KEPT_MS};
use onsale_domain::ids::{AccountId, ExportId, OrderId, SessionId};
use onsale_domain::order::{Order, OrderNumber};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;
use onsale_test_support::stage::{Plan, Stage};
use onsale_test_support::{Fault, MemoryWorld};

const NOW: Millis = Millis(1_800_000_000_000);
/// Several parts of a few orders each.
const SMALL: Portion = Portion {
    lines: 3,
    bytes: 400,
};

struct Scene {
    world: MemoryWorld,
    stage: Stage,
    organiser: Caller,
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

impl Scene {
    /// A show that sold so many orders of two seats, of which the first was cancelled.
    async fn sold(orders: usize) -> Self {
        let world = MemoryWorld::new(NOW);
        let plan = Plan {
            rows: vec![40; 4],
            ..Plan::default()
        };
        let stage = Stage::set(&world.app, &plan).await.unwrap();
        let organiser = stage.organiser().await.unwrap();
        let scene = Self {
            world,
            stage,
            organiser,
        };
        for n in 0..orders {
            let order = scene.buy(n).await;
            if n == 0 {
                let (buyer, order) = order;
                scene.world.app.cancel_order(&buyer, order).await.unwrap();
                scene.settle().await;
            }
        }
        scene
    }

    async fn buy(&self, n: usize) -> (Caller, OrderId) {
        let app = &self.world.app;
        let account = AccountId::derived(&[&n.to_be_bytes()]);
        let credentials = Credentials {
            account: Account {
                id: account,
                email: Email::parse(&format!("buyer{n}@example.org")).unwrap(),
                name: format!("=Buyer \"{n}\""),
                role: Role::Buyer,
                created: NOW,
                language: None,
                proven: None,
            },
            password: PasswordHash("nobody logs in".to_owned()),
            epoch: 0,
            request: None,
        };
        app.store.register(&credentials, None).await.unwrap();
        let session = Session {
            id: SessionId::derived(&[account.as_bytes()]),
            account,
            opened: NOW,
            expires: NOW + KEPT_MS,
            epoch: 0,
            device: None,
        };
        app.store.open_session(&session).await.unwrap();
        let buyer = Caller {
            account,
            session: session.id,
            role: Role::Buyer,
        };
        let (row, seat) = (n / 20 + 1, 2 * (n % 20) + 1);
        let seats = vec![format!("A-{row}-{seat}"), format!("A-{row}-{}", seat + 1)];
        let show = self.stage.show.id;
        let wish = onsale_app::holds::Wish::Seats(seats);
        let hold = app.place_hold(&buyer, show, &key("h"), &wish, None).await;
        let method = PaymentMethod::parse("pm_card_visa").unwrap();
        let hold = hold.unwrap().hold_id;
        let order = app.check_out(&buyer, show, hold, &key("p"), method).await;
        self.settle().await;
        (buyer, order.unwrap())
    }

    async fn settle(&self) {
        for message in self.world.saga_queue.take_due() {
            self.world.app.drive(&message).await.unwrap();
        }
    }

    async fn begin(&self, kind: ExportKind) -> ExportId {
        let (app, show) = (&self.world.app, self.stage.show.id);
        let key = key("e");
        let begun = app.begin_export(&self.organiser, show, kind, Some(&key));
        begun.await.unwrap().id
    }

    /// Delivers what is due, and lets reconciling find what was forgotten.
    async fn finish(&self) {
        for _ in 0..10 {
            for WriteExport { export_id } in self.world.export_queue.take_due() {
                let written = self.world.app.write_export_by(export_id, SMALL).await;
                written.unwrap();
            }
            self.world.clock.advance(125_000);
            if self.world.app.reconcile_open().await.unwrap().open_exports == 0 {
                return;
            }
        }
        unreachable!("the export is never ready");
    }

    async fn file(&self, id: ExportId) -> String {
        let export = self
            .world
            .store
            .read::<Export>(id)
            .await
            .unwrap()
            .unwrap()
            .value;
        assert_eq!(export.status, ExportStatus::Ready);
        let found = self
            .world
            .objects
            .get(&export.file_key(), None)
            .await
            .unwrap();
        let Fetched::Found(object) = found else {
            unreachable!("the file is missing");
        };
        let text = String::from_utf8(object.body).unwrap();
        assert_eq!(text.lines().count() as u64, export.rows + 1, "{text}");
        text
    }
}

#[tokio::test]
async fn every_order_and_every_ticket_is_a_row() {
    let scene = Scene::sold(7).await;
    let orders = scene.begin(ExportKind::Orders).await;
    scene.finish().await;
    let text = scene.file(orders).await;
    assert_eq!(text.lines().count(), 8);
    let refunded = text.lines().find(|line| line.contains("A-1-1 ")).unwrap();
    let rest = ",refunded,\"'=Buyer \"\"0\"\"\",buyer0@example.org,A-1-1 A-1-2,90.00,90.00,EUR,";
    assert!(refunded.contains(rest), "{refunded}");
    let sold = text.lines().find(|line| line.contains("A-1-13 ")).unwrap();
    assert!(
        sold.contains(",confirmed,") && sold.contains(",90.00,,EUR,"),
        "{sold}"
    );
    let (order, _) = sold.split_once(',').unwrap();
    let number = OrderNumber::of(order.parse().unwrap());
    assert!(sold.ends_with(number.as_str()), "{sold}");

    let show = scene.stage.show.id;
    let kind = ExportKind::Attendees;
    let begun = scene
        .world
        .app
        .begin_export(&scene.organiser, show, kind, None);
    let attendees = begun.await.unwrap().id;
    scene.finish().await;
    let text = scene.file(attendees).await;
    assert_eq!(text.lines().count(), 15);
    assert_eq!(text.matches(",A,valid,,,").count(), 12);
    assert_eq!(text.matches(",A,revoked,,,").count(), 2);
    let keys = scene.world.objects.keys();
    assert!(keys.iter().all(|key| !key.contains("/parts/")), "{keys:?}");
}

#[tokio::test]
async fn a_show_that_sold_nothing_has_a_heading() {
    let scene = Scene::sold(0).await;
    let id = scene.begin(ExportKind::Orders).await;
    scene.finish().await;
    assert!(scene.file(id).await.starts_with("\u{feff}order_id,"));
}

/// Dies, or fails, before and after every single call of a port.
#[tokio::test]
async fn a_crash_anywhere_loses_no_row_and_doubles_none() {
    let (calls, expected) = calm_run().await;
    for (nth, call) in calls.iter().enumerate() {
        for fault in Fault::ALL {
            let scene = Scene::sold(9).await;
            let id = scene.begin(ExportKind::Orders).await;
            scene.world.faults.arm(Some((nth, fault)));
            let _ = scene.world.app.write_export_by(id, SMALL).now_or_never();
            scene.world.faults.arm(None);
            // The message is gone with its worker: only reconciling is left.
            scene.world.export_queue.take_due();
            scene.finish().await;
            let note = format!("{fault:?} at call {nth} ({call})");
            assert_eq!(scene.file(id).await, expected, "{note}");
        }
    }
}

/// The calls that writing an export in several parts takes, and its file.
async fn calm_run() -> (Vec<String>, String) {
    let scene = Scene::sold(9).await;
    let id = scene.begin(ExportKind::Orders).await;
    scene.world.faults.arm(None);
    let app = &scene.world.app;
    app.write_export_by(id, SMALL).await.unwrap();
    let calls = scene.world.faults.calls();
    let export = scene
        .world
        .store
        .read::<Export>(id)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert!(export.parts.len() >= 3, "{:?}", export.parts);
    (calls, scene.file(id).await)
}

/// A worker is taken for dead after it has stored a part, but not said so; its part turns
/// out different from that of the worker who took over.
#[tokio::test]
async fn a_part_that_was_not_noted_never_counts() {
    let (calls, expected) = calm_run().await;
    let mut stores = (0..calls.len()).filter(|nth| calls[*nth] == "replace_object");
    let second = stores.nth(1).unwrap();
    let scene = Scene::sold(9).await;
    let id = scene.begin(ExportKind::Orders).await;
    scene.world.faults.arm(Some((second, Fault::DieAfter)));
    let late = scene.world.app.write_export_by(id, SMALL).now_or_never();
    assert_eq!(late, None);
    scene.world.faults.arm(None);
    let orphan = scene.world.objects.keys().pop().unwrap();
    let junk = b"another,part\n".to_vec();
    scene.world.objects.damage(&orphan, |body| *body = junk);
    scene.finish().await;
    assert_eq!(scene.file(id).await, expected);
}

#[tokio::test]
async fn a_key_means_one_export() {
    let scene = Scene::sold(1).await;
    let (app, show) = (&scene.world.app, scene.stage.show.id);
    let begin = async |kind, k: Option<&str>| {
        let k = k.map(key);
        app.begin_export(&scene.organiser, show, kind, k.as_ref())
            .await
    };
    let first = begin(ExportKind::Orders, Some("k")).await.unwrap();
    let again = begin(ExportKind::Orders, Some("k")).await.unwrap();
    assert_eq!(first.id, again.id);
    let other = begin(ExportKind::Attendees, Some("k")).await;
    assert_eq!(other, Err(Error::IdempotencyMismatch));
    let without = begin(ExportKind::Orders, None).await.unwrap();
    assert_ne!(without.id, first.id);
    let trail = app.store.audit_of(show, None, 10).await.unwrap().items;
    let exported = trail
        .iter()
        .filter(|e| e.action == AuditAction::ListExported);
    assert_eq!(exported.count(), 2, "{trail:?}");
}

#[tokio::test]
async fn without_a_key_each_request_is_a_list_of_its_own() {
    let scene = Scene::sold(2).await;
    let (app, show) = (&scene.world.app, scene.stage.show.id);
    let begin = async || {
        let begun = app.begin_export(&scene.organiser, show, ExportKind::Orders, None);
        begun.await.unwrap().id
    };
    let first = begin().await;
    app.write_export_by(first, SMALL).await.unwrap();
    scene.buy(2).await;
    let second = begin().await;
    assert_ne!(first, second);
    app.write_export_by(second, SMALL).await.unwrap();
    assert_eq!(scene.file(first).await.lines().count(), 3);
    assert_eq!(scene.file(second).await.lines().count(), 4);
}

#[tokio::test]
async fn whoever_was_given_a_ticket_stands_below_who_passed_it_on() {
    let scene = Scene::sold(0).await;
    let app = &scene.world.app;
    let (ana, order) = scene.buy(1).await;
    let (bo, _) = scene.buy(2).await;
    let (cy, _) = scene.buy(3).await;
    let order = app.store.read::<Order>(order).await.unwrap().unwrap().value;
    let mut ticket = order.ticket_ids()[0];
    let seat = order.seat_ids()[0].clone();
    for (from, to, n) in [(&ana, &bo, 2), (&bo, &cy, 3)] {
        let email = Email::parse(&format!("buyer{n}@example.org")).unwrap();
        let request = RequestHash::of(b"give");
        let offered = app.offer_transfer(from, ticket, &email, None, request);
        let accepted = app.accept_transfer(to, offered.await.unwrap().id).await;
        ticket = accepted.unwrap().id;
    }
    let id = scene.begin(ExportKind::Attendees).await;
    scene.finish().await;
    let text = scene.file(id).await;
    assert_eq!(text.lines().count(), 1 + 6 + 2, "{text}");
    let of_seat = text.lines().filter(|l| l.contains(&format!(",{seat},")));
    let rows: Vec<_> = of_seat.collect();
    for (row, (status, n)) in rows
        .iter()
        .zip([("revoked", 1), ("revoked", 2), ("valid", 3)])
    {
        let end = format!(",A,{status},,,\"'=Buyer \"\"{n}\"\"\",");
        assert!(row.contains(&end), "{row}");
    }
    assert_eq!(rows.len(), 3, "{text}");
    assert!(rows[2].starts_with(&ticket.to_string()));
}

#[tokio::test]
async fn a_link_is_for_the_organiser_of_the_very_show() {
    let scene = Scene::sold(1).await;
    let (app, show) = (&scene.world.app, scene.stage.show.id);
    let id = scene.begin(ExportKind::Orders).await;
    let view = app.read_export(&scene.organiser, show, id).await.unwrap();
    assert_eq!(
        (view.export.status, view.link),
        (ExportStatus::Preparing, None)
    );
    scene.finish().await;
    let view = app.read_export(&scene.organiser, show, id).await.unwrap();
    assert!(view.link.is_some());

    let other = Stage::set(app, &Plan::default()).await.unwrap();
    let stranger = other.organiser().await.unwrap();
    let foreign = app.read_export(&stranger, show, id).await;
    assert!(matches!(foreign, Err(Error::Forbidden(_))), "{foreign:?}");
    let misplaced = app.read_export(&stranger, other.show.id, id).await;
    assert_eq!(misplaced, Err(Error::NotFound("export")));
    let begun = app
        .begin_export(&stranger, show, ExportKind::Orders, None)
        .await;
    assert!(matches!(begun, Err(Error::Forbidden(_))), "{begun:?}");
}

#[tokio::test]
async fn after_seven_days_the_file_is_gone() {
    let scene = Scene::sold(1).await;
    let id = scene.begin(ExportKind::Orders).await;
    scene.finish().await;
    assert_eq!(scene.world.objects.keys().len(), 1);
    scene.world.app.reconcile_all().await.unwrap();
    assert_eq!(scene.world.objects.keys().len(), 1);
    scene.world.clock.advance(KEPT_MS);
    let show = scene.stage.show.id;
    let gone = scene
        .world
        .app
        .read_export(&scene.organiser, show, id)
        .await;
    assert_eq!(gone, Err(Error::NotFound("export")));
    scene.world.app.reconcile_all().await.unwrap();
    assert_eq!(scene.world.objects.keys(), Vec::<String>::new());
}

/// Nothing it needs ever answers: after some hours it says so.
#[tokio::test]
async fn an_export_that_cannot_be_written_fails_in_the_end() {
    let scene = Scene::sold(1).await;
    let id = scene.begin(ExportKind::Orders).await;
    scene.world.faults.fail_always("replace_object", true);
    let failed = scene.world.app.write_export_by(id, SMALL).await;
    assert_eq!(failed, Err(Error::Unavailable));
    scene.world.clock.advance(6 * 3_600_000);
    scene.world.app.reconcile_open().await.unwrap();
    let export = scene
        .world
        .store
        .read::<Export>(id)
        .await
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(export.status, ExportStatus::Failed);
}
