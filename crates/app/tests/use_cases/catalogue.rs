//! The catalogue's use cases on the memory store.

mod events;
mod index;
mod posters;
mod prices;
mod shows;
mod venues;

use onsale_app::Caller;
use onsale_app::events::NewEvent;
use onsale_app::shows::{NewShow, RoomChange};
use onsale_app::venues::{NewRow, NewSeats, NewSection, NewVenue, SeatMarks};
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId, VenueId};
use onsale_domain::money::{Cents, Currency};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;
use onsale_test_support::MemoryWorld;

const NOW: Millis = Millis(1_800_000_000_000);
const DAY: u64 = 24 * 3_600_000;

fn world() -> MemoryWorld {
    MemoryWorld::new(NOW)
}

fn organiser(n: u8) -> Caller {
    caller(n, Role::Organiser)
}

fn caller(n: u8, role: Role) -> Caller {
    let session = SessionId::from_bytes([n; 16]);
    Caller {
        account: AccountId::from_bytes([n; 16]),
        session,
        role,
    }
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

fn request(body: &str) -> RequestHash {
    RequestHash::of(body.as_bytes())
}

fn hall() -> NewVenue {
    let rows = ["1", "2"].map(|label| NewRow {
        label: label.into(),
        seats: NewSeats::Count(4),
    });
    NewVenue {
        name: "Hall".into(),
        city: "Berlin".into(),
        address: None,
        timezone: "Europe/Berlin".into(),
        location: Some(Location {
            lat: 52.52,
            lon: 13.405,
        }),
        sections: vec![
            NewSection::Seated {
                name: "A".into(),
                rows: rows.into(),
                marks: SeatMarks {
                    not_for_sale: vec!["A-1-1".into()],
                    accessible: vec!["A-2-4".into()],
                    ..SeatMarks::default()
                },
                shape: None,
            },
            NewSection::General {
                name: "Floor".into(),
                capacity: 100,
                shape: None,
            },
        ],
        focal_point: Some("A-1-2".into()),
        stage: None,
    }
}

fn concert(venue_id: VenueId) -> NewEvent {
    NewEvent {
        title: "Zażółć Night".into(),
        description: None,
        category: "music".into(),
        venue_id,
        poster_url: None,
    }
}

fn evening() -> NewShow {
    NewShow {
        starts_at: NOW + 7 * DAY,
        on_sale_at: None,
        currency: Currency::parse("EUR").unwrap(),
        prices: [("A".into(), Cents(4_500)), ("Floor".into(), Cents(2_000))].into(),
        hold_seconds: None,
        max_tickets_per_buyer: None,
        refund_policy: None,
        room: RoomChange::default(),
        overbook_percent: 0,
        draft: false,
    }
}

async fn make_venue(world: &MemoryWorld, owner: &Caller) -> VenueId {
    world
        .app
        .create_venue(owner, hall(), None, request("venue"))
        .await
        .unwrap()
        .0
}

async fn make_event(world: &MemoryWorld, owner: &Caller) -> EventId {
    let venue = make_venue(world, owner).await;
    world
        .app
        .create_event(owner, concert(venue), None, request("event"))
        .await
        .unwrap()
}

async fn make_show(world: &MemoryWorld, owner: &Caller, event: EventId, show: NewShow) -> ShowId {
    world
        .app
        .create_show(owner, event, show, None, request("show"))
        .await
        .unwrap()
}
