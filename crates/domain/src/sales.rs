//! What a show has sold, in tickets and in money.
//!
//! Every order leaves at most two lines of its own: one when it is confirmed, one when it
//! ends after its money was taken; and one whenever places of it were resold. What a line says follows from the order alone, and so does its
//! place, so writing it again changes nothing. Lines are kept for good; those that are old
//! enough are added up in a book, so that nobody reads all of them again.
//!
//! The currency of a show is fixed before anything is sold, so a line needs none.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::ids::{OrderId, ShowId};
use crate::money::Cents;
use crate::order::{Order, OrderedSeat};
use crate::time::{CLOCK_SKEW_MS, Millis};

/// A line is added to the book this long after the time it bears. Whoever writes one later
/// than that says so, and the book begins anew.
pub const FOLD_AFTER_MS: u64 = 20_000;
/// Of how many minutes in which something happened the figures are kept, the latest ones.
pub const MINUTES_KEPT: usize = 120;
const MINUTE_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Tickets that were sold, and those of them that were taken back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tickets: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returned: u64,
    /// Money that was taken, and what of it was paid back.
    #[serde(default)]
    pub gross: Cents,
    #[serde(default)]
    pub refunds: Cents,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Figures {
    /// What stays with the organiser.
    pub fn net(&self) -> Cents {
        Cents(self.gross.0.saturating_sub(self.refunds.0))
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, more: Self) {
        self.tickets += more.tickets;
        self.returned += more.returned;
        self.gross.0 += more.gross.0;
        self.refunds.0 += more.refunds.0;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Sold,
    /// Places were bought by somebody else, and paid back.
    Resold,
    Ended,
}

impl LineKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sold => "sold",
            Self::Resold => "resold",
            Self::Ended => "ended",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleLine {
    pub at: Millis,
    pub order: OrderId,
    pub kind: LineKind,
    /// Whether this is the only or the first line of its order.
    pub first: bool,
    pub sections: BTreeMap<String, Figures>,
}

impl SaleLine {
    /// Where it stands among the lines of its show: by time, and each once.
    pub fn place(&self) -> String {
        format!("{}#{}#{}", before(self.at), self.order, self.kind.as_str())
    }

    /// Whether the book may have been closed over its time when it was written. `written`
    /// is the time after the write. Whoever adds lines up leaves out those that are younger
    /// than `FOLD_AFTER_MS`, by a clock that may be ahead of this one by the skew.
    pub fn came_late(&self, written: Millis) -> bool {
        written + CLOCK_SKEW_MS >= self.at + FOLD_AFTER_MS
    }
}

/// Sorts before the place of every line of this time, and after those of all before.
pub fn before(at: Millis) -> String {
    format!("{:015}", at.0)
}

impl Order {
    /// The lines that this order has left by now. Only orders whose money was taken have
    /// any; one without a price is as good as paid.
    pub fn sale_lines(&self) -> Vec<SaleLine> {
        let line = |at, kind, first, sections| SaleLine {
            at,
            order: self.id,
            kind,
            first,
            sections,
        };
        let mut lines = Vec::new();
        if let Some(at) = self.sold_at {
            let sections = by_section(&self.seats, sold);
            lines.push(line(at, LineKind::Sold, true, sections));
        }
        if let (Some(at), Some(undo), true) = (self.ended_at, &self.undo, self.captured) {
            // An order that was called off before its tickets existed was never told of.
            let untold = self.sold_at.is_none();
            // What was resold and paid back has left its lines.
            let repaid = |place| self.resold.iter().any(|r| r.place == place && r.repaid);
            let mut rest = self.seats.clone();
            rest.retain(|seat| !repaid(seat.place));
            let mut back = shares(&rest, undo.refund).into_iter();
            let sections = by_section(&rest, |seat| {
                let mut figures = if untold {
                    sold(seat)
                } else {
                    Figures::default()
                };
                figures.returned = 1;
                figures.refunds = back.next().unwrap_or_default();
                figures
            });
            lines.push(line(at, LineKind::Ended, untold, sections));
        }
        lines.extend(self.resold_lines());
        lines
    }

    /// One line for each sale of places to somebody else.
    fn resold_lines(&self) -> impl Iterator<Item = SaleLine> {
        let repaid = self.resold.iter().filter(|resold| resold.repaid);
        let times: BTreeSet<Millis> = repaid.map(|resold| resold.at).collect();
        times.into_iter().map(|at| {
            let of_sale = |place| self.resold.iter().any(|r| r.at == at && r.place == place);
            let mut seats = self.seats.clone();
            seats.retain(|seat| of_sale(seat.place));
            let sections = by_section(&seats, |seat| Figures {
                returned: 1,
                refunds: seat.price,
                ..Figures::default()
            });
            SaleLine {
                at,
                order: self.id,
                kind: LineKind::Resold,
                first: false,
                sections,
            }
        })
    }
}

fn sold(seat: &OrderedSeat) -> Figures {
    Figures {
        tickets: 1,
        gross: seat.price,
        ..Figures::default()
    }
}

fn by_section(
    seats: &[OrderedSeat],
    mut figures: impl FnMut(&OrderedSeat) -> Figures,
) -> BTreeMap<String, Figures> {
    let mut sections: BTreeMap<String, Figures> = BTreeMap::new();
    for seat in seats {
        let section = section_of(&seat.seat).to_owned();
        *sections.entry(section).or_default() += figures(seat);
    }
    sections
}

/// The section of a seat id: names of sections have no hyphen.
pub fn section_of(seat: &str) -> &str {
    seat.split_once('-').map_or(seat, |(section, _)| section)
}

/// A refund spread over the seats by their prices, to the cent: the shares add up to it.
fn shares(seats: &[OrderedSeat], refund: Cents) -> Vec<Cents> {
    let total: u128 = seats.iter().map(|seat| u128::from(seat.price.0)).sum();
    let up_to = |paid: u128| match total {
        0 => 0,
        total => u128::from(refund.0) * paid / total,
    };
    let mut paid = 0u128;
    let share = |seat: &OrderedSeat| {
        let before = up_to(paid);
        paid += u128::from(seat.price.0);
        Cents(u64::try_from(up_to(paid) - before).unwrap_or(u64::MAX))
    };
    seats.iter().map(share).collect()
}

/// Lines added up. Their order makes no difference.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sales {
    pub sections: BTreeMap<String, Figures>,
    /// By the beginning of the minute; the latest ones.
    #[serde(with = "minutes")]
    pub minutes: BTreeMap<Millis, Figures>,
}

impl Sales {
    pub fn total(&self) -> Figures {
        let mut total = Figures::default();
        self.sections.values().for_each(|figures| total += *figures);
        total
    }

    fn add(&mut self, line: &SaleLine) {
        let minute = Millis(line.at.0 - line.at.0 % MINUTE_MS);
        for (section, figures) in &line.sections {
            *self.sections.entry(section.clone()).or_default() += *figures;
            *self.minutes.entry(minute).or_default() += *figures;
        }
        // What is dropped stays dropped: later minutes only ever become more.
        while self.minutes.len() > MINUTES_KEPT {
            self.minutes.pop_first();
        }
    }
}

/// The lines before a time, added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SalesBook {
    pub show_id: ShowId,
    /// Every line before this time is in it, and none of later.
    pub until: Millis,
    /// How many lines had come late when it was begun. When there are more, it may lack one.
    pub late: u64,
    pub sales: Sales,
}

impl SalesBook {
    /// An empty book, to be filled from the first line on.
    pub fn begin(show_id: ShowId, late: u64) -> Self {
        Self {
            show_id,
            until: Millis(0),
            late,
            sales: Sales::default(),
        }
    }

    /// The time up to which lines may be added at `now`. Read the clock before the lines.
    pub fn may_fold_until(&self, now: Millis) -> Millis {
        self.until.max(now.saturating_sub(FOLD_AFTER_MS))
    }

    /// The book with all lines before `until` in it. Lines that it has, and a line that is
    /// named twice, count once.
    pub fn fold(&self, lines: &[SaleLine], until: Millis) -> Self {
        let mut next = self.clone();
        next.until = self.until.max(until);
        for line in self.missing(lines).filter(|line| line.at < next.until) {
            next.sales.add(line);
        }
        next
    }

    /// What was sold, by the book and all lines that are not in it yet.
    pub fn with(&self, lines: &[SaleLine]) -> Sales {
        let mut sales = self.sales.clone();
        self.missing(lines).for_each(|line| sales.add(line));
        sales
    }

    fn missing<'a>(&self, lines: &'a [SaleLine]) -> impl Iterator<Item = &'a SaleLine> {
        let until = self.until;
        let mut seen = BTreeSet::new();
        lines
            .iter()
            .filter(move |line| line.at >= until && seen.insert(line.place()))
    }
}

/// The people in a waiting room, as the edge counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomFigures {
    pub waiting: u64,
    /// Passes that are good now.
    pub admitted: u64,
    /// How many are let in a second, at present.
    pub rate: u32,
    /// When the edge counted.
    pub at: Millis,
}

/// JSON has text for keys, and a time as text is long.
mod minutes {
    use super::{BTreeMap, Figures, Millis};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(
        minutes: &BTreeMap<Millis, Figures>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let list: Vec<_> = minutes.iter().map(|(minute, f)| (minute.0, f)).collect();
        list.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Millis, Figures>, D::Error> {
        let list = Vec::<(u64, Figures)>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|(ms, f)| (Millis(ms), f)).collect())
    }
}
