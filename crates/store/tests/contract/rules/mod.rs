//! What the store promises, by subject. Each rule is written once.
//!
//! The test target that includes this module says on which tables the rules run: it defines the
//! macro `contract!`, which makes a test of each rule for each of its tables.

use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::claim::BlockSlots;
use onsale_domain::ids::HoldId;
use onsale_domain::time::Millis;
use onsale_machine::{OsEntropy, SystemClock};
use onsale_store::{Clock, Entropy};

mod account_ends;
mod accounts;
mod audit;
mod blocks;
mod cancellations;
mod catalogue;
mod devices;
mod exports;
mod fans;
mod gates;
mod index_work;
mod mails;
mod orders;
mod passes;
mod prices;
mod returns;
mod sales;
pub(crate) mod sample_orders;
mod sandbox;
mod staff;
mod tickets;
mod transfers;
mod waitlists;

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);

/// Ids that no other test of this run uses.
pub(crate) fn fresh() -> [u8; 16] {
    let mut bytes = [0u8; 16];
    OsEntropy.fill(&mut bytes);
    bytes
}

fn slots(block: u32, slots: &[u8]) -> BlockSlots {
    BlockSlots {
        block: BlockIndex(block),
        slots: slots.iter().map(|s| Slot(*s)).collect(),
    }
}

fn cell(expiry: Millis) -> Cell {
    Cell {
        expiry,
        hold: HoldId::from_bytes(fresh()),
    }
}

/// A list lags behind its table: looks again until it has caught up.
async fn eventually<T, F>(expected: T, look: impl Fn() -> F)
where
    T: PartialEq + std::fmt::Debug,
    F: Future<Output = T>,
{
    let mut seen = look().await;
    for _ in 0..100 {
        if seen == expected {
            return;
        }
        SystemClock.pause(20).await;
        seen = look().await;
    }
    assert_eq!(seen, expected);
}
