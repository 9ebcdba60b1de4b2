//! Where a list of events goes on, as a text that a client brings back.

use std::fmt;
use std::str::FromStr;

use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use super::filter::EventFilter;
use super::list::{EventItem, EventQuery, EventSort};
use crate::error::{Error, Result};
use crate::venues::invalid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventCursor {
    /// In the store's page that begins at `after`, behind the event `seen`.
    Newest {
        after: Option<String>,
        seen: Option<EventId>,
    },
    /// In the index, behind the event with this score, time of creation and id.
    Ranked {
        score: u64,
        created: Millis,
        id: EventId,
    },
    /// Behind the event with this date and id.
    Dated { at: Millis, id: EventId },
    /// Behind the event at this distance, with this id.
    Distant { metres: u64, id: EventId },
}

/// The order of a list as a number: the smallest comes first.
pub(super) type Place = (u64, u64, u128);

impl EventCursor {
    /// Where an item stands in a list of this order that the index answers. An event that
    /// the index does not know has no score for words yet: it stands before all that do.
    pub(super) fn of(query: &EventQuery, filter: &EventFilter, item: &EventItem) -> Self {
        let (place, id) = filter.place(query.sort, item);
        match query.sort {
            EventSort::Relevance => Self::Ranked {
                score: query.query.as_ref().map_or(0, |_| u64::MAX),
                created: item.event.created,
                id,
            },
            EventSort::Date => Self::Dated {
                at: Millis(place),
                id,
            },
            EventSort::Distance => Self::Distant { metres: place, id },
        }
    }

    /// None for a cursor of the table, whose order is the store's.
    pub(super) fn place(&self) -> Option<Place> {
        let number = |id: &EventId| u128::from_be_bytes(*id.as_bytes());
        match self {
            Self::Newest { .. } => None,
            // The best first, among equals the newest.
            Self::Ranked { score, created, id } => Some((!score, !created.0, !number(id))),
            Self::Dated { at, id } => Some((at.0, 0, number(id))),
            Self::Distant { metres, id } => Some((*metres, 0, number(id))),
        }
    }

    /// Whether it goes on a list of this order.
    pub(super) fn fits(&self, sort: EventSort) -> bool {
        match self {
            Self::Newest { .. } | Self::Ranked { .. } => sort == EventSort::Relevance,
            Self::Dated { .. } => sort == EventSort::Date,
            Self::Distant { .. } => sort == EventSort::Distance,
        }
    }
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest { after, seen } => {
                f.write_str("newest ")?;
                seen.iter().try_for_each(|seen| write!(f, "{seen}"))?;
                after.iter().try_for_each(|after| write!(f, " {after}"))
            }
            Self::Ranked { score, created, id } => {
                write!(f, "ranked {score} {} {id}", created.0)
            }
            Self::Dated { at, id } => write!(f, "dated {} {id}", at.0),
            Self::Distant { metres, id } => write!(f, "distant {metres} {id}"),
        }
    }
}

impl FromStr for EventCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || invalid("cursor: not one of this list");
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        let event = |text: &str| text.parse::<EventId>().map_err(|_| wrong());
        let (kind, rest) = text.split_once(' ').ok_or_else(wrong)?;
        match kind {
            "newest" => {
                let (seen, after) = match rest.split_once(' ') {
                    // A key of the store is never empty, and the store is not asked for one.
                    Some((_, "")) => return Err(wrong()),
                    Some((seen, after)) => (seen, Some(after.to_owned())),
                    None => (rest, None),
                };
                let seen = match seen {
                    "" => None,
                    seen => Some(event(seen)?),
                };
                Ok(Self::Newest { after, seen })
            }
            "ranked" => {
                let (score, rest) = rest.split_once(' ').ok_or_else(wrong)?;
                let (created, id) = rest.split_once(' ').ok_or_else(wrong)?;
                Ok(Self::Ranked {
                    score: number(score)?,
                    created: Millis(number(created)?),
                    id: event(id)?,
                })
            }
            "dated" | "distant" => {
                let (place, id) = rest.split_once(' ').ok_or_else(wrong)?;
                let (place, id) = (number(place)?, event(id)?);
                Ok(match kind {
                    "dated" => Self::Dated {
                        at: Millis(place),
                        id,
                    },
                    _ => Self::Distant { metres: place, id },
                })
            }
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        let id = EventId::from_bytes([7; 16]);
        for cursor in [
            EventCursor::Newest {
                after: None,
                seen: Some(id),
            },
            EventCursor::Newest {
                after: Some("000123#evt 1".into()),
                seen: None,
            },
            EventCursor::Newest {
                after: Some("000123#evt".into()),
                seen: Some(id),
            },
            EventCursor::Dated {
                at: Millis(u64::MAX),
                id,
            },
            EventCursor::Ranked {
                score: 3_216,
                created: Millis(7),
                id,
            },
            EventCursor::Distant { metres: 0, id },
        ] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in [
            "",
            "newest",
            "newest evt_1",
            "newest  ",
            "dated 1",
            "dated x evt_1",
            "ranked 1 evt_1",
            "distant 1",
            "oldest 1 2",
        ] {
            assert!(wrong.parse::<EventCursor>().is_err(), "{wrong}");
        }
    }
}
