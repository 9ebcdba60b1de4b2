//! Somebody was given a ticket, and the order that it was bought with comes to an end.

use onsale_app::Caller;
use onsale_domain::account::Email;
use onsale_domain::ids::OrderId;
use onsale_domain::letter::Letter;
use onsale_domain::mail::Recipient;
use onsale_domain::request_hash::RequestHash;

use crate::checkout::scene::Scene;
use crate::notify::{come_to_rest, known, sent_to, told};

/// Ana's order of two places. One went to Bo, who passed it on to Cy.
struct Given {
    scene: Scene,
    order: OrderId,
    cy: Caller,
    emails: [Email; 3],
}

impl Given {
    async fn new() -> Self {
        let scene = Scene::new().await;
        let order = scene.paid("pay", &["A-1-1", "A-1-2"]).await;
        let bo = scene.show.buyer(2).await.unwrap();
        let cy = scene.show.buyer(3).await.unwrap();
        let emails = [
            known(&scene, &scene.ana, "ana@example.org").await,
            known(&scene, &bo, "bo@example.org").await,
            known(&scene, &cy, "cy@example.org").await,
        ];
        let mut ticket = scene.order(order).await.ticket_ids()[0];
        for (from, to, email) in [(&scene.ana, &bo, &emails[1]), (&bo, &cy, &emails[2])] {
            let request = RequestHash::of(b"give");
            let offered = scene.app.offer_transfer(from, ticket, email, None, request);
            let accepted = scene.app.accept_transfer(to, offered.await.unwrap().id);
            ticket = accepted.await.unwrap().id;
        }
        Self {
            scene,
            order,
            cy,
            emails,
        }
    }

    /// The end of the order is told, twice, and how many mails each of them got then.
    async fn mails_once_it_ended(&self) -> [usize; 3] {
        let scene = &self.scene;
        scene.settle().await;
        let news = told(scene, "OrderCancelled");
        for _ in 0..2 {
            scene.app.hear(&scene.world.post, &news).await.unwrap();
        }
        come_to_rest(scene).await;
        self.emails.each_ref().map(|email| sent_to(scene, email))
    }
}

#[tokio::test]
async fn whoever_was_given_a_ticket_hears_that_a_charge_back_ended_it() {
    let given = Given::new().await;
    let scene = &given.scene;
    let payment = scene.order(given.order).await.payment.unwrap();
    scene.app.charge_back(given.order, &payment).await.unwrap();
    assert_eq!(given.mails_once_it_ended().await, [1, 0, 1]);
    let mails = scene.world.store.all_mails();
    let to_cy = |to: &Recipient| *to == Recipient::Account(given.cy.account);
    let mail = mails.into_iter().find(|mail| to_cy(&mail.to)).unwrap();
    match mail.composed.unwrap().letter {
        Letter::TicketLost { seats, .. } => assert_eq!(seats, ["A-1-1"]),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn whoever_was_given_a_ticket_hears_of_a_cancelled_show_and_not_of_its_orders() {
    let given = Given::new().await;
    let scene = &given.scene;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    assert_eq!(given.mails_once_it_ended().await, [1, 0, 1]);
}
