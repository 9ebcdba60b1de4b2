//! Gates that were offline: what they report later ends the same whatever the order, and
//! is counted once.

use futures_util::future::join_all;
use onsale_app::gate::{OfflineScan, Outcome, SyncedScan};
use onsale_app::ports::EntryRight;
use onsale_app::tickets::ScanAnswer;
use onsale_app::{Caller, Error};
use onsale_domain::audit::AuditAction;
use onsale_domain::gate::{Conflict, MAX_ADMISSIONS};
use onsale_domain::ids::{OrderId, TicketId};
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_domain::time::Millis;
use onsale_test_support::Fault;

use crate::checkout::scene::{NOW, Scene, key};

fn keys() -> TicketKeys {
    TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap()
}

/// Two tickets of Ana, and the organiser of the show.
#[derive(Clone)]
struct Gates {
    scene: Scene,
    organiser: Caller,
    order: OrderId,
    tickets: Vec<(TicketId, String)>,
}

impl Gates {
    async fn new() -> Self {
        let scene = Scene::new().await;
        let order = scene.paid("pay", &["A-1-1", "A-1-2"]).await;
        let tickets = scene.app.tickets_of(&scene.ana, order).await.unwrap();
        scene.world.clock.advance(1_000_000);
        Self {
            organiser: scene.show.organiser().await.unwrap(),
            tickets: tickets.into_iter().map(|t| (t.id, t.code)).collect(),
            order,
            scene,
        }
    }

    fn now(&self) -> Millis {
        self.scene.app.now()
    }

    fn code(&self, ticket: usize) -> &str {
        &self.tickets[ticket].1
    }

    async fn scan(&self, ticket: usize, gate: &str) -> ScanAnswer {
        let (app, show) = (&self.scene.app, self.scene.show.show.id);
        app.scan(
            &self.organiser,
            show,
            &keys(),
            self.code(ticket),
            gate,
            None,
        )
        .await
        .unwrap()
    }

    /// A device at this gate reports that it let in these tickets, so long ago each. Its
    /// clock is wrong by an hour.
    async fn sync(&self, gate: &str, scans: &[(usize, u64)]) -> Vec<SyncedScan> {
        let wrong = self.now() + 3_600_000;
        let scans: Vec<_> = scans
            .iter()
            .map(|(ticket, ago)| OfflineScan {
                code: self.code(*ticket).to_owned(),
                at: wrong.saturating_sub(*ago),
                admitted: true,
            })
            .collect();
        self.send(gate, wrong, &scans).await.unwrap()
    }

    async fn send(
        &self,
        gate: &str,
        sent_at: Millis,
        scans: &[OfflineScan],
    ) -> Result<Vec<SyncedScan>, Error> {
        let (app, show) = (&self.scene.app, self.scene.show.show.id);
        let (keys, device) = (keys(), format!("device of {gate}"));
        app.sync_scans(&self.organiser, show, &keys, gate, &device, sent_at, scans)
            .await
    }

    async fn counts(&self) -> Vec<(String, u64)> {
        let (app, show) = (&self.scene.app, self.scene.show.show.id);
        let counts = app.gate_counts(&self.organiser, show).await.unwrap();
        counts.into_iter().map(|c| (c.gate, c.admitted)).collect()
    }

    async fn conflicts(&self, kind: Conflict) -> Vec<TicketId> {
        let (app, show) = (&self.scene.app, self.scene.show.show.id);
        let page = app
            .gate_conflicts(&self.organiser, show, kind, None, 100)
            .await;
        page.unwrap().items.into_iter().map(|t| t.id).collect()
    }

    async fn state(&self, ticket: usize) -> TicketState {
        let stored = self
            .scene
            .app
            .store
            .read::<Ticket>(self.tickets[ticket].0)
            .await;
        stored.unwrap().unwrap().value.state
    }
}

fn outcomes(synced: &[SyncedScan]) -> Vec<Outcome> {
    synced.iter().map(|scan| scan.outcome).collect()
}

fn count(gate: &str, admitted: u64) -> (String, u64) {
    (gate.to_owned(), admitted)
}

#[tokio::test]
async fn of_two_gates_that_were_offline_the_earlier_admission_counts_whoever_reports_first() {
    for north_first in [true, false] {
        let gates = Gates::new().await;
        let (north, south) = (
            async || gates.sync("north", &[(0, 60_000), (1, 50_000)]).await,
            async || gates.sync("south", &[(0, 30_000)]).await,
        );
        let (told_north, told_south) = match north_first {
            true => {
                let north = north().await;
                (north, south().await)
            }
            false => {
                let south = south().await;
                assert_eq!(
                    outcomes(&south),
                    [Outcome::Admitted],
                    "nobody knows better yet"
                );
                let north = north().await;
                // Whoever asks again hears what is known by then.
                (north, gates.sync("south", &[(0, 30_000)]).await)
            }
        };
        assert_eq!(
            outcomes(&told_north),
            [Outcome::Admitted, Outcome::Admitted]
        );
        assert_eq!(outcomes(&told_south), [Outcome::Double]);
        let TicketState::Used { at, gate, .. } = gates.state(0).await else {
            panic!("two came in on it");
        };
        assert_eq!(
            (at, gate.as_str()),
            (gates.now().saturating_sub(60_000), "north")
        );
        assert_eq!(gates.counts().await, [count("north", 2), count("south", 1)]);
        assert_eq!(
            gates.conflicts(Conflict::Double).await,
            [gates.tickets[0].0]
        );
        assert_eq!(gates.conflicts(Conflict::Revoked).await, []);
    }
}

#[tokio::test]
async fn an_offline_admission_before_an_online_one_takes_its_place() {
    let gates = Gates::new().await;
    assert!(matches!(
        gates.scan(0, "main").await,
        ScanAnswer::Admitted(_)
    ));
    gates.scene.world.clock.advance(60_000);
    assert_eq!(
        outcomes(&gates.sync("south", &[(0, 90_000)]).await),
        [Outcome::Admitted]
    );
    assert_eq!(
        outcomes(&gates.sync("north", &[(0, 10_000)]).await),
        [Outcome::Double]
    );
    let stored = gates
        .scene
        .app
        .store
        .read::<Ticket>(gates.tickets[0].0)
        .await;
    let known = stored.unwrap().unwrap().value.admissions;
    let gate: Vec<_> = known.standing().map(|a| a.gate.as_str()).collect();
    assert_eq!(gate, ["south", "main", "north"]);
}

#[tokio::test]
async fn no_device_is_believed_about_the_future() {
    let gates = Gates::new().await;
    // It scanned a day after it sent: its clock jumped in between.
    let scan = OfflineScan {
        code: gates.code(0).to_owned(),
        at: NOW + 86_400_000,
        admitted: true,
    };
    let synced = gates.send("north", NOW, &[scan]).await.unwrap();
    assert_eq!(synced[0].at, gates.now());
}

#[tokio::test]
async fn a_report_that_is_repeated_changes_nothing() {
    let gates = Gates::new().await;
    let first = gates.sync("north", &[(0, 60_000), (1, 50_000)]).await;
    let stored = gates
        .scene
        .app
        .store
        .read::<Ticket>(gates.tickets[0].0)
        .await
        .unwrap();
    for _ in 0..3 {
        assert_eq!(
            gates.sync("north", &[(0, 60_000), (1, 50_000)]).await,
            first
        );
    }
    assert_eq!(
        gates
            .scene
            .app
            .store
            .read::<Ticket>(gates.tickets[0].0)
            .await
            .unwrap(),
        stored
    );
    assert_eq!(gates.counts().await, [count("north", 2)]);
    // Within one batch, too.
    let scans = gates.sync("north", &[(0, 60_000), (0, 60_000)]).await;
    assert_eq!(outcomes(&scans), [Outcome::Admitted, Outcome::Admitted]);
    assert_eq!(gates.counts().await, [count("north", 2)]);
}

#[tokio::test]
async fn a_report_that_meets_others_in_the_middle_counts_everybody_once() {
    let gates = Gates::new().await;
    let other = gates.clone();
    gates
        .scene
        .world
        .faults
        .before_next("write TKT", async move {
            assert!(matches!(
                other.scan(1, "main").await,
                ScanAnswer::Admitted(_)
            ));
        });
    let synced = gates.sync("north", &[(0, 60_000), (1, 50_000)]).await;
    assert_eq!(outcomes(&synced), [Outcome::Admitted, Outcome::Admitted]);
    assert_eq!(gates.counts().await, [count("main", 1), count("north", 2)]);
    assert_eq!(
        gates.conflicts(Conflict::Double).await,
        [gates.tickets[1].0]
    );
}

#[tokio::test]
async fn twenty_gates_at_once_agree_on_the_first() {
    let gates = Gates::new().await;
    let name = |n: u64| format!("gate {n:02}");
    join_all((0..20).map(|n| {
        let gates = gates.clone();
        async move { gates.sync(&name(n), &[(0, 1_000 + n)]).await }
    }))
    .await;
    let TicketState::Used { gate, .. } = gates.state(0).await else {
        panic!("it was used twenty times");
    };
    assert_eq!(gate, name(19), "the one that was longest ago");
}

#[tokio::test]
async fn whatever_dies_during_a_report_is_mended_by_sending_it_again() {
    let scans = [(0, 60_000), (1, 50_000), (0, 20_000)];
    let gates = Gates::new().await;
    gates.scene.world.faults.arm(None);
    let expected = gates.sync("north", &scans).await;
    let calls = gates.scene.world.faults.calls().len();
    let counts = gates.counts().await;
    assert!(calls > 0);
    for nth in 0..calls {
        for fault in Fault::ALL {
            let gates = Gates::new().await;
            gates.scene.world.faults.arm(Some((nth, fault)));
            let wrong = gates.now();
            let batch: Vec<_> = scans
                .iter()
                .map(|(ticket, ago)| OfflineScan {
                    code: gates.code(*ticket).to_owned(),
                    at: wrong.saturating_sub(*ago),
                    admitted: true,
                })
                .collect();
            let _ = Scene::until_death(gates.send("north", wrong, &batch));
            gates.scene.world.faults.arm(None);
            let again = gates.send("north", wrong, &batch).await.unwrap();
            assert_eq!(outcomes(&again), outcomes(&expected), "{fault:?} at {nth}");
            assert_eq!(gates.counts().await, counts, "{fault:?} at {nth}");
        }
    }
}

#[tokio::test]
async fn an_admission_on_a_revoked_ticket_is_reported() {
    let gates = Gates::new().await;
    let Gates { scene, order, .. } = &gates;
    scene.app.cancel_order(&scene.ana, *order).await.unwrap();
    scene.settle().await;
    let told = gates.sync("north", &[(0, 10)]).await;
    assert_eq!(outcomes(&told), [Outcome::Revoked]);
    assert!(matches!(gates.state(0).await, TicketState::Revoked { .. }));
    assert_eq!(
        gates.conflicts(Conflict::Revoked).await,
        [gates.tickets[0].0]
    );
    assert_eq!(gates.counts().await, [count("north", 1)]);
}

#[tokio::test]
async fn who_was_turned_away_is_not_let_in_by_a_report() {
    let gates = Gates::new().await;
    let turned_away = |ticket: usize| OfflineScan {
        code: gates.code(ticket).to_owned(),
        at: gates.now(),
        admitted: false,
    };
    gates.scan(0, "main").await;
    let scans = [turned_away(0), turned_away(1)];
    let told = gates.send("north", gates.now(), &scans).await.unwrap();
    assert_eq!(
        outcomes(&told),
        [Outcome::AlreadyUsed, Outcome::NotAdmitted]
    );
    assert_eq!(gates.state(1).await, TicketState::Valid);
    assert_eq!(gates.counts().await, [count("main", 1)]);
}

#[tokio::test]
async fn an_undone_ticket_admits_again_and_is_counted_once() {
    let gates = Gates::new().await;
    let (show, id) = (gates.scene.show.show.id, gates.tickets[0].0);
    let app = &gates.scene.app;
    gates.scan(0, "north").await;
    gates.sync("south", &[(0, 10)]).await;
    assert_eq!(gates.counts().await, [count("north", 1), count("south", 1)]);
    let TicketState::Used { at, .. } = gates.state(0).await else {
        panic!("it was used");
    };
    let other = app
        .undo_scans(&gates.organiser, show, id, Some(at + 1))
        .await;
    assert!(matches!(other, Err(Error::Conflict(_))), "{other:?}");
    for _ in 0..2 {
        let undone = app.undo_scans(&gates.organiser, show, id, Some(at)).await;
        let undone = undone.unwrap();
        assert!(undone.is_valid());
        assert_eq!(undone.admissions.iter().count(), 2, "it remembers");
        let by = undone
            .admissions
            .iter()
            .map(|a| a.undone.as_ref().unwrap().by);
        assert!(by.into_iter().all(|by| by == gates.organiser.account));
    }
    let trail = app.store.audit_of(show, None, 10).await.unwrap().items;
    let undone: Vec<_> = trail.iter().map(|e| (e.action, e.account)).collect();
    let by = gates.organiser.account;
    assert_eq!(undone, [(AuditAction::AdmissionUndone, by)], "{trail:?}");
    assert_eq!(gates.counts().await, [count("north", 0), count("south", 0)]);
    assert_eq!(gates.conflicts(Conflict::Double).await, []);
    assert!(matches!(
        gates.scan(0, "south").await,
        ScanAnswer::Admitted(_)
    ));
    assert_eq!(gates.counts().await, [count("north", 0), count("south", 1)]);
}

#[tokio::test]
async fn a_scan_that_was_undone_does_not_admit_by_repeating_its_key() {
    let gates = Gates::new().await;
    let (app, show) = (&gates.scene.app, gates.scene.show.show.id);
    let (keys, k) = (keys(), key("one"));
    let scan = || {
        app.scan(
            &gates.organiser,
            show,
            &keys,
            gates.code(0),
            "north",
            Some(&k),
        )
    };
    assert!(matches!(scan().await, Ok(ScanAnswer::Admitted(_))));
    app.undo_scans(&gates.organiser, show, gates.tickets[0].0, None)
        .await
        .unwrap();
    assert!(matches!(scan().await, Err(Error::Conflict(_))));
    assert_eq!(gates.counts().await, [count("north", 0)]);
}

/// However often somebody plays with a ticket, it never admits without writing it down.
#[tokio::test]
async fn a_ticket_that_was_used_and_undone_too_often_admits_nobody() {
    let gates = Gates::new().await;
    let (app, show) = (&gates.scene.app, gates.scene.show.show.id);
    for _ in 0..MAX_ADMISSIONS {
        assert!(matches!(
            gates.scan(0, "north").await,
            ScanAnswer::Admitted(_)
        ));
        app.undo_scans(&gates.organiser, show, gates.tickets[0].0, None)
            .await
            .unwrap();
    }
    let keys = keys();
    let refused = app.scan(&gates.organiser, show, &keys, gates.code(0), "north", None);
    let refused = refused.await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(
        outcomes(&gates.sync("south", &[(0, 1)]).await),
        [Outcome::Double]
    );
    assert_eq!(gates.counts().await, [count("north", 0)]);
}

#[tokio::test]
async fn only_the_organiser_undoes_and_looks() {
    let gates = Gates::new().await;
    let (app, show) = (&gates.scene.app, gates.scene.show.show.id);
    let id = gates.tickets[0].0;
    for stranger in [gates.scene.ana, gates.scene.show.buyer(9).await.unwrap()] {
        let undone = app.undo_scans(&stranger, show, id, None).await;
        assert!(matches!(undone, Err(Error::Forbidden(_))), "{undone:?}");
        let seen = app.scans_of(&stranger, show, id).await;
        assert!(matches!(seen, Err(Error::Forbidden(_))));
        let listed = app
            .gate_conflicts(&stranger, show, Conflict::Double, None, 9)
            .await;
        assert!(matches!(listed, Err(Error::Forbidden(_))));
        let snapshot = app.gate_snapshot(&stranger, show, None, None, 9).await;
        assert!(matches!(snapshot, Err(Error::Forbidden(_))));
        let counted = app.gate_counts(&stranger, show).await;
        assert!(matches!(counted, Err(Error::Forbidden(_))));
    }
}

/// Pages of a snapshot say the same version, and asking since that version brings what
/// came after, and nothing from long before.
#[tokio::test]
async fn a_snapshot_has_everything_and_the_next_what_changed() {
    let gates = Gates::new().await;
    let (app, show) = (&gates.scene.app, gates.scene.show.show.id);
    gates.scan(0, "north").await;
    gates.scene.world.clock.advance(5);
    gates.scan(1, "north").await;
    let first = app
        .gate_snapshot(&gates.organiser, show, None, None, 1)
        .await;
    let first = first.unwrap();
    gates.scene.world.clock.advance(60_000);
    let cursor = first.next.as_deref();
    let second = app
        .gate_snapshot(&gates.organiser, show, None, cursor, 1)
        .await;
    let second = second.unwrap();
    let cursor = second.next.as_deref();
    let end = app.gate_snapshot(&gates.organiser, show, None, cursor, 1);
    let end = end.await.unwrap();
    assert_eq!(
        (second.version, end.version),
        (first.version, first.version)
    );
    assert_eq!((end.changes.len(), &end.next), (0, &None));
    let seen: Vec<_> = [&first.changes[..], &second.changes[..]].concat();
    let ids: Vec<_> = seen.iter().map(|change| change.ticket).collect();
    assert_eq!(ids, [gates.tickets[0].0, gates.tickets[1].0]);
    assert!(matches!(&seen[0].right, EntryRight::Used { gate, .. } if gate == "north"));

    app.undo_scans(&gates.organiser, show, gates.tickets[0].0, None)
        .await
        .unwrap();
    let since = Some(first.version + 30_000);
    let news = app
        .gate_snapshot(&gates.organiser, show, since, None, 9)
        .await;
    let news = news.unwrap().changes;
    assert_eq!(news.len(), 1, "{news:?}");
    assert_eq!(
        (news[0].ticket, &news[0].right),
        (gates.tickets[0].0, &EntryRight::GoodAgain)
    );
    let wrong = app
        .gate_snapshot(&gates.organiser, show, None, Some("x"), 9)
        .await;
    assert!(matches!(wrong, Err(Error::Invalid(_))));
}
