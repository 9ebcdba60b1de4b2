//! The accounts of devices.

use std::collections::BTreeSet;

use async_trait::async_trait;
use onsale_app::ports::{Devices, Stored};
use onsale_domain::device;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::time::Millis;

use crate::MemoryStore;

/// The accounts seen on a device since its window opened.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    ends: Millis,
    accounts: BTreeSet<AccountId>,
}

#[async_trait]
impl Devices for MemoryStore {
    async fn note_account(
        &self,
        device: VisitorId,
        account: AccountId,
        now: Millis,
    ) -> Stored<usize> {
        let note = async {
            let mut items = self.items();
            let seen = items.devices.entry(device).or_default();
            if seen.ends <= now {
                *seen = Seen {
                    ends: now + device::WINDOW_MS,
                    accounts: BTreeSet::new(),
                };
            }
            if seen.accounts.len() < device::MAX_ACCOUNTS {
                seen.accounts.insert(account);
            }
            Ok(seen.accounts.len())
        };
        self.pass("note_account", note).await
    }
}
