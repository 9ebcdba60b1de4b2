//! Mails; the list of those that are not over, by when somebody should look; the list of
//! those that are parked; and the lists of those to one person.

use async_trait::async_trait;
use onsale_app::ports::{Mails, Page, Stored, Versioned, Written};
use onsale_domain::account::Email;
use onsale_domain::feedback::Feedback;
use onsale_domain::mail::{Mail, MailId, Recipient};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_json, get_text, json, number, seconds};
use crate::conditions::{Change, FEEDBACK_ENDS_SOONER};
use crate::documents::{Document, Listing, versioned};
use crate::keys::{self, BY_BUYER, BY_WORK, Key, PARKED_MAILS, WORK_SHARDS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

const LIST_PAGE: usize = 100;

impl Document for Mail {
    fn key(&self) -> Key {
        Key::mail(&self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let open = self.look_at().map(|at| {
            let partition = keys::open_mails(keys::mail_shard(&self.id));
            (partition, keys::by_time(at, &self.id))
        });
        let parked = self.parked_since();
        let parked = parked.map(|at| (PARKED_MAILS.to_owned(), keys::by_time(at, &self.id)));
        let of_person = keys::mails_to(&self.to);
        vec![
            Listing {
                index: BY_WORK,
                place: open.or(parked),
            },
            Listing {
                index: BY_BUYER,
                place: of_person.map(|list| (list, keys::by_time(self.created, &self.id))),
            },
        ]
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(self.forget_at)
    }
}

impl DynamoStore {
    async fn list_mails(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let key = |pk: &str| Key::mail_id(pk).map(|id| Key::mail(&id));
        let page = self.list_items(list, after, limit, key).await?;
        Ok(Page {
            items: page.items.iter().map(versioned).collect::<Stored<_>>()?,
            next: page.next,
        })
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

    async fn mail_feedback(&self, email: &Email) -> Stored<Option<Feedback>> {
        let key = Key::mail_feedback(EmailHash::of(email));
        let item = self.get(&key).await?;
        item.as_ref().map(|item| get_json(item, "doc")).transpose()
    }

    async fn put_mail_feedback(&self, email: &Email, feedback: &Feedback) -> Stored<()> {
        let change = Change {
            update: "SET doc = :doc, ver = :ver, forget_at = :forget_at".to_owned(),
            condition: Some(FEEDBACK_ENDS_SOONER.to_owned()),
            values: Item::from([
                (":doc".to_owned(), json(feedback)?),
                (":ver".to_owned(), number(feedback.until().0)),
                (":forget_at".to_owned(), seconds(feedback.until())),
            ]),
        };
        let key = Key::mail_feedback(EmailHash::of(email));
        self.update_if(&key, change).await.map(|_| ())
    }

    async fn mails_to(
        &self,
        to: &Recipient,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let Some(partition) = keys::mails_to(to) else {
            return Ok(Page {
                items: Vec::new(),
                next: None,
            });
        };
        let list = List::oldest_first(BY_BUYER, partition);
        self.list_mails(&list, after, limit).await
    }

    async fn parked_mails(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let list = List::oldest_first(BY_WORK, PARKED_MAILS);
        let mut page = self.list_mails(&list, after, limit).await?;
        // The list may lag behind.
        page.items
            .retain(|mail| mail.value.parked_since().is_some());
        Ok(page)
    }
}
