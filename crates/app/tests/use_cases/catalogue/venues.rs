use onsale_app::Error;
use onsale_domain::account::Role;

use super::*;

#[tokio::test]
async fn the_same_key_names_the_same_venue_and_another_body_is_refused() {
    let (world, owner, key) = (world(), organiser(1), key("k"));
    let create = |venue, body| {
        world
            .app
            .create_venue(&owner, venue, Some(&key), request(body))
    };
    let first = create(hall(), "one").await;
    assert_eq!(first.clone().unwrap().1, 108);
    assert_eq!(create(hall(), "one").await, first);
    assert_eq!(create(hall(), "two").await, Err(Error::IdempotencyMismatch));
    let other = world
        .app
        .create_venue(&organiser(2), hall(), Some(&key), request("one"))
        .await;
    assert_ne!(other.unwrap().0, first.unwrap().0);
}

#[tokio::test]
async fn only_organisers_make_venues_and_only_the_owner_reads_one() {
    let (world, owner) = (world(), organiser(1));
    for role in [Role::Buyer, Role::Staff] {
        let made = world
            .app
            .create_venue(&caller(3, role), hall(), None, request("x"))
            .await;
        assert!(matches!(made, Err(Error::Forbidden(_))), "{role:?}");
    }
    let venue = make_venue(&world, &owner).await;
    assert_eq!(world.app.venue(&owner, venue).await.unwrap().places, 108);
    assert_eq!(
        world.app.venue(&organiser(2), venue).await,
        Err(Error::NotFound("venue"))
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_layout_is_said() {
    let world = world();
    let mut venue = hall();
    venue.focal_point = Some("A-9-9".into());
    let refused = world
        .app
        .create_venue(&organiser(1), venue, None, request("x"))
        .await;
    assert_eq!(
        refused,
        Err(Error::Invalid(
            "the focal point is not a seat of this venue".into()
        ))
    );
}
