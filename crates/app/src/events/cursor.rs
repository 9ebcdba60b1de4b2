//! Where a list of events goes on, as a text that a client brings back.

use std::fmt;
use std::str::FromStr;

use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use crate::error::{Error, Result};
use crate::venues::invalid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventCursor {
    /// In the store's page that begins at `after`, behind the event `seen`.
    Newest {
        after: Option<String>,
        seen: Option<EventId>,
    },
    /// Behind the event with this date and id.
    Dated { at: Millis, id: EventId },
}

impl fmt::Display for EventCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest { after, seen } => {
                f.write_str("newest ")?;
                seen.iter().try_for_each(|seen| write!(f, "{seen}"))?;
                after.iter().try_for_each(|after| write!(f, " {after}"))
            }
            Self::Dated { at, id } => write!(f, "dated {} {id}", at.0),
        }
    }
}

impl FromStr for EventCursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || invalid("cursor: not one of this list");
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
                    seen => Some(seen.parse().map_err(|_| wrong())?),
                };
                Ok(Self::Newest { after, seen })
            }
            "dated" => {
                let (at, id) = rest.split_once(' ').ok_or_else(wrong)?;
                let at = Millis(at.parse().map_err(|_| wrong())?);
                Ok(Self::Dated {
                    at,
                    id: id.parse().map_err(|_| wrong())?,
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
            "oldest 1 2",
        ] {
            assert!(wrong.parse::<EventCursor>().is_err(), "{wrong}");
        }
    }
}
