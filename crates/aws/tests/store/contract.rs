//! One suite, every store: the rules are in the modules below, by subject.

use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::claim::BlockSlots;
use onsale_domain::ids::HoldId;
use onsale_domain::time::Millis;

/// Runs each rule against the memory store, DynamoDB in this process, and MiniStack's.
macro_rules! contract {
    ($($rule:ident,)*) => {
        mod memory {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&onsale_memory::MemoryStore::default()).await;
            })*
        }
        mod in_process {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&crate::places::in_process(|http| http).await.store).await;
            })*
        }
        mod ministack {
            $(#[tokio::test] async fn $rule() {
                match crate::places::ministack().await {
                    Some(store) => super::$rule(&store).await,
                    None => eprintln!("ONSALE_MINISTACK_URL is not set: not run against MiniStack"),
                }
            })*
        }
    };
}

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
mod sandbox;
mod staff;
mod tickets;
mod transfers;
mod waitlists;

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);

/// Ids that no other test of this run uses.
pub(crate) fn fresh() -> [u8; 16] {
    let mut bytes = [0u8; 16];
    onsale_app::ports::Entropy::fill(&onsale_aws::OsEntropy, &mut bytes);
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
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        seen = look().await;
    }
    assert_eq!(seen, expected);
}
