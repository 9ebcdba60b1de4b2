//! What anybody needs to check the draw: commitments before it, seeds after it.

use http::StatusCode;
use onsale_domain::room::draw::{Beacon, Seed, commitment};
use onsale_domain::room::opening::Bucket;
use serde_json::json;

use super::Asked;
use crate::answer::{Answer, Problem, json_answer};
use crate::host::Host;

/// Somewhere an isolate may be a little behind. Challenges from before the opening can
/// still be sent for a while; their lots are made with a secret key, so the seed tells
/// nobody which of them are worth solving.
const REVEAL_AFTER_MS: u64 = 10_000;

impl<H: Host> Asked<'_, H> {
    pub(super) async fn fairness(&self) -> Result<Answer, Problem> {
        let view = self.edge.view(self.host, self.show).await?;
        let published = &view.bulletin.published;
        let seeds = &view.seeds;
        let opening = &published.opening;
        let drawn = opening.closes(Bucket::LOTTERY) + REVEAL_AFTER_MS <= self.now
            && published.beacon.value().is_some()
            && opening.is_open(self.now);
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
            Beacon::Awaited => json!({"state": "awaited"}),
            Beacon::Known(value) => json!({"state": "known", "value": hex::encode(value)}),
        };
        let body = json!({
            "show_id": self.show,
            "order": opening.order,
            "opens_at": opening.opens.map(|opens| opens.to_string()),
            "opening": told(&seeds.opening, drawn),
            "later": told(&seeds.later, over),
            "beacon": beacon,
            "claims": match &published.beacon {
                Beacon::Unused => "Nobody who joins can steer their draw. Without a beacon \
                    the operator could have chosen the seed, so nothing is claimed about them.",
                _ => "Nobody, the operator included, could know or steer a draw: the seed was \
                    committed to before anybody joined, the beacon became known after.",
            },
            "check": "commitment = SHA-256(\"onsale draw seed\" 00 seed). \
                draw = first 8 bytes of HMAC-SHA-256(seed, \"onsale draw\" 00 \
                length of beacon (8 bytes) beacon bucket (4 bytes) lot (16 bytes)), the top \
                bit replaced by 0 for fans and 1 for others. Smaller draws come first. \
                `onsale verify-draw` does this with your ticket and this document.",
        });
        Ok(json_answer(StatusCode::OK, &body))
    }
}
