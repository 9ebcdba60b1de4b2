//! The accounts of a device: one item with a set of them, which is forgotten whole.

use std::collections::BTreeSet;

use onsale_domain::device;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::time::Millis;
use onsale_table::{Item, Update, Value};

use crate::attributes::{FORGET_AT, get_number, seconds};
use crate::conditions::{device_takes, window_is_over};
use crate::error::Stored;
use crate::keys;
use crate::store::Store;

/// The set of accounts.
const ACCOUNTS: &str = "accs";

fn accounts_of(item: &Item) -> usize {
    item.texts(ACCOUNTS).map_or(0, BTreeSet::len)
}

/// Adds the account. Repeating it changes nothing, so a lost reply does no harm.
fn note(account: &str, now: Millis) -> Update {
    Update::when(device_takes(account, device::MAX_ACCOUNTS as u64, now))
        .set_if_missing(FORGET_AT, seconds(now + device::WINDOW_MS))
        .insert(ACCOUNTS, account)
}

/// Begins a new window with this account alone.
fn begin_again(account: &str, now: Millis) -> Update {
    let alone = BTreeSet::from([account.to_owned()]);
    Update::when(window_is_over(now))
        .set(FORGET_AT, seconds(now + device::WINDOW_MS))
        .set(ACCOUNTS, Value::Texts(alone))
}

impl Store {
    /// Notes an account on a device, and returns how many there were within the window that the
    /// first of them opened, at most `MAX_ACCOUNTS`. A window that is over is forgotten whole.
    pub async fn note_account(
        &self,
        device: VisitorId,
        account: AccountId,
        now: Millis,
    ) -> Stored<usize> {
        let (key, account) = (keys::device(device), account.simple().to_string());
        let found = match self.update_returning(&key, &note(&account, now)).await? {
            Ok(item) => return Ok(accounts_of(&item)),
            Err(found) => found.unwrap_or_default(),
        };
        // The set is full, or the window is over and nothing has deleted it yet.
        let ends_s: u64 = get_number(&found, FORGET_AT).unwrap_or_default();
        if ends_s > now.0.div_ceil(1_000) {
            return Ok(accounts_of(&found));
        }
        self.update_if(&key, &begin_again(&account, now)).await?;
        Ok(1)
    }
}
