//! The demo of a new data folder: an organiser, a buyer, four houses, and what is on there
//! with its posters.
//!
//! Everything goes through the use cases that organisers call, under fixed keys, so a
//! start that was cut off is finished by the next one. A later start plants what is due
//! again: the programme repeats, so that there is always something to come.

mod houses;
mod posters;
mod programme;

use onsale_app::events::NewEvent;
use onsale_app::shows::NewShow;
use onsale_app::venues::NewVenue;
use onsale_app::{App, Caller, Error};
use onsale_domain::account::{Email, Role};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId, VenueId};
use onsale_domain::money::Currency;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;

use programme::{Entry, PROGRAMME, Start};

pub const ORGANISER_EMAIL: &str = "organiser@demo.onsale.example";
pub const BUYER_EMAIL: &str = "buyer@demo.onsale.example";
/// Known to everyone: the platform listens on this machine only, and `--empty` starts
/// without these accounts.
pub const PASSWORD: &str = "on-sale-at-ten";

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// After so many days the programme begins anew.
const ROUND_DAYS: u64 = 28;
/// The keys of the houses, in the order of `houses::all`. Their ids come from these.
const HOUSE_KEYS: [&str; 4] = ["demo-venue", "demo-theatre", "demo-arena", "demo-club"];

#[derive(Debug)]
pub struct Demo {
    /// The next one of the first event; none when all were cancelled.
    pub show: Option<ShowId>,
    /// The next one whose waiting room is on.
    pub room: Option<ShowId>,
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
    let houses = houses::all().map_err(|error| error.to_string())?;
    plant_programme(app, &caller, houses)
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

async fn plant_programme(app: &App, caller: &Caller, houses: [NewVenue; 4]) -> Result<Demo, Error> {
    let mut venues = Vec::new();
    for (house, name) in houses.into_iter().zip(HOUSE_KEYS) {
        let (venue, _) = app
            .create_venue(caller, house, Some(&key(name)?), request())
            .await?;
        venues.push(venue);
    }
    let now = app.now();
    let mut demo = Demo {
        show: None,
        room: None,
    };
    // All dates count from the day on which the first event was planted.
    let mut planted = None;
    for entry in &PROGRAMME {
        let venue = *venues.get(entry.house as usize).ok_or(Error::Corrupt)?;
        let event = plant_event(app, caller, entry, venue).await?;
        let first_day = *planted.get_or_insert(event.created.0 / DAY_MS);
        let id = event.id;
        if event.poster_url.is_none() {
            plant_poster(app, caller, entry, id).await?;
        }
        plant_shows(app, caller, entry, event, round(first_day, now)).await?;
        let next = next_show(app, id, now).await?;
        demo.show = demo.show.or(next.filter(|_| entry.key == PROGRAMME[0].key));
        demo.room = demo.room.or(next.filter(|_| entry.room.is_some()));
    }
    Ok(demo)
}

/// The day on which the present round of the programme begins, counted from 1970.
fn round(first_day: u64, now: Millis) -> u64 {
    let passed = (now.0 / DAY_MS).saturating_sub(first_day);
    first_day + passed / ROUND_DAYS * ROUND_DAYS
}

async fn plant_event(
    app: &App,
    caller: &Caller,
    entry: &Entry,
    venue_id: VenueId,
) -> Result<Event, Error> {
    let new = NewEvent {
        title: entry.title.to_owned(),
        description: Some(entry.description.to_owned()),
        category: entry.category.to_owned(),
        venue_id,
        poster_url: None,
    };
    let event_key = key(&format!("{}-event", entry.key))?;
    let id = app
        .create_event(caller, new, Some(&event_key), request())
        .await?;
    let event = app.store.read::<Event>(id).await?;
    event.map(|event| event.value).ok_or(Error::Corrupt)
}

/// As an upload would: drawn, encoded again, stored.
async fn plant_poster(
    app: &App,
    caller: &Caller,
    entry: &Entry,
    event: EventId,
) -> Result<(), Error> {
    let Some(file) = posters::of(entry.key) else {
        return Ok(());
    };
    let file = file.map_err(|_| Error::Corrupt)?;
    let jpeg = onsale_posters::encoded_again(&file).map_err(|_| Error::Corrupt)?;
    app.set_poster(caller, event, jpeg).await.map(|_| ())
}

/// Those of this round that are still to come and were not planted before.
async fn plant_shows(
    app: &App,
    caller: &Caller,
    entry: &Entry,
    event: Event,
    first_day: u64,
) -> Result<(), Error> {
    let now = app.now();
    for start in entry.starts {
        let starts_at = starts_at(*start, first_day);
        let is_planted = event.shows.iter().any(|show| show.starts_at == starts_at);
        if is_planted || starts_at <= now {
            continue;
        }
        let show = show(entry, starts_at, first_day)?;
        // A second show at the same moment would have the same key.
        let show_key = key(&format!("{}-show-{}", entry.key, starts_at.0))?;
        app.create_show(caller, event.id, show, Some(&show_key), request())
            .await?;
    }
    Ok(())
}

fn starts_at((days, hour): Start, first_day: u64) -> Millis {
    Millis((first_day + days) * DAY_MS + hour * HOUR_MS)
}

fn show(entry: &Entry, starts_at: Millis, first_day: u64) -> Result<NewShow, Error> {
    let on_sale_at = entry
        .on_sale_after
        .map(|days| Millis((first_day + days) * DAY_MS + 9 * HOUR_MS));
    Ok(NewShow {
        starts_at,
        on_sale_at,
        currency: Currency::parse("EUR").ok_or(Error::Corrupt)?,
        prices: entry.prices(),
        hold_seconds: None,
        max_tickets_per_buyer: None,
        refund_policy: None,
        room: entry.room(on_sale_at),
        overbook_percent: 0,
        draft: false,
    })
}

async fn next_show(app: &App, event: EventId, now: Millis) -> Result<Option<ShowId>, Error> {
    let event = app.store.read::<Event>(event).await?;
    Ok(event.and_then(|event| event.value.next_show(now).map(|show| show.id)))
}

fn key(text: &str) -> Result<IdempotencyKey, Error> {
    IdempotencyKey::parse(text).ok_or(Error::Corrupt)
}

/// Every start asks for the same.
fn request() -> RequestHash {
    RequestHash::of(b"demo")
}
