//! POST and GET of venues.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_app::venues::{NewSection, NewVenue};
use onsale_domain::ids::VenueId;
use onsale_domain::layout::Stage;
use onsale_domain::venue;
use onsale_http::schemas::VenueIdText;
use onsale_http::{Api, LargeJson, LoggedIn, OptionalKey, Organiser, Path, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::sections::SectionBody;
use crate::shapes::StageBody;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewVenue)]
pub(crate) struct VenueBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    #[schema(min_length = 1, max_length = 100)]
    city: String,
    #[schema(min_length = 1, max_length = 200)]
    address: Option<String>,
    /// An IANA name.
    #[schema(
        pattern = r"^[A-Za-z][A-Za-z0-9_+\-]{0,31}(/[A-Za-z][A-Za-z0-9_+\-]{0,31}){0,2}$",
        example = "Europe/Berlin"
    )]
    timezone: String,
    location: Option<Location>,
    #[schema(min_items = 1, max_items = 200)]
    sections: Vec<SectionBody>,
    /// The best place of the venue; best available looks around it.
    focal_point: Option<FocalPoint>,
    stage: Option<StageBody>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Location {
    #[schema(minimum = -90, maximum = 90)]
    lat: f64,
    #[schema(minimum = -180, maximum = 180)]
    lon: f64,
}

impl From<venue::Location> for Location {
    fn from(location: venue::Location) -> Self {
        Self {
            lat: location.lat,
            lon: location.lon,
        }
    }
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FocalPoint {
    #[schema(min_length = 1, max_length = 20)]
    section: String,
    /// `GA` in a general section.
    #[schema(min_length = 1, max_length = 10)]
    row: String,
    #[schema(minimum = 1, maximum = 100_000)]
    seat: u32,
}

impl FocalPoint {
    /// The parts of a seat id.
    pub(crate) fn of(seat_id: &str) -> Option<Self> {
        let mut parts = seat_id.split('-');
        Some(Self {
            section: parts.next()?.to_owned(),
            row: parts.next()?.to_owned(),
            seat: parts.next()?.parse().ok()?,
        })
    }
}

impl TryFrom<VenueBody> for NewVenue {
    type Error = Problem;

    fn try_from(body: VenueBody) -> Result<Self, Problem> {
        let location = |given: Location| venue::Location {
            lat: given.lat,
            lon: given.lon,
        };
        let seat_id = |at: FocalPoint| format!("{}-{}-{}", at.section, at.row, at.seat);
        let stage = body.stage.map(Stage::try_from).transpose();
        Ok(Self {
            name: body.name,
            city: body.city,
            address: body.address,
            timezone: body.timezone,
            location: body.location.map(location),
            sections: body.sections.into_iter().map(NewSection::from).collect(),
            focal_point: body.focal_point.map(seat_id),
            stage: stage.map_err(Problem::invalid)?,
        })
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VenueCreated {
    #[schema(value_type = VenueIdText)]
    venue_id: VenueId,
    places: u32,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Venue)]
pub(crate) struct VenueView {
    #[schema(value_type = VenueIdText)]
    venue_id: VenueId,
    name: String,
    city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    address: Option<String>,
    timezone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    location: Option<Location>,
    places: u32,
}

/// Create a venue
///
/// At most 100,000 places. The body may have 4 MiB. `stage` and the `shape` of sections
/// are a plan of the venue; without them pages draw one of their own.
#[utoipa::path(
    post,
    path = "/api/v1/venues",
    operation_id = "create_venue",
    security(("session" = [])),
    params(crate::schemas::IdempotencyKey),
    request_body = VenueBody,
    responses(
        (status = 201, description = "Created, or created before with this key", body = VenueCreated),
        (status = 422, description = "`idempotency_mismatch`"),
    )
)]
pub(crate) async fn create(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    OptionalKey(key): OptionalKey,
    LargeJson(body, request): LargeJson<VenueBody>,
) -> Result<(StatusCode, JsonAnswer<VenueCreated>), Problem> {
    let created = api
        .app
        .create_venue(&caller, body.try_into()?, key.as_ref(), request)
        .await?;
    let (venue_id, places) = created;
    Ok((
        StatusCode::CREATED,
        JsonAnswer(VenueCreated { venue_id, places }),
    ))
}

/// Read one of your venues
#[utoipa::path(
    get,
    path = "/api/v1/venues/{venue}",
    operation_id = "read_venue",
    security(("session" = [])),
    params(("venue" = VenueIdText, Path)),
    responses((status = 200, description = "The venue", body = VenueView))
)]
pub(crate) async fn read(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(venue): Path<VenueId>,
) -> Result<JsonAnswer<VenueView>, Problem> {
    let venue = api.app.venue(&caller, venue).await?;
    Ok(JsonAnswer(VenueView {
        venue_id: venue.id,
        name: venue.name,
        city: venue.city,
        address: venue.address,
        timezone: venue.timezone,
        location: venue.location.map(Location::from),
        places: venue.places,
    }))
}
