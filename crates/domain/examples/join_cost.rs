//! What a join costs in WebAssembly, besides the way there and back: a solution is
//! verified, and the ticket it earns is signed. `tests/edge/measured/join-cost.test.mjs` calls
//! `main` again and again, and takes the time.
//!
//!     cargo build -p onsale-domain --example join_cost --profile edge --target wasm32-unknown-unknown

use std::hint::black_box;
use std::sync::LazyLock;

use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::room::joining;
use onsale_domain::room::opening::Opening;
use onsale_domain::room::secret::RoomSecret;
use onsale_domain::room::ticket::TicketRing;
use onsale_domain::show::RoomOrder;
use onsale_domain::time::Millis;
use onsale_domain::work::{Cost, TRIES, WorkKeys, issue, payload, verify};

/// A call has to take much longer than the clock is coarse.
const JOINS: u32 = 200;
const NOW: Millis = Millis(1_800_000_000_000);
const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const VISITOR: VisitorId = VisitorId::from_bytes([2; 16]);
const ROOM: RoomSecret = RoomSecret([3; 32]);
const OPENING: Opening = Opening {
    opens: None,
    order: RoomOrder::Fifo,
    since: Millis(NOW.0 - 3_600_000),
};

struct Prepared {
    keys: WorkKeys,
    ring: TicketRing,
    /// The hardest challenge there is: verifying takes as many hashes as a try.
    solved: String,
}

static PREPARED: LazyLock<Prepared> = LazyLock::new(|| {
    let keys = "a-secret-that-is-long-enough-for-work";
    let keys: WorkKeys = keys.parse().expect("a key");
    let terms = joining::terms(SHOW, VISITOR, NOW);
    let mut entropy = [7; 34];
    entropy[32..].fill(0);
    let challenge = issue(&terms, Cost::CEILING, &entropy, &keys);
    let solution = challenge.solve(0..TRIES).expect("it has a solution");
    Prepared {
        solved: payload(&challenge, &solution),
        ring: TicketRing::new(vec![(1, [4; 32])]).expect("one key"),
        keys,
    }
});

fn join(prepared: &Prepared) -> String {
    let solved = verify(&prepared.solved, SHOW, VISITOR, NOW, &prepared.keys).expect("it counts");
    let lot_key = ROOM.lot_key(SHOW);
    let ticket = joining::ticket(&solved, None, SHOW, &OPENING, &lot_key);
    prepared.ring.sign(&ticket)
}

fn main() {
    for _ in 0..JOINS {
        black_box(join(black_box(&PREPARED)));
    }
}
