//! What a visitor at the door carries from one machine of the edge to the next.
//!
//! Bulletins are up to a few seconds old, and not equally old everywhere. Without this, a
//! visitor who was told `admitted` here could be told `waiting` there. The cookie says that
//! the line had reached this lot; it is signed, because its holder may knock at the gate.

use onsale_domain::ids::ShowId;
use onsale_domain::room::keyed_hash::keyed_hash;
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::secret::RoomSecret;
use onsale_domain::room::status::State;
use onsale_domain::room::ticket::QueueTicket;
use onsale_domain::time::Millis;

use super::Asked;
use crate::answer::{Answer, Cookie, cookie, set_cookie};
use crate::host::Host;

const COOKIE: &str = "onsale_reached";
/// Longer than a promise, and so short that an opening which is moved is soon believed.
const KEPT_MS: u64 = 30_000;

impl<H: Host> Asked<'_, H> {
    /// Whether this visitor was at the door a moment ago.
    pub(super) fn was_reached(&self, ticket: &QueueTicket) -> bool {
        let sent = cookie(self.headers(), COOKIE).and_then(read);
        sent.is_some_and(|(until, tag)| {
            let secret = &self.edge.secrets.room;
            self.now < until && tag == tag_of(secret, self.show, ticket.lot, until)
        })
    }

    /// Lets a visitor at the door prove it.
    pub(super) fn remember_reached(
        &self,
        answer: &mut Answer,
        ticket: Option<&QueueTicket>,
        state: State,
    ) {
        let is_reached = matches!(state, State::Door | State::Admitted);
        let Some(ticket) = ticket.filter(|_| is_reached) else {
            return;
        };
        let until = self.now + KEPT_MS;
        let tag = tag_of(&self.edge.secrets.room, self.show, ticket.lot, until);
        let cookie = Cookie {
            name: COOKIE,
            value: &format!("{}.{tag:016x}", until.0),
            path: &self.path(),
            max_age_s: KEPT_MS / 1_000,
        };
        set_cookie(answer, &cookie, self.request.uri());
    }
}

fn read(text: &str) -> Option<(Millis, u64)> {
    let (until, tag) = text.split_once('.')?;
    Some((
        Millis(until.parse().ok()?),
        u64::from_str_radix(tag, 16).ok()?,
    ))
}

/// One number, so that comparing it takes the same time whatever was sent.
fn tag_of(secret: &RoomSecret, show: ShowId, lot: Lot, until: Millis) -> u64 {
    let until = until.0.to_be_bytes();
    let parts: [&[u8]; 4] = [b"onsale reached\0", show.as_bytes(), &lot.0, &until];
    let [a, b, c, d, e, f, g, h, ..] = keyed_hash(&secret.0, &parts);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}
