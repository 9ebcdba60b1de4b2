//! Mails, and the list of those that are not over, by when somebody should look.

use async_trait::async_trait;
use onsale_app::ports::{Mails, Stored, Versioned, Written};
use onsale_domain::mail::{Mail, MailId};
use onsale_domain::time::Millis;

use crate::attributes::get_text;
use crate::documents::{Document, Listing};
use crate::keys::{self, BY_WORK, Key, WORK_SHARDS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

const LIST_PAGE: usize = 100;

impl Document for Mail {
    fn key(&self) -> Key {
        Key::mail(&self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let partition = keys::open_mails(keys::mail_shard(&self.id));
        let place = self.look_at().map(|at| keys::by_time(at, &self.id));
        vec![Listing {
            index: BY_WORK,
            place: place.map(|place| (partition, place)),
        }]
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(self.forget_at)
    }
}

#[async_trait]
impl Mails for DynamoStore {
    async fn create_mail(&self, mail: &Mail) -> Stored<Written<Mail>> {
        self.create_document(mail).await
    }

    async fn mail(&self, id: &MailId) -> Stored<Option<Versioned<Mail>>> {
        self.get_versioned(&Key::mail(id)).await
    }

    async fn replace_mail(&self, mail: &Versioned<Mail>) -> Stored<Written<Mail>> {
        self.replace_document(mail).await
    }

    async fn forgotten_mails(&self, by: Millis, limit: usize) -> Stored<Vec<MailId>> {
        // Every place of that very millisecond comes before this one.
        let end = keys::by_time(by + 1, "");
        let mut mails = Vec::new();
        for shard in 0..WORK_SHARDS {
            let list = List::oldest_first(BY_WORK, keys::open_mails(shard));
            let mut after: Option<String> = None;
            while mails.len() < limit {
                let most = LIST_PAGE.min(limit - mails.len());
                let page = self.list(&list, after.as_deref(), most).await?;
                let read = page.items.len();
                let mut early = page.items;
                early.retain(|item| {
                    get_text(item, BY_WORK.sk).is_ok_and(|place| place < end.as_str())
                });
                mails.extend(named(&early, Key::mail_id)?);
                after = page.next.filter(|_| early.len() == read);
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(mails)
    }
}
