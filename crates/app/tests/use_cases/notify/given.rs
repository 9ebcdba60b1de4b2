//! A ticket that went from hand to hand.

use onsale_app::Caller;
use onsale_domain::account::Email;
use onsale_domain::ids::OrderId;
use onsale_domain::request_hash::RequestHash;

use crate::checkout::scene::Scene;
use crate::notify::{known, sent_to};

/// Ana's order of two places. One went to Bo, who passed it on to Cy and has none any more.
pub(crate) struct Given {
    pub(crate) scene: Scene,
    pub(crate) order: OrderId,
    pub(crate) cy: Caller,
    emails: [Email; 3],
}

impl Given {
    pub(crate) async fn new() -> Self {
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

    /// How many mails each of the three got.
    pub(crate) fn mails(&self) -> [usize; 3] {
        self.emails
            .each_ref()
            .map(|email| sent_to(&self.scene, email))
    }
}
