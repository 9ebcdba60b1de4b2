//! Somebody was given a ticket, and the order that it was bought with comes to an end.

use onsale_domain::letter::Letter;
use onsale_domain::mail::Recipient;

use crate::notify::given::Given;
use crate::notify::{come_to_rest, told};

/// The end of the order is told, twice, and how many mails each of them got then.
async fn mails_once_it_ended(given: &Given) -> [usize; 3] {
    let scene = &given.scene;
    scene.settle().await;
    let news = told(scene, "OrderCancelled");
    for _ in 0..2 {
        scene.app.hear(&scene.world.post, &news).await.unwrap();
    }
    come_to_rest(scene).await;
    given.mails()
}

#[tokio::test]
async fn whoever_was_given_a_ticket_hears_that_a_charge_back_ended_it() {
    let given = Given::new().await;
    let scene = &given.scene;
    let payment = scene.order(given.order).await.payment.unwrap();
    scene.app.charge_back(given.order, &payment).await.unwrap();
    assert_eq!(mails_once_it_ended(&given).await, [1, 0, 1]);
    let mails = scene.world.table.all_mails();
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
    assert_eq!(mails_once_it_ended(&given).await, [1, 0, 1]);
}
