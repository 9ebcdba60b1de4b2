//! The places of a show and their states.
//!
//! Everyone may keep these answers, so a published show is answered without looking
//! at who asks; only for a draft does the session count.

use std::sync::Arc;

use axum::Json as JsonAnswer;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use onsale_app::Error;
use onsale_domain::ids::ShowId;
use onsale_domain::layout::{Layout, PlaceIndex, Section};
use onsale_domain::map::{Counts, SeatMap};
use onsale_domain::show::{Show, StoredStatus};
use onsale_http::schemas::ShowIdText;
use onsale_http::{Api, MaybeLoggedIn, Path, Problem};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

const VERSION: HeaderName = HeaderName::from_static("onsale-version");
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ONE_SECOND: &str = "public, max-age=1";
/// What only the owner of a draft may see, nobody else's cache may keep.
const NOBODY: &str = "private, no-store";

fn cache_control(show: &Show, public: &'static str) -> [(HeaderName, &'static str); 1] {
    let value = if show.status == StoredStatus::Draft {
        NOBODY
    } else {
        public
    };
    [(header::CACHE_CONTROL, value)]
}

/// Reads as a stranger first, and as the caller only where a stranger sees nothing.
async fn visible_layout(
    api: &Api,
    id: ShowId,
    mut parts: Parts,
) -> Result<(Arc<Show>, Arc<Layout>), Problem> {
    match api.app.show_layout(id, None).await {
        Err(Error::NotFound(what)) => {
            let MaybeLoggedIn(caller) = MaybeLoggedIn::from_request_parts(&mut parts, api).await?;
            let caller = caller.ok_or(Error::NotFound(what))?;
            Ok(api.app.show_layout(id, Some(caller.account)).await?)
        }
        answer => Ok(answer?),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Seated,
    General,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LayoutRow)]
struct RowView {
    label: String,
    /// The index of its first place.
    first: u32,
    /// Seat numbers in the order they stand.
    seats: Vec<u16>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LayoutSection)]
struct SectionView {
    name: String,
    #[schema(inline)]
    kind: Kind,
    /// The index of its first place.
    first: u32,
    places: u32,
    /// Of a seated section.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    rows: Option<Vec<RowView>>,
    /// The ids of its accessible seats.
    accessible: Vec<String>,
}

/// The places of a show. Their indices run through the sections in order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Layout)]
pub(crate) struct LayoutView {
    places: u32,
    sections: Vec<SectionView>,
}

impl From<&Layout> for LayoutView {
    fn from(layout: &Layout) -> Self {
        let view = |section: &Section| section_view(layout, section);
        Self {
            places: layout.places(),
            sections: layout.sections().iter().map(view).collect(),
        }
    }
}

fn section_view(layout: &Layout, section: &Section) -> SectionView {
    let rows = section.rows().iter().map(|row| RowView {
        label: row.label.clone(),
        first: row.first,
        seats: row.seats.clone(),
    });
    let places = section.range().map(PlaceIndex);
    SectionView {
        name: section.name.clone(),
        kind: if section.is_general() {
            Kind::General
        } else {
            Kind::Seated
        },
        first: section.first,
        places: section.places,
        rows: (!section.is_general()).then(|| rows.collect()),
        accessible: places
            .filter(|place| layout.is_accessible(*place))
            .map(|place| layout.seat_id(place))
            .collect(),
    }
}

#[derive(Debug, Serialize, ToSchema)]
struct SectionAvailability {
    name: String,
    free: u32,
    held: u32,
    sold: u32,
    total: u32,
}

/// How many places are free. Places that are not for sale are in none of the counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Availability {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    /// When the places were read, in milliseconds since 1970.
    version: u64,
    free: u32,
    held: u32,
    sold: u32,
    total: u32,
    sections: Vec<SectionAvailability>,
}

impl Availability {
    fn new(show_id: ShowId, layout: &Layout, map: &SeatMap) -> Self {
        let section = |(section, counts): (&Section, &Counts)| SectionAvailability {
            name: section.name.clone(),
            free: counts.free,
            held: counts.held,
            sold: counts.sold,
            total: counts.total(),
        };
        let all = map.counts();
        Self {
            show_id,
            version: map.version.0,
            free: all.free,
            held: all.held,
            sold: all.sold,
            total: all.total(),
            sections: layout
                .sections()
                .iter()
                .zip(&map.sections)
                .map(section)
                .collect(),
        }
    }
}

/// The packed states: not JSON, so the document can only say that they are bytes.
#[derive(Debug)]
struct Bits;

impl PartialSchema for Bits {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
        RefOr::T(Schema::Object(bytes.build()))
    }
}

impl ToSchema for Bits {}

/// Read the places of a show
///
/// They never change.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/layout",
    operation_id = "readLayout",
    security((), ("session" = [])),
    params(("show" = ShowIdText, Path)),
    responses((
        status = 200,
        description = "The places",
        body = LayoutView,
        headers(("Cache-Control" = String, description = "For ever, once published")),
    ))
)]
pub(crate) async fn layout(
    State(api): State<Api>,
    Path(id): Path<ShowId>,
    parts: Parts,
) -> Result<impl IntoResponse, Problem> {
    let (show, layout) = visible_layout(&api, id, parts).await?;
    let view = LayoutView::from(layout.as_ref());
    Ok((cache_control(&show, FOR_EVER), JsonAnswer(view)))
}

/// Count the free, held and sold places of a show
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/availability",
    operation_id = "readAvailability",
    security((), ("session" = [])),
    params(("show" = ShowIdText, Path)),
    responses((status = 200, description = "At most about a second old", body = Availability))
)]
pub(crate) async fn counts(
    State(api): State<Api>,
    Path(id): Path<ShowId>,
    parts: Parts,
) -> Result<impl IntoResponse, Problem> {
    let (show, layout) = visible_layout(&api, id, parts).await?;
    let map = api.app.seat_map(&show, &layout).await?;
    api.app.follow_sold_out(&show, &map).await;
    let availability = Availability::new(id, &layout, &map);
    Ok((cache_control(&show, ONE_SECOND), JsonAnswer(availability)))
}

/// Read the state of every place, two bits each
///
/// Place i is bits 2·(i mod 4) and up of byte ⌊i/4⌋, least significant first: 0 free,
/// 1 held, 2 sold, 3 not for sale.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/availability.bin",
    operation_id = "readAvailabilityBits",
    security((), ("session" = [])),
    params(("show" = ShowIdText, Path)),
    responses((
        status = 200,
        description = "The states",
        body = Bits,
        content_type = "application/octet-stream",
        headers((
            "Onsale-Version" = u64,
            description = "When the places were read, in milliseconds since 1970"
        )),
    ))
)]
pub(crate) async fn bits(
    State(api): State<Api>,
    Path(id): Path<ShowId>,
    parts: Parts,
) -> Result<impl IntoResponse, Problem> {
    let (show, layout) = visible_layout(&api, id, parts).await?;
    let map = api.app.seat_map(&show, &layout).await?;
    api.app.follow_sold_out(&show, &map).await;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (VERSION, map.version.0.to_string()),
    ];
    Ok((cache_control(&show, ONE_SECOND), headers, map.bits.clone()))
}
