//! The same news for everybody who has tickets of some shows.
//!
//! A mailing is stored in one transaction with the change that it tells of, so it cannot
//! be forgotten; then it is worked through in pages, and how far it came is stored after
//! each of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::announcement::{Announcement, News, ShowFacts};
use crate::ids::{EventId, ShowId};
use crate::time::Millis;

/// How long a mailing that is done is kept.
const KEPT_MS: u64 = 90 * 24 * 3_600_000;

/// The event, and the version of it that the change made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MailingId {
    pub event_id: EventId,
    pub version: u64,
}

impl fmt::Display for MailingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.event_id, self.version)
    }
}

/// A show whose buyers are told, and when it was and is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedShow {
    pub show_id: ShowId,
    pub was_at: Millis,
    pub is_at: Millis,
}

/// What all shows of an event have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFacts {
    pub title: String,
    pub venue: String,
    pub city: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// The bus does not know of it yet.
    Announcing,
    /// Everybody before this block of this show is told, or soon will be.
    Telling {
        show: usize,
        from_block: u32,
    },
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailing {
    pub id: MailingId,
    pub was: EventFacts,
    pub is: EventFacts,
    pub shows: Vec<MovedShow>,
    pub progress: Progress,
    pub created: Millis,
    pub changed: Millis,
}

impl Mailing {
    /// The mailing of a change; `None` if there is nothing that a buyer has to know.
    pub fn of_change(
        id: MailingId,
        (was, is): (EventFacts, EventFacts),
        shows: Vec<MovedShow>,
        now: Millis,
    ) -> Option<Self> {
        let moved = |show: &MovedShow| was != is || show.was_at != show.is_at;
        let shows: Vec<_> = shows.into_iter().filter(moved).collect();
        (!shows.is_empty()).then_some(Self {
            id,
            was,
            is,
            shows,
            progress: Progress::Announcing,
            created: now,
            changed: now,
        })
    }

    pub fn is_open(&self) -> bool {
        self.progress != Progress::Done
    }

    pub fn forget_at(&self) -> Millis {
        self.created + KEPT_MS
    }

    /// What is announced of one of its shows.
    pub fn announcement(&self, show: &MovedShow) -> Announcement {
        let facts = |event: &EventFacts, starts_at| ShowFacts {
            title: event.title.clone(),
            venue: event.venue.clone(),
            city: event.city.clone(),
            starts_at,
        };
        let news = News::ShowChanged {
            show_id: show.show_id,
            was: facts(&self.was, show.was_at),
            is: facts(&self.is, show.is_at),
        };
        news.announce(
            &format!("{}:{}", show.show_id, self.id.version),
            self.created,
        )
    }

    pub fn announced(&self, now: Millis) -> Self {
        self.at(
            Progress::Telling {
                show: 0,
                from_block: 0,
            },
            now,
        )
    }

    /// Everybody in the blocks up to `next` of the show is told; `None`: of all its blocks.
    pub fn told(&self, show: usize, next: Option<u32>, now: Millis) -> Self {
        let progress = match next {
            Some(from_block) => Progress::Telling { show, from_block },
            None if show + 1 < self.shows.len() => Progress::Telling {
                show: show + 1,
                from_block: 0,
            },
            None => Progress::Done,
        };
        self.at(progress, now)
    }

    fn at(&self, progress: Progress, now: Millis) -> Self {
        Self {
            progress,
            changed: now,
            ..self.clone()
        }
    }
}
