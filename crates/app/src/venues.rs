//! Venues: an organiser describes the places once, and every show there uses them.

use onsale_domain::account::{Role, is_line};
use onsale_domain::ids::VenueId;
use onsale_domain::layout::{
    FloorShape, Layout, LayoutError, MAX_PLACES, RowsShape, SectionSpec, SectionSpecKind, Stage,
};
use onsale_domain::layout_codec;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::venue::{Location, Venue, is_timezone};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::Creation;

pub const MAX_VENUE_NAME_CHARS: usize = 100;
pub const MAX_CITY_CHARS: usize = 100;
pub const MAX_ADDRESS_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct NewVenue {
    pub name: String,
    pub city: String,
    pub address: Option<String>,
    pub timezone: String,
    pub location: Option<Location>,
    pub sections: Vec<NewSection>,
    /// The seat id of the best place; best available looks around it.
    pub focal_point: Option<String>,
    pub stage: Option<Stage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewSection {
    Seated {
        name: String,
        rows: Vec<NewRow>,
        marks: SeatMarks,
        shape: Option<RowsShape>,
    },
    General {
        name: String,
        capacity: u32,
        shape: Option<FloorShape>,
    },
}

/// The ids of the seats that are special in one way or another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeatMarks {
    pub not_for_sale: Vec<String>,
    pub accessible: Vec<String>,
    pub companion: Vec<String>,
    pub restricted_view: Vec<String>,
}

impl SeatMarks {
    fn longest(&self) -> usize {
        let lists = [
            &self.not_for_sale,
            &self.accessible,
            &self.companion,
            &self.restricted_view,
        ];
        lists.map(Vec::len).into_iter().max().unwrap_or(0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    pub label: String,
    pub seats: NewSeats,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewSeats {
    /// As many seats, numbered from 1.
    Count(u16),
    /// These numbers, in the order they stand.
    Numbers(Vec<u16>),
}

impl NewSeats {
    fn len(&self) -> usize {
        match self {
            Self::Count(count) => usize::from(*count),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    fn into_numbers(self) -> Vec<u16> {
        match self {
            Self::Count(count) => (1..=count).collect(),
            Self::Numbers(numbers) => numbers,
        }
    }
}

impl NewSection {
    /// How many places and marks it asks for, before any of them is built: a short
    /// text can ask for more seats than there is memory.
    fn size(&self) -> usize {
        match self {
            Self::General { capacity, .. } => *capacity as usize,
            Self::Seated { rows, marks, .. } => {
                let seats: usize = rows.iter().map(|row| row.seats.len()).sum();
                seats.max(marks.longest())
            }
        }
    }

    fn into_spec(self) -> SectionSpec {
        match self {
            Self::General {
                name,
                capacity,
                shape,
            } => SectionSpec {
                name,
                kind: SectionSpecKind::General(capacity),
                floor: shape,
                ..SectionSpec::default()
            },
            Self::Seated {
                name,
                rows,
                marks,
                shape,
            } => {
                let rows = rows
                    .into_iter()
                    .map(|row| (row.label, row.seats.into_numbers()));
                SectionSpec {
                    name,
                    kind: SectionSpecKind::Seated(rows.collect()),
                    not_for_sale: marks.not_for_sale,
                    accessible: marks.accessible,
                    companion: marks.companion,
                    restricted_view: marks.restricted_view,
                    shape,
                    floor: None,
                }
            }
        }
    }
}

impl NewVenue {
    fn check(&self) -> Result<()> {
        require_line("name", &self.name, MAX_VENUE_NAME_CHARS)?;
        require_line("city", &self.city, MAX_CITY_CHARS)?;
        if let Some(address) = &self.address {
            require_line("address", address, MAX_ADDRESS_CHARS)?;
        }
        if !is_timezone(&self.timezone) {
            return Err(invalid("timezone: an IANA name such as Europe/Berlin"));
        }
        if self
            .location
            .is_some_and(|location| !location.is_on_earth())
        {
            return Err(invalid("location: lat is -90 to 90 and lon -180 to 180"));
        }
        Ok(())
    }

    fn into_layout(self) -> Result<Layout> {
        let size: usize = self.sections.iter().map(NewSection::size).sum();
        if size > MAX_PLACES {
            return Err(invalid(LayoutError::TooManyPlaces));
        }
        let specs = self
            .sections
            .into_iter()
            .map(NewSection::into_spec)
            .collect();
        let layout = Layout::build(specs, self.focal_point.as_deref())
            .map_err(invalid)?
            .with_stage(self.stage);
        if layout_codec::encode(&layout).len() > layout_codec::MAX_BYTES {
            let advice =
                "the layout is too detailed: use shorter row labels or numbers in sequence";
            return Err(Error::Invalid(advice.into()));
        }
        Ok(layout)
    }
}

impl App {
    /// Creates a venue and answers with its id and its number of places.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn create_venue(
        &self,
        caller: &Caller,
        new: NewVenue,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<(VenueId, u32)> {
        require_organiser(caller)?;
        new.check()?;
        let now = self.now();
        let id = match key {
            Some(key) => {
                VenueId::derived(&[caller.account.as_bytes(), b"venue", key.as_str().as_bytes()])
            }
            None => VenueId::new(now, self.id_entropy()),
        };
        let mut venue = Venue {
            id,
            owner: caller.account,
            name: new.name.clone(),
            city: new.city.clone(),
            address: new.address.clone(),
            timezone: new.timezone.clone(),
            location: new.location,
            places: 0,
            created: now,
        };
        let layout = new.into_layout()?;
        venue.places = layout.places();
        let request = key.map(|_| request);
        let creation = self.store.create_venue(&venue, &layout, request).await?;
        settle(creation, request)?;
        tracing::info!(venue = %id, places = venue.places, "venue created");
        Ok((id, venue.places))
    }

    /// A venue, for its owner only: shows tell everyone else what they need of it.
    pub async fn venue(&self, caller: &Caller, id: VenueId) -> Result<Venue> {
        match self.store.venue(id).await? {
            Some(venue) if venue.owner == caller.account => Ok(venue),
            _ => Err(Error::NotFound("venue")),
        }
    }
}

pub(crate) fn require_organiser(caller: &Caller) -> Result<()> {
    match caller.role {
        Role::Organiser => Ok(()),
        Role::Buyer | Role::Staff => Err(Error::Forbidden("only organisers may do this")),
    }
}

pub(crate) fn invalid(reason: impl ToString) -> Error {
    Error::Invalid(reason.to_string())
}

pub(crate) fn require_line(field: &str, text: &str, max_chars: usize) -> Result<()> {
    match is_line(text, max_chars) {
        true => Ok(()),
        false => Err(invalid(format!(
            "{field}: 1 to {max_chars} characters on one line"
        ))),
    }
}

/// A creation that met its own earlier success is a success. Without a key the id was
/// drawn for this request alone, so whoever is there is the request's own lost reply.
pub(crate) fn settle(creation: Creation, request: Option<RequestHash>) -> Result<()> {
    match creation {
        Creation::New => Ok(()),
        Creation::Existing(first) if first == request => Ok(()),
        Creation::Existing(_) => Err(Error::IdempotencyMismatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seated(rows: usize, seats: NewSeats) -> NewSection {
        let row = |n: usize| NewRow {
            label: n.to_string(),
            seats: seats.clone(),
        };
        NewSection::Seated {
            name: "A".into(),
            rows: (1..=rows).map(row).collect(),
            marks: SeatMarks::default(),
            shape: None,
        }
    }

    fn venue(sections: Vec<NewSection>) -> NewVenue {
        NewVenue {
            name: "Hall".into(),
            city: "Berlin".into(),
            address: None,
            timezone: "Europe/Berlin".into(),
            location: None,
            sections,
            focal_point: None,
            stage: None,
        }
    }

    #[test]
    fn a_short_text_that_asks_for_too_much_is_refused_before_it_is_built() {
        let refused = venue(vec![seated(150_000, NewSeats::Count(u16::MAX))]).into_layout();
        assert_eq!(refused, Err(invalid(LayoutError::TooManyPlaces)));
        let general = NewSection::General {
            name: "F".into(),
            capacity: u32::MAX,
            shape: None,
        };
        assert!(venue(vec![general.clone(), general]).into_layout().is_err());
    }

    #[test]
    fn a_count_and_its_numbers_make_the_same_row() {
        let by_count = venue(vec![seated(2, NewSeats::Count(3))]).into_layout();
        let by_number = venue(vec![seated(2, NewSeats::Numbers(vec![1, 2, 3]))]).into_layout();
        assert_eq!(by_count, by_number);
        assert_eq!(by_count.map(|layout| layout.places()), Ok(6));
    }

    #[test]
    fn every_text_of_a_venue_is_checked() {
        let good = venue(vec![]);
        assert_eq!(good.check(), Ok(()));
        let wrong: [fn(&mut NewVenue); 5] = [
            |v| v.name = "\u{202e}".into(),
            |v| v.city = " ".into(),
            |v| v.address = Some("x".repeat(201)),
            |v| v.timezone = "Europe/Berlin\n".into(),
            |v| {
                v.location = Some(Location {
                    lat: 91.0,
                    lon: 0.0,
                })
            },
        ];
        for spoil in wrong {
            let mut venue = good.clone();
            spoil(&mut venue);
            assert!(matches!(venue.check(), Err(Error::Invalid(_))), "{venue:?}");
        }
    }
}
