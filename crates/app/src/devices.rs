//! Devices on which many people log in.

use onsale_domain::device;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::room::difficulty::Suspicion;

use crate::app::App;

impl App {
    /// Notes that an account was used on a device, and says what the device is suspected
    /// of now. It is a hint: when the store does not answer, nothing is suspected, and
    /// nobody is kept from logging in.
    pub async fn note_device(&self, device: VisitorId, account: AccountId) -> Suspicion {
        match self.store.note_account(device, account, self.now()).await {
            Ok(accounts) => device::suspicion(accounts),
            Err(error) => {
                tracing::warn!(%error, "the accounts of a device are not known");
                Suspicion::Nothing
            }
        }
    }
}
