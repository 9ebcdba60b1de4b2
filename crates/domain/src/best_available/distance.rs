//! How far places are from the focal point.

use crate::layout::{Layout, PlaceIndex};

/// Two neighbours in a row are one apart, two rows are farther than two seats.
const ROW_DISTANCE: u64 = 2;
/// A section away is farther than anything inside a section.
const SECTION_DISTANCE: u64 = 100_000;

/// From a section to the focal one.
pub(super) fn section_away(section: usize, focal: usize) -> u64 {
    section.abs_diff(focal) as u64 * SECTION_DISTANCE
}

/// From a row to the focal one, in half seats.
pub(super) fn row_away(row: usize, focal: usize) -> u64 {
    row.abs_diff(focal) as u64 * 2 * ROW_DISTANCE
}

/// How far, in half seats, the middle of a window is right of the middle of its row.
pub(super) fn side_of_middle(row_len: usize, start: usize, quantity: usize) -> i64 {
    (2 * start + quantity) as i64 - row_len as i64
}

/// How far the middle of these neighbours is from the focal point, for comparison only.
pub(crate) fn distance_to_focal(layout: &Layout, first: PlaceIndex, quantity: usize) -> u64 {
    let (focal_section, focal_row, focal_side) = focal_position(layout);
    let section = layout.section_at(first);
    let away = section_away(section, focal_section);
    let Some((row, position)) = layout.row_at(first) else {
        return away;
    };
    let rows = layout.sections()[section].rows();
    let number = rows.partition_point(|r| r.first < row.first);
    let side = side_of_middle(row.seats.len(), position, quantity);
    away + row_away(number, focal_row) + side.abs_diff(focal_side)
}

/// Section, row and side of the focal point; without one, the middle of the first row.
pub(super) fn focal_position(layout: &Layout) -> (usize, usize, i64) {
    let named = layout.focal().and_then(|place| {
        let section = layout.section_at(place);
        let (row, position) = layout.row_at(place)?;
        let rows = layout.sections()[section].rows();
        let number = rows.iter().position(|r| r.first == row.first)?;
        Some((
            section,
            number,
            side_of_middle(row.seats.len(), position, 1),
        ))
    });
    named.unwrap_or_else(|| {
        let first_seated = layout.sections().iter().position(|s| !s.is_general());
        (first_seated.unwrap_or(0), 0, 0)
    })
}
