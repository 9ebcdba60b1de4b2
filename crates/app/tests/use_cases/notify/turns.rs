//! Whoever asked in the waiting room is told once that it is their turn.

use onsale_domain::account::Email;
use onsale_domain::announcement::Announcement;
use onsale_domain::feedback::{Feedback, FeedbackKind};
use onsale_domain::language::Language;
use onsale_domain::letter::Letter;
use onsale_domain::mail::{Dropped, MailState, Recipient};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::{TURNS_A_CALL, Turn};
use onsale_test_support::Fault;

use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, is_sent, sent_to};

fn email() -> Email {
    Email::parse("ana@example.org").unwrap()
}

fn turn(scene: &Scene, lot: u8) -> Turn {
    Turn {
        lot: Lot([lot; 16]),
        email: email(),
        language: Some(Language::De),
        enter_by: scene.app.now() + 60_000,
    }
}

async fn told(scene: &Scene, turn: Turn) -> Announcement {
    let show = scene.show.show.id;
    scene.app.tell_turns(show, vec![turn]).await.unwrap();
    scene.world.bus.told().pop().unwrap()
}

#[tokio::test]
async fn a_turn_is_one_mail_however_often_it_is_told() {
    let scene = Scene::new().await;
    let post = &scene.world.post;
    for _ in 0..3 {
        // The edge repeats what it got no answer to; the bus repeats as well.
        let news = told(&scene, turn(&scene, 1)).await;
        scene.app.hear(post, &news).await.unwrap();
        scene.app.hear(post, &news).await.unwrap();
    }
    come_to_rest(&scene).await;
    assert_eq!(sent_to(&scene, &email()), 1);
    let mail = scene.world.table.all_mails().remove(0);
    assert!(is_sent(&mail) && !mail.id.as_str().contains("ana"));
    assert!(mail.forget_at < scene.show.show.forgotten_at());
    let composed = mail.composed.unwrap();
    assert_eq!(composed.language, Language::De);
    let Letter::YourTurn { show, enter_by } = composed.letter else {
        panic!("{:?}", composed.letter);
    };
    assert_eq!(show.show_id, scene.show.show.id);
    assert_eq!(enter_by, turn(&scene, 1).enter_by);
    // Another ticket is another turn.
    let news = told(&scene, turn(&scene, 2)).await;
    scene.app.hear(post, &news).await.unwrap();
    assert_eq!(sent_to(&scene, &email()), 2);
}

#[tokio::test]
async fn a_turn_that_is_over_is_told_to_nobody_and_the_address_is_forgotten() {
    let scene = Scene::new().await;
    let news = told(&scene, turn(&scene, 1)).await;
    scene.world.clock.advance(60_000);
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    let mail = scene.world.table.all_mails().remove(0);
    let why = Dropped::TooLate;
    assert!(matches!(mail.state, MailState::Dropped { why: w, .. } if w == why));
    assert_eq!((&mail.to, &mail.news), (&Recipient::Nobody, &None));
    assert_eq!(scene.world.mailer.sent().len(), 0);
}

#[tokio::test]
async fn nobody_is_told_twice_after_a_crash_before_the_sending() {
    let calm = Scene::new().await;
    let news = told(&calm, turn(&calm, 1)).await;
    calm.world.faults.arm(None);
    calm.app.hear(&calm.world.post, &news).await.unwrap();
    let calls = calm.world.faults.calls();
    let sending = calls.iter().position(|call| call == "send_mail").unwrap();
    for (nth, call) in calls.iter().take(sending).enumerate() {
        let scene = Scene::new().await;
        let news = told(&scene, turn(&scene, 1)).await;
        scene.world.faults.arm(Some((nth, Fault::FailBefore)));
        let heard = scene.app.hear(&scene.world.post, &news).await;
        assert!(heard.is_err(), "{call}: delivered again");
        scene.world.faults.arm(None);
        scene.app.hear(&scene.world.post, &news).await.unwrap();
        come_to_rest(&scene).await;
        assert_eq!(sent_to(&scene, &email()), 1, "{call}");
    }
}

#[tokio::test]
async fn an_address_that_bounced_gets_only_what_it_cannot_do_without() {
    let scene = Scene::new().await;
    scene.paid("h", &["A-1-1"]).await;
    let ana = crate::notify::known(&scene, &scene.ana, "ana@example.org").await;
    let feedback = Feedback {
        kind: FeedbackKind::Bounced,
        at: scene.app.now(),
    };
    scene.app.hear_feedback(&ana, &feedback).await.unwrap();
    let news = told(&scene, turn(&scene, 1)).await;
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    let mail = scene.world.table.all_mails().remove(0);
    let why = Dropped::Unwelcome;
    assert!(matches!(mail.state, MailState::Dropped { why: w, .. } if w == why));
    let confirmed = crate::notify::told(&scene, "OrderConfirmed");
    scene.app.hear(&scene.world.post, &confirmed).await.unwrap();
    assert_eq!(sent_to(&scene, &ana), 1, "what was paid for");
    // A month later the mailbox may be there again.
    scene.world.clock.advance(31 * 24 * 3_600_000);
    let news = told(&scene, turn(&scene, 2)).await;
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    assert_eq!(sent_to(&scene, &ana), 2);
}

#[tokio::test]
async fn a_call_tells_of_few_turns_and_of_shows_that_exist() {
    let scene = Scene::new().await;
    let many = vec![turn(&scene, 1); TURNS_A_CALL + 1];
    let show = scene.show.show.id;
    assert!(scene.app.tell_turns(show, many).await.is_err());
    let nowhere = onsale_domain::ids::ShowId::from_bytes([0; 16]);
    assert!(
        scene
            .app
            .tell_turns(nowhere, vec![turn(&scene, 1)])
            .await
            .is_err()
    );
    assert!(scene.world.bus.told().is_empty());
}
