//! Waitlists: an entry for each account and show, lists of those who wait, of those who
//! have an offer and of the entries of an account, and the mark on the show.

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_app::ports::{Page, StoreError, Stored, Versioned, Waitlists, Written};
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::show::Waitlist;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Passes, State, Waiting, WaitlistEntry};

use crate::attributes::{Item, get_number, get_text, number, text};
use crate::conditions::{Change, WAITLIST_IS_CLOSED, WAITLIST_IS_MARKED};
use crate::documents::{Document, Listing, versioned};
use crate::errors::Failed;
use crate::keys::{self, BY_BUYER, BY_WORK, Key, OPEN_WAITLISTS, PK, WORK_SHARDS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

/// Parts of a line that are read at the same time.
const SHARDS_AT_ONCE: usize = 4;
/// The mark of a show while somebody waits; a later time: nobody does since then.
const OPEN: u64 = 0;

impl Document for WaitlistEntry {
    fn key(&self) -> Key {
        Key::waitlist_entry(self.show_id, self.account)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::waiting_place(self.joined, self.id, &self.wish);
        let partition = match self.state {
            State::Waiting => {
                let shard = keys::waiting_shard(self.account);
                Some(keys::waiting(self.show_id, shard))
            }
            State::Offered(_) => Some(keys::offered(self.show_id)),
            State::Ended(_) => None,
        };
        let of_account = keys::waits_of(self.account);
        vec![
            Listing {
                index: BY_WORK,
                place: partition.map(|partition| (partition, place)),
            },
            Listing {
                index: BY_BUYER,
                place: Some((of_account, keys::by_time(self.joined, self.id))),
            },
        ]
    }
}

impl Document for Passes {
    fn key(&self) -> Key {
        Key::waitlist_passes(self.show_id)
    }
}

fn waiting_of(item: &Item) -> Stored<Waiting> {
    let account = Key::waitlist_account(get_text(item, PK)?);
    let place = keys::read_waiting_place(get_text(item, BY_WORK.sk)?);
    match (account, place) {
        (Some(account), Some((joined, id, wish))) => Ok(Waiting {
            joined,
            id,
            account,
            wish,
        }),
        _ => Err(StoreError::Corrupt("a place in a waitlist".to_owned())),
    }
}

/// Whether the item of a show says that anybody waits for it.
pub(crate) fn mark_of(item: &Item) -> Stored<Waitlist> {
    if !item.contains_key("wl") {
        return Ok(Waitlist::Closed);
    }
    Ok(match get_number(item, "wl")? {
        OPEN => Waitlist::Open,
        since => Waitlist::Closing(Millis(since)),
    })
}

/// The number of a mark; none for a closed waitlist.
fn marked(mark: Waitlist) -> Option<u64> {
    match mark {
        Waitlist::Closed => None,
        Waitlist::Open => Some(OPEN),
        Waitlist::Closing(since) => Some(since.0),
    }
}

fn moved_mark(show: ShowId, from: Waitlist, to: Waitlist) -> Change {
    let mut values = Item::new();
    let condition = match marked(from) {
        None => WAITLIST_IS_CLOSED,
        Some(mark) => {
            values.insert(":read_mark".to_owned(), number(mark));
            WAITLIST_IS_MARKED
        }
    };
    let (pk, sk) = (BY_WORK.pk, BY_WORK.sk);
    let update = match marked(to) {
        None => format!("REMOVE wl, {pk}, {sk}"),
        Some(mark) => {
            values.insert(":mark".to_owned(), number(mark));
            values.insert(":list".to_owned(), text(OPEN_WAITLISTS));
            values.insert(":place".to_owned(), text(show.simple().to_string()));
            format!("SET wl = :mark, {pk} = :list, {sk} = :place")
        }
    };
    Change {
        update,
        condition: Some(condition.to_owned()),
        values,
    }
}

#[async_trait]
impl Waitlists for DynamoStore {
    async fn waitlist_entry(
        &self,
        show: ShowId,
        account: AccountId,
    ) -> Stored<Option<Versioned<WaitlistEntry>>> {
        self.get_versioned(&Key::waitlist_entry(show, account))
            .await
    }

    async fn create_waitlist_entry(&self, entry: &WaitlistEntry) -> Stored<Written<WaitlistEntry>> {
        self.create_document(entry).await
    }

    async fn replace_waitlist_entry(
        &self,
        entry: &Versioned<WaitlistEntry>,
    ) -> Stored<Written<WaitlistEntry>> {
        self.replace_document(entry).await
    }

    async fn waitlist_entries_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<WaitlistEntry>>> {
        let list = List::newest_first(BY_BUYER, keys::waits_of(account));
        let page = self
            .list_items(&list, after, limit, Key::listed_waitlist_entry)
            .await?;
        Ok(Page {
            items: page.items.iter().map(versioned).collect::<Stored<_>>()?,
            next: page.next,
        })
    }

    async fn waiting(&self, show: ShowId) -> Stored<Vec<Waiting>> {
        let shards: Vec<_> = (0..WORK_SHARDS)
            .map(|shard| List::oldest_first(BY_WORK, keys::waiting(show, shard)))
            .map(|list| async move { self.whole_list(&list).await })
            .collect();
        let shards: Vec<Vec<Item>> = stream::iter(shards)
            .buffer_unordered(SHARDS_AT_ONCE)
            .try_collect()
            .await?;
        let waiting = shards.iter().flatten().map(waiting_of);
        let mut line = waiting.collect::<Stored<Vec<_>>>()?;
        line.sort_by_key(Waiting::turn);
        Ok(line)
    }

    async fn offered(&self, show: ShowId) -> Stored<Vec<AccountId>> {
        let list = List::oldest_first(BY_WORK, keys::offered(show));
        named(&self.whole_list(&list).await?, Key::waitlist_account)
    }

    async fn mark_waitlist(&self, show: ShowId, from: Waitlist, to: Waitlist) -> Stored<bool> {
        match self
            .update(&Key::show(show), moved_mark(show, from, to))
            .await
        {
            Ok(()) => Ok(true),
            // A lost answer is repeated, and finds what it wrote itself.
            Err(Failed::Condition(found)) => match found.into_iter().flatten().next() {
                Some(item) => Ok(mark_of(&item)? == to),
                None => Ok(false),
            },
            Err(failed) => Err(failed.into()),
        }
    }

    async fn open_waitlists(&self) -> Stored<Vec<ShowId>> {
        let list = List::oldest_first(BY_WORK, OPEN_WAITLISTS);
        named(&self.whole_list(&list).await?, Key::show_id)
    }

    async fn waitlist_passes(&self, show: ShowId) -> Stored<Option<Versioned<Passes>>> {
        self.get_versioned(&Key::waitlist_passes(show)).await
    }

    async fn replace_waitlist_passes(&self, passes: &Versioned<Passes>) -> Stored<bool> {
        let written = match passes.version {
            0 => self.create_document(&passes.value).await?,
            _ => self.replace_document(passes).await?,
        };
        Ok(matches!(written, Written::Done(_)))
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::ids::WaitlistId;
    use onsale_domain::waitlist::Wish;

    use super::*;

    #[test]
    fn a_place_in_the_line_says_what_is_waited_for() {
        let id = WaitlistId::from_bytes([7; 16]);
        for (quantity, together, sections) in [
            (1, true, vec![]),
            (50, false, vec![0, 9, 199]),
            (4, true, vec![16]),
        ] {
            let wish = Wish {
                quantity,
                together,
                sections,
            };
            let place = keys::waiting_place(Millis(1_800_000_000_000), id, &wish);
            let read = keys::read_waiting_place(&place);
            assert_eq!(read, Some((Millis(1_800_000_000_000), id, wish)), "{place}");
        }
        for wrong in ["", "1#2", "001#0707#4t#", "001#0707#4x#00", "x#y#4t#0"] {
            assert_eq!(keys::read_waiting_place(wrong), None, "{wrong}");
        }
    }
}
