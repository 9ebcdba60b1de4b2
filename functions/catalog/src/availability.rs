//! The states of a show's places.
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
use onsale_domain::layout::{Layout, Section};
use onsale_domain::map::{Counts, SeatMap};
use onsale_domain::show::{Show, StoredStatus};
use onsale_http::schemas::ShowIdText;
use onsale_http::{Api, MaybeLoggedIn, Path, Problem};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

const VERSION: HeaderName = HeaderName::from_static("onsale-version");
const ONE_SECOND: &str = "public, max-age=1";
/// What only the owner of a draft may see, nobody else's cache may keep.
const NOBODY: &str = "private, no-store";

pub(crate) fn cache_control(show: &Show, public: &'static str) -> [(HeaderName, &'static str); 1] {
    let value = if show.status == StoredStatus::Draft {
        NOBODY
    } else {
        public
    };
    [(header::CACHE_CONTROL, value)]
}

/// Reads as a stranger first, and as the caller only where a stranger sees nothing.
pub(crate) async fn visible_layout(
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

/// Count the free, held and sold places of a show
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/availability",
    operation_id = "read_availability",
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
    operation_id = "read_availability_bits",
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
