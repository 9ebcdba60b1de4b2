//! A link that is asked for once is mailed once, whatever dies between asking and mailing.

use onsale_app::Result;
use onsale_test_support::Fault;

use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, known, sent_to};

/// Asks for a link, and does what every message and every announcement asks.
async fn asked_and_told(scene: &Scene, by: Ask) -> Result<()> {
    match by {
        Ask::LogIn => {
            let email = known_address();
            scene.app.ask_log_in_link(&email).await?;
        }
        Ask::Proof => scene.app.ask_address_proof(&scene.ana).await?,
    }
    told(scene).await
}

async fn told(scene: &Scene) -> Result<()> {
    for message in scene.world.saga_queue.take_due() {
        // Queues deliver at least once.
        scene.app.drive(&message).await?;
        scene.app.drive(&message).await?;
    }
    for news in scene.world.bus.told() {
        scene.app.hear(&scene.world.post, &news).await?;
        scene.app.hear(&scene.world.post, &news).await?;
    }
    Ok(())
}

fn known_address() -> onsale_domain::account::Email {
    onsale_domain::account::Email::parse("ana@example.org").unwrap()
}

#[derive(Debug, Clone, Copy)]
enum Ask {
    LogIn,
    Proof,
}

async fn scene() -> Scene {
    let scene = Scene::new().await;
    known(&scene, &scene.ana, "ana@example.org").await;
    scene
}

#[tokio::test]
async fn a_link_is_mailed_once_and_twice_only_if_it_was_being_sent() {
    for ask in [Ask::LogIn, Ask::Proof] {
        let quiet = scene().await;
        quiet.world.faults.arm(None);
        asked_and_told(&quiet, ask).await.unwrap();
        let calls = quiet.world.faults.calls();
        come_to_rest(&quiet).await;
        assert_eq!(sent_to(&quiet, &known_address()), 1, "{ask:?}");
        let created = calls.iter().position(|call| *call == "update RST");
        let sending = calls.iter().position(|call| *call == "send_mail");
        let (created, sending) = (created.unwrap(), sending.unwrap());
        for (nth, call) in calls.iter().enumerate() {
            for fault in Fault::ALL {
                let note = format!("{ask:?}: {fault:?} at call {nth} ({call})");
                let scene = scene().await;
                scene.world.faults.arm(Some((nth, fault)));
                let ended = Scene::until_death(asked_and_told(&scene, ask));
                scene.world.faults.arm(None);
                let is_after = matches!(fault, Fault::DieAfter | Fault::FailAfter);
                let is_stored = nth > created || (nth == created && is_after);
                // A message that could not be sent is sent again by reconciling.
                let is_told = ended == Some(Ok(())) || is_stored;
                if !is_stored {
                    assert!(ended != Some(Ok(())), "{note}");
                }
                scene.world.clock.advance(180_000);
                scene.app.reconcile_open().await.unwrap();
                told(&scene).await.unwrap();
                come_to_rest(&scene).await;
                let in_the_middle = match fault {
                    Fault::DieBefore => nth == sending + 1,
                    Fault::DieAfter | Fault::FailAfter => nth == sending,
                    _ => false,
                };
                let expected = usize::from(is_told) + usize::from(in_the_middle);
                assert_eq!(sent_to(&scene, &known_address()), expected, "{note}");
            }
        }
    }
}
