use onsale_app::Error;
use onsale_app::events::{EventChange, EventQuery};
use onsale_domain::audit::AuditAction;
use onsale_domain::event::Event;
use onsale_domain::poster::PosterName;
use onsale_test_support::Fault;

use super::*;

fn picture(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// The picture at an address.
async fn shown(world: &MemoryWorld, event: EventId, address: &str) -> Result<Vec<u8>, Error> {
    let name = address.rsplit('/').next().unwrap().parse::<PosterName>();
    world.app.poster(event, name.unwrap()).await
}

async fn poster_of(world: &MemoryWorld, event: EventId) -> Option<String> {
    let stored = world.app.store.read::<Event>(event).await.unwrap();
    stored.unwrap().value.poster_url
}

#[tokio::test]
async fn an_uploaded_poster_is_told_with_the_event_and_in_the_list() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let show = make_show(&world, &owner, event, evening()).await;
    let set = world.app.set_poster(&owner, event, picture("a"));
    let address = set.await.unwrap();
    assert!(address.starts_with(&format!("/api/v1/events/{event}/poster/")));
    assert_eq!(shown(&world, event, &address).await, Ok(picture("a")));
    assert_eq!(poster_of(&world, event).await, Some(address.clone()));
    let query = EventQuery {
        limit: 20,
        ..EventQuery::default()
    };
    let list = world.app.list_events(&query, None).await.unwrap();
    assert_eq!(list.items[0].event.poster_url, Some(address.clone()));
    let trail = world.app.audit_trail(&owner, show, None, 1).await.unwrap();
    assert_eq!(trail.items[0].action, AuditAction::EventChanged);
    assert_eq!(trail.items[0].changes[0].after, Some(address));
}

#[tokio::test]
async fn the_same_poster_again_changes_nothing() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let first = world.app.set_poster(&owner, event, picture("a")).await;
    let before = world.app.store.read::<Event>(event).await.unwrap();
    let again = world.app.set_poster(&owner, event, picture("a")).await;
    assert_eq!(first, again);
    assert_eq!(world.app.store.read::<Event>(event).await.unwrap(), before);
    assert_eq!(world.objects.keys().len(), 1);
}

#[tokio::test]
async fn a_replaced_poster_stays_for_pages_that_were_sent_and_removing_deletes_all() {
    let (world, owner) = (world(), organiser(1));
    let (event, other) = (
        make_event(&world, &owner).await,
        make_event(&world, &owner).await,
    );
    let set = |event, text| world.app.set_poster(&owner, event, picture(text));
    let old = set(event, "old").await.unwrap();
    let new = set(event, "new").await.unwrap();
    let elsewhere = set(other, "new").await.unwrap();
    assert_eq!(shown(&world, event, &old).await, Ok(picture("old")));
    assert_eq!(poster_of(&world, event).await, Some(new.clone()));

    world.app.remove_poster(&owner, event).await.unwrap();
    assert_eq!(poster_of(&world, event).await, None);
    for address in [&old, &new] {
        let gone = shown(&world, event, address).await;
        assert_eq!(gone, Err(Error::NotFound("poster")));
    }
    assert_eq!(shown(&world, other, &elsewhere).await, Ok(picture("new")));
    world.app.remove_poster(&owner, event).await.unwrap();
    assert_eq!(set(event, "new").await.unwrap(), new);
    assert_eq!(shown(&world, event, &new).await, Ok(picture("new")));
}

#[tokio::test]
async fn only_the_organiser_of_an_event_changes_its_poster() {
    let (world, owner, other) = (world(), organiser(1), organiser(2));
    let event = make_event(&world, &owner).await;
    let forbidden = Error::Forbidden("this event belongs to another organiser");
    let address = world.app.set_poster(&owner, event, picture("a")).await;
    let app = &world.app;
    for refused in [
        app.set_poster(&other, event, picture("b")).await.err(),
        app.remove_poster(&other, event).await.err(),
        app.check_may_change_poster(&other, event).await.err(),
    ] {
        assert_eq!(refused, Some(forbidden.clone()));
    }
    assert_eq!(poster_of(&world, event).await, address.ok());
    assert_eq!(world.objects.keys().len(), 1);
    let unknown = EventId::from_bytes([9; 16]);
    let refused = app.set_poster(&owner, unknown, picture("a")).await;
    assert_eq!(refused, Err(Error::NotFound("event")));
}

#[tokio::test]
async fn an_event_with_an_uploaded_poster_can_be_changed_and_names_no_poster_of_another() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let other = make_event(&world, &owner).await;
    let address = world.app.set_poster(&owner, event, picture("a")).await;
    let address = address.unwrap();
    let retitled = EventChange {
        title: Some("Another Night".into()),
        ..EventChange::default()
    };
    let view = world.app.change_event(&owner, event, &retitled).await;
    assert_eq!(view.unwrap().event.poster_url, Some(address.clone()));
    let borrowed = EventChange {
        poster_url: Some(Some(address)),
        ..EventChange::default()
    };
    let kept = world.app.change_event(&owner, event, &borrowed).await;
    assert!(kept.is_ok());
    let refused = world.app.change_event(&owner, other, &borrowed).await;
    assert!(matches!(refused, Err(Error::Invalid(_))));
}

/// Whatever call fails, the event names no picture that is not there, and the next try
/// brings what was wanted.
#[tokio::test]
async fn an_upload_that_fails_anywhere_is_made_good_by_the_next() {
    for failing in 0.. {
        let (world, owner) = (world(), organiser(1));
        let event = make_event(&world, &owner).await;
        make_show(&world, &owner, event, evening()).await;
        for fault in [Fault::FailBefore, Fault::FailAfter] {
            world.faults.arm(Some((failing, fault)));
            let _ = world.app.set_poster(&owner, event, picture("a")).await;
            let calls = world.faults.calls().len();
            world.faults.arm(None);
            if let Some(address) = poster_of(&world, event).await {
                assert_eq!(shown(&world, event, &address).await, Ok(picture("a")));
            }
            let address = world.app.set_poster(&owner, event, picture("a")).await;
            assert_eq!(poster_of(&world, event).await, address.ok());
            world.app.remove_poster(&owner, event).await.unwrap();
            if calls <= failing {
                assert!(failing >= 3, "{failing} calls");
                return;
            }
        }
    }
}
