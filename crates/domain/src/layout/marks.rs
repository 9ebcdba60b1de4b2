//! What is special about places: not for sale, accessible, for companions, with less of a view.

use super::{Layout, PlaceIndex};

/// What is special about a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    NotForSale,
    /// For people in a wheelchair.
    Accessible,
    /// For people who come with somebody in an accessible place.
    Companion,
    RestrictedView,
}

impl Mark {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl Layout {
    /// Indices that are no place are passed over.
    pub(crate) fn mark(&mut self, mark: Mark, places: impl IntoIterator<Item = u32>) {
        for place in places {
            if let Some(marks) = self.marks.get_mut(place as usize) {
                *marks |= mark.bit();
                self.keeps_any |= matches!(mark, Mark::Accessible | Mark::Companion);
            }
        }
    }

    pub fn has(&self, place: PlaceIndex, mark: Mark) -> bool {
        let marks = self.marks.get(place.at());
        marks.is_some_and(|marks| marks & mark.bit() != 0)
    }

    /// Those of these places that have this mark.
    pub fn marked(
        &self,
        places: std::ops::Range<u32>,
        mark: Mark,
    ) -> impl Iterator<Item = PlaceIndex> {
        places
            .map(PlaceIndex)
            .filter(move |place| self.has(*place, mark))
    }

    pub fn is_for_sale(&self, place: PlaceIndex) -> bool {
        place.0 < self.places && !self.has(place, Mark::NotForSale)
    }

    pub fn is_accessible(&self, place: PlaceIndex) -> bool {
        self.has(place, Mark::Accessible)
    }

    /// Whether it is kept for people who ask for an accessible place.
    pub fn is_kept(&self, place: PlaceIndex) -> bool {
        self.has(place, Mark::Accessible) || self.has(place, Mark::Companion)
    }

    /// Whether it keeps any place for people who ask for an accessible one.
    pub fn keeps_any(&self) -> bool {
        self.keeps_any
    }
}
