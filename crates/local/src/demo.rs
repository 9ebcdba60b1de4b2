//! The demo of a new data folder: an organiser, a buyer, a venue, an event, two shows.
//!
//! Everything goes through the use cases that organisers call, under fixed keys, so a
//! start that was cut off is finished by the next one.

use std::collections::BTreeMap;

use onsale_app::events::NewEvent;
use onsale_app::shows::{NewShow, RoomChange};
use onsale_app::venues::{NewRow, NewSeats, NewSection, NewVenue};
use onsale_app::{App, Caller, Error};
use onsale_domain::account::{Email, Role};
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId};
use onsale_domain::money::{Cents, Currency};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;

pub const ORGANISER_EMAIL: &str = "organiser@demo.onsale.example";
pub const BUYER_EMAIL: &str = "buyer@demo.onsale.example";
/// Known to everyone: the platform listens on this machine only, and `--empty` starts
/// without these accounts.
pub const PASSWORD: &str = "on-sale-at-ten";

const DAY_MS: u64 = 24 * 3_600_000;

#[derive(Debug)]
pub struct Demo {
    /// The next one; none when both were cancelled.
    pub show: Option<ShowId>,
}

/// Plants what is not there yet.
pub async fn plant(app: &App) -> Result<Demo, String> {
    let organiser = account(app, ORGANISER_EMAIL, "Demo Organiser", Role::Organiser).await?;
    account(app, BUYER_EMAIL, "Demo Buyer", Role::Buyer).await?;
    let caller = Caller {
        account: organiser,
        session: SessionId::from_bytes([0; 16]),
        role: Role::Organiser,
    };
    plant_event(app, &caller)
        .await
        .map_err(|error| format!("the demo could not be planted: {error}"))
}

async fn account(app: &App, email: &str, name: &str, role: Role) -> Result<AccountId, String> {
    let parsed = Email::parse(email).ok_or("the demo email is not an email")?;
    let known = app
        .store
        .credentials(&parsed)
        .await
        .map_err(|e| e.to_string())?;
    match known {
        Some(known) => Ok(known.account.id),
        None => app
            .register(
                email,
                PASSWORD,
                name,
                role,
                None,
                RequestHash::of(email.as_bytes()),
            )
            .await
            .map(|account| account.id)
            .map_err(|e| e.to_string()),
    }
}

async fn plant_event(app: &App, caller: &Caller) -> Result<Demo, Error> {
    let request = RequestHash::of(b"demo");
    let venue_key = key("demo-venue")?;
    let (venue_id, places) = app
        .create_venue(caller, venue(), Some(&venue_key), request)
        .await?;
    let event = NewEvent {
        title: "Opening Night".to_owned(),
        description: Some(
            "The demo event: hold seats, let them lapse, try to break it.".to_owned(),
        ),
        category: "concert".to_owned(),
        venue_id,
        poster_url: None,
    };
    let event_id = app
        .create_event(caller, event, Some(&key("demo-event")?), request)
        .await?;
    let now = app.now();
    let next = next_show(app, event_id, now).await?;
    if next.is_some() {
        return Ok(Demo { show: next });
    }
    tracing::info!(places, "planting the demo");
    for days in [30, 31] {
        let starts_at = Millis((now.0 / DAY_MS + days) * DAY_MS + 19 * 3_600_000);
        let show_key = key(&format!("demo-show-{}", starts_at.0))?;
        app.create_show(caller, event_id, show(starts_at)?, Some(&show_key), request)
            .await?;
    }
    let show = next_show(app, event_id, now).await?;
    Ok(Demo { show })
}

async fn next_show(app: &App, event: EventId, now: Millis) -> Result<Option<ShowId>, Error> {
    let event = app.store.event(event).await?;
    Ok(event.and_then(|event| event.value.next_show(now).map(|show| show.id)))
}

fn key(text: &str) -> Result<IdempotencyKey, Error> {
    IdempotencyKey::parse(text).ok_or(Error::Corrupt)
}

/// 2,000 numbered seats and a floor for 500.
fn venue() -> NewVenue {
    let seated =
        |name: &str, rows: std::ops::RangeInclusive<u16>, seats, accessible: Vec<String>| {
            NewSection::Seated {
                name: name.to_owned(),
                rows: rows
                    .map(|row| NewRow {
                        label: row.to_string(),
                        seats: NewSeats::Count(seats),
                    })
                    .collect(),
                not_for_sale: Vec::new(),
                accessible,
            }
        };
    NewVenue {
        name: "Harbour Hall".to_owned(),
        city: "Hamburg".to_owned(),
        address: Some("Am Kai 1".to_owned()),
        timezone: "Europe/Berlin".to_owned(),
        location: Some(Location {
            lat: 53.5413,
            lon: 9.9841,
        }),
        sections: vec![
            NewSection::General {
                name: "Floor".to_owned(),
                capacity: 500,
            },
            seated(
                "Stalls",
                1..=30,
                40,
                (1..=4).map(|n| format!("Stalls-30-{n}")).collect(),
            ),
            seated("Balcony", 1..=20, 40, Vec::new()),
        ],
        focal_point: Some("Stalls-6-20".to_owned()),
    }
}

fn show(starts_at: Millis) -> Result<NewShow, Error> {
    let price = |section: &str, amount| (section.to_owned(), Cents(amount));
    Ok(NewShow {
        starts_at,
        on_sale_at: None,
        currency: Currency::parse("EUR").ok_or(Error::Corrupt)?,
        prices: BTreeMap::from([
            price("Floor", 4500),
            price("Stalls", 7900),
            price("Balcony", 5900),
        ]),
        hold_seconds: None,
        max_tickets_per_buyer: None,
        refund_policy: None,
        room: RoomChange::default(),
        overbook_percent: 0,
        draft: false,
    })
}
