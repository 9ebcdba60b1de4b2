//! The stored form of a layout: compact, versioned, under one DynamoDB item.
//!
//! Seat numbers are kept as runs of consecutive numbers, so an ordinary row costs
//! its label and three bytes. Only a layout of thousands of rows with long labels and
//! scattered numbers can outgrow an item; such a one is refused.

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, PlaceIndex, Row, Section, SectionKind};

const VERSION: u8 = 1;

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
    Seated(Vec<StoredRow>),
    General(u32),
}

#[derive(Serialize, Deserialize)]
struct StoredLayout {
    sections: Vec<(String, StoredKind)>,
    not_for_sale: Vec<u32>,
    accessible: Vec<u32>,
    focal: Option<u32>,
}

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
                SectionKind::General { capacity } => StoredKind::General(*capacity),
                SectionKind::Seated { rows } => StoredKind::Seated(
                    rows.iter()
                        .map(|r| StoredRow {
                            label: r.label.clone(),
                            runs: runs_of(&r.seats),
                        })
                        .collect(),
                ),
            };
            (section.name.clone(), kind)
        })
        .collect();
    let all = || (0..layout.places()).map(PlaceIndex);
    let stored = StoredLayout {
        sections,
        not_for_sale: gaps(all().filter(|p| !layout.is_for_sale(*p)).map(|p| p.0)),
        accessible: gaps(all().filter(|p| layout.is_accessible(*p)).map(|p| p.0)),
        focal: layout.focal().map(|f| f.0),
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
            StoredKind::General(capacity) => {
                next += capacity;
                SectionKind::General { capacity }
            }
            StoredKind::Seated(rows) => SectionKind::Seated {
                rows: rows
                    .into_iter()
                    .map(|row| {
                        let seats: Vec<u16> = row
                            .runs
                            .iter()
                            .flat_map(|(start, count)| {
                                (0..*count).map(move |i| start.saturating_add(i))
                            })
                            .collect();
                        let row = Row {
                            label: row.label,
                            first: next,
                            seats,
                        };
                        next += row.seats.len() as u32;
                        row
                    })
                    .collect(),
            },
        };
        sections.push(Section {
            name,
            first,
            places: next - first,
            kind,
        });
    }
    let mut layout = Layout::assemble(sections);
    layout.mark(
        &from_gaps(&stored.not_for_sale),
        &from_gaps(&stored.accessible),
        stored.focal,
    );
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{MAX_PLACES, MAX_ROWS, SectionSpec, SectionSpecKind};

    fn layout(rows: Vec<(String, Vec<u16>)>) -> Layout {
        let first = format!("A-{}-{}", rows[0].0, rows[0].1[0]);
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(rows),
            not_for_sale: vec![first.clone()],
            accessible: vec![first],
        };
        let floor = SectionSpec {
            name: "F".into(),
            kind: SectionSpecKind::General(40),
            not_for_sale: vec!["F-GA-3".into()],
            accessible: vec![],
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
