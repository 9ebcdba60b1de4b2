//! Sessions, and the epoch that all sessions of an account share.

use async_trait::async_trait;
use onsale_app::ports::{Page, Session, Sessions, Stored};
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_number, get_small, get_text, number, seconds, text};
use crate::conditions::{Change, EXISTS};
use crate::errors::corrupt;
use crate::keys::{self, BY_BUYER, Key, PK};
use crate::lists::List;
use crate::table::DynamoStore;

pub(crate) const EPOCH: &str = "ep";

/// An account, or a session, that never saw a second epoch is at the first one.
pub(crate) fn epoch_of(item: &Item) -> Stored<u32> {
    match item.contains_key(EPOCH) {
        true => get_small(item, EPOCH),
        false => Ok(0),
    }
}

fn session_of(item: &Item) -> Stored<Session> {
    let device = match item.contains_key("dev") {
        true => Some(get_text(item, "dev")?.parse().map_err(corrupt)?),
        false => None,
    };
    Ok(Session {
        id: get_text(item, "id")?.parse().map_err(corrupt)?,
        account: get_text(item, "acc")?.parse().map_err(corrupt)?,
        opened: Millis(get_number(item, "opened")?),
        expires: Millis(get_number(item, "expires")?),
        epoch: epoch_of(item)?,
        device,
    })
}

/// The session, unless it was closed or is of an epoch that has ended. An account has no
/// item of its epoch before the second one.
pub(crate) fn open_session(
    session: Option<&Item>,
    epoch: Option<&Item>,
) -> Stored<Option<Session>> {
    let session = session.map(session_of).transpose()?;
    let epoch = epoch.map(epoch_of).transpose()?.unwrap_or_default();
    Ok(session.filter(|s| s.expires > Millis(0) && s.epoch >= epoch))
}

#[async_trait]
impl Sessions for DynamoStore {
    async fn open(&self, session: &Session) -> Stored<Session> {
        let mut item = Item::from([
            ("id".to_owned(), text(session.id.to_string())),
            ("acc".to_owned(), text(session.account.to_string())),
            ("opened".to_owned(), number(session.opened.0)),
            ("expires".to_owned(), number(session.expires.0)),
            (EPOCH.to_owned(), number(session.epoch.into())),
            ("forget_at".to_owned(), seconds(session.expires)),
            (
                BY_BUYER.pk.to_owned(),
                text(keys::sessions_of(session.account)),
            ),
            (
                BY_BUYER.sk.to_owned(),
                text(keys::by_time(session.opened, session.id)),
            ),
        ]);
        if let Some(device) = session.device {
            item.insert("dev".to_owned(), text(device.to_string()));
        }
        match self.put_new(&Key::session(session.id), item).await? {
            None => Ok(session.clone()),
            Some(open) => session_of(&open),
        }
    }

    async fn session(&self, id: SessionId, account: AccountId) -> Stored<Option<Session>> {
        let keys = [Key::session(id), Key::session_epoch(account)];
        let items = self.get_many(&keys, true).await?;
        let item_of = |key: &Key| {
            let is_it = |item: &&Item| get_text(item, PK) == Ok(key.pk.as_str());
            items.iter().find(is_it)
        };
        open_session(item_of(&keys[0]), item_of(&keys[1]))
    }

    async fn close(&self, id: SessionId) -> Stored<()> {
        // A tombstone rather than a deletion: its key must not open it again.
        let change = Change {
            update: "SET expires = :never".to_owned(),
            condition: Some(EXISTS.to_owned()),
            values: Item::from([(":never".to_owned(), number(0))]),
        };
        self.update_if(&Key::session(id), change).await.map(|_| ())
    }

    async fn sessions_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Session>> {
        let list = List::newest_first(BY_BUYER, keys::sessions_of(account));
        let page = self
            .list_items(&list, after, limit, keys::listed_session)
            .await?;
        Ok(Page {
            items: page.items.iter().map(session_of).collect::<Stored<_>>()?,
            next: page.next,
        })
    }
}
