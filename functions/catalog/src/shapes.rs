//! Stage and shapes as they are written and read: metres on the plan of a venue.
//!
//! `domain/src/layout/shape.rs` has what they mean; the texts here say it to clients.

use onsale_domain::layout::{FloorMetres, FloorShape, RowsMetres, RowsShape, Stage, StageMetres};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const ROW_PITCH: f64 = 0.9;
const SEAT_PITCH: f64 = 0.55;

/// The stage on the plan: a rectangle, in metres. x runs to the right and y down.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Stage)]
pub(crate) struct StageBody {
    /// Its left edge.
    #[schema(minimum = -1000, maximum = 1000)]
    x: f64,
    /// Its upper edge.
    #[schema(minimum = -1000, maximum = 1000)]
    y: f64,
    #[schema(minimum = 0.1, maximum = 1000)]
    width: f64,
    #[schema(minimum = 0.1, maximum = 1000)]
    height: f64,
}

impl TryFrom<StageBody> for Stage {
    type Error = String;

    fn try_from(body: StageBody) -> Result<Self, String> {
        let StageBody {
            x,
            y,
            width,
            height,
        } = body;
        let given = StageMetres {
            x,
            y,
            width,
            height,
        };
        Self::try_from(given).map_err(|error| error.to_string())
    }
}

impl From<Stage> for StageBody {
    fn from(stage: Stage) -> Self {
        Self {
            x: stage.x.metres(),
            y: stage.y.metres(),
            width: stage.width.metres(),
            height: stage.height.metres(),
        }
    }
}

/// Where the rows of a section stand, in metres, kept to the millimetre. See `RowsShape`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewRowsShape)]
pub(crate) struct RowsShapeBody {
    #[schema(minimum = -1000, maximum = 1000)]
    x: f64,
    #[schema(minimum = -1000, maximum = 1000)]
    y: f64,
    #[schema(minimum = -360, maximum = 360, default = 0.0)]
    turn: Option<f64>,
    #[schema(minimum = 0, maximum = 1000, default = 0.0)]
    curve: Option<f64>,
    #[schema(minimum = 0.1, maximum = 10, default = 0.9)]
    row_pitch: Option<f64>,
    #[schema(minimum = 0.1, maximum = 10, default = 0.55)]
    seat_pitch: Option<f64>,
    /// Seat numbers, each once, each of a seat that some row has.
    #[schema(max_items = 100)]
    aisles: Option<Vec<u16>>,
}

impl TryFrom<RowsShapeBody> for RowsShape {
    type Error = String;

    fn try_from(body: RowsShapeBody) -> Result<Self, String> {
        let given = RowsMetres {
            x: body.x,
            y: body.y,
            turn: body.turn.unwrap_or_default(),
            curve: body.curve.unwrap_or_default(),
            row_pitch: body.row_pitch.unwrap_or(ROW_PITCH),
            seat_pitch: body.seat_pitch.unwrap_or(SEAT_PITCH),
            aisles: body.aisles.unwrap_or_default(),
        };
        Self::try_from(given).map_err(|error| error.to_string())
    }
}

/// Where the rows of a section stand, in metres. On the plan x runs to the right and y
/// down. Not turned, rows run from left to right, in the order of their seats; each has its
/// middle below the middle of the one before, and everybody looks up.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RowsShape)]
pub(crate) struct RowsShapeView {
    /// The middle of the first row; the section is turned about this point.
    x: f64,
    y: f64,
    /// Clockwise, in degrees.
    turn: f64,
    /// The radius of the first row's arc, measured from a centre in front of the row. Row k,
    /// counted from 0, is the arc of radius curve + k · row_pitch about the same centre, and
    /// its seats stand seat_pitch apart along it. 0: all rows are straight.
    curve: f64,
    /// From one row to the next.
    row_pitch: f64,
    /// From one seat to the next, along the row.
    seat_pitch: f64,
    /// In every row an aisle follows the seat with one of these numbers, if another seat
    /// comes after it. An aisle adds 1.2 m between the two. Seats with an aisle between
    /// them are not together.
    aisles: Vec<u16>,
}

impl From<&RowsShape> for RowsShapeView {
    fn from(shape: &RowsShape) -> Self {
        Self {
            x: shape.x.metres(),
            y: shape.y.metres(),
            turn: shape.turn.degrees(),
            curve: shape.curve.metres(),
            row_pitch: shape.row_pitch.metres(),
            seat_pitch: shape.seat_pitch.metres(),
            aisles: shape.aisles.clone(),
        }
    }
}

/// The area of a general section, in metres, kept to the millimetre. See `FloorShape`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewFloorShape)]
pub(crate) struct FloorShapeBody {
    #[schema(minimum = -1000, maximum = 1000)]
    x: f64,
    #[schema(minimum = -1000, maximum = 1000)]
    y: f64,
    #[schema(minimum = -360, maximum = 360, default = 0.0)]
    turn: Option<f64>,
    #[schema(minimum = 0.1, maximum = 1000)]
    width: f64,
    #[schema(minimum = 0.1, maximum = 1000)]
    height: f64,
}

impl TryFrom<FloorShapeBody> for FloorShape {
    type Error = String;

    fn try_from(body: FloorShapeBody) -> Result<Self, String> {
        let given = FloorMetres {
            x: body.x,
            y: body.y,
            turn: body.turn.unwrap_or_default(),
            width: body.width,
            height: body.height,
        };
        Self::try_from(given).map_err(|error| error.to_string())
    }
}

/// The area of a general section: a rectangle, in metres. Not turned, its front is its
/// upper edge.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FloorShape)]
pub(crate) struct FloorShapeView {
    /// The middle of its front; the section is turned about this point.
    x: f64,
    y: f64,
    /// Clockwise, in degrees.
    turn: f64,
    /// Along its front.
    width: f64,
    /// From its front to its back.
    height: f64,
}

impl From<&FloorShape> for FloorShapeView {
    fn from(shape: &FloorShape) -> Self {
        Self {
            x: shape.x.metres(),
            y: shape.y.metres(),
            turn: shape.turn.degrees(),
            width: shape.width.metres(),
            height: shape.height.metres(),
        }
    }
}

/// The shape of a section, by its kind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = SectionShape)]
pub(crate) enum ShapeView {
    Rows(RowsShapeView),
    Floor(FloorShapeView),
}
