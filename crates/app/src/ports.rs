//! What the use cases need from the world beside the store: queues, the bus, payments, objects,
//! search, mail. One small trait per capability, because each has several implementations.
//!
//! No type of any SDK appears here.

mod checkout;
mod exports;
mod mails;
mod objects;
mod search;
mod waitlists;

pub use checkout::*;
pub use exports::*;
pub use mails::*;
pub use objects::*;
pub use onsale_store::*;
pub use search::*;
pub use waitlists::*;

use async_trait::async_trait;
use onsale_domain::ids::{AccountId, HoldId, ShowId};
use serde::{Deserialize, Serialize};

/// "Look at this hold: its time may be up."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpireHold {
    pub show_id: ShowId,
    pub account_id: AccountId,
    pub hold_id: HoldId,
}

/// The longest delay a queue takes.
pub const MAX_DELAY_S: u32 = 900;

#[async_trait]
pub trait ExpiryQueue: Send + Sync {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()>;
}
