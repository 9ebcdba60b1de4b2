//! The verified fans of a show, and the counter that their codes come from.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::ReturnValue;
use onsale_app::ports::{Fans, Page, Stored};
use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanKeyId, FanSerial};
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::{EmailHash, FanBatchId};
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_number, get_small, get_text, number, text};
use crate::conditions::{Change, SERIALS_ARE_LEFT};
use crate::errors::{Failed, corrupt};
use crate::keys::{self, BY_BUYER, BY_OWNER, Key, PK};
use crate::lists::List;
use crate::table::DynamoStore;

fn fan_of(item: &Item) -> Stored<Fan> {
    Ok(Fan {
        email: Email::parse(get_text(item, "email")?).ok_or_else(|| corrupt("email"))?,
        key: FanKeyId(get_small(item, "kid")?),
        serial: FanSerial(get_small(item, "n")?),
        registered: Millis(get_number(item, "created")?),
    })
}

fn batch_of(item: &Item) -> Stored<FanBatch> {
    Ok(FanBatch {
        key: FanKeyId(get_small(item, "kid")?),
        first: FanSerial(get_small(item, "n")?),
        count: get_small(item, "many")?,
    })
}

#[async_trait]
impl Fans for DynamoStore {
    async fn take_serials(&self, show: ShowId, count: u32, most: u32) -> Stored<Option<FanSerial>> {
        let Some(room) = most.checked_sub(count) else {
            return Ok(None);
        };
        let change = Change {
            update: "ADD n :count".to_owned(),
            condition: Some(SERIALS_ARE_LEFT.to_owned()),
            values: Item::from([
                (":count".to_owned(), number(count.into())),
                (":room".to_owned(), number(room.into())),
            ]),
        };
        let key = Key::fan_serials(show);
        match self
            .update_returning(&key, change, ReturnValue::UpdatedNew)
            .await
        {
            Ok(item) => {
                let after: u32 = get_small(&item, "n")?;
                let first = after.checked_sub(count).ok_or_else(|| corrupt("n"))?;
                Ok(Some(FanSerial(first)))
            }
            Err(Failed::Condition(_)) => Ok(None),
            Err(failed) => Err(failed.into()),
        }
    }

    async fn fan_batch(&self, show: ShowId, id: FanBatchId) -> Stored<Option<FanBatch>> {
        let item = self.get(&Key::fan_batch(show, id)).await?;
        item.as_ref().map(batch_of).transpose()
    }

    async fn keep_fan_batch(
        &self,
        show: ShowId,
        id: FanBatchId,
        batch: &FanBatch,
    ) -> Stored<FanBatch> {
        let item = Item::from([
            ("kid".to_owned(), number(batch.key.0.into())),
            ("n".to_owned(), number(batch.first.0.into())),
            ("many".to_owned(), number(batch.count.into())),
        ]);
        match self.put_new(&Key::fan_batch(show, id), item).await? {
            None => Ok(*batch),
            Some(before) => batch_of(&before),
        }
    }

    async fn fan(&self, show: ShowId, email: &Email) -> Stored<Option<Fan>> {
        let item = self.get(&Key::fan(show, EmailHash::of(email))).await?;
        item.as_ref().map(fan_of).transpose()
    }

    async fn add_fan(&self, show: ShowId, fan: &Fan) -> Stored<Fan> {
        let hash = EmailHash::of(&fan.email);
        let item = Item::from([
            ("email".to_owned(), text(fan.email.as_str())),
            ("kid".to_owned(), number(fan.key.0.into())),
            ("n".to_owned(), number(fan.serial.0.into())),
            ("created".to_owned(), number(fan.registered.0)),
            (BY_BUYER.pk.to_owned(), text(keys::fans_of(show))),
            (
                BY_BUYER.sk.to_owned(),
                text(keys::by_time(fan.registered, hash)),
            ),
            (BY_OWNER.pk.to_owned(), text(keys::fan_of(hash))),
            (
                BY_OWNER.sk.to_owned(),
                text(keys::by_time(fan.registered, show)),
            ),
        ]);
        match self.put_new(&Key::fan(show, hash), item).await? {
            None => Ok(fan.clone()),
            Some(before) => fan_of(&before),
        }
    }

    async fn fans(&self, show: ShowId, after: Option<&str>, limit: usize) -> Stored<Page<Fan>> {
        let list = List::oldest_first(BY_BUYER, keys::fans_of(show));
        let page = self
            .list_items(&list, after, limit, keys::listed_fan)
            .await?;
        Ok(Page {
            items: page.items.iter().map(fan_of).collect::<Stored<_>>()?,
            next: page.next,
        })
    }

    async fn fan_of(
        &self,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<(ShowId, Fan)>> {
        let list = List::newest_first(BY_OWNER, keys::fan_of(EmailHash::of(email)));
        let page = self.list(&list, after, limit).await?;
        let registration = |item: &Item| {
            let show = Key::fan_show(get_text(item, PK)?);
            Ok((
                show.ok_or_else(|| corrupt("the key of a fan"))?,
                fan_of(item)?,
            ))
        };
        Ok(Page {
            items: page.items.iter().map(registration).collect::<Stored<_>>()?,
            next: page.next,
        })
    }

    async fn remove_fan(&self, show: ShowId, email: &Email) -> Stored<()> {
        self.delete(&Key::fan(show, EmailHash::of(email))).await
    }
}
