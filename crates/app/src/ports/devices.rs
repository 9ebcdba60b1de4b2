//! Which accounts were seen on which device.

use async_trait::async_trait;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::time::Millis;

use super::Stored;

#[async_trait]
pub trait Devices: Send + Sync {
    /// Notes an account on a device, and returns how many there were within the window
    /// that the first of them opened, at most `MAX_ACCOUNTS`. A window that is over is
    /// forgotten whole.
    async fn note_account(
        &self,
        device: VisitorId,
        account: AccountId,
        now: Millis,
    ) -> Stored<usize>;
}
