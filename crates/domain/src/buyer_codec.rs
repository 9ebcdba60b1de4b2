//! The bytes of a buyer item: a version, then postcard. A few holds stay under 1 KB, so
//! that every write of a buyer costs one unit.

use crate::buyer::Buyer;
use crate::layout::PlaceIndex;
use crate::money::Cents;
use crate::room::opaque::PassId;

/// Entries and what was given back.
const PLAIN: u8 = 1;
/// The same, and the last pass: 16 bytes more.
const WITH_PASS: u8 = 2;
/// The same, with or without a pass, and which entries have prices of which point: a few
/// bytes each.
const WITH_POINTS: u8 = 3;
/// The same, and which entries began under which pass as long as that matters: 17 bytes
/// each.
const WITH_PASSES: u8 = 4;
/// The same, with or without passes and points, and what was paid before for which places
/// of which entries: a few bytes each.
const WITH_FACE_VALUES: u8 = 5;

impl Buyer {
    pub fn encode(&self) -> Vec<u8> {
        let (entries, given_back) = (&self.entries, &self.given_back);
        let points = self.points();
        let passes = self.passes();
        let face_values = self.face_values();
        let (version, body) = match self.last_pass {
            pass if !face_values.is_empty() => (
                WITH_FACE_VALUES,
                postcard::to_allocvec(&(entries, given_back, pass, points, passes, face_values)),
            ),
            pass if !passes.is_empty() => (
                WITH_PASSES,
                postcard::to_allocvec(&(entries, given_back, pass, points, passes)),
            ),
            pass if !points.is_empty() => (
                WITH_POINTS,
                postcard::to_allocvec(&(entries, given_back, pass, points)),
            ),
            None => (PLAIN, postcard::to_allocvec(&(entries, given_back))),
            Some(pass) => (
                WITH_PASS,
                postcard::to_allocvec(&(entries, given_back, pass)),
            ),
        };
        let mut bytes = vec![version];
        // Writing plain values to a growing vector cannot fail.
        bytes.extend(body.unwrap_or_default());
        bytes
    }

    pub fn decode(version: u64, bytes: &[u8]) -> Option<Self> {
        let mut buyer = Self {
            version,
            ..Self::default()
        };
        let mut points: Vec<(u32, u32)> = Vec::new();
        let mut passes: Vec<(u32, PassId)> = Vec::new();
        let mut face_values: Vec<(u32, PlaceIndex, Cents)> = Vec::new();
        match bytes.split_first()? {
            (&PLAIN, body) => {
                (buyer.entries, buyer.given_back) = postcard::from_bytes(body).ok()?;
            }
            (&WITH_PASS, body) => {
                let pass;
                (buyer.entries, buyer.given_back, pass) = postcard::from_bytes(body).ok()?;
                buyer.last_pass = Some(pass);
            }
            (&WITH_POINTS, body) => {
                (buyer.entries, buyer.given_back, buyer.last_pass, points) =
                    postcard::from_bytes(body).ok()?;
            }
            (&WITH_PASSES, body) => {
                (
                    buyer.entries,
                    buyer.given_back,
                    buyer.last_pass,
                    points,
                    passes,
                ) = postcard::from_bytes(body).ok()?;
            }
            (&WITH_FACE_VALUES, body) => {
                (
                    buyer.entries,
                    buyer.given_back,
                    buyer.last_pass,
                    points,
                    passes,
                    face_values,
                ) = postcard::from_bytes(body).ok()?;
            }
            _ => return None,
        }
        for (index, point) in points {
            buyer.entries.get_mut(index as usize)?.point = Some(point);
        }
        for (index, pass) in passes {
            buyer.entries.get_mut(index as usize)?.pass = Some(pass);
        }
        for (index, place, paid) in face_values {
            let entry = buyer.entries.get_mut(index as usize)?;
            entry.face_values.push((place, paid));
        }
        Some(buyer)
    }

    /// The passes of entries that may still end in an order, by their places in the list.
    fn passes(&self) -> Vec<(u32, PassId)> {
        let entries = (0u32..).zip(&self.entries);
        entries
            .filter(|(_, entry)| !entry.state.is_ended())
            .filter_map(|(index, entry)| Some((index, entry.pass?)))
            .collect()
    }

    /// The entries at prices of a point, by their places in the list.
    fn points(&self) -> Vec<(u32, u32)> {
        let entries = (0u32..).zip(&self.entries);
        entries
            .filter_map(|(index, entry)| Some((index, entry.point?)))
            .collect()
    }

    /// What was paid before for places of these entries, by their places in the list.
    fn face_values(&self) -> Vec<(u32, PlaceIndex, Cents)> {
        let entries = (0u32..).zip(&self.entries);
        entries
            .flat_map(|(index, entry)| {
                let paid = entry.face_values.iter();
                paid.map(move |(place, paid)| (index, *place, *paid))
            })
            .collect()
    }
}
