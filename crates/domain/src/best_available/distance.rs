//! How far places are from the focal point: in metres where the venue has a plan of all its
//! seats, in rows and seats otherwise.

use std::ops::Range;

use crate::layout::{Layout, PlaceIndex, Point, Row, RowsShape, SectionKind};

/// Two neighbours in a row are one apart, two rows are farther than two seats.
const ROW_DISTANCE: u64 = 2;
/// A section away is farther than anything inside a section.
const SECTION_DISTANCE: u64 = 100_000;
/// About half a seat, in millimetres.
const HALF_A_SEAT_MM: u64 = 250;

/// Distances of one layout. They compare with each other only.
#[derive(Debug)]
pub(crate) enum Measure<'a> {
    /// Half seats from a side of a row: the focal point.
    Seats {
        section: usize,
        row: usize,
        side: i64,
    },
    /// Millimetres from a point, and the shapes of the sections.
    Metres {
        focal: Point,
        shapes: Vec<Option<&'a RowsShape>>,
    },
}

impl<'a> Measure<'a> {
    pub(crate) fn of(layout: &'a Layout) -> Self {
        Self::in_metres(layout).unwrap_or_else(|| {
            let (section, row, side) = focal_position(layout);
            Self::Seats { section, row, side }
        })
    }

    /// Only where every seat is on the plan: distances of two kinds cannot be compared.
    fn in_metres(layout: &'a Layout) -> Option<Self> {
        let sections = layout.sections();
        let shape = |kind: &'a SectionKind| match kind {
            SectionKind::Seated { shape, .. } => shape.as_ref(),
            SectionKind::General { .. } => None,
        };
        let shapes: Vec<_> = sections.iter().map(|s| shape(&s.kind)).collect();
        let mut drawn = sections.iter().zip(&shapes);
        if !drawn.all(|(section, shape)| section.is_general() || shape.is_some()) {
            return None;
        }
        let seat = layout.focal().and_then(|place| {
            let section = layout.section_at(place);
            let (row, position) = layout.row_at(place)?;
            let number = number_of(layout, section, row);
            Some(shapes[section]?.point(number, row, position as f64))
        });
        let stage = || layout.stage().map(|stage| stage.middle());
        let first_row = || shapes.iter().flatten().next().map(|shape| shape.front());
        let focal = seat.or_else(stage).or_else(first_row)?;
        Some(Self::Metres { focal, shapes })
    }

    /// No window of this row is nearer.
    pub(super) fn of_row(&self, section: usize, number: usize, row: &Row) -> u64 {
        match self {
            Self::Seats {
                section: focal_section,
                row: focal_row,
                ..
            } => section_away(section, *focal_section) + row_away(number, *focal_row),
            Self::Metres { focal, shapes } => shapes[section].map_or(0, |shape| {
                // A millimetre less, since both are rounded.
                millimetres(shape.least_distance(number, row, *focal)).saturating_sub(1)
            }),
        }
    }

    /// The distance of the middle of these neighbours.
    pub(super) fn of_window(
        &self,
        section: usize,
        number: usize,
        row: &Row,
        window: &Range<usize>,
    ) -> u64 {
        match self {
            Self::Seats { side, .. } => {
                let away = side_of_middle(row.seats.len(), window.start, window.len());
                self.of_row(section, number, row) + away.abs_diff(*side)
            }
            Self::Metres { focal, shapes } => shapes[section].map_or(0, |shape| {
                let middle = window.start as f64 + (window.len() as f64 - 1.0) / 2.0;
                millimetres(shape.point(number, row, middle).distance(*focal))
            }),
        }
    }

    /// The distance of the middle of these neighbours; general places are beyond all seats.
    pub(crate) fn of_places(&self, layout: &Layout, places: &[u32]) -> u64 {
        let first = PlaceIndex(places.first().copied().unwrap_or_default());
        let section = layout.section_at(first);
        match layout.row_at(first) {
            Some((row, position)) => {
                let number = number_of(layout, section, row);
                let window = position..position + places.len();
                self.of_window(section, number, row, &window)
            }
            None => u64::MAX,
        }
    }

    /// A window over two blocks counts as half a seat farther.
    pub(super) fn of_crossing(&self, crosses: bool) -> u64 {
        match self {
            Self::Seats { .. } => u64::from(crosses),
            Self::Metres { .. } => u64::from(crosses) * HALF_A_SEAT_MM,
        }
    }
}

/// Distances on a plan are a few kilometres at most.
fn millimetres(metres: f64) -> u64 {
    (metres * 1_000.0).round() as u64
}

/// The number of a row in its section.
fn number_of(layout: &Layout, section: usize, row: &Row) -> usize {
    let rows = layout.sections()[section].rows();
    rows.partition_point(|r| r.first < row.first)
}

/// From a section to the focal one.
fn section_away(section: usize, focal: usize) -> u64 {
    section.abs_diff(focal) as u64 * SECTION_DISTANCE
}

/// From a row to the focal one, in half seats.
fn row_away(row: usize, focal: usize) -> u64 {
    row.abs_diff(focal) as u64 * 2 * ROW_DISTANCE
}

/// How far, in half seats, the middle of a window is right of the middle of its row.
fn side_of_middle(row_len: usize, start: usize, quantity: usize) -> i64 {
    (2 * start + quantity) as i64 - row_len as i64
}

/// Section, row and side of the focal point; without one, the middle of the first row.
fn focal_position(layout: &Layout) -> (usize, usize, i64) {
    let named = layout.focal().and_then(|place| {
        let section = layout.section_at(place);
        let (row, position) = layout.row_at(place)?;
        let side = side_of_middle(row.seats.len(), position, 1);
        Some((section, number_of(layout, section, row), side))
    });
    named.unwrap_or_else(|| {
        let first_seated = layout.sections().iter().position(|s| !s.is_general());
        (first_seated.unwrap_or(0), 0, 0)
    })
}
