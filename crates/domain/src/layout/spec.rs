//! What an organiser says of a venue, and the layout that comes of it.

use std::collections::HashSet;

use super::{
    FloorShape, Layout, MAX_AISLES, MAX_PLACES, MAX_ROW_SEATS, MAX_ROWS, MAX_SEAT_NUMBER,
    MAX_SECTIONS, Mark, PlaceIndex, Row, RowsShape, Section, SectionKind,
};

/// What an organiser says of a section. Marks are lists of seat ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionSpec {
    pub name: String,
    pub kind: SectionSpecKind,
    pub not_for_sale: Vec<String>,
    pub accessible: Vec<String>,
    pub companion: Vec<String>,
    pub restricted_view: Vec<String>,
    /// Where its rows stand; counts for a section with rows only.
    pub shape: Option<RowsShape>,
    /// The area of a general section; counts there only.
    pub floor: Option<FloorShape>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionSpecKind {
    /// Rows of a label and the seat numbers in order.
    Seated(Vec<(String, Vec<u16>)>),
    General(u32),
}

impl Default for SectionSpecKind {
    fn default() -> Self {
        Self::Seated(Vec::new())
    }
}

impl SectionSpec {
    /// Every list of marks with what it says of its seats.
    fn marks(&self) -> [(Mark, &[String]); 4] {
        [
            (Mark::NotForSale, &self.not_for_sale),
            (Mark::Accessible, &self.accessible),
            (Mark::Companion, &self.companion),
            (Mark::RestrictedView, &self.restricted_view),
        ]
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("a venue needs at least one section and at most {MAX_SECTIONS}")]
    SectionCount,
    #[error("section name {0:?} is not 1–20 letters, digits or spaces")]
    SectionName(String),
    #[error("section {0:?} appears twice")]
    DuplicateSection(String),
    #[error("row label {0:?} is not 1–10 letters or digits, or is the reserved GA")]
    RowLabel(String),
    #[error("row {row:?} appears twice in section {section:?}")]
    DuplicateRow { section: String, row: String },
    #[error(
        "row {row:?} of section {section:?} has no seats, more than {MAX_ROW_SEATS}, a seat twice, or a number outside 1–{MAX_SEAT_NUMBER}"
    )]
    SeatNumbers { section: String, row: String },
    #[error("section {0:?} has no places")]
    EmptySection(String),
    #[error("a venue has at most {MAX_PLACES} places")]
    TooManyPlaces,
    #[error("a venue has at most {MAX_ROWS} rows")]
    TooManyRows,
    #[error("{0:?} is not a seat of section {1:?}")]
    UnknownSeat(String, String),
    #[error(
        "section {0:?} has more than {MAX_AISLES} aisles, one twice, or one after a seat that no row has"
    )]
    Aisles(String),
    #[error("the rows of section {0:?} are too long for their curve: an arc ends where it began")]
    Curve(String),
    #[error("the focal point is not a seat of this venue")]
    FocalPoint,
}

fn is_section_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=20).contains(&length)
        && name.chars().all(|c| c.is_alphanumeric() || c == ' ')
        && name.trim() == name
}

fn is_row_label(label: &str) -> bool {
    let length = label.chars().count();
    (1..=10).contains(&length) && label.chars().all(char::is_alphanumeric) && label != "GA"
}

impl Layout {
    /// Builds the layout that an organiser describes, or says what is wrong with it.
    pub fn build(specs: Vec<SectionSpec>, focal: Option<&str>) -> Result<Self, LayoutError> {
        if specs.is_empty() || specs.len() > MAX_SECTIONS {
            return Err(LayoutError::SectionCount);
        }
        let mut sections: Vec<Section> = Vec::with_capacity(specs.len());
        let mut names = HashSet::new();
        let (mut next, mut rows_in_all) = (0usize, 0usize);
        for spec in &specs {
            if !is_section_name(&spec.name) {
                return Err(LayoutError::SectionName(spec.name.clone()));
            }
            if !names.insert(spec.name.clone()) {
                return Err(LayoutError::DuplicateSection(spec.name.clone()));
            }
            if let SectionSpecKind::Seated(rows) = &spec.kind {
                rows_in_all += rows.len();
                if rows_in_all > MAX_ROWS {
                    return Err(LayoutError::TooManyRows);
                }
            }
            let section = build_section(spec, next)?;
            next += section.places as usize;
            if next > MAX_PLACES {
                return Err(LayoutError::TooManyPlaces);
            }
            sections.push(section);
        }
        let mut layout = Self::assemble(sections);
        for spec in &specs {
            for (mark, seats) in spec.marks() {
                for seat in seats {
                    let place = layout.seat_of_section(&spec.name, seat)?;
                    layout.mark(mark, [place.0]);
                }
            }
        }
        if let Some(seat) = focal {
            let place = layout.find(seat).ok_or(LayoutError::FocalPoint)?;
            layout.focal = Some(place);
        }
        Ok(layout)
    }

    fn seat_of_section(&self, section: &str, seat: &str) -> Result<PlaceIndex, LayoutError> {
        let unknown = || LayoutError::UnknownSeat(seat.to_owned(), section.to_owned());
        let place = self.find(seat).ok_or_else(unknown)?;
        let own = self.sections[self.section_at(place)].name == section;
        if own { Ok(place) } else { Err(unknown()) }
    }
}

fn build_section(spec: &SectionSpec, first: usize) -> Result<Section, LayoutError> {
    let first = u32::try_from(first).map_err(|_| LayoutError::TooManyPlaces)?;
    let kind = match &spec.kind {
        SectionSpecKind::General(capacity) => {
            if *capacity as usize > MAX_PLACES {
                return Err(LayoutError::TooManyPlaces);
            }
            SectionKind::General {
                capacity: *capacity,
                shape: spec.floor.clone(),
            }
        }
        SectionSpecKind::Seated(rows) => SectionKind::Seated {
            rows: build_rows(spec, rows, first)?,
            shape: spec.shape.clone(),
        },
    };
    let places = match &kind {
        SectionKind::General { capacity, .. } => *capacity,
        SectionKind::Seated { rows, .. } => rows.iter().map(|r| r.seats.len() as u32).sum(),
    };
    if places == 0 {
        return Err(LayoutError::EmptySection(spec.name.clone()));
    }
    Ok(Section {
        name: spec.name.clone(),
        first,
        places,
        kind,
    })
}

fn build_rows(
    spec: &SectionSpec,
    rows: &[(String, Vec<u16>)],
    first: u32,
) -> Result<Vec<Row>, LayoutError> {
    let (section, shape) = (&spec.name, spec.shape.as_ref());
    if shape.is_some_and(|shape| !has_sound_aisles(shape, rows)) {
        return Err(LayoutError::Aisles(section.clone()));
    }
    let mut labels = HashSet::new();
    let mut next = first;
    let mut built = Vec::with_capacity(rows.len());
    for (label, seats) in rows {
        if !is_row_label(label) {
            return Err(LayoutError::RowLabel(label.clone()));
        }
        if !labels.insert(label) {
            return Err(LayoutError::DuplicateRow {
                section: section.clone(),
                row: label.clone(),
            });
        }
        let distinct: HashSet<_> = seats.iter().collect();
        let numbered = seats.iter().all(|n| (1..=MAX_SEAT_NUMBER).contains(n));
        let fits = (1..=MAX_ROW_SEATS).contains(&seats.len());
        if !fits || distinct.len() != seats.len() || !numbered {
            return Err(LayoutError::SeatNumbers {
                section: section.clone(),
                row: label.clone(),
            });
        }
        let row = Row {
            label: label.clone(),
            first: next,
            seats: seats.clone(),
            aisles: shape.map_or_else(Vec::new, |shape| shape.aisles_in(seats)),
        };
        if shape.is_some_and(|shape| !shape.has_room_for(built.len(), &row)) {
            return Err(LayoutError::Curve(section.clone()));
        }
        built.push(row);
        next += seats.len() as u32;
        if next as usize > MAX_PLACES {
            return Err(LayoutError::TooManyPlaces);
        }
    }
    Ok(built)
}

/// Whether every aisle follows a seat that some row has, and is named once.
fn has_sound_aisles(shape: &RowsShape, rows: &[(String, Vec<u16>)]) -> bool {
    if shape.aisles.len() > MAX_AISLES {
        return false;
    }
    let numbers: HashSet<u16> = rows.iter().flat_map(|(_, seats)| seats).copied().collect();
    let mut seen = HashSet::new();
    let sound = |after: &u16| seen.insert(*after) && numbers.contains(after);
    shape.aisles.iter().all(sound)
}
