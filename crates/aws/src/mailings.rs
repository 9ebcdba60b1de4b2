//! Mailings: stored in one transaction with the change that they tell of.

use async_trait::async_trait;
use onsale_app::ports::{Mailings, ShowNotes, Stored, Versioned, Written};
use onsale_domain::event::Event;
use onsale_domain::mailing::{Mailing, MailingId};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::catalogue::event_replacement;
use crate::documents::{Document, Listing, replacement};
use crate::keys::{self, BY_WORK, Key, OPEN_MAILINGS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

const LIST_PAGE: usize = 100;

impl Document for Mailing {
    fn key(&self) -> Key {
        Key::mailing(self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.created, self.id);
        let open = self.is_open();
        vec![Listing {
            index: BY_WORK,
            place: open.then(|| (OPEN_MAILINGS.to_owned(), place)),
        }]
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(Mailing::forget_at(self))
    }
}

#[async_trait]
impl Mailings for DynamoStore {
    async fn replace_event_and_tell(
        &self,
        event: &Versioned<Event>,
        mailing: &Mailing,
    ) -> Stored<bool> {
        let parts = vec![
            self.update_part(&Key::event(event.value.id), event_replacement(event)?)?,
            self.new_document_part(mailing)?,
        ];
        Ok(self.transact(parts).await?.is_ok())
    }

    async fn replace_show_and_tell(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
        mailing: &Mailing,
    ) -> Stored<bool> {
        let mut parts = vec![
            self.update_part(&Key::show(show.value.id), replacement(show)?)?,
            self.update_part(&Key::event(event.value.id), event_replacement(event)?)?,
            self.new_document_part(mailing)?,
        ];
        parts.extend(self.note_parts(show.value.id, notes)?);
        Ok(self.transact(parts).await?.is_ok())
    }

    async fn mailing(&self, id: MailingId) -> Stored<Option<Versioned<Mailing>>> {
        self.get_versioned(&Key::mailing(id)).await
    }

    async fn replace_mailing(&self, mailing: &Versioned<Mailing>) -> Stored<Written<Mailing>> {
        self.replace_document(mailing).await
    }

    async fn open_mailings(&self) -> Stored<Vec<MailingId>> {
        let list = List::oldest_first(BY_WORK, OPEN_MAILINGS);
        let (mut open, mut after) = (Vec::new(), None);
        loop {
            let page = self.list(&list, after.as_deref(), LIST_PAGE).await?;
            open.extend(named(&page.items, Key::mailing_id)?);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(open),
            }
        }
    }
}
