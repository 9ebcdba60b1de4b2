//! What becomes of a mail that cannot be sent, or has nothing to say.

use onsale_domain::account::Email;
use onsale_domain::announcement::{Announcement, News, OfferNews};
use onsale_domain::ids::{HoldId, ResetId, TransferId, WaitlistId};
use onsale_domain::language::Language;
use onsale_domain::letter::{Letter, TEMPLATES};
use onsale_domain::mail::{Dropped, MailState, digest};
use onsale_domain::password_reset::ResetPurpose;
use onsale_domain::request_hash::RequestHash;

use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, known, sent_to, told};

async fn confirmed() -> Scene {
    let scene = Scene::new().await;
    scene.paid("h", &["A-1-1", "A-1-2"]).await;
    scene
}

#[tokio::test]
async fn what_was_sent_can_be_written_again_from_what_is_stored() {
    let scene = confirmed().await;
    known(&scene, &scene.ana, "ana@example.org").await;
    let set = scene
        .world
        .store
        .set_language(scene.ana.account, Language::De);
    assert!(set.await.unwrap());
    let news = told(&scene, "OrderConfirmed");
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    let mail = scene.world.table.all_mails().remove(0);
    let composed = mail.composed.unwrap();
    assert_eq!(
        (composed.language, composed.templates),
        (Language::De, TEMPLATES)
    );
    let Letter::Confirmation { tickets, order, .. } = &composed.letter else {
        panic!("{composed:?}");
    };
    assert_eq!((tickets.len(), order.seats.len()), (2, 2));
    assert!(tickets.iter().all(|ticket| !ticket.code.is_empty()));
    let again = scene
        .world
        .post
        .writer
        .write(&mail.id, &composed)
        .await
        .unwrap();
    let sent = scene.world.mailer.sent().remove(0).1;
    assert_eq!(again, sent);
    let MailState::Sent { digest: stored, .. } = mail.state else {
        panic!("{:?}", mail.state);
    };
    assert_eq!(stored, digest(&sent));
    assert_eq!(mail.forget_at, scene.show.show.forgotten_at());
}

#[tokio::test]
async fn an_address_that_is_refused_is_parked_and_left_alone() {
    let scene = confirmed().await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    scene.world.mailer.refuse(ana.clone());
    let news = told(&scene, "OrderConfirmed");
    for _ in 0..3 {
        scene.app.hear(&scene.world.post, &news).await.unwrap();
    }
    come_to_rest(&scene).await;
    let mail = scene.world.table.all_mails().remove(0);
    assert!(
        matches!(mail.state, MailState::Parked { .. }),
        "{:?}",
        mail.state
    );
    assert_eq!(sent_to(&scene, &ana), 0);
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_asked_again_with_growing_pauses() {
    let scene = confirmed().await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    scene.world.faults.fail_always("send_mail", true);
    let news = told(&scene, "OrderConfirmed");
    scene.app.hear(&scene.world.post, &news).await.unwrap();
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let waiting = scene.world.notify_queue.waiting();
        let next = waiting.iter().map(|(at, _)| *at).min().unwrap();
        let pause = scene.app.now().until(next);
        pauses.push(pause);
        scene.world.clock.advance(pause);
        for message in scene.world.notify_queue.take_due() {
            scene.app.notify(&scene.world.post, &message).await.unwrap();
        }
    }
    assert_eq!(pauses, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000]);
    scene.world.faults.fail_always("send_mail", false);
    come_to_rest(&scene).await;
    assert_eq!(sent_to(&scene, &ana), 1);
}

#[tokio::test]
async fn nothing_is_written_about_what_is_over() {
    let scene = confirmed().await;
    let confirmed = told(&scene, "OrderConfirmed");
    let News::OrderConfirmed(order) = &confirmed.news else {
        panic!("{confirmed:?}");
    };
    let (show_id, order_id) = (order.show_id, order.order_id);
    // Nobody has registered: there is no such account.
    scene.app.hear(&scene.world.post, &confirmed).await.unwrap();
    known(&scene, &scene.ana, "ana@example.org").await;
    let account_id = scene.ana.account;
    let now = scene.app.now();
    let late = News::OfferMade(OfferNews {
        waitlist_id: WaitlistId::from_bytes([1; 16]),
        show_id,
        account_id,
        hold_id: HoldId::from_bytes([2; 16]),
        seats: vec!["A-1-9".into()],
        expires_at: now,
    });
    let reset = News::PasswordResetAsked {
        reset_id: ResetId::from_bytes([3; 16]),
        account_id,
        purpose: ResetPurpose::Reset,
    };
    for news in [
        late.announce("late", now),
        reset.announce("old", now.saturating_sub(1_800_000)),
    ] {
        scene.app.hear(&scene.world.post, &news).await.unwrap();
    }
    // Cancelled before anybody was told that it is confirmed.
    scene.app.cancel_order(&scene.ana, order_id).await.unwrap();
    scene.settle().await;
    let mut second = confirmed.clone();
    second.id.push_str(":again");
    scene.app.hear(&scene.world.post, &second).await.unwrap();
    // The mail about the refund says it.
    let cancelled = told(&scene, "OrderCancelled");
    scene.app.hear(&scene.world.post, &cancelled).await.unwrap();
    let mails = scene.world.table.all_mails();
    let why: Vec<_> = mails
        .iter()
        .map(|mail| match mail.state {
            MailState::Dropped { why, .. } => why,
            ref state => panic!("{}: {state:?}", mail.id),
        })
        .collect();
    assert_eq!(why.len(), 5);
    let count = |reason| why.iter().filter(|why| **why == reason).count();
    assert_eq!(count(Dropped::NobodyThere), 1);
    assert_eq!(count(Dropped::TooLate), 2);
    assert_eq!(count(Dropped::Overtaken), 2);
    assert!(scene.world.mailer.sent().is_empty());
}

#[tokio::test]
async fn offers_transfers_and_resets_reach_those_they_are_for() {
    let scene = confirmed().await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    let (show_id, account_id) = (scene.show.show.id, scene.ana.account);
    let News::OrderConfirmed(order) = told(&scene, "OrderConfirmed").news else {
        panic!("no order");
    };
    let order = scene.order(order.order_id).await;
    let friend = onsale_domain::account::Email::parse("friend@example.org").unwrap();
    let now = scene.app.now();
    let offer = OfferNews {
        waitlist_id: WaitlistId::from_bytes([1; 16]),
        show_id,
        account_id,
        hold_id: HoldId::from_bytes([2; 16]),
        seats: vec!["A-1-9".into()],
        expires_at: now + 1_800_000,
    };
    let all = [
        News::OfferMade(offer.clone()),
        News::OfferLapsed(offer),
        News::TransferOffered {
            transfer_id: TransferId::from_bytes([4; 16]),
            ticket_id: order.ticket_ids()[0],
            show_id,
            from_account: account_id,
            to_email: friend.clone(),
        },
        News::PasswordResetAsked {
            reset_id: ResetId::from_bytes([3; 16]),
            account_id,
            purpose: ResetPurpose::Reset,
        },
        News::PasswordResetAsked {
            reset_id: ResetId::from_bytes([5; 16]),
            account_id,
            purpose: ResetPurpose::Invitation,
        },
    ];
    for (n, news) in all.into_iter().enumerate() {
        let told = news.announce(&n.to_string(), now);
        scene.app.hear(&scene.world.post, &told).await.unwrap();
    }
    assert_eq!((sent_to(&scene, &ana), sent_to(&scene, &friend)), (4, 1));
    for mail in scene.world.table.all_mails() {
        assert!(!mail.id.as_str().contains("example"), "{}", mail.id);
    }
}

#[tokio::test]
async fn an_offer_of_a_ticket_that_was_withdrawn_is_not_mailed() {
    let scene = Scene::new().await;
    let order = scene.paid("pay", &["A-1-1"]).await;
    known(&scene, &scene.ana, "ana@example.org").await;
    let (app, ana) = (&scene.app, &scene.ana);
    let ticket = scene.order(order).await.ticket_ids()[0];
    let friend = Email::parse("bo@example.org").unwrap();
    let request = RequestHash::of(b"give");
    let first = app.offer_transfer(ana, ticket, &friend, None, request);
    let first = first.await.unwrap().id;
    let news = told(&scene, "TransferOffered");
    app.withdraw_transfer(ana, first).await.unwrap();
    app.hear(&scene.world.post, &news).await.unwrap();
    come_to_rest(&scene).await;
    assert_eq!(sent_to(&scene, &friend), 0);
    let second = app.offer_transfer(ana, ticket, &friend, None, request);
    second.await.unwrap();
    let news = told(&scene, "TransferOffered");
    app.hear(&scene.world.post, &news).await.unwrap();
    come_to_rest(&scene).await;
    assert_eq!(sent_to(&scene, &friend), 1);
}

#[tokio::test]
async fn a_mail_that_waited_too_long_does_not_promise_what_is_over() {
    let scene = Scene::new().await;
    let ana = known(&scene, &scene.ana, "ana@example.org").await;
    let id = scene.started("pm_card_chargeDeclined").await;
    scene.settle().await;
    let pay_until = scene.order(id).await.pay_until;
    let declined = told(&scene, "OrderDeclined");
    // Composed in time, and not taken by the mail service.
    scene.world.faults.fail_always("send_mail", true);
    scene.app.hear(&scene.world.post, &declined).await.unwrap();
    assert!(scene.world.table.all_mails()[0].composed.is_some());
    scene.world.faults.fail_always("send_mail", false);
    let rest = scene.app.now().until(pay_until);
    scene.world.clock.advance(rest);
    come_to_rest(&scene).await;
    let late = Announcement {
        id: format!("{}:late", declined.id),
        ..declined
    };
    scene.app.hear(&scene.world.post, &late).await.unwrap();
    for mail in scene.world.table.all_mails() {
        let dropped = matches!(
            mail.state,
            MailState::Dropped {
                why: Dropped::TooLate,
                ..
            }
        );
        assert!(dropped, "{}: {:?}", mail.id, mail.state);
    }
    assert_eq!(sent_to(&scene, &ana), 0);
}
