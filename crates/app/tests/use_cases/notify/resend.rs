//! Mails that nobody sends any more, and an operator who lets them go.

use onsale_domain::announcement::News;
use onsale_domain::mail::{Dropped, MailId, MailState};
use onsale_test_support::Fault;

use crate::checkout::counters::count_of;
use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, is_sent, known, told};

const PARKED: &str = "onsale_mails_parked_total";

/// A confirmation that the mail service refused.
async fn parked() -> (Scene, MailId) {
    let scene = Scene::new().await;
    scene.paid("h", &["A-1-1"]).await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    scene.world.mailer.refuse(ana);
    let news = told(&scene, "OrderConfirmed");
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    let id = scene.world.table.all_mails().remove(0).id;
    (scene, id)
}

#[tokio::test]
async fn a_mail_that_is_given_up_is_counted_once() {
    let scene = Scene::new().await;
    scene.paid("h", &["A-1-1"]).await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    scene.world.mailer.refuse(ana);
    let news = told(&scene, "OrderConfirmed");
    let hear = || scene.app.hear(&scene.world.post, &news);
    assert_eq!(count_of(PARKED, hear()), 1, "an alarm follows from it");
    assert_eq!(count_of(PARKED, hear()), 0, "and is not repeated");
}

#[tokio::test]
async fn a_mail_that_was_tried_often_enough_is_counted() {
    let scene = Scene::new().await;
    scene.paid("h", &["A-1-1"]).await;
    known(&scene, &scene.ana, "ana@example.org").await;
    scene.world.faults.fail_always("send_mail", true);
    let news = told(&scene, "OrderConfirmed");
    assert_eq!(
        count_of(PARKED, scene.app.hear(&scene.world.post, &news)),
        0
    );
    let mut counted = 0;
    for _ in 0..60 {
        scene.world.clock.advance(900_000);
        for message in scene.world.notify_queue.take_due() {
            counted += count_of(PARKED, scene.app.notify(&scene.world.post, &message));
        }
    }
    assert_eq!(counted, 1);
    let listed = scene.app.parked_mails(None, 10).await.unwrap();
    assert_eq!(listed.items.len(), 1);
}

#[tokio::test]
async fn a_parked_mail_is_listed_and_sent_once_when_it_is_let_go() {
    let (scene, id) = parked().await;
    let listed = || async { scene.app.parked_mails(None, 10).await.unwrap().items };
    let found = listed().await;
    assert_eq!(found.len(), 1);
    assert!(matches!(&found[0].state, MailState::Parked { reason, .. } if !reason.is_empty()));
    assert_eq!(scene.app.reconcile_all().await.unwrap().parked_mails, 1);

    scene.world.mailer.refuse_nobody();
    assert_eq!(scene.app.resend_mail(&id).await, Ok(true));
    for _ in 0..2 {
        assert_eq!(scene.app.resend_mail(&id).await, Ok(false), "on its way");
    }
    come_to_rest(&scene).await;
    assert_eq!(scene.app.resend_mail(&id).await, Ok(false), "sent");
    assert_eq!(scene.app.resend_parked().await, Ok(0));
    come_to_rest(&scene).await;
    let mails = scene.world.table.all_mails();
    assert!(mails.iter().all(is_sent), "{mails:?}");
    assert_eq!(scene.world.mailer.sent().len(), 1);
    assert_eq!(listed().await, vec![]);
    assert_eq!(scene.app.reconcile_all().await.unwrap().parked_mails, 0);
}

#[tokio::test]
async fn all_that_is_parked_is_let_go_at_once_and_may_be_parked_again() {
    let (scene, _) = parked().await;
    assert_eq!(scene.app.resend_parked().await, Ok(1));
    come_to_rest(&scene).await;
    assert_eq!(
        scene.app.parked_mails(None, 10).await.unwrap().items.len(),
        1
    );
    scene.world.mailer.refuse_nobody();
    assert_eq!(scene.app.resend_parked().await, Ok(1));
    come_to_rest(&scene).await;
    assert_eq!(scene.world.mailer.sent().len(), 1);
}

#[tokio::test]
async fn a_lost_answer_while_it_is_let_go_sends_it_once_all_the_same() {
    for nth in 0..4 {
        let (scene, id) = parked().await;
        scene.world.mailer.refuse_nobody();
        scene.world.faults.arm(Some((nth, Fault::FailAfter)));
        let _ = scene.app.resend_mail(&id).await;
        scene.world.faults.arm(None);
        let again = scene.app.resend_mail(&id).await;
        assert!(again.is_ok(), "{again:?}");
        come_to_rest(&scene).await;
        assert_eq!(scene.world.mailer.sent().len(), 1, "{nth}");
    }
}

/// It is written anew, so it says nothing that is not so any more.
#[tokio::test]
async fn a_parked_mail_that_is_overtaken_is_dropped_when_it_is_let_go() {
    let (scene, id) = parked().await;
    let News::OrderConfirmed(order) = told(&scene, "OrderConfirmed").news else {
        unreachable!("asked for by its kind");
    };
    let cancelled = scene.app.cancel_order(&scene.ana, order.order_id).await;
    cancelled.unwrap();
    scene.settle().await;
    scene.world.mailer.refuse_nobody();
    assert_eq!(scene.app.resend_mail(&id).await, Ok(true));
    come_to_rest(&scene).await;
    let mails = scene.world.table.all_mails();
    let mail = mails.iter().find(|mail| mail.id == id).unwrap();
    let overtaken = |why| why == Dropped::Overtaken;
    assert!(matches!(mail.state, MailState::Dropped { why, .. } if overtaken(why)));
    assert_eq!(scene.world.mailer.sent(), vec![]);
}
