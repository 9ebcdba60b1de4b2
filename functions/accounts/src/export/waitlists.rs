//! What somebody waits for, and waited for before.

use onsale_domain::ids::{ShowId, WaitlistId};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Outcome, State, WaitlistEntry};
use onsale_http::schemas::{ShowIdText, Timestamp, WaitlistIdText};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedWait {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    /// `waiting`, `offered`, `taken`, `lapsed` or `left`.
    status: &'static str,
    quantity: u32,
    together: bool,
    /// None: any will do.
    sections: Vec<String>,
    #[schema(value_type = Timestamp)]
    joined_at: Millis,
    /// What was waited for in this show before.
    earlier: Vec<ExportedEarlier>,
}

#[derive(Serialize, ToSchema)]
struct ExportedEarlier {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    /// `taken`, `lapsed` or `left`.
    status: &'static str,
}

impl ExportedWait {
    pub(super) fn of((entry, sections): (WaitlistEntry, Vec<String>)) -> Self {
        let earlier = entry.earlier.iter().map(|earlier| ExportedEarlier {
            waitlist_id: earlier.id,
            status: ended(earlier.outcome),
        });
        Self {
            waitlist_id: entry.id,
            show_id: entry.show_id,
            status: match &entry.state {
                State::Waiting => "waiting",
                State::Offered(_) => "offered",
                State::Ended(outcome) => ended(*outcome),
            },
            quantity: entry.wish.quantity,
            together: entry.wish.together,
            sections,
            joined_at: entry.joined,
            earlier: earlier.collect(),
        }
    }
}

fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Taken => "taken",
        Outcome::Lapsed => "lapsed",
        Outcome::Left => "left",
    }
}
