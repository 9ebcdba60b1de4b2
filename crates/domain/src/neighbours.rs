//! One tap takes `quantity` neighbours and leaves no single seat.
//!
//! The seat page runs the same rule in JavaScript. Both are tested against
//! `tests/vectors/neighbours.json`: a change here is a change there.

use std::ops::Range;

/// A seat of the row as the person who taps sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    Free,
    /// Free, accessible or beside an accessible place: only for people who ask for it.
    Kept,
    /// Held, sold or not for sale.
    Taken,
}

/// Why other seats were taken than the nearest ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The nearest seats would have left a single seat.
    AvoidsSingle,
    /// A single seat is left, as it is with every other choice between these neighbours.
    SingleLeft,
}

impl Reason {
    pub fn code(self) -> &'static str {
        match self {
            Self::AvoidsSingle => "avoids_single",
            Self::SingleLeft => "single_left",
        }
    }
}

/// The seats `first..first + quantity`, as positions in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snap {
    pub first: usize,
    pub reason: Option<Reason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotFree,
    /// Only this many seats stand together around the tapped one.
    TooFew(usize),
}

/// A row, seen by the person who taps.
#[derive(Debug, Clone, Copy)]
pub struct TappedRow<'a> {
    pub seats: &'a [Seat],
    /// An aisle follows after so many seats of the row.
    pub aisles: &'a [usize],
    /// Whether the person asked for accessible places.
    pub asked: bool,
}

impl TappedRow<'_> {
    /// The window of `quantity` free neighbours for a tap on the seat at this position.
    ///
    /// Neighbours have no aisle and no taken seat between them. Kept seats belong to a
    /// window only if the tapped seat is one, which is then always in it, or if the person
    /// asked for them. Of all windows among these neighbours the best is the one that
    /// leaves the fewest single seats; then one with the tapped seat in it; then the
    /// nearest to having the tapped seat in its middle (of an even number, left of the
    /// middle); then the leftmost.
    pub fn snap(&self, tapped: usize, quantity: usize) -> Result<Snap, Refusal> {
        let quantity = quantity.max(1);
        let taps_kept = match self.seats.get(tapped) {
            Some(Seat::Free) => false,
            Some(Seat::Kept) => true,
            Some(Seat::Taken) | None => return Err(Refusal::NotFree),
        };
        let run = self.around(tapped, |seat| seat != Seat::Taken);
        let open = self.around(tapped, |seat| match seat {
            Seat::Free => true,
            Seat::Kept => self.asked || taps_kept,
            Seat::Taken => false,
        });
        let Some(last) = open
            .end
            .checked_sub(quantity)
            .filter(|at| *at >= open.start)
        else {
            return Err(Refusal::TooFew(open.len()));
        };
        let nearest = tapped
            .saturating_sub((quantity - 1) / 2)
            .clamp(open.start, last);
        let rank = |first: usize| {
            let window = first..first + quantity;
            let singles = singles_left(&run, &window, |at| self.seats[at] == Seat::Kept);
            let misses_the_tap = !window.contains(&tapped);
            (singles, misses_the_tap, first.abs_diff(nearest), first)
        };
        let windows = (open.start..=last).map(rank);
        let allowed = windows.filter(|(_, misses_the_tap, ..)| !(taps_kept && *misses_the_tap));
        let (singles, _, _, first) = allowed.min().unwrap_or_else(|| rank(nearest));
        let reason = if singles > 0 {
            Some(Reason::SingleLeft)
        } else {
            (first != nearest).then_some(Reason::AvoidsSingle)
        };
        Ok(Snap { first, reason })
    }

    /// The longest stretch around this position without an aisle in which every seat passes.
    fn around(&self, at: usize, passes: impl Fn(Seat) -> bool) -> Range<usize> {
        let joined = |right: usize| !self.aisles.contains(&right) && passes(self.seats[right]);
        let left = (1..=at)
            .rev()
            .take_while(|right| !self.aisles.contains(right) && passes(self.seats[right - 1]))
            .count();
        let right = (at + 1..self.seats.len())
            .take_while(|right| joined(*right))
            .count();
        at - left..at + right + 1
    }
}

/// How many single seats a window leaves of the run of free seats that it is in. A kept
/// place counts for nothing: a wheelchair user may well come alone.
pub fn singles_left(
    run: &Range<usize>,
    window: &Range<usize>,
    is_kept: impl Fn(usize) -> bool,
) -> u32 {
    let left = window.start - run.start == 1 && !is_kept(run.start);
    let right = run.end - window.end == 1 && !is_kept(window.end);
    u32::from(left) + u32::from(right)
}
