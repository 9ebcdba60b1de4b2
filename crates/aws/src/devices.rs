//! The accounts of a device: one item with a set of them, which is forgotten whole.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use onsale_app::ports::{Devices, Stored};
use onsale_domain::device;
use onsale_domain::ids::{AccountId, VisitorId};
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_number, number, seconds, text};
use crate::conditions::{Change, DEVICE_TAKES_ACCOUNT, DEVICE_WINDOW_IS_OVER};
use crate::errors::Failed;
use crate::keys::Key;
use crate::table::DynamoStore;

fn accounts_of(item: &Item) -> usize {
    let set = item.get("accs").and_then(|v| v.as_ss().ok());
    set.map_or(0, Vec::len)
}

/// Adds the account. Repeating it changes nothing, so a lost reply does no harm.
fn note(account: &str, now: Millis) -> Change {
    Change {
        update: "SET forget_at = if_not_exists(forget_at, :ends) ADD accs :accounts".to_owned(),
        condition: Some(DEVICE_TAKES_ACCOUNT.to_owned()),
        values: Item::from([
            (":ends".to_owned(), seconds(now + device::WINDOW_MS)),
            (":now".to_owned(), seconds(now)),
            (
                ":accounts".to_owned(),
                AttributeValue::Ss(vec![account.to_owned()]),
            ),
            (":account".to_owned(), text(account)),
            (":most".to_owned(), number(device::MAX_ACCOUNTS as u64)),
        ]),
    }
}

/// Begins a new window with this account alone.
fn begin_again(account: &str, now: Millis) -> Change {
    Change {
        update: "SET forget_at = :ends, accs = :accounts".to_owned(),
        condition: Some(DEVICE_WINDOW_IS_OVER.to_owned()),
        values: Item::from([
            (":ends".to_owned(), seconds(now + device::WINDOW_MS)),
            (":now".to_owned(), seconds(now)),
            (
                ":accounts".to_owned(),
                AttributeValue::Ss(vec![account.to_owned()]),
            ),
        ]),
    }
}

#[async_trait]
impl Devices for DynamoStore {
    async fn note_account(
        &self,
        device: VisitorId,
        account: AccountId,
        now: Millis,
    ) -> Stored<usize> {
        let (key, account) = (Key::device(device), account.simple().to_string());
        let noted = self
            .update_returning(&key, note(&account, now), ReturnValue::AllNew)
            .await;
        let found = match noted {
            Ok(item) => return Ok(accounts_of(&item)),
            Err(Failed::Condition(found)) => found.into_iter().flatten().next(),
            Err(failed) => return Err(failed.into()),
        };
        // The window is over and nobody has deleted it yet, or the set is full.
        let found = found.unwrap_or_default();
        let ends_s = get_number(&found, "forget_at").unwrap_or_default();
        if ends_s > now.0.div_ceil(1_000) {
            return Ok(accounts_of(&found));
        }
        self.update_if(&key, begin_again(&account, now)).await?;
        Ok(1)
    }
}
