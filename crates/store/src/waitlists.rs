//! Waitlists: an entry for each account and show, lists of those who wait, of those who have an
//! offer and of the entries of an account, and the mark on the show.

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::ids::{AccountId, ShowId, WaitlistId};
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Passes, State, Waiting, WaitlistEntry, Wish};
use onsale_table::{Condition, Index, Item, Row, Update};

use crate::attributes::{get_number, if_present};
use crate::documents::{Document, Versioned, Written, id_of, key_of};
use crate::error::{Stored, corrupt};
use crate::indexes::{BY_BUYER, BY_WORK, WORK_SHARDS};
use crate::lists::{List, Page, Place, Sorted, by_time, read_by_time};
use crate::store::Store;

/// Parts of a line that are read at the same time.
const SHARDS_AT_ONCE: usize = 4;
/// The attribute of a show that says whether anybody waits.
const MARK: &str = "wl";
/// The mark of a show while its waitlist has entries. Any other number is the time since when it
/// has none.
const OPEN: u64 = 0;

impl Document for WaitlistEntry {
    const KIND: &'static str = "WLS";
    const INDEXES: &'static [Index] = &[BY_WORK, BY_BUYER];
    type Id = (ShowId, AccountId);

    fn id(&self) -> Self::Id {
        (self.show_id, self.account)
    }

    fn lists(&self) -> Vec<Place> {
        let of_account = List::WaitsOf(self.account).at(by_time(self.joined, self.id));
        let line = match self.state {
            State::Waiting => Some(List::waiting(self.show_id, self.account)),
            State::Offered(_) => Some(List::Offered(self.show_id)),
            State::Ended(_) => None,
        };
        let line = line.map(|list| list.at(waiting_place(self.joined, self.id, &self.wish)));
        line.into_iter().chain([of_account]).collect()
    }
}

impl Document for Passes {
    const KIND: &'static str = "WLP";
    type Id = ShowId;

    fn id(&self) -> ShowId {
        self.show_id
    }
}

/// Where an entry stands in a line. It says what the account waits for as well, so that a pass
/// over a long line reads one list and not every entry.
fn waiting_place(joined: Millis, id: WaitlistId, wish: &Wish) -> String {
    let together = if wish.together { 't' } else { 'a' };
    let sections: String = wish.sections.iter().map(|s| format!("{s:02x}")).collect();
    let turn = by_time(joined, id.simple());
    format!("{turn}#{}{together}#{sections}", wish.quantity)
}

/// What such a place says.
fn read_waiting_place(place: &str) -> Option<(Millis, WaitlistId, Wish)> {
    let (joined, rest) = read_by_time(place)?;
    let mut parts = rest.split('#');
    let id = format!("{}_{}", WaitlistId::PREFIX, parts.next()?);
    let wish = parts.next()?;
    let (quantity, together) = match wish.strip_suffix('t') {
        Some(quantity) => (quantity, true),
        None => (wish.strip_suffix('a')?, false),
    };
    let sections = parts.next()?;
    let number = |at: usize| u8::from_str_radix(sections.get(at..at + 2)?, 16).ok();
    let sections = (0..sections.len()).step_by(2).map(number);
    let wish = Wish {
        quantity: quantity.parse().ok()?,
        together,
        sections: sections.collect::<Option<_>>()?,
    };
    Some((joined, id.parse().ok()?, wish))
}

fn waiting_of(row: &Row) -> Stored<Waiting> {
    let (_, account) = id_of::<WaitlistEntry>(&row.key)?;
    // Every part of a line is in one index.
    let place = crate::attributes::get_text(&row.item, BY_WORK.sk)?;
    let place = read_waiting_place(place).ok_or_else(|| corrupt("a place in a waitlist"))?;
    let (joined, id, wish) = place;
    Ok(Waiting {
        joined,
        id,
        account,
        wish,
    })
}

/// Whether the item of a show says that anybody waits for it.
pub(crate) fn mark_of(item: &Item) -> Stored<Waitlist> {
    Ok(match if_present(item, MARK, get_number::<u64>)? {
        None => Waitlist::Closed,
        Some(OPEN) => Waitlist::Open,
        Some(since) => Waitlist::Closing(Millis(since)),
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

fn moved_mark(show: ShowId, from: Waitlist, to: Waitlist) -> Update {
    let condition = match marked(from) {
        None => Condition::Exists.and(Condition::lacks(MARK)),
        Some(mark) => Condition::equal(MARK, mark),
    };
    let (update, list) = (Update::when(condition), List::OpenWaitlists);
    let (pk, sk) = (list.index().pk, list.index().sk);
    match marked(to) {
        None => update.remove(MARK).remove(pk).remove(sk),
        Some(mark) => update
            .set(MARK, mark)
            .set(pk, list.partition())
            .set(sk, show.simple().to_string()),
    }
}

impl Store {
    /// The entries of an account, ended or not, newest first. It may lag behind by seconds.
    pub async fn waitlist_entries_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<WaitlistEntry>>> {
        let list = List::WaitsOf(account);
        self.list(&list, Sorted::NewestFirst, after, limit).await
    }

    /// Everybody who waits, in the order of the line. It may lag behind by seconds.
    pub async fn waiting(&self, show: ShowId) -> Stored<Vec<Waiting>> {
        let shards: Vec<_> = (0..WORK_SHARDS)
            .map(|shard| async move { self.whole(&List::Waiting(show, shard)).await })
            .collect();
        let shards: Vec<Vec<Row>> = stream::iter(shards)
            .buffer_unordered(SHARDS_AT_ONCE)
            .try_collect()
            .await?;
        let waiting = shards.iter().flatten().map(waiting_of);
        let mut line = waiting.collect::<Stored<Vec<_>>>()?;
        line.sort_by_key(Waiting::turn);
        Ok(line)
    }

    /// The accounts to whom an offer is being made. It may lag behind, too.
    pub async fn offered(&self, show: ShowId) -> Stored<Vec<AccountId>> {
        let entries = self.ids_in::<WaitlistEntry>(&List::Offered(show)).await?;
        Ok(entries.into_iter().map(|(_, account)| account).collect())
    }

    /// Moves the mark of a show that says whether anybody waits. `false`: it was not `from`. The
    /// show itself stays at its version.
    pub async fn mark_waitlist(&self, show: ShowId, from: Waitlist, to: Waitlist) -> Stored<bool> {
        let update = moved_mark(show, from, to);
        match self.update(&key_of::<Show>(&show), &update).await? {
            Ok(()) => Ok(true),
            // A lost reply is repeated, and finds what it wrote itself.
            Err(Some(item)) => Ok(mark_of(&item)? == to),
            Err(None) => Ok(false),
        }
    }

    /// Stores who looks after a waitlist, if it is still at this version; 0: it is new.
    pub async fn replace_waitlist_passes(&self, passes: &Versioned<Passes>) -> Stored<bool> {
        Ok(matches!(self.replace(passes).await?, Written::Done(_)))
    }
}

#[cfg(test)]
mod tests {
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
            let place = waiting_place(Millis(1_800_000_000_000), id, &wish);
            let read = read_waiting_place(&place);
            assert_eq!(read, Some((Millis(1_800_000_000_000), id, wish)), "{place}");
        }
        for wrong in ["", "1#2", "001#0707#4t#", "001#0707#4x#00", "x#y#4t#0"] {
            assert_eq!(read_waiting_place(wrong), None, "{wrong}");
        }
    }
}
