//! The venues of the demo, with their plans: a concert hall, a theatre, an arena and a club.
//!
//! Lengths are in metres. The stage of each house lies above y = 0, in the middle of x.

use onsale_app::venues::{NewRow, NewSeats, NewSection, NewVenue, SeatMarks};
use onsale_domain::layout::{FloorMetres, RowsMetres, ShapeError, StageMetres};
use onsale_domain::venue::Location;

/// Between rows, and between seats.
const ROW_PITCH: f64 = 0.9;
const SEAT_PITCH: f64 = 0.55;

pub(super) fn all() -> Result<[NewVenue; 4], ShapeError> {
    Ok([concert_hall()?, theatre()?, arena()?, club()?])
}

/// Numbered rows, the first in front.
struct Rows {
    name: String,
    /// The numbers of the seats of each row.
    seats: Vec<Vec<u16>>,
    marks: SeatMarks,
    shape: RowsMetres,
}

impl Rows {
    fn new(name: impl Into<String>, seats: Vec<Vec<u16>>, shape: RowsMetres) -> Self {
        Self {
            name: name.into(),
            seats,
            marks: SeatMarks::default(),
            shape,
        }
    }

    fn id(&self, row: usize, seat: u16) -> String {
        format!("{}-{row}-{seat}", self.name)
    }

    /// Wheelchairs stand at these seats of a row.
    fn accessible(mut self, row: usize, seats: &[u16]) -> Self {
        let ids = seats.iter().map(|seat| self.id(row, *seat));
        self.marks.accessible = ids.collect();
        self
    }

    /// These seats of the same row are for those who come along.
    fn companions(mut self, row: usize, seats: &[u16]) -> Self {
        let ids = seats.iter().map(|seat| self.id(row, *seat));
        self.marks.companion = ids.collect();
        self
    }

    /// From the first and the last seats of every row, as many at each end, a part of the
    /// stage is hidden.
    fn restricted_ends(mut self, at_each_end: usize) -> Self {
        let mut ids = Vec::new();
        for (row, seats) in self.seats.iter().enumerate() {
            let ends = seats.iter().take(at_each_end);
            let ends = ends.chain(seats.iter().rev().take(at_each_end));
            ids.extend(ends.map(|seat| self.id(row + 1, *seat)));
        }
        ids.sort_unstable();
        ids.dedup();
        self.marks.restricted_view = ids;
        self
    }

    fn section(self) -> Result<NewSection, ShapeError> {
        let rows = self.seats.into_iter().enumerate();
        let rows = rows.map(|(row, seats)| NewRow {
            label: (row + 1).to_string(),
            seats: NewSeats::Numbers(seats),
        });
        Ok(NewSection::Seated {
            name: self.name,
            rows: rows.collect(),
            marks: self.marks,
            shape: Some(self.shape.try_into()?),
        })
    }
}

fn standing(name: &str, capacity: u32, floor: FloorMetres) -> Result<NewSection, ShapeError> {
    Ok(NewSection::General {
        name: name.to_owned(),
        capacity,
        shape: Some(floor.try_into()?),
    })
}

/// Rows that face the stage, as arcs of this radius or straight.
fn facing(y: f64, curve: f64, aisles: &[u16]) -> RowsMetres {
    RowsMetres {
        x: 0.0,
        y,
        turn: 0.0,
        curve,
        row_pitch: ROW_PITCH,
        seat_pitch: SEAT_PITCH,
        aisles: aisles.to_vec(),
    }
}

fn equal_rows(rows: usize, seats: u16) -> Vec<Vec<u16>> {
    vec![(1..=seats).collect(); rows]
}

/// A floor of 500 and 2,000 seats.
fn concert_hall() -> Result<NewVenue, ShapeError> {
    let stalls = Rows::new("Stalls", equal_rows(30, 40), facing(15.0, 42.0, &[10, 30]))
        .accessible(30, &[1, 2, 3, 4])
        .companions(30, &[5, 6]);
    let balcony = Rows::new("Balcony", equal_rows(20, 40), facing(45.0, 72.0, &[10, 30]));
    let floor = FloorMetres {
        x: 0.0,
        y: 2.0,
        turn: 0.0,
        width: 24.0,
        height: 10.0,
    };
    Ok(NewVenue {
        name: "Harbour Hall".to_owned(),
        city: "Hamburg".to_owned(),
        address: Some("Am Kai 1".to_owned()),
        timezone: "Europe/Berlin".to_owned(),
        location: Some(Location {
            lat: 53.5413,
            lon: 9.9841,
        }),
        sections: vec![
            standing("Floor", 500, floor)?,
            stalls.section()?,
            balcony.section()?,
        ],
        focal_point: Some("Stalls-6-20".to_owned()),
        stage: Some(stage(20.0, 9.0).try_into()?),
    })
}

fn stage(width: f64, height: f64) -> StageMetres {
    StageMetres {
        x: -width / 2.0,
        y: -height,
        width,
        height,
    }
}

/// The arcs of all rows of the theatre have this point of the stage as their centre.
const THEATRE_CENTRE: f64 = -8.0;
const THEATRE_BOXES: u16 = 8;

/// Stalls, circle and gallery of 804 seats, and eight boxes at the sides.
fn theatre() -> Result<NewVenue, ShapeError> {
    let around = |y: f64, aisles: &[u16]| facing(y, y - THEATRE_CENTRE, aisles);
    // The front rows are short: in each, seats are missing at both ends.
    let missing = |row: u16| 5u16.saturating_sub(row / 2);
    let stalls = (0..16).map(|row| (1 + missing(row)..=28 - missing(row)).collect());
    let stalls = Rows::new("Stalls", stalls.collect(), around(4.0, &[9, 19]))
        .accessible(16, &[1, 2, 27, 28])
        .companions(16, &[3, 26]);
    let circle = Rows::new("Circle", equal_rows(6, 36), around(21.0, &[9, 27]));
    let gallery = Rows::new("Gallery", equal_rows(5, 40), around(28.5, &[10, 30]));
    let mut sections = vec![
        stalls.section()?,
        circle.section()?,
        gallery.restricted_ends(3).section()?,
    ];
    for number in 1..=THEATRE_BOXES {
        sections.push(theatre_box(number)?);
    }
    Ok(NewVenue {
        name: "Théâtre du Canal".to_owned(),
        city: "Lyon".to_owned(),
        address: Some("14 quai des Lanternes".to_owned()),
        timezone: "Europe/Paris".to_owned(),
        location: Some(Location {
            lat: 45.7640,
            lon: 4.8357,
        }),
        sections,
        focal_point: Some("Stalls-7-14".to_owned()),
        stage: Some(stage(14.0, 7.0).try_into()?),
    })
}

/// Boxes 1 to 4 are on the left and 5 to 8 on the right, the first and the last nearest to
/// the stage. Those two see the stage from the side.
fn theatre_box(number: u16) -> Result<NewSection, ShapeError> {
    let half = THEATRE_BOXES / 2;
    let (side, place) = if number <= half {
        (-1.0, number - 1)
    } else {
        (1.0, THEATRE_BOXES - number)
    };
    let shape = RowsMetres {
        x: side * (11.5 + 0.5 * f64::from(place)),
        y: 3.0 + 4.0 * f64::from(place),
        turn: side * (12.0 * f64::from(place) - 80.0),
        curve: 0.0,
        row_pitch: ROW_PITCH,
        seat_pitch: 0.8,
        aisles: Vec::new(),
    };
    let rows = Rows::new(format!("Box {number}"), equal_rows(2, 3), shape);
    match place {
        0 => rows.restricted_ends(3).section(),
        _ => rows.section(),
    }
}

/// Where the blocks of a tier stand: along both sides of the floor, and in a half circle at
/// its end.
struct Tier {
    blocks: u16,
    first_number: u16,
    rows: usize,
    seats: u16,
    /// From the middle of the floor to the first row.
    away: f64,
    row_pitch: f64,
}

/// The length of the straight sides.
const SIDE: f64 = 50.0;
pub(super) const LOWER: u16 = 20;
pub(super) const UPPER: u16 = 24;

impl Tier {
    fn lower() -> Self {
        Self {
            blocks: LOWER,
            first_number: 101,
            rows: 14,
            seats: 17,
            away: 30.0,
            row_pitch: 0.85,
        }
    }

    fn upper() -> Self {
        Self {
            blocks: UPPER,
            first_number: 201,
            rows: 22,
            seats: 18,
            away: 45.0,
            row_pitch: 0.8,
        }
    }

    /// The middle of a block's first row, the `index`-th from the stage's left to its right.
    fn shape(&self, index: u16) -> RowsMetres {
        let bend = std::f64::consts::PI * self.away;
        let length = 2.0 * SIDE + bend;
        let along = (f64::from(index) + 0.5) * length / f64::from(self.blocks);
        let (x, y, turn, curve) = if along < SIDE {
            (-self.away, along, 90.0, 0.0)
        } else if along > SIDE + bend {
            (self.away, length - along, -90.0, 0.0)
        } else {
            let angle = (along - SIDE) / self.away - std::f64::consts::FRAC_PI_2;
            let (sin, cos) = angle.sin_cos();
            let (x, y) = (self.away * sin, SIDE + self.away * cos);
            (x, y, -angle.to_degrees(), self.away)
        };
        RowsMetres {
            x,
            y,
            turn,
            curve,
            row_pitch: self.row_pitch,
            seat_pitch: 0.5,
            aisles: Vec::new(),
        }
    }

    fn sections(&self) -> Result<Vec<NewSection>, ShapeError> {
        let block = |index: u16| {
            let name = block_name(self.first_number + index);
            let seats = equal_rows(self.rows, self.seats);
            let rows = Rows::new(name, seats, self.shape(index));
            let last = self.blocks - 1;
            // Beside the stage a part of it is hidden; opposite there is room for wheelchairs.
            if index == 0 || index == last {
                rows.restricted_ends(usize::from(self.seats)).section()
            } else if index == last / 2 {
                rows.accessible(1, &[1, 2, 5, 6])
                    .companions(1, &[3, 7])
                    .section()
            } else {
                rows.section()
            }
        };
        (0..self.blocks).map(block).collect()
    }
}

pub(super) fn block_name(number: u16) -> String {
    format!("Block {number}")
}

/// 20,000: two tiers of blocks around a standing floor.
fn arena() -> Result<NewVenue, ShapeError> {
    let area = |y: f64, height: f64| FloorMetres {
        x: 0.0,
        y,
        turn: 0.0,
        width: 44.0,
        height,
    };
    let mut sections = vec![
        standing("Front of stage", 1_000, area(2.0, 10.0))?,
        standing("Floor", 4_736, area(14.0, 44.0))?,
    ];
    sections.extend(Tier::lower().sections()?);
    sections.extend(Tier::upper().sections()?);
    Ok(NewVenue {
        name: "Lakeside Arena".to_owned(),
        city: "Vienna".to_owned(),
        address: Some("Seepromenade 20".to_owned()),
        timezone: "Europe/Vienna".to_owned(),
        location: Some(Location {
            lat: 48.2293,
            lon: 16.4134,
        }),
        sections,
        focal_point: Some("Block 110-4-9".to_owned()),
        stage: Some(stage(30.0, 12.0).try_into()?),
    })
}

/// Standing only: a floor and a gallery.
fn club() -> Result<NewVenue, ShapeError> {
    let area = |y: f64, height: f64| FloorMetres {
        x: 0.0,
        y,
        turn: 0.0,
        width: 12.0,
        height,
    };
    Ok(NewVenue {
        name: "Sala Marea".to_owned(),
        city: "Madrid".to_owned(),
        address: Some("Calle del Faro 9".to_owned()),
        timezone: "Europe/Madrid".to_owned(),
        location: Some(Location {
            lat: 40.4250,
            lon: -3.7000,
        }),
        sections: vec![
            standing("Floor", 320, area(1.0, 12.0))?,
            standing("Gallery", 80, area(15.0, 4.0))?,
        ],
        focal_point: None,
        stage: Some(stage(8.0, 4.0).try_into()?),
    })
}
