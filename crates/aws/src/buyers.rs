//! The buyer item, under its version.

use async_trait::async_trait;
use onsale_app::ports::{Buyers, HoldRead, Replaced, Session, StoreError, Stored};
use onsale_domain::buyer::Buyer;
use onsale_domain::ids::{AccountId, SessionId, ShowId};
use onsale_domain::room::opaque::PassId;

use crate::attributes::{Item, bytes, get_bytes, get_number, get_text, number};
use crate::catalogue::show_of;
use crate::conditions::{Change, IS_AT_VERSION, IS_NEW};
use crate::errors::Failed;
use crate::keys::{Key, PK};
use crate::passes::pass_use_of;
use crate::sessions::open_session;
use crate::table::DynamoStore;

fn buyer_of(item: &Item) -> Stored<Buyer> {
    Buyer::decode(get_number(item, "v")?, get_bytes(item, "e")?)
        .ok_or_else(|| StoreError::Corrupt("the entries of a buyer".into()))
}

#[async_trait]
impl Buyers for DynamoStore {
    async fn buyer(&self, show: ShowId, account: AccountId) -> Stored<Buyer> {
        let item = self.get(&Key::buyer(show, account)).await?;
        Ok(item.as_ref().map(buyer_of).transpose()?.unwrap_or_default())
    }

    async fn buyers(&self, account: AccountId, shows: &[ShowId]) -> Stored<Vec<(ShowId, Buyer)>> {
        let keys: Vec<_> = shows
            .iter()
            .map(|show| Key::buyer(*show, account))
            .collect();
        let mut found = Vec::new();
        for item in self.get_many(&keys, true).await? {
            let pk = get_text(&item, PK)?;
            let place = keys.iter().position(|key| key.pk == pk);
            let show = place.and_then(|place| shows.get(place));
            let show = show.ok_or_else(|| StoreError::Corrupt("the key of a buyer".into()))?;
            found.push((*show, buyer_of(&item)?));
        }
        Ok(found)
    }

    async fn session_and_buyer(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
    ) -> Stored<(Option<Session>, Buyer)> {
        let read = self.read_for_hold(session, show, account, None, false);
        let HoldRead { session, buyer, .. } = read.await?;
        Ok((session, buyer))
    }

    async fn read_for_hold(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
        pass: Option<PassId>,
        with_show: bool,
    ) -> Stored<HoldRead> {
        let (show_key, pass_key) = (Key::show(show), pass.map(Key::pass));
        let mut keys = vec![
            Key::session(session),
            Key::session_epoch(account),
            Key::buyer(show, account),
        ];
        keys.extend(pass_key.clone());
        keys.extend(with_show.then(|| show_key.clone()));
        let items = self.get_many(&keys, true).await?;
        let item_of = |key: &Key| {
            items
                .iter()
                .find(|item| get_text(item, PK) == Ok(key.pk.as_str()))
        };
        let session = open_session(item_of(&keys[0]), item_of(&keys[1]))?;
        let buyer = item_of(&keys[2]).map(buyer_of).transpose()?;
        let pass = pass_key.as_ref().and_then(item_of);
        let show = item_of(&show_key).map(show_of).transpose()?;
        Ok(HoldRead {
            session,
            buyer: buyer.unwrap_or_default(),
            pass: pass.map(pass_use_of).transpose()?,
            show: show.map(|show| show.value),
        })
    }

    async fn replace(&self, show: ShowId, account: AccountId, next: &Buyer) -> Stored<Replaced> {
        let read_version = next.version.saturating_sub(1);
        let mut values = Item::from([
            (":v".to_owned(), number(next.version)),
            (":e".to_owned(), bytes(next.encode())),
        ]);
        let condition = if read_version == 0 {
            IS_NEW
        } else {
            values.insert(":read_version".to_owned(), number(read_version));
            IS_AT_VERSION
        };
        let change = Change {
            update: "SET v = :v, e = :e".to_owned(),
            condition: Some(condition.to_owned()),
            values,
        };
        match self.update(&Key::buyer(show, account), change).await {
            Ok(()) => Ok(Replaced::Done),
            Err(Failed::Condition(found)) => {
                let item = found.into_iter().flatten().next();
                Ok(Replaced::Lost(
                    item.as_ref().map(buyer_of).transpose()?.unwrap_or_default(),
                ))
            }
            Err(failed) => Err(failed.into()),
        }
    }
}
