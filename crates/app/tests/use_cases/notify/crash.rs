//! One mail: a worker dies, or a call fails, before and after every call of a port.

use onsale_domain::announcement::Announcement;
use onsale_test_support::Fault;

use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, is_sent, known, told};

/// The news that a mail is made of, in a world where it has just happened.
async fn prepared(kind: &str) -> (Scene, Announcement) {
    let scene = Scene::new().await;
    known(&scene, &scene.ana, "ana@example.org").await;
    match kind {
        "OrderConfirmed" => {
            scene.paid("h", &["A-1-1", "A-1-2"]).await;
        }
        "OrderDeclined" => {
            scene.started("pm_card_chargeDeclined").await;
            scene.settle().await;
        }
        _ => {
            let order = scene.paid("h", &["A-1-1"]).await;
            scene.app.cancel_order(&scene.ana, order).await.unwrap();
            scene.settle().await;
        }
    }
    let told = told(&scene, kind);
    (scene, told)
}

const KINDS: [&str; 3] = ["OrderConfirmed", "OrderDeclined", "RefundIssued"];

/// The calls of one delivery in which nothing goes wrong.
async fn calls(kind: &str) -> Vec<String> {
    let (scene, told) = prepared(kind).await;
    scene.world.faults.arm(None);
    scene.app.hear(&scene.world.post, &told).await.unwrap();
    scene.world.faults.calls()
}

#[tokio::test]
async fn whatever_dies_wherever_a_mail_comes_and_twice_only_if_it_was_being_sent() {
    let (mut crashes, mut repeats) = (0, 0);
    for kind in KINDS {
        let calls = calls(kind).await;
        let sending = calls.iter().position(|call| *call == "send_mail").unwrap();
        for (nth, call) in calls.iter().enumerate() {
            for fault in Fault::ALL {
                let (scene, told) = prepared(kind).await;
                let post = &scene.world.post;
                scene.world.faults.arm(Some((nth, fault)));
                Scene::until_death(scene.app.hear(post, &told));
                scene.world.faults.arm(None);
                // The message comes again, and once more for good measure.
                for _ in 0..2 {
                    let _ = scene.app.hear(post, &told).await;
                }
                come_to_rest(&scene).await;
                let note = format!("{kind}: {fault:?} at call {nth} ({call})");
                let sent = scene.world.mailer.sent();
                // Sent, but that was not written down.
                let in_the_middle = match fault {
                    Fault::DieBefore => nth == sending + 1,
                    Fault::DieAfter => nth == sending,
                    Fault::FailAfter => nth == sending,
                    _ => false,
                };
                assert_eq!(sent.len(), 1 + usize::from(in_the_middle), "{note}");
                assert!(
                    sent.iter().all(|one| *one == sent[0]),
                    "{note}: not the same"
                );
                assert!(scene.world.table.all_mails().iter().all(is_sent), "{note}");
                (crashes, repeats) = (crashes + 1, repeats + usize::from(in_the_middle));
            }
        }
    }
    println!("{crashes} crashes, {repeats} repeats");
    assert!(crashes >= 72, "{crashes}");
}

#[tokio::test]
async fn a_mail_that_was_sent_is_not_sent_again_however_often_its_news_comes() {
    for kind in KINDS {
        let (scene, told) = prepared(kind).await;
        for _ in 0..10 {
            scene.app.hear(&scene.world.post, &told).await.unwrap();
        }
        scene.world.clock.advance(24 * 3_600_000);
        scene.app.hear(&scene.world.post, &told).await.unwrap();
        come_to_rest(&scene).await;
        assert_eq!(scene.world.mailer.sent().len(), 1, "{kind}");
    }
}

#[tokio::test]
async fn of_two_workers_at_once_one_sends() {
    for kind in KINDS {
        let (scene, told) = prepared(kind).await;
        let (other, again) = (scene.clone(), told.clone());
        scene.world.faults.before_next("write MAIL", async move {
            other.app.hear(&other.world.post, &again).await.unwrap();
        });
        scene.app.hear(&scene.world.post, &told).await.unwrap();
        assert_eq!(scene.world.mailer.sent().len(), 1, "{kind}");
        come_to_rest(&scene).await;
        assert_eq!(scene.world.mailer.sent().len(), 1, "{kind}");
    }
}
