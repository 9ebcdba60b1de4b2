//! The buyer item: what one account has of one show, under its version.

use onsale_domain::buyer::Buyer;
use onsale_domain::ids::{AccountId, SessionId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::show::Show;
use onsale_table::{Condition, Item, Key, Reads, Row, Update};

use crate::attributes::{VERSION, get_bytes, get_number};
use crate::conditions::is_at_version;
use crate::documents::{key_of, read_item};
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::passes::pass_use_of;
use crate::sessions::{Session, open_session, session_key};
use crate::store::Store;

/// What replacing a buyer answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaced {
    Done,
    /// The buyer had moved on to this.
    Lost(Buyer),
}

/// What is read before a hold, in one consistent request.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldRead {
    pub session: Option<Session>,
    pub buyer: Buyer,
    pub pass: Option<PassUse>,
    /// None also where it was not asked for.
    pub show: Option<Show>,
}

fn buyer_of(item: &Item) -> Stored<Buyer> {
    Buyer::decode(get_number(item, VERSION)?, get_bytes(item, "e")?)
        .ok_or_else(|| corrupt("the entries of a buyer"))
}

fn item_of<'a>(rows: &'a [Row], key: &Key) -> Option<&'a Item> {
    rows.iter().find(|row| row.key == *key).map(|row| &row.item)
}

impl Store {
    /// A consistent read; a buyer that was never stored has version 0.
    pub async fn buyer(&self, show: ShowId, account: AccountId) -> Stored<Buyer> {
        let item = self.get(&keys::buyer(show, account)).await?;
        Ok(item.as_ref().map(buyer_of).transpose()?.unwrap_or_default())
    }

    /// What an account has of those of these shows where it has anything, by consistent reads,
    /// in any order.
    pub async fn buyers(
        &self,
        account: AccountId,
        shows: &[ShowId],
    ) -> Stored<Vec<(ShowId, Buyer)>> {
        let keys: Vec<_> = shows.iter().map(|s| keys::buyer(*s, account)).collect();
        let mut found = Vec::new();
        for row in self.get_many(&keys, Reads::Consistent).await? {
            let place = keys.iter().position(|key| *key == row.key);
            let show = place.and_then(|place| shows.get(place));
            let show = show.ok_or_else(|| corrupt("the key of a buyer"))?;
            found.push((*show, buyer_of(&row.item)?));
        }
        Ok(found)
    }

    /// Session and buyer in one consistent request.
    pub async fn session_and_buyer(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
    ) -> Stored<(Option<Session>, Buyer)> {
        let read = self.read_for_hold(session, show, account, None, false);
        let HoldRead { session, buyer, .. } = read.await?;
        Ok((session, buyer))
    }

    /// The read of every hold: session and buyer, the use of the pass that it comes with, and
    /// the show itself where it is asked for.
    pub async fn read_for_hold(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
        pass: Option<PassId>,
        with_show: bool,
    ) -> Stored<HoldRead> {
        let session = session_key(session);
        let epoch = keys::session_epoch(account);
        let buyer = keys::buyer(show, account);
        let (show, pass) = (key_of::<Show>(&show), pass.map(keys::pass));
        let mut keys = vec![session.clone(), epoch.clone(), buyer.clone()];
        keys.extend(pass.clone());
        keys.extend(with_show.then(|| show.clone()));
        let rows = self.get_many(&keys, Reads::Consistent).await?;
        let buyer = item_of(&rows, &buyer).map(buyer_of).transpose()?;
        let pass = pass.as_ref().and_then(|pass| item_of(&rows, pass));
        let show = item_of(&rows, &show).map(read_item::<Show>).transpose()?;
        Ok(HoldRead {
            session: open_session(item_of(&rows, &session), item_of(&rows, &epoch))?,
            buyer: buyer.unwrap_or_default(),
            pass: pass.map(pass_use_of).transpose()?,
            show: show.map(|show| show.value),
        })
    }

    /// Stores `next`, if the stored version is the one before it. A buyer has no time to live: a
    /// show may be put off, and the cap and the ended ids must outlast it.
    pub async fn replace_buyer(
        &self,
        show: ShowId,
        account: AccountId,
        next: &Buyer,
    ) -> Stored<Replaced> {
        let condition = match next.version.saturating_sub(1) {
            0 => Condition::New,
            read => is_at_version(read),
        };
        let update = Update::when(condition)
            .set(VERSION, next.version)
            .set("e", next.encode());
        match self.update(&keys::buyer(show, account), &update).await? {
            Ok(()) => Ok(Replaced::Done),
            Err(found) => {
                let found = found.as_ref().map(buyer_of).transpose()?;
                Ok(Replaced::Lost(found.unwrap_or_default()))
            }
        }
    }
}
