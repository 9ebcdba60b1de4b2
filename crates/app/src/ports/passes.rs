//! What is known of passes: who uses one, and which have ended.

use async_trait::async_trait;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::time::Millis;

use super::Stored;

/// A pass that was closed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedPass {
    pub pass: PassId,
    pub at: Millis,
}

#[async_trait]
pub trait Passes: Send + Sync {
    /// Notes that this account uses the pass, unless another one does or it is closed.
    /// Answers what is stored then: only a use that is the account's own and open counts.
    async fn take_pass(&self, pass: PassId, account: AccountId, now: Millis) -> Stored<PassUse>;
    /// Closes the pass, used or not. Closed twice, it keeps the time of the first.
    async fn close_pass(&self, pass: PassId, show: ShowId, now: Millis) -> Stored<()>;
    /// Passes of a show that were closed at this time or later, oldest first. The list may
    /// lag behind by seconds.
    async fn passes_ended(
        &self,
        show: ShowId,
        from: Millis,
        limit: usize,
    ) -> Stored<Vec<EndedPass>>;
}
