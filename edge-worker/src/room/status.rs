//! Where a visitor stands: one signature, one comparison, one estimate. Only those whom the
//! line has reached, and who may be inside, ask their gate.

use http::StatusCode;
use onsale_domain::room::briefing::PriceRange;
use onsale_domain::room::draw::Draw;
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{Knock, Knocked};
use onsale_domain::room::published::Published;
use onsale_domain::room::status::{SHORTEST_REFRESH_MS, State, Status, decide_drawn, draw_of};
use onsale_domain::room::ticket::QueueTicket;
use serde::Serialize;

use super::Asked;
use crate::answer::{Answer, Problem, json_answer};
use crate::host::Host;
use crate::room_view::RoomView;

/// When the controller was not heard of for so long, nobody knows whose turn it is.
const SILENT_MS: u64 = 15_000;
/// How often somebody inside asks how long they may stay.
const INSIDE_REFRESH_MS: u64 = 10_000;

/// The status as it is told.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    #[serde(flatten)]
    pub status: Status,
    /// Until when somebody inside has a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// When the line begins to move, until it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<String>,
    /// The ticket's draw, once its bucket is closed: what `onsale verify-draw` recomputes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waitlist: Option<String>,
    #[serde(flatten)]
    pub waiting: Option<WhileWaiting>,
}

/// What those who wait are told besides their place.
#[derive(Debug, Serialize)]
pub(super) struct WhileWaiting {
    pub total_waiting: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PriceRange>,
    pub sold_out_sections: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl WhileWaiting {
    fn of(view: &RoomView) -> Self {
        let on_sale = &view.bulletin.on_sale;
        Self {
            total_waiting: view.bulletin.published.total_waiting(),
            prices: on_sale.prices,
            sold_out_sections: on_sale.sold_out_sections.clone(),
            message: on_sale.message.clone(),
        }
    }
}

/// Whether the line has reached a ticket, for its gate.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtGate {
    pub place: Place,
    /// Whether a visit may begin. If not, the gate says what is known of the lot.
    pub may_begin: bool,
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn status(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        let ticket = self.ticket(view.opens())?;
        if let Some(ticket) = &ticket {
            self.edge.limits.ticket(ticket.lot, self.now)?;
        }
        let told = self.told_at_gate(&view, ticket.as_ref()).await?;
        let mut answer = json_answer(StatusCode::OK, &told);
        self.remember_reached(&mut answer, ticket.as_ref(), told.status.state);
        Ok(answer)
    }

    /// Where a visitor stands, by their gate too if it can know more.
    pub(super) async fn told_at_gate(
        &self,
        view: &RoomView,
        ticket: Option<&QueueTicket>,
    ) -> Result<Told, Problem> {
        let mut told = self.told(view, ticket);
        let Some(ticket) = ticket else {
            return Ok(told);
        };
        let Some(at_gate) = self.at_gate(view, ticket, told.status.state) else {
            return Ok(told);
        };
        let is_early = !at_gate.may_begin && self.edge.limits.is_early(ticket.lot, self.now);
        if is_early {
            return Ok(told);
        }
        let knock = Knock {
            lot: ticket.lot,
            place: at_gate.place,
            may_begin: at_gate.may_begin,
        };
        let knocked = self.host.knock(self.show, knock).await;
        let knocked = knocked.map_err(|trouble| {
            self.host.log(&format!("a gate does not answer: {trouble}"));
            Problem::unavailable().retry_after(2)
        })?;
        match knocked {
            Knocked::Inside { expires } => {
                told.status = Status::new(State::Inside, INSIDE_REFRESH_MS);
                told.expires_at = Some(expires.to_string());
                told.waiting = None;
                told.waitlist = None;
            }
            Knocked::Admitted => told.status = told.status.at_gate(State::Admitted),
            Knocked::Door => told.status = told.status.at_gate(State::Door),
            Knocked::NotYet => self.edge.limits.note_early(ticket.lot, self.now),
            // Whoever is through sees the room as somebody without a ticket.
            Knocked::Spent => told = self.told(view, None),
        }
        Ok(told)
    }

    /// Whether a gate is asked about a ticket in this state, and where it stands. Of those
    /// whom the line has not reached only a few can be inside: they walked in before it began.
    pub(super) fn at_gate(
        &self,
        view: &RoomView,
        ticket: &QueueTicket,
        state: State,
    ) -> Option<AtGate> {
        let published = &view.bulletin.published;
        let draw = draw_of(published, &view.seeds, ticket, self.now);
        let place = draw.map_or(Place::LAST, |draw| Place {
            bucket: ticket.bucket,
            draw,
        });
        let may_begin = match state {
            State::Door => !self.is_silent(published),
            State::SoldOut if is_reached(published, ticket, draw) => false,
            State::Waiting | State::SoldOut if published.may_be_inside(ticket.bucket) => false,
            _ => return None,
        };
        Some(AtGate { place, may_begin })
    }

    pub(super) fn is_silent(&self, published: &Published) -> bool {
        published.now + SILENT_MS < self.now
    }

    pub(super) fn told(&self, view: &RoomView, ticket: Option<&QueueTicket>) -> Told {
        let published = &view.bulletin.published;
        let draw = ticket.and_then(|ticket| draw_of(published, &view.seeds, ticket, self.now));
        let mut status = decide_drawn(published, ticket, draw, self.now);
        // Another machine has a newer bulletin, and the gate knows.
        if status.state == State::Waiting && ticket.is_some_and(|it| self.was_reached(it)) {
            status = status.at_gate(State::Door);
            status.refresh_after_ms = status.refresh_after_ms.min(SHORTEST_REFRESH_MS);
        }
        let waits = matches!(status.state, State::Prequeue | State::Waiting);
        if let Some(ticket) = ticket.filter(|_| waits) {
            self.edge.count_again(self.host, ticket, published);
        }
        let opens = published.opening.opens.filter(|opens| self.now < *opens);
        // Before the room opens a draw says nothing yet: the opening may still be moved.
        let draw = draw.filter(|_| opens.is_none());
        let is_in_line = waits || status.state == State::Door;
        Told {
            waitlist: (status.state == State::SoldOut)
                .then(|| format!("/api/v1/shows/{}/waitlist", self.show)),
            waiting: is_in_line.then(|| WhileWaiting::of(view)),
            status,
            expires_at: None,
            opens_at: opens.map(|opens| opens.to_string()),
            draw: draw.map(|draw| format!("{:016x}", draw.0)),
        }
    }
}

fn is_reached(published: &Published, ticket: &QueueTicket, draw: Option<Draw>) -> bool {
    draw.is_some_and(|draw| published.frontier.admits(ticket.bucket, draw))
}
