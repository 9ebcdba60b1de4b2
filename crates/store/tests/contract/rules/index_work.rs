//! What the search index still lacks.

use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::StoredStatus;
use onsale_store::{Store, Versioned, Written};

use super::{NOW, eventually, fresh};

contract! {
    a_public_event_is_noted_until_it_is_indexed_as_it_is,
    a_lease_is_held_by_one_until_its_time_is_over,
}

fn event(status: StoredStatus) -> Event {
    Event {
        id: EventId::from_bytes(fresh()),
        owner: AccountId::from_bytes(fresh()),
        title: "Night".into(),
        description: None,
        category: "music".into(),
        venue_id: VenueId::from_bytes(fresh()),
        venue: "Hall".into(),
        city: "Berlin".into(),
        location: None,
        timezone: None,
        poster_url: None,
        shows: vec![ShowSummary {
            id: ShowId::from_bytes(fresh()),
            starts_at: NOW,
            on_sale_at: None,
            from_price: Money {
                amount: Cents(1),
                currency: Currency::parse("EUR").unwrap(),
            },
            status,
            sold_out: false,
        }],
        created: NOW,
    }
}

async fn a_public_event_is_noted_until_it_is_indexed_as_it_is(store: &Store) {
    let draft = event(StoredStatus::Draft);
    let public = event(StoredStatus::OnSale);
    for event in [&draft, &public] {
        store.create_event(event, None).await.unwrap();
        let read = Versioned {
            version: 1,
            value: event.clone(),
        };
        assert_eq!(store.replace(&read).await.unwrap(), Written::Done(2));
    }
    let noted = |id: EventId| async move {
        let notes = store.unindexed_events(10_000).await.unwrap();
        notes.contains(&id)
    };
    eventually(true, || noted(public.id)).await;
    assert!(!noted(draft.id).await);
    let as_it_is = store.noted_events(100).await.unwrap();
    let public_is = |event: &&Versioned<Event>| event.value.id == public.id;
    assert_eq!(as_it_is.iter().find(public_is).unwrap().version, 2);
    // Whoever indexed an older state does not take the note away.
    store.mark_indexed(public.id, 1).await.unwrap();
    eventually(true, || noted(public.id)).await;
    store.mark_indexed(public.id, 2).await.unwrap();
    eventually(false, || noted(public.id)).await;
    store.mark_indexed(public.id, 2).await.unwrap();
    let stored = store.read::<Event>(public.id).await.unwrap().unwrap();
    assert_eq!(stored.version, 2, "a note is no change of the event");
    assert_eq!(store.replace(&stored).await.unwrap(), Written::Done(3));
    eventually(true, || noted(public.id)).await;
    let nowhere = EventId::from_bytes(fresh());
    store.mark_indexed(nowhere, 1).await.unwrap();
    assert_eq!(store.read::<Event>(nowhere).await.unwrap(), None);
    store.mark_indexed(public.id, 3).await.unwrap();
}

async fn a_lease_is_held_by_one_until_its_time_is_over(store: &Store) {
    let (one, other) = (fresh(), fresh());
    let take = |holder, now: u64, until: u64| store.lease_rebuild(holder, NOW + now, NOW + until);
    assert!(take(one, 0, 100).await.unwrap());
    assert!(!take(other, 99, 200).await.unwrap());
    assert!(take(one, 50, 150).await.unwrap(), "renewed");
    assert!(!take(other, 149, 300).await.unwrap());
    assert!(take(other, 150, 300).await.unwrap());
    assert!(!take(one, 299, 400).await.unwrap());
    // Given back.
    assert!(take(other, 200, 200).await.unwrap());
    assert!(take(one, 200, 200).await.unwrap());
}
