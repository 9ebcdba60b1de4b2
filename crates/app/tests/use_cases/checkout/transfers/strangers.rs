//! Who is shown an offer, and who may accept it.

use onsale_app::{Caller, Error};
use onsale_domain::time::CLOCK_SKEW_MS;
use onsale_domain::transfer::OFFER_MS;

use super::Friends;

/// Whoever registers with somebody's address is not shown what was offered to it before.
/// The mail has the id.
#[tokio::test]
async fn an_offer_from_before_an_account_is_for_whoever_has_its_id() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, &friends.scene.ana);
    let late = friends.scene.show.buyer(4).await.unwrap();
    let offer = friends.offer(ana, friends.old, "late").await.unwrap();
    friends.scene.world.clock.advance(1);
    friends.register(&late, "late").await;
    let listed = async |caller: &Caller| {
        let page = app.transfers(caller, None, 10).await.unwrap();
        page.items.iter().map(|(t, _)| t.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&late).await, []);
    assert_eq!(listed(ana).await, [offer.id]);
    let strangers = friends.accept(&friends.bo, offer.id).await;
    assert_eq!(strangers.unwrap_err(), Error::NotFound("transfer"));
    let ticket = friends.accept(&late, offer.id).await.unwrap();
    assert_eq!(listed(&late).await, [offer.id], "it is theirs now");
    let next = friends.offer(&late, ticket.id, "bo").await.unwrap();
    assert_eq!(listed(&late).await, [next.id, offer.id], "they sent it");
}

/// Whoever takes somebody's address before anything is offered to it has seen no mail.
#[tokio::test]
async fn whoever_had_the_address_before_an_offer_needs_its_id_as_well() {
    let friends = Friends::new().await;
    let (app, ana, bo) = (&friends.scene.app, &friends.scene.ana, &friends.bo);
    friends.scene.world.clock.advance(1);
    let offer = friends.offer(ana, friends.old, "bo").await.unwrap();
    let shown = async || {
        let page = app.transfers(bo, None, 10).await.unwrap();
        let export = app.export_account(bo, None).await.unwrap();
        assert_eq!(page.items, export.transfers);
        page.items.iter().map(|(t, _)| t.id).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, []);
    // Its id is enough to see it, and to answer.
    let read = app.transfer(bo, offer.id).await.unwrap();
    assert_eq!(read.transfer.id, offer.id);
    friends.accept(bo, offer.id).await.unwrap();
    assert_eq!(shown().await, [offer.id]);
}

#[tokio::test]
async fn an_offer_that_ended_is_listed_for_the_account_that_was_there() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, &friends.scene.ana);
    let [bos, lates] = friends.scene.order(friends.order).await.ticket_ids()[..] else {
        unreachable!("two tickets");
    };
    let to_bo = friends.offer(ana, bos, "bo").await.unwrap();
    friends.offer(ana, lates, "late").await.unwrap();
    friends.scene.world.clock.advance(OFFER_MS + CLOCK_SKEW_MS);
    let late = friends.scene.show.buyer(4).await.unwrap();
    friends.register(&late, "late").await;
    let listed = async |caller: &Caller| {
        let page = app.transfers(caller, None, 10).await.unwrap();
        page.items.iter().map(|(t, _)| t.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&friends.bo).await, [to_bo.id]);
    assert_eq!(listed(&late).await, []);
}

#[tokio::test]
async fn what_somebody_was_given_is_in_what_they_take_along() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, &friends.scene.ana);
    let offer = friends.offer(ana, friends.old, "bo").await.unwrap();
    let ticket = friends.accept(&friends.bo, offer.id).await.unwrap();
    let export = async |caller: &Caller| app.export_account(caller, None).await.unwrap();
    let bos = export(&friends.bo).await;
    assert_eq!(bos.received, [ticket]);
    let anas = export(ana).await;
    assert_eq!(anas.received, []);
    let valid = anas.orders[0].1.iter().filter(|t| t.is_valid()).count();
    assert_eq!(valid, 1, "the other one");
}

#[tokio::test]
async fn the_recipient_is_told_the_name_of_the_sender_and_nothing_that_leads_away() {
    let friends = Friends::new().await;
    let app = &friends.scene.app;
    let told = async |caller: &Caller, id| app.transfer(caller, id).await.unwrap().from_name;
    let offer = friends.offered().await;
    assert_eq!(told(&friends.bo, offer).await.as_deref(), Some("ana"));
    assert_eq!(told(&friends.scene.ana, offer).await, None, "she knows");

    let ticket = friends.accept(&friends.bo, offer).await.unwrap();
    assert_eq!(told(&friends.bo, offer).await.as_deref(), Some("ana"));
    let link = "Win at\u{200b} https://evil.example now";
    app.rename(&friends.bo, link).await.unwrap();
    let offer = friends.offer(&friends.bo, ticket.id, "cleo").await.unwrap();
    let name = told(&friends.cleo, offer.id).await;
    assert_eq!(name.as_deref(), Some("Win at now"));
}
