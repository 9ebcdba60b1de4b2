//! The verified fans of a show, and the counter that their codes come from.

use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanKeyId, FanSerial};
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::{EmailHash, FanBatchId};
use onsale_table::{Item, Update};

use crate::attributes::{get_millis, get_number, get_text};
use crate::conditions::serials_are_left;
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::lists::{List, Page, Sorted, by_time};
use crate::store::Store;

fn fan_of(item: &Item) -> Stored<Fan> {
    Ok(Fan {
        email: Email::parse(get_text(item, "email")?).ok_or_else(|| corrupt("email"))?,
        key: FanKeyId(get_number(item, "kid")?),
        serial: FanSerial(get_number(item, "n")?),
        registered: get_millis(item, "created")?,
    })
}

fn batch_of(item: &Item) -> Stored<FanBatch> {
    Ok(FanBatch {
        key: FanKeyId(get_number(item, "kid")?),
        first: FanSerial(get_number(item, "n")?),
        count: get_number(item, "many")?,
    })
}

impl Store {
    /// Takes `count` serials that nobody ever had or will have, and returns the first. `None`:
    /// the show would have more than `most`. When the reply is lost, the serials are lost, too.
    pub async fn take_serials(
        &self,
        show: ShowId,
        count: u32,
        most: u32,
    ) -> Stored<Option<FanSerial>> {
        let Some(room) = most.checked_sub(count) else {
            return Ok(None);
        };
        let update = Update::when(serials_are_left(room)).add("n", count.into());
        let key = keys::fan_serials(show);
        let Ok(item) = self.update_returning(&key, &update).await? else {
            return Ok(None);
        };
        let after: u32 = get_number(&item, "n")?;
        let first = after.checked_sub(count).ok_or_else(|| corrupt("n"))?;
        Ok(Some(FanSerial(first)))
    }

    pub async fn fan_batch(&self, show: ShowId, id: FanBatchId) -> Stored<Option<FanBatch>> {
        let item = self.get(&keys::fan_batch(show, id)).await?;
        item.as_ref().map(batch_of).transpose()
    }

    /// Stores the batch, or returns the one that is there under its id.
    pub async fn keep_fan_batch(
        &self,
        show: ShowId,
        id: FanBatchId,
        batch: &FanBatch,
    ) -> Stored<FanBatch> {
        let item = Item::new()
            .with("kid", u64::from(batch.key.0))
            .with("n", u64::from(batch.first.0))
            .with("many", u64::from(batch.count));
        match self.put_new(&keys::fan_batch(show, id), item).await? {
            None => Ok(*batch),
            Some(before) => batch_of(&before),
        }
    }

    pub async fn fan(&self, show: ShowId, email: &Email) -> Stored<Option<Fan>> {
        let item = self.get(&keys::fan(show, EmailHash::of(email))).await?;
        item.as_ref().map(fan_of).transpose()
    }

    /// Stores the fan, or returns the one who registered with this email before.
    pub async fn add_fan(&self, show: ShowId, fan: &Fan) -> Stored<Fan> {
        let hash = EmailHash::of(&fan.email);
        let item = Item::new()
            .with("email", fan.email.as_str())
            .with("kid", u64::from(fan.key.0))
            .with("n", u64::from(fan.serial.0))
            .with("created", fan.registered.0);
        let item = List::FansOf(show)
            .at(by_time(fan.registered, hash))
            .mark(item);
        let item = List::FanOf(hash)
            .at(by_time(fan.registered, show))
            .mark(item);
        match self.put_new(&keys::fan(show, hash), item).await? {
            None => Ok(fan.clone()),
            Some(before) => fan_of(&before),
        }
    }

    /// The fans of a show, in the order in which they registered.
    pub async fn fans(&self, show: ShowId, after: Option<&str>, limit: usize) -> Stored<Page<Fan>> {
        let list = List::FansOf(show);
        let page = self.page_of_items(&list, Sorted::OldestFirst, after, limit);
        page.await?.try_map(|row| fan_of(&row.item))
    }

    /// The shows that an address registered for, newest first.
    pub async fn fan_of(
        &self,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<(ShowId, Fan)>> {
        let list = List::FanOf(EmailHash::of(email));
        let page = self.page(&list, Sorted::NewestFirst, after, limit).await?;
        page.try_map(|row| {
            let show = keys::fan_show(&row.key).ok_or_else(|| corrupt("the key of a fan"))?;
            Ok((show, fan_of(&row.item)?))
        })
    }

    /// Forgets that an address registered. Its code stays what it was.
    pub async fn remove_fan(&self, show: ShowId, email: &Email) -> Stored<()> {
        self.delete(&keys::fan(show, EmailHash::of(email))).await
    }
}
