//! Where the places of a venue stand on its plan, in metres.
//!
//! On the plan x runs to the right and y down. A section stands at the point (x, y), the
//! middle of its front, and is turned about that point, clockwise. Not turned, it looks up
//! the plan: its rows run from left to right, and each is further down than the one before.
//! All is kept in whole millimetres, so that a layout can be compared and stored exactly.

use serde::{Deserialize, Serialize};

use super::Row;

/// The room that an aisle adds between two seats.
pub const AISLE_METRES: f64 = 1.2;
pub const MAX_AISLES: usize = 100;

const COORDINATES: (f64, f64) = (-1_000.0, 1_000.0);
const SIZES: (f64, f64) = (0.1, 1_000.0);
const PITCHES: (f64, f64) = (0.1, 10.0);
const CURVES: (f64, f64) = (0.0, 1_000.0);
const TURNS: (f64, f64) = (-360.0, 360.0);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}: a number from {least} to {most}")]
pub struct ShapeError {
    field: &'static str,
    least: f64,
    most: f64,
}

/// A number in thousandths, if it lies in its range. What is not finite does not.
fn thousandths(field: &'static str, value: f64, range: (f64, f64)) -> Result<i32, ShapeError> {
    let (least, most) = range;
    if !(least..=most).contains(&value) {
        return Err(ShapeError { field, least, most });
    }
    // At most a million: it fits.
    Ok((value * 1_000.0).round() as i32)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millimetres(i32);

impl Millimetres {
    pub fn metres(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

/// Clockwise, in thousandths of a degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Turn(i32);

impl Turn {
    pub fn degrees(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

/// A point of the plan, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// The stage: a rectangle, by its left upper corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    pub x: Millimetres,
    pub y: Millimetres,
    pub width: Millimetres,
    pub height: Millimetres,
}

/// A stage as somebody describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageMetres {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl TryFrom<StageMetres> for Stage {
    type Error = ShapeError;

    fn try_from(given: StageMetres) -> Result<Self, ShapeError> {
        let mm = |field, value, range| thousandths(field, value, range).map(Millimetres);
        Ok(Self {
            x: mm("stage.x", given.x, COORDINATES)?,
            y: mm("stage.y", given.y, COORDINATES)?,
            width: mm("stage.width", given.width, SIZES)?,
            height: mm("stage.height", given.height, SIZES)?,
        })
    }
}

impl Stage {
    pub fn middle(&self) -> Point {
        Point {
            x: self.x.metres() + self.width.metres() / 2.0,
            y: self.y.metres() + self.height.metres() / 2.0,
        }
    }
}

/// The area of a general section: a rectangle behind the middle of its front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorShape {
    pub x: Millimetres,
    pub y: Millimetres,
    pub turn: Turn,
    pub width: Millimetres,
    pub height: Millimetres,
}

/// A general section's area as somebody describes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorMetres {
    pub x: f64,
    pub y: f64,
    pub turn: f64,
    pub width: f64,
    pub height: f64,
}

impl TryFrom<FloorMetres> for FloorShape {
    type Error = ShapeError;

    fn try_from(given: FloorMetres) -> Result<Self, ShapeError> {
        let mm = |field, value, range| thousandths(field, value, range).map(Millimetres);
        Ok(Self {
            x: mm("shape.x", given.x, COORDINATES)?,
            y: mm("shape.y", given.y, COORDINATES)?,
            turn: Turn(thousandths("shape.turn", given.turn, TURNS)?),
            width: mm("shape.width", given.width, SIZES)?,
            height: mm("shape.height", given.height, SIZES)?,
        })
    }
}

/// Rows of seats, each with its middle on the axis of the section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsShape {
    /// The middle of the first row.
    pub x: Millimetres,
    pub y: Millimetres,
    pub turn: Turn,
    /// The radius of the first row's arc, whose centre lies in front of it; the other rows
    /// are arcs about the same centre. Zero: all rows are straight.
    pub curve: Millimetres,
    pub row_pitch: Millimetres,
    pub seat_pitch: Millimetres,
    /// An aisle follows the seat of each of these numbers, in every row that has it.
    pub aisles: Vec<u16>,
}

/// The shape of rows as somebody describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsMetres {
    pub x: f64,
    pub y: f64,
    pub turn: f64,
    pub curve: f64,
    pub row_pitch: f64,
    pub seat_pitch: f64,
    pub aisles: Vec<u16>,
}

impl TryFrom<RowsMetres> for RowsShape {
    type Error = ShapeError;

    fn try_from(given: RowsMetres) -> Result<Self, ShapeError> {
        let mm = |field, value, range| thousandths(field, value, range).map(Millimetres);
        Ok(Self {
            x: mm("shape.x", given.x, COORDINATES)?,
            y: mm("shape.y", given.y, COORDINATES)?,
            turn: Turn(thousandths("shape.turn", given.turn, TURNS)?),
            curve: mm("shape.curve", given.curve, CURVES)?,
            row_pitch: mm("shape.row_pitch", given.row_pitch, PITCHES)?,
            seat_pitch: mm("shape.seat_pitch", given.seat_pitch, PITCHES)?,
            aisles: given.aisles,
        })
    }
}

impl RowsShape {
    /// After how many of these seats an aisle follows: rising, and none at the end.
    pub(crate) fn aisles_in(&self, seats: &[u16]) -> Vec<usize> {
        let inner = 1..seats.len();
        inner
            .filter(|at| self.aisles.contains(&seats[at - 1]))
            .collect()
    }

    /// Whether the arc of this row, the `number`-th from 0, ends before it meets its beginning.
    pub(crate) fn has_room_for(&self, number: usize, row: &Row) -> bool {
        let length = self.length(row) + self.seat_pitch.metres();
        self.curve.0 == 0 || length <= std::f64::consts::TAU * self.radius(number)
    }

    /// The middle of the first row.
    pub fn front(&self) -> Point {
        self.placed(0.0, 0.0)
    }

    fn radius(&self, row: usize) -> f64 {
        self.curve.metres() + row as f64 * self.row_pitch.metres()
    }

    /// From the first seat of a row to its last, along the row.
    fn length(&self, row: &Row) -> f64 {
        let seats = row.seats.len().saturating_sub(1) as f64;
        seats * self.seat_pitch.metres() + row.aisles.len() as f64 * AISLE_METRES
    }

    /// Where a position of a row is, the `number`-th of its section from 0. Positions may
    /// lie between two seats: 2.5 is the middle of the seats at 2 and 3.
    pub fn point(&self, number: usize, row: &Row, position: f64) -> Point {
        let crossed = row.aisles.iter().filter(|at| (**at as f64) <= position);
        let along = position * self.seat_pitch.metres() + crossed.count() as f64 * AISLE_METRES;
        let along = along - self.length(row) / 2.0;
        let back = number as f64 * self.row_pitch.metres();
        let (across, back) = if self.curve.0 == 0 {
            (along, back)
        } else {
            let radius = self.radius(number);
            let (sin, cos) = (along / radius).sin_cos();
            (radius * sin, radius * cos - self.curve.metres())
        };
        self.placed(across, back)
    }

    /// A point of the section that is this far right of its axis and behind its front.
    fn placed(&self, across: f64, back: f64) -> Point {
        let (sin, cos) = self.turn.degrees().to_radians().sin_cos();
        Point {
            x: self.x.metres() + across * cos - back * sin,
            y: self.y.metres() + across * sin + back * cos,
        }
    }

    /// A distance that no position of this row is nearer to the point.
    pub fn least_distance(&self, number: usize, row: &Row, from: Point) -> f64 {
        if self.curve.0 == 0 {
            let (sin, cos) = self.turn.degrees().to_radians().sin_cos();
            let middle = self.placed(0.0, number as f64 * self.row_pitch.metres());
            let (dx, dy) = (from.x - middle.x, from.y - middle.y);
            let (across, back) = (dx * cos + dy * sin, dy * cos - dx * sin);
            let beyond = (across.abs() - self.length(row) / 2.0).max(0.0);
            beyond.hypot(back)
        } else {
            let centre = self.placed(0.0, -self.curve.metres());
            (centre.distance(from) - self.radius(number)).abs()
        }
    }
}
