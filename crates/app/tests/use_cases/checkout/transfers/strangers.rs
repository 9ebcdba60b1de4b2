//! Who is shown an offer, and who may accept it.

use onsale_app::{Caller, Error};

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
    // What is offered to an account is listed.
    let next = friends.offer(&late, ticket.id, "bo").await.unwrap();
    assert_eq!(listed(&friends.bo).await, [next.id]);
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
