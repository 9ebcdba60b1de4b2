//! Sessions, and the epoch that all sessions of an account share.

use onsale_domain::ids::{AccountId, SessionId, VisitorId};
use onsale_domain::time::Millis;
use onsale_table::{Condition, Item, Key, Reads, Update};
use serde::{Deserialize, Serialize};

use crate::attributes::{FORGET_AT, get_millis, get_number, get_parsed, if_present, seconds};
use crate::conditions::EPOCH;
use crate::error::Stored;
use crate::keys;
use crate::lists::{List, Page, Sorted, by_time};
use crate::store::Store;

/// A log-in that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub account: AccountId,
    pub opened: Millis,
    pub expires: Millis,
    /// The epoch of the account when it was opened.
    #[serde(default)]
    pub epoch: u32,
    /// Where it was opened, as far as a cookie says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<VisitorId>,
}

pub(crate) fn session_key(id: SessionId) -> Key {
    keys::of(keys::SESSION, id.simple())
}

/// An account, or a session, that never saw a second epoch is at the first one.
pub(crate) fn epoch_of(item: &Item) -> Stored<u32> {
    Ok(if_present(item, EPOCH, get_number)?.unwrap_or_default())
}

fn session_of(item: &Item) -> Stored<Session> {
    Ok(Session {
        id: get_parsed(item, "id")?,
        account: get_parsed(item, "acc")?,
        opened: get_millis(item, "opened")?,
        expires: get_millis(item, "expires")?,
        epoch: epoch_of(item)?,
        device: if_present(item, "dev", get_parsed)?,
    })
}

/// The session, unless it was closed or is of an epoch that has ended. An account has no item of
/// its epoch before the second one.
pub(crate) fn open_session(
    session: Option<&Item>,
    epoch: Option<&Item>,
) -> Stored<Option<Session>> {
    let session = session.map(session_of).transpose()?;
    let epoch = epoch.map(epoch_of).transpose()?.unwrap_or_default();
    Ok(session.filter(|s| s.expires > Millis(0) && s.epoch >= epoch))
}

impl Store {
    /// Opens the session, or returns the one that is open under its id.
    pub async fn open_session(&self, session: &Session) -> Stored<Session> {
        let list = List::SessionsOf(session.account);
        let mut item = list
            .at(by_time(session.opened, session.id))
            .mark(Item::new());
        item.set("id", session.id.to_string());
        item.set("acc", session.account.to_string());
        item.set("opened", session.opened.0);
        item.set("expires", session.expires.0);
        item.set(EPOCH, session.epoch);
        item.set(FORGET_AT, seconds(session.expires));
        if let Some(device) = session.device {
            item.set("dev", device.to_string());
        }
        match self.put_new(&session_key(session.id), item).await? {
            None => Ok(session.clone()),
            Some(open) => session_of(&open),
        }
    }

    /// A consistent read: a session that was closed, or whose account has begun another epoch,
    /// is gone at once.
    pub async fn session(&self, id: SessionId, account: AccountId) -> Stored<Option<Session>> {
        let (session, epoch) = (session_key(id), keys::session_epoch(account));
        let keys = [session.clone(), epoch.clone()];
        let rows = self.get_many(&keys, Reads::Consistent).await?;
        let item_of = |key: &Key| rows.iter().find(|r| r.key == *key).map(|r| &r.item);
        open_session(item_of(&session), item_of(&epoch))
    }

    pub async fn close_session(&self, id: SessionId) -> Stored<()> {
        // A tombstone rather than a deletion: its key must not open it again.
        let update = Update::when(Condition::Exists).set("expires", 0u64);
        self.update_if(&session_key(id), &update).await.map(|_| ())
    }

    /// The sessions of an account that are not forgotten yet, newest first; those that ended are
    /// among them.
    pub async fn sessions_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Session>> {
        let list = List::SessionsOf(account);
        let page = self.page_of_items(&list, Sorted::NewestFirst, after, limit);
        page.await?.try_map(|row| session_of(&row.item))
    }
}
