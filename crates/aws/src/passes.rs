//! Passes: who uses one, and the list of those that ended.

use async_trait::async_trait;
use onsale_app::ports::{EndedPass, Passes, StoreError, Stored};
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_text, number, seconds, text};
use crate::conditions::{CLOSED, Change, PASS_IS_FREE_OR_MINE, PASS_IS_OPEN};
use crate::errors::Failed;
use crate::keys::{self, BY_BUYER, Key};
use crate::lists::List;
use crate::table::DynamoStore;

/// No pass lives longer than a quarter of an hour; a day keeps what is known of it well
/// beyond that.
const KEPT_MS: u64 = 24 * 3_600_000;
/// Keys of this many passes fit one answer of DynamoDB.
const PAGE: usize = 1_000;

pub(crate) fn pass_use_of(item: &Item) -> Stored<PassUse> {
    let account = match item.get("acc") {
        None => None,
        Some(_) => Some(get_text(item, "acc")?),
    };
    let account = account.map(str::parse).transpose();
    Ok(PassUse {
        account: account.map_err(|_| StoreError::Corrupt("the account of a pass".into()))?,
        closed: item.contains_key(CLOSED),
    })
}

#[async_trait]
impl Passes for DynamoStore {
    async fn take_pass(&self, pass: PassId, account: AccountId, now: Millis) -> Stored<PassUse> {
        let change = Change {
            update: "SET acc = :acc, forget_at = :forget_at".to_owned(),
            condition: Some(PASS_IS_FREE_OR_MINE.to_owned()),
            values: Item::from([
                (":acc".to_owned(), text(account.to_string())),
                (":forget_at".to_owned(), seconds(now + KEPT_MS)),
            ]),
        };
        match self.update(&Key::pass(pass), change).await {
            Ok(()) => Ok(PassUse {
                account: Some(account),
                closed: false,
            }),
            Err(Failed::Condition(found)) => match found.iter().flatten().next() {
                Some(item) => pass_use_of(item),
                None => Err(StoreError::Unavailable("a pass refused unseen".into())),
            },
            Err(failed) => Err(failed.into()),
        }
    }

    async fn close_pass(&self, pass: PassId, show: ShowId, now: Millis) -> Stored<()> {
        let (list, place) = (BY_BUYER.pk, BY_BUYER.sk);
        let change = Change {
            update: format!(
                "SET {CLOSED} = :now, forget_at = :forget_at, {list} = :list, {place} = :place"
            ),
            condition: Some(PASS_IS_OPEN.to_owned()),
            values: Item::from([
                (":now".to_owned(), number(now.0)),
                (":forget_at".to_owned(), seconds(now + KEPT_MS)),
                (":list".to_owned(), text(keys::ended_passes(show))),
                (":place".to_owned(), text(keys::by_time(now, pass))),
            ]),
        };
        // Refused: it was closed before, perhaps by this very call.
        self.update_if(&Key::pass(pass), change).await.map(|_| ())
    }

    async fn passes_ended(
        &self,
        show: ShowId,
        from: Millis,
        limit: usize,
    ) -> Stored<Vec<EndedPass>> {
        let list = List::oldest_first(BY_BUYER, keys::ended_passes(show));
        // Every pass of that very millisecond comes after the place without an id.
        let mut after = Some(keys::by_time(from, ""));
        let mut ended = Vec::new();
        while let Some(place) = after.filter(|_| ended.len() < limit) {
            let most = PAGE.min(limit - ended.len());
            let page = self.list(&list, Some(&place), most).await?;
            for item in &page.items {
                let place = get_text(item, BY_BUYER.sk)?;
                let read = keys::read_by_time(place).and_then(|(at, id)| {
                    let pass = id.parse().ok()?;
                    Some(EndedPass { pass, at })
                });
                ended.push(read.ok_or_else(|| StoreError::Corrupt("an ended pass".into()))?);
            }
            after = page.next;
        }
        Ok(ended)
    }
}
