//! Mails; the list of those that are not over, by when they should be looked at; the list of
//! those that are parked; and the lists of those to one person.

use onsale_domain::account::Email;
use onsale_domain::feedback::Feedback;
use onsale_domain::mail::{Mail, MailId, Recipient};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::time::Millis;
use onsale_table::{Index, Update};

use crate::attributes::{DOC, FORGET_AT, get_json, json, seconds};
use crate::conditions::is_newer;
use crate::documents::{Document, Name, Versioned, id_of};
use crate::error::Stored;
use crate::indexes::{BY_BUYER, BY_WORK, WORK_SHARDS};
use crate::keys;
use crate::lists::{List, Page, Place, Sorted, by_time, place_of};
use crate::store::Store;

const LIST_PAGE: usize = 100;

impl Name for MailId {
    fn text(&self) -> String {
        self.to_string()
    }

    fn parse(text: &str) -> Option<Self> {
        Some(Self::stored(text))
    }
}

impl Document for Mail {
    const KIND: &'static str = "MAIL";
    const INDEXES: &'static [Index] = &[BY_WORK, BY_BUYER];
    type Id = MailId;

    fn id(&self) -> MailId {
        self.id.clone()
    }

    fn lists(&self) -> Vec<Place> {
        let open = self.look_at().map(|at| (List::open_mails(&self.id), at));
        let parked = self.parked_since().map(|at| (List::ParkedMails, at));
        let of_person = List::mails_to(&self.to).map(|list| (list, self.created));
        [open.or(parked), of_person]
            .into_iter()
            .flatten()
            .map(|(list, at)| list.at(by_time(at, &self.id)))
            .collect()
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(self.forget_at)
    }
}

impl Store {
    /// Up to `limit` mails that should have been looked at by then (`Mail::look_at`). A list may
    /// lag behind by seconds.
    pub async fn forgotten_mails(&self, by: Millis, limit: usize) -> Stored<Vec<MailId>> {
        // Every place of that very millisecond comes before this one.
        let end = by_time(by + 1, "");
        let mut mails = Vec::new();
        for list in (0..WORK_SHARDS).map(List::OpenMails) {
            let mut after: Option<String> = None;
            while mails.len() < limit {
                let most = LIST_PAGE.min(limit - mails.len());
                let page = self.page(&list, Sorted::OldestFirst, after.as_deref(), most);
                let page = page.await?;
                after = page.next;
                for row in &page.items {
                    if place_of(row, &list)? >= end.as_str() {
                        after = None;
                        break;
                    }
                    mails.push(id_of::<Mail>(&row.key)?);
                }
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(mails)
    }

    /// What came back of mails to this address, if anything.
    pub async fn mail_feedback(&self, email: &Email) -> Stored<Option<Feedback>> {
        let key = keys::mail_feedback(EmailHash::of(email));
        let item = self.get(&key).await?;
        item.as_ref().map(|item| get_json(item, DOC)).transpose()
    }

    /// Keeps it, unless what is kept counts for longer.
    pub async fn put_mail_feedback(&self, email: &Email, feedback: &Feedback) -> Stored<()> {
        let update = Update::when(is_newer("ver", feedback.until().0))
            .set(DOC, json(feedback)?)
            .set("ver", feedback.until().0)
            .set(FORGET_AT, seconds(feedback.until()));
        let key = keys::mail_feedback(EmailHash::of(email));
        self.update_if(&key, &update).await.map(|_| ())
    }

    /// Mails to this account, or to this address, oldest first. A list may lag behind by
    /// seconds.
    pub async fn mails_to(
        &self,
        to: &Recipient,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let Some(list) = List::mails_to(to) else {
            return Ok(Page::empty());
        };
        self.list(&list, Sorted::OldestFirst, after, limit).await
    }

    /// Mails that are parked (`Mail::parked_since`), oldest first. A list may lag behind by
    /// seconds.
    pub async fn parked_mails(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let page = self.list::<Mail>(&List::ParkedMails, Sorted::OldestFirst, after, limit);
        let mut page = page.await?;
        page.items
            .retain(|mail| mail.value.parked_since().is_some());
        Ok(page)
    }
}
