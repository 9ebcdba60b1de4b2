//! News for everybody with tickets: a show that moved, and one that is called off.

use onsale_app::Caller;
use onsale_app::events::EventChange;
use onsale_app::ports::Drive;
use onsale_app::shows::ShowChange;
use onsale_domain::account::Email;
use onsale_domain::letter::Letter;
use onsale_domain::show::Show;
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::checkout::scene::Scene;
use crate::notify::given::Given;
use crate::notify::{come_to_rest, known, sent_to};

const BUYERS: u8 = 6;
const DAY: u64 = 24 * 3_600_000;

/// A show of several pages of blocks, in which everybody bought twice, far apart.
async fn sold() -> (Scene, Vec<Email>) {
    let scene = Scene::with(Plan {
        rows: vec![20; 45],
        floor: 0,
        ..Plan::default()
    })
    .await;
    let mut emails = Vec::new();
    for n in 0..BUYERS {
        let buyer = scene.show.buyer(n).await.unwrap();
        emails.push(known(&scene, &buyer, &format!("b{n}@example.org")).await);
        for (key, row) in [("h", 1), ("i", 40)] {
            let seat = format!("A-{row}-{}", n + 1);
            let hold = scene.hold(&buyer, key, &[&seat]).await.hold_id;
            let paid = scene.check_out_as(&buyer, hold, key, "pm_card_visa").await;
            paid.unwrap();
        }
    }
    scene.settle().await;
    (scene, emails)
}

async fn put_off(scene: &Scene) -> onsale_app::Result<()> {
    let organiser = scene.show.organiser().await.unwrap();
    let change = ShowChange {
        starts_at: Some(scene.show.show.starts_at + DAY),
        ..ShowChange::default()
    };
    let changed = scene
        .app
        .change_show(&organiser, scene.show.show.id, &change);
    changed.await.map(|_| ())
}

/// One worker's share of a mailing, which may die.
async fn work_through(scene: &Scene) {
    for _ in 0..10 {
        for message in scene.world.notify_queue.take_due() {
            let _ = scene.app.notify(&scene.world.post, &message).await;
        }
    }
}

fn check_everybody_once(scene: &Scene, emails: &[Email], note: &str) {
    for email in emails {
        assert_eq!(sent_to(scene, email), 1, "{note}: {email:?}");
    }
}

#[tokio::test]
async fn a_show_that_moves_is_told_to_every_buyer_once_with_what_was_and_is() {
    let (scene, emails) = sold().await;
    put_off(&scene).await.unwrap();
    come_to_rest(&scene).await;
    check_everybody_once(&scene, &emails, "moved");
    let starts = scene.show.show.starts_at;
    for mail in scene.world.table.all_mails() {
        match mail.composed.unwrap().letter {
            Letter::ShowChanged { show, was, .. } => {
                assert_eq!((was.starts_at, show.starts_at), (starts, starts + DAY));
            }
            other => panic!("{other:?}"),
        }
    }
    let told = scene.world.bus.told();
    let changed = told.iter().filter(|told| told.news.kind() == "ShowChanged");
    assert_eq!(changed.count(), 1);
    // The same time again is no change, and neither is another price.
    put_off(&scene).await.unwrap();
    come_to_rest(&scene).await;
    check_everybody_once(&scene, &emails, "not moved");
}

/// Gives one of two tickets away; the show moves, and is called off.
#[tokio::test]
async fn whoever_was_given_a_ticket_hears_of_a_change_and_of_the_end() {
    let given = Given::new().await;
    let scene = &given.scene;
    put_off(scene).await.unwrap();
    come_to_rest(scene).await;
    assert_eq!(given.mails(), [1, 0, 1], "moved");
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    scene.settle().await;
    come_to_rest(scene).await;
    assert_eq!(given.mails(), [2, 0, 2], "cancelled");
}

#[tokio::test]
async fn another_title_is_told_too_and_another_description_is_not() {
    let (scene, emails) = sold().await;
    let organiser = scene.show.organiser().await.unwrap();
    let change = |title: Option<&str>| EventChange {
        title: title.map(str::to_owned),
        description: Some(Some("More of it".into())),
        ..EventChange::default()
    };
    for (title, mails) in [(None, 0), (Some("Another night"), 1)] {
        let event = scene.show.show.event_id;
        let change = change(title);
        let changed = scene.app.change_event(&organiser, event, &change);
        changed.await.unwrap();
        come_to_rest(&scene).await;
        for email in &emails {
            assert_eq!(sent_to(&scene, email), mails, "{title:?}");
        }
    }
}

#[tokio::test]
async fn whatever_dies_wherever_everybody_hears_of_a_change_that_was_stored() {
    let (scene, _) = sold().await;
    scene.world.faults.arm(None);
    put_off(&scene).await.unwrap();
    work_through(&scene).await;
    let calls = scene.world.faults.calls();
    assert!(calls.len() > 20, "{calls:?}");
    // Every call of the change and the mailing; those of single mails are in `crash`.
    let sending = calls.iter().position(|call| call == "send_mail").unwrap();
    let of_mailing = |nth: usize, call: &str| {
        call.contains("MLG")
            || ["announce", "send_notify"].contains(&call)
            || (call == "update MAIL" && nth < sending)
    };
    let mut crashes = 0;
    for (nth, call) in calls
        .iter()
        .enumerate()
        .filter(|(nth, call)| of_mailing(*nth, call))
    {
        for fault in Fault::ALL {
            let (scene, emails) = sold().await;
            scene.world.faults.arm(Some((nth, fault)));
            Scene::until_death(async {
                let _ = put_off(&scene).await;
                work_through(&scene).await;
            });
            scene.world.faults.arm(None);
            let note = format!("{fault:?} at call {nth} ({call})");
            let stored = scene
                .app
                .store
                .read::<Show>(scene.show.show.id)
                .await
                .unwrap();
            come_to_rest(&scene).await;
            if stored.unwrap().value.starts_at == scene.show.show.starts_at {
                assert!(scene.world.mailer.sent().is_empty(), "{note}");
            } else {
                check_everybody_once(&scene, &emails, &note);
            }
            crashes += 1;
        }
    }
    assert!(crashes > 40, "{crashes}");
}

#[tokio::test]
async fn whatever_dies_wherever_everybody_hears_that_their_show_is_cancelled() {
    let cancel = |scene: Scene, organiser: Caller| async move {
        let show_id = scene.show.show.id;
        let _ = scene.app.cancel_show(&organiser, show_id).await;
        for from_block in [0, 100] {
            let message = Drive::Cancellation {
                show_id,
                from_block,
            };
            let _ = scene.app.drive(&message).await;
        }
    };
    let (scene, _) = sold().await;
    let organiser = scene.show.organiser().await.unwrap();
    scene.world.faults.arm(None);
    cancel(scene.clone(), organiser).await;
    let calls = scene.world.faults.calls();
    let mails = calls.iter().filter(|call| **call == "update MAIL").count();
    assert!(mails >= usize::from(BUYERS), "{calls:?}");
    for (nth, call) in calls.iter().enumerate() {
        for fault in [Fault::DieBefore, Fault::DieAfter, Fault::FailAfter] {
            let (scene, emails) = sold().await;
            let organiser = scene.show.organiser().await.unwrap();
            scene.world.faults.arm(Some((nth, fault)));
            Scene::until_death(cancel(scene.clone(), organiser));
            scene.world.faults.arm(None);
            cancel(scene.clone(), organiser).await;
            scene.reconcile_until_quiet().await;
            come_to_rest(&scene).await;
            let note = format!("{fault:?} at call {nth} ({call})");
            check_everybody_once(&scene, &emails, &note);
        }
    }
}
