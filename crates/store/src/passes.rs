//! Passes: who uses one, and the list of those that ended.

use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::time::Millis;
use onsale_table::{Item, Update};

use crate::attributes::{FORGET_AT, get_parsed, if_present, seconds};
use crate::conditions::{CLOSED, pass_is_free_or_mine, pass_is_open};
use crate::error::{StoreError, Stored, corrupt};
use crate::keys;
use crate::lists::{List, Sorted, by_time, place_of, read_by_time};
use crate::store::Store;

/// No pass lives longer than a quarter of an hour; a day keeps what is known of it well beyond
/// that.
const KEPT_MS: u64 = 24 * 3_600_000;
/// Keys of this many passes fit one answer of DynamoDB.
const PAGE: usize = 1_000;

/// A pass that was closed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedPass {
    pub pass: PassId,
    pub at: Millis,
}

pub(crate) fn pass_use_of(item: &Item) -> Stored<PassUse> {
    Ok(PassUse {
        account: if_present(item, "acc", get_parsed)?,
        closed: item.has(CLOSED),
    })
}

impl Store {
    /// Notes that this account uses the pass, unless another one does or it is closed. Returns
    /// what is stored then: only a use that is the account's own and open counts.
    pub async fn take_pass(
        &self,
        pass: PassId,
        account: AccountId,
        now: Millis,
    ) -> Stored<PassUse> {
        let update = Update::when(pass_is_free_or_mine(account))
            .set("acc", account.to_string())
            .set(FORGET_AT, seconds(now + KEPT_MS));
        match self.update(&keys::pass(pass), &update).await? {
            Ok(()) => Ok(PassUse {
                account: Some(account),
                closed: false,
            }),
            Err(Some(item)) => pass_use_of(&item),
            Err(None) => Err(StoreError::Unavailable("a pass refused unseen".to_owned())),
        }
    }

    /// Closes the pass, used or not. Closed twice, it keeps the time of the first.
    pub async fn close_pass(&self, pass: PassId, show: ShowId, now: Millis) -> Stored<()> {
        let list = List::EndedPasses(show);
        let update = Update::when(pass_is_open())
            .set(CLOSED, now.0)
            .set(FORGET_AT, seconds(now + KEPT_MS))
            .set(list.index().pk, list.partition())
            .set(list.index().sk, by_time(now, pass));
        // Refused: it was closed before, perhaps by this very call.
        self.update_if(&keys::pass(pass), &update).await.map(|_| ())
    }

    /// Passes of a show that were closed at this time or later, oldest first. The list may lag
    /// behind by seconds.
    pub async fn passes_ended(
        &self,
        show: ShowId,
        from: Millis,
        limit: usize,
    ) -> Stored<Vec<EndedPass>> {
        let list = List::EndedPasses(show);
        // Every pass of that very millisecond comes after the place without an id.
        let mut after = Some(by_time(from, ""));
        let mut ended = Vec::new();
        while let Some(place) = after.filter(|_| ended.len() < limit) {
            let most = PAGE.min(limit - ended.len());
            let page = self.page(&list, Sorted::OldestFirst, Some(&place), most);
            let page = page.await?;
            for row in &page.items {
                let read = read_by_time(place_of(row, &list)?).and_then(|(at, id)| {
                    let pass = id.parse().ok()?;
                    Some(EndedPass { pass, at })
                });
                ended.push(read.ok_or_else(|| corrupt("an ended pass"))?);
            }
            after = page.next;
        }
        Ok(ended)
    }
}
