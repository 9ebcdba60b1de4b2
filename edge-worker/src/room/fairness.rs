//! What anybody needs to check the draw: commitments before it, seeds after it.

use http::StatusCode;
use onsale_domain::room::draw::{Beacon, Seed, commitment};
use onsale_domain::room::estimate::{Judged, Promises};
use onsale_domain::room::opening::Bucket;
use serde_json::{Value, json};

use super::Asked;
use crate::answer::{Answer, Problem, json_answer};
use crate::host::Host;

/// Somewhere an isolate may be a little behind. Challenges from before the opening can
/// still be sent for a while; their lots are made with a secret key, so the seed tells
/// nobody which of them are worth solving.
const REVEAL_AFTER_MS: u64 = 10_000;

/// How true the promises about waiting were so far: of those made for half, and for nine in
/// ten of the people, the shares that were kept.
fn waits(promises: &Promises) -> Value {
    let judged = |judged: Judged| json!({"promises": judged.all, "kept": judged.share()});
    json!({"p50": judged(promises.p50), "p90": judged(promises.p90)})
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn fairness(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        let published = &view.bulletin.published;
        let seeds = &view.seeds;
        let opening = &published.opening;
        // Not before the line has moved: until then the opening may be moved as well, and
        // the lottery would be open again under a seed that everybody knows.
        let drawn = published.has_started()
            && opening.closes(Bucket::LOTTERY) + REVEAL_AFTER_MS <= self.now;
        let over = published.ends <= self.now;
        let told = |seed: &Seed, revealed: bool| {
            let mut told = json!({"commitment": hex::encode(commitment(seed))});
            if revealed {
                told["seed"] = hex::encode(seed.0).into();
            }
            told
        };
        let beacon = match &published.beacon {
            Beacon::Unused => json!({"state": "unused"}),
            Beacon::Awaited { name } => json!({"state": "awaited", "name": name}),
            Beacon::Known { name, value } => {
                json!({"state": "known", "name": name, "value": hex::encode(value)})
            }
        };
        let claims = match (&published.beacon, published.beacon_in_time) {
            (Beacon::Unused, _) => {
                "Nobody who joins can steer their draw. Without a beacon the operator could \
                 have chosen the seed, so nothing is claimed about them."
            }
            (_, false) => {
                "Nobody who joins can steer their draw. The beacon was named when people had \
                 joined, or with its value, so nothing is claimed about the operator."
            }
            (_, true) => {
                "Nobody, the operator included, could know or steer a draw of the lottery: the \
                 seed was committed to and the beacon named before anybody joined, and its \
                 value entered after the lottery had closed. Look the value up under its name."
            }
        };
        let mut body = json!({
            "show_id": self.show,
            "order": opening.order,
            "opens_at": opening.opens.map(|opens| opens.to_string()),
            "opening": told(&seeds.opening, drawn),
            "later": told(&seeds.later, over),
            "beacon": beacon,
            "claims": claims,
            "waits": waits(&published.promises),
            "check": "commitment = SHA-256(\"onsale draw seed\" 00 seed). \
                draw = first 8 bytes of HMAC-SHA-256(seed, \"onsale draw\" 00 \
                length of beacon (8 bytes) beacon bucket (4 bytes) lot (16 bytes)), the top \
                bit replaced by 0 for fans and 1 for others. Smaller draws come first. \
                `onsale verify-draw` does this with your ticket and this document.",
        });
        // Their own part, for whoever asks with a ticket that is drawn.
        if let Some(ticket) = self.ticket(view.opens()).ok().flatten()
            && let Some(draw) = self.told(&view, Some(&ticket)).draw
        {
            body["yours"] = json!({"ticket": ticket.unsigned(), "draw": draw});
        }
        Ok(json_answer(StatusCode::OK, &body))
    }
}
