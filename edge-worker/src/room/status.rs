//! Where a visitor stands: one signature, one comparison, one estimate.

use http::StatusCode;
use onsale_domain::room::status::{State, Status, decide_drawn, draw_of};
use onsale_domain::room::ticket::QueueTicket;
use serde::Serialize;

use super::Asked;
use crate::answer::{Answer, Problem, json_answer};
use crate::host::Host;
use crate::room_view::RoomView;

/// The status as it is told.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    #[serde(flatten)]
    pub status: Status,
    /// When the line begins to move, until it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// The ticket's draw, once its bucket is closed: what `onsale verify-draw` recomputes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waitlist: Option<String>,
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn status(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        let ticket = self.ticket(view.opens())?;
        if let Some(ticket) = &ticket {
            self.edge.limits.ticket(ticket.lot, self.now)?;
        }
        let told = self.told(&view, ticket.as_ref());
        Ok(json_answer(StatusCode::OK, &told))
    }

    pub(super) fn told(&self, view: &RoomView, ticket: Option<&QueueTicket>) -> Told {
        let published = &view.bulletin.published;
        let draw = ticket.and_then(|ticket| draw_of(published, &view.seeds, ticket, self.now));
        let status = decide_drawn(published, ticket, draw, self.now);
        let waits = matches!(status.state, State::Prequeue | State::Waiting);
        if let Some(ticket) = ticket.filter(|_| waits) {
            self.edge.count_again(self.host, ticket, published);
        }
        let opens = published.opening.opens.filter(|opens| self.now < *opens);
        // Before the room opens a draw says nothing yet: the opening may still be moved.
        let draw = draw.filter(|_| opens.is_none());
        Told {
            waitlist: (status.state == State::SoldOut)
                .then(|| format!("/api/v1/shows/{}/waitlist", self.show)),
            status,
            opens_at: opens.map(|opens| opens.to_string()),
            draw: draw.map(|draw| format!("{:016x}", draw.0)),
        }
    }
}
