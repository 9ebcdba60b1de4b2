//! Venues, events and the maps of shows.

use onsale_domain::audit::{AuditAction, AuditEntry};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::layout::{
    Layout, RowsMetres, RowsShape, SectionSpec, SectionSpecKind, StageMetres,
};
use onsale_domain::mailing::{EventFacts, Mailing, MailingId, MovedShow};
use onsale_domain::map::SeatMap;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::{Room, Show, StoredStatus, default_refund_policy};
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;
use onsale_store::{Creation, Page, ShowNotes, Store, Versioned, Written};

use super::{NOW, eventually, fresh};

contract! {
    a_creation_says_who_was_first,
    a_document_moves_under_its_version_only,
    what_is_noted_of_a_show_is_stored_with_it_or_not_at_all,
    lists_page_through_everything_once,
    a_map_is_replaced_by_newer_ones_only,
    a_lease_has_one_holder,
}

fn layout() -> Layout {
    let rows = RowsMetres {
        x: 0.5,
        y: 4.0,
        turn: -12.5,
        curve: 20.0,
        row_pitch: 0.9,
        seat_pitch: 0.55,
        aisles: vec![1],
    };
    let section = SectionSpec {
        name: "A".into(),
        kind: SectionSpecKind::Seated(vec![("1".into(), vec![1, 2, 5])]),
        not_for_sale: vec!["A-1-5".into()],
        accessible: vec!["A-1-1".into()],
        companion: vec!["A-1-2".into()],
        restricted_view: vec!["A-1-5".into()],
        shape: Some(RowsShape::try_from(rows).unwrap()),
        ..SectionSpec::default()
    };
    let stage = StageMetres {
        x: -8.0,
        y: -6.0,
        width: 16.0,
        height: 6.0,
    };
    let layout = Layout::build(vec![section], Some("A-1-2")).unwrap();
    layout.with_stage(Some(stage.try_into().unwrap()))
}

fn event(owner: AccountId, created: Millis) -> Event {
    Event {
        id: EventId::from_bytes(fresh()),
        owner,
        title: "T".into(),
        description: None,
        category: "c".into(),
        venue_id: VenueId::from_bytes(fresh()),
        venue: "V".into(),
        city: "C".into(),
        location: None,
        timezone: None,
        poster_url: None,
        shows: vec![],
        created,
    }
}

/// A show that is stored, at version 1, with its event at the version it has by then.
pub(super) async fn show_and_event(store: &Store) -> (Show, Versioned<Event>) {
    let owner = AccountId::from_bytes(fresh());
    let event = event(owner, NOW);
    store.create_event(&event, None).await.unwrap();
    let show = Show {
        id: ShowId::from_bytes(fresh()),
        event_id: event.id,
        venue_id: event.venue_id,
        owner,
        starts_at: NOW + 1,
        on_sale_at: None,
        currency: Currency::parse("EUR").unwrap(),
        prices: vec![("A".to_owned(), Cents(1))],
        pricing: onsale_domain::pricing::Pricing::Fixed,
        hold_seconds: 600,
        max_tickets_per_buyer: 6,
        refund_policy: default_refund_policy(),
        room: Room::default(),
        overbook_percent: 0,
        status: StoredStatus::OnSale,
        created: NOW,
        waitlist: Default::default(),
    };
    let at = |version| Versioned {
        version,
        value: event.clone(),
    };
    let created = store
        .create_show(&show, &at(1), None, ShowNotes::default())
        .await
        .unwrap();
    assert_eq!(created, Some(Creation::New));
    (show, at(2))
}

async fn a_creation_says_who_was_first(store: &Store) {
    let venue = Venue {
        id: VenueId::from_bytes(fresh()),
        owner: AccountId::from_bytes(fresh()),
        name: "V".into(),
        city: "C".into(),
        address: None,
        timezone: "UTC".into(),
        location: None,
        places: 3,
        created: NOW,
    };
    let (first, other) = (Some(RequestHash([1; 16])), Some(RequestHash([2; 16])));
    assert_eq!(
        store.create_venue(&venue, &layout(), first).await.unwrap(),
        Creation::New
    );
    assert_eq!(
        store.create_venue(&venue, &layout(), other).await.unwrap(),
        Creation::Existing(first)
    );
    assert_eq!(store.venue(venue.id).await.unwrap(), Some(venue.clone()));
    assert_eq!(store.layout(venue.id).await.unwrap(), Some(layout()));
    assert_eq!(
        store.venue(VenueId::from_bytes(fresh())).await.unwrap(),
        None
    );
    let event = event(venue.owner, NOW);
    assert_eq!(
        store.create_event(&event, None).await.unwrap(),
        Creation::New
    );
    assert_eq!(
        store.create_event(&event, first).await.unwrap(),
        Creation::Existing(None)
    );
}

async fn a_document_moves_under_its_version_only(store: &Store) {
    let mut event = event(AccountId::from_bytes(fresh()), NOW);
    store.create_event(&event, None).await.unwrap();
    let read = store.read::<Event>(event.id).await.unwrap().unwrap();
    event.title = "New".into();
    let change = Versioned {
        version: read.version,
        value: event.clone(),
    };
    let version = change.version + 1;
    assert_eq!(
        store.replace(&change).await.unwrap(),
        Written::Done(version)
    );
    let read = Versioned {
        version,
        value: event.clone(),
    };
    let late = store.replace(&change).await.unwrap();
    assert_eq!(late, Written::Lost(read));
    let read = store.read::<Event>(event.id).await.unwrap().unwrap();
    assert_eq!((read.version, read.value), (change.version + 1, event));
}

async fn what_is_noted_of_a_show_is_stored_with_it_or_not_at_all(store: &Store) {
    let (show, event) = show_and_event(store).await;
    let action = AuditAction::ShowChanged;
    let entry = AuditEntry::new(show.id, show.owner, action, b"1", vec![], NOW);
    let facts = |title: &str| EventFacts {
        title: title.into(),
        venue: "V".into(),
        city: "C".into(),
    };
    let id = MailingId {
        event_id: event.value.id,
        version: event.version + 1,
    };
    let moved = vec![MovedShow {
        show_id: show.id,
        was_at: NOW,
        is_at: NOW + 1,
    }];
    let mailing = Mailing::of_change(id, (facts("T"), facts("T")), moved, NOW).unwrap();
    let notes = ShowNotes {
        entry: Some(&entry),
        mailing: Some(&mailing),
        ..ShowNotes::default()
    };
    let replace = async |version| {
        let value = show.clone();
        let show = Versioned { version, value };
        store.replace_show(&show, &event, notes).await.unwrap()
    };
    let entries = async || store.audit_of(show.id, None, 10).await.unwrap().items;
    assert!(!replace(2).await, "the show is at version 1");
    assert_eq!(store.read::<Mailing>(id).await.unwrap(), None);
    assert_eq!(entries().await, []);
    assert!(replace(1).await);
    let stored = store.read::<Mailing>(id).await.unwrap();
    assert_eq!(stored.unwrap().value, mailing);
    eventually(vec![entry.clone()], entries).await;
}

async fn lists_page_through_everything_once(store: &Store) {
    let owner = AccountId::from_bytes(fresh());
    let mut made = Vec::new();
    for n in 0..7u64 {
        let event = event(owner, NOW + n / 2);
        store.create_event(&event, None).await.unwrap();
        made.push((event.created, event.id.to_string()));
    }
    made.sort_by(|a, b| b.cmp(a));
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.events_of(owner, after.as_deref(), 3).await.unwrap();
        assert!(page.items.len() <= 3);
        seen.extend(
            page.items
                .iter()
                .map(|e| (e.value.created, e.value.id.to_string())),
        );
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, made);
    let mine =
        |page: Page<Versioned<Event>>| page.items.iter().filter(|e| e.value.owner == owner).count();
    assert_eq!(
        mine(store.public_events(None, 100).await.unwrap()),
        0,
        "drafts are not public"
    );
}

async fn a_map_is_replaced_by_newer_ones_only(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let map = |at| SeatMap::build(&layout(), std::iter::empty(), at);
    assert_eq!(store.map(show).await.unwrap(), None);
    store.put_map(show, &map(NOW + 1), NOW).await.unwrap();
    store.put_map(show, &map(NOW), NOW).await.unwrap();
    assert_eq!(store.map(show).await.unwrap(), Some(map(NOW + 1)));
    store.put_map(show, &map(NOW + 2), NOW).await.unwrap();
    assert_eq!(store.map(show).await.unwrap(), Some(map(NOW + 2)));
}

async fn a_lease_has_one_holder(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    assert!(store.lease_map(show, NOW, NOW + 1_000).await.unwrap());
    assert!(!store.lease_map(show, NOW + 999, NOW + 2_000).await.unwrap());
    assert!(
        store
            .lease_map(show, NOW + 1_000, NOW + 2_000)
            .await
            .unwrap()
    );
}
