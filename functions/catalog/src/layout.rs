//! The places of a show: which there are, and where they stand.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use onsale_domain::ids::ShowId;
use onsale_domain::layout::{Layout, Mark, Row, Section, SectionKind};
use onsale_http::schemas::ShowIdText;
use onsale_http::{Api, Path, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::availability::{cache_control, visible_layout};
use crate::shapes::{ShapeView, StageBody};
use crate::venues::FocalPoint;

/// A version has one content for ever.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// What was asked for without one may be another version in a minute.
const ONE_MINUTE: &str = "public, max-age=60";

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

impl From<&Row> for RowView {
    fn from(row: &Row) -> Self {
        Self {
            label: row.label.clone(),
            first: row.first,
            seats: row.seats.clone(),
        }
    }
}

/// What is special about seats of a section. Seat ids.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SeatAttributes)]
struct AttributesView {
    /// Part of the stage cannot be seen from here.
    restricted_view: Vec<String>,
    /// For people who come with somebody in an accessible place.
    companion: Vec<String>,
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
    /// Left out where no seat has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    attributes: Option<AttributesView>,
    /// Where it stands, if the venue has a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    shape: Option<ShapeView>,
}

/// The places of a show. Their indices run through the sections in order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Layout)]
pub(crate) struct LayoutView {
    /// The version that this is.
    version: u32,
    places: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    stage: Option<StageBody>,
    /// The best place, if the venue names one; best available looks around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    focal_point: Option<FocalPoint>,
    sections: Vec<SectionView>,
}

impl LayoutView {
    fn new(version: u32, layout: &Layout) -> Self {
        let view = |section: &Section| section_view(layout, section);
        let focal = layout.focal().map(|place| layout.seat_id(place));
        Self {
            version,
            places: layout.places(),
            stage: layout.stage().map(StageBody::from),
            focal_point: focal.as_deref().and_then(FocalPoint::of),
            sections: layout.sections().iter().map(view).collect(),
        }
    }
}

fn section_view(layout: &Layout, section: &Section) -> SectionView {
    let ids = |mark| -> Vec<String> {
        let places = layout.marked(section.range(), mark);
        places.map(|place| layout.seat_id(place)).collect()
    };
    let attributes = AttributesView {
        restricted_view: ids(Mark::RestrictedView),
        companion: ids(Mark::Companion),
    };
    let has_attributes = !attributes.restricted_view.is_empty() || !attributes.companion.is_empty();
    let (kind, rows, shape) = match &section.kind {
        SectionKind::Seated { rows, shape } => (
            Kind::Seated,
            Some(rows.iter().map(RowView::from).collect()),
            shape.as_ref().map(|shape| ShapeView::Rows(shape.into())),
        ),
        SectionKind::General { shape, .. } => (
            Kind::General,
            None,
            shape.as_ref().map(|shape| ShapeView::Floor(shape.into())),
        ),
    };
    SectionView {
        name: section.name.clone(),
        kind,
        first: section.first,
        places: section.places,
        rows,
        accessible: ids(Mark::Accessible),
        attributes: has_attributes.then_some(attributes),
        shape,
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LayoutQuery {
    /// The `version` of the show: the answer may then be kept for ever.
    #[param(minimum = 1)]
    version: Option<u32>,
}

/// Read the places of a show
///
/// A version never changes. Without one the answer may be kept for a minute.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/layout",
    operation_id = "read_layout",
    security((), ("session" = [])),
    params(("show" = ShowIdText, Path), LayoutQuery),
    responses((
        status = 200,
        description = "The places",
        body = LayoutView,
        headers((
            "Cache-Control" = String,
            description = "Once published: for ever with a version, for a minute without"
        )),
    ))
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Path(id): Path<ShowId>,
    Query(query): Query<LayoutQuery>,
    parts: Parts,
) -> Result<impl IntoResponse, Problem> {
    let (show, layout) = visible_layout(&api, id, parts).await?;
    let version = show.layout_version();
    let kept = match query.version {
        None => ONE_MINUTE,
        Some(asked) if asked == version => FOR_EVER,
        Some(_) => return Err(Problem::no_such("version of this layout")),
    };
    let view = LayoutView::new(version, &layout);
    Ok((cache_control(&show, kept), JsonAnswer(view)))
}
