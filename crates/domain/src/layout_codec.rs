//! The stored form of a layout: compact, versioned, under one DynamoDB item.
//!
//! Seat numbers are kept as runs of consecutive numbers, so an ordinary row costs
//! its label and three bytes. Only a layout of thousands of rows with long labels and
//! scattered numbers can outgrow an item; such a one is refused.

use serde::{Deserialize, Serialize};

use crate::layout::{FloorShape, Layout, Mark, Row, RowsShape, Section, SectionKind, Stage};

const VERSION: u8 = 2;

/// A stored layout leaves room for its key under the 400 KB of an item.
pub const MAX_BYTES: usize = 400 * 1024 - 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored layout cannot be read: {0}")]
pub struct LayoutCodecError(String);

#[derive(Serialize, Deserialize)]
struct StoredRow {
    label: String,
    /// First number of a run and how many follow one by one.
    runs: Vec<(u16, u16)>,
}

#[derive(Serialize, Deserialize)]
enum StoredKind {
    Seated(Vec<StoredRow>, Option<RowsShape>),
    General(u32, Option<FloorShape>),
}

#[derive(Serialize, Deserialize)]
struct StoredLayout {
    sections: Vec<(String, StoredKind)>,
    /// For each of `MARKS` the gaps between the places that have it.
    marks: [Vec<u32>; MARKS.len()],
    focal: Option<u32>,
    stage: Option<Stage>,
}

/// In the order in which they are stored.
const MARKS: [Mark; 4] = [
    Mark::NotForSale,
    Mark::Accessible,
    Mark::Companion,
    Mark::RestrictedView,
];

fn runs_of(seats: &[u16]) -> Vec<(u16, u16)> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for &seat in seats {
        match runs.last_mut() {
            Some((start, count)) if start.checked_add(*count) == Some(seat) => *count += 1,
            _ => runs.push((seat, 1)),
        }
    }
    runs
}

/// The gaps between ascending indices: small numbers, one byte each.
fn gaps(marked: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut last = 0;
    marked
        .map(|place| place - std::mem::replace(&mut last, place))
        .collect()
}

fn from_gaps(gaps: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    gaps.iter()
        .map(|gap| {
            sum = sum.saturating_add(*gap);
            sum
        })
        .collect()
}

pub fn encode(layout: &Layout) -> Vec<u8> {
    let sections = layout
        .sections()
        .iter()
        .map(|section| {
            let kind = match &section.kind {
                SectionKind::General { capacity, shape } => {
                    StoredKind::General(*capacity, shape.clone())
                }
                SectionKind::Seated { rows, shape } => StoredKind::Seated(
                    rows.iter()
                        .map(|r| StoredRow {
                            label: r.label.clone(),
                            runs: runs_of(&r.seats),
                        })
                        .collect(),
                    shape.clone(),
                ),
            };
            (section.name.clone(), kind)
        })
        .collect();
    let marked = |mark| gaps(layout.marked(0..layout.places(), mark).map(|place| place.0));
    let stored = StoredLayout {
        sections,
        marks: MARKS.map(marked),
        focal: layout.focal().map(|f| f.0),
        stage: layout.stage(),
    };
    let mut bytes = vec![VERSION];
    // Writing plain values to a growing vector cannot fail.
    bytes.extend(postcard::to_allocvec(&stored).unwrap_or_default());
    bytes
}

pub fn decode(bytes: &[u8]) -> Result<Layout, LayoutCodecError> {
    let body = match bytes.split_first() {
        Some((&VERSION, body)) => body,
        Some((other, _)) => return Err(LayoutCodecError(format!("unknown version {other}"))),
        None => return Err(LayoutCodecError("it is empty".into())),
    };
    let stored: StoredLayout =
        postcard::from_bytes(body).map_err(|e| LayoutCodecError(e.to_string()))?;
    let mut next = 0u32;
    let mut sections = Vec::with_capacity(stored.sections.len());
    for (name, kind) in stored.sections {
        let first = next;
        let kind = match kind {
            StoredKind::General(capacity, shape) => {
                next += capacity;
                SectionKind::General { capacity, shape }
            }
            StoredKind::Seated(stored, shape) => {
                let mut rows = Vec::with_capacity(stored.len());
                for stored in stored {
                    let row = read_row(stored, next, shape.as_ref());
                    next += row.seats.len() as u32;
                    rows.push(row);
                }
                SectionKind::Seated { rows, shape }
            }
        };
        sections.push(Section {
            name,
            first,
            places: next - first,
            kind,
        });
    }
    let mut layout = Layout::assemble(sections).with_stage(stored.stage);
    for (mark, gaps) in MARKS.into_iter().zip(&stored.marks) {
        layout.mark(mark, from_gaps(gaps));
    }
    layout.set_focal(stored.focal);
    Ok(layout)
}

fn read_row(stored: StoredRow, first: u32, shape: Option<&RowsShape>) -> Row {
    let run = |(start, count): &(u16, u16)| {
        let start = *start;
        (0..*count).map(move |i| start.saturating_add(i))
    };
    let seats: Vec<u16> = stored.runs.iter().flat_map(run).collect();
    Row {
        label: stored.label,
        first,
        aisles: shape.map_or_else(Vec::new, |shape| shape.aisles_in(&seats)),
        seats,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{
        FloorMetres, MAX_PLACES, MAX_ROWS, RowsMetres, SectionSpec, SectionSpecKind, StageMetres,
    };

    fn layout(rows: Vec<(String, Vec<u16>)>) -> Layout {
        let first = format!("A-{}-{}", rows[0].0, rows[0].1[0]);
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(rows),
            not_for_sale: vec![first.clone()],
            accessible: vec![first],
            ..SectionSpec::default()
        };
        let floor = SectionSpec {
            name: "F".into(),
            kind: SectionSpecKind::General(40),
            not_for_sale: vec!["F-GA-3".into()],
            ..SectionSpec::default()
        };
        Layout::build(vec![section, floor], None).unwrap()
    }

    #[test]
    fn a_layout_reads_back_as_it_was() {
        let layout = layout(vec![
            ("1".into(), vec![1, 2, 5, 4, 9]),
            ("2".into(), (1..=300).collect()),
        ]);
        assert_eq!(decode(&encode(&layout)).unwrap(), layout);
    }

    #[test]
    fn shapes_stage_and_every_mark_read_back_as_they_were() {
        let rows = RowsMetres {
            x: -12.345,
            y: 6.5,
            turn: -17.25,
            curve: 20.0,
            row_pitch: 0.9,
            seat_pitch: 0.55,
            aisles: vec![2, 4],
        };
        let floor = FloorMetres {
            x: 0.0,
            y: 3.0,
            turn: 180.0,
            width: 20.0,
            height: 12.5,
        };
        let stage = StageMetres {
            x: -8.0,
            y: -6.0,
            width: 16.0,
            height: 6.0,
        };
        let seated = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(vec![("1".into(), (1..=6).collect())]),
            companion: vec!["A-1-2".into()],
            restricted_view: vec!["A-1-5".into(), "A-1-6".into()],
            shape: Some(rows.try_into().unwrap()),
            ..SectionSpec::default()
        };
        let standing = SectionSpec {
            name: "F".into(),
            kind: SectionSpecKind::General(40),
            floor: Some(floor.try_into().unwrap()),
            ..SectionSpec::default()
        };
        let layout = Layout::build(vec![seated, standing], Some("A-1-3")).unwrap();
        let layout = layout.with_stage(Some(stage.try_into().unwrap()));
        let bytes = encode(&layout);
        assert_eq!(decode(&bytes).unwrap(), layout);
        assert_eq!(layout.sections()[0].rows()[0].aisles, vec![2, 4]);
        assert!(bytes.len() < 100, "{}", bytes.len());
        for cut in 0..bytes.len() {
            let _ = decode(&bytes[..cut]);
        }
    }

    #[test]
    fn a_layout_of_scattered_numbers_in_many_rows_fits_one_item() {
        let per_row = MAX_PLACES / MAX_ROWS - 1;
        let rows = (0..MAX_ROWS)
            .map(|r| {
                (
                    format!("ROWROW{r:04}"),
                    (0..per_row as u16).map(|i| 9_000 - i * 200).collect(),
                )
            })
            .collect();
        let bytes = encode(&layout(rows));
        assert!(bytes.len() < MAX_BYTES, "{}", bytes.len());
    }

    #[test]
    fn damaged_bytes_are_an_error_and_never_a_panic() {
        let good = encode(&layout(vec![("1".into(), vec![1, 2])]));
        for cut in 0..good.len() {
            let _ = decode(&good[..cut]);
        }
        assert!(decode(&[]).is_err());
        assert!(decode(&[9, 9]).is_err());
    }
}
