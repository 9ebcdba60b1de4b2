//! Venues, events and shows: documents under a version, and two lists of events.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::TransactWriteItem;
use onsale_app::ports::{Catalogue, Creation, Page, ShowNotes, Stored, Versioned};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::layout_codec;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::Show;
use onsale_domain::venue::Venue;

use crate::attributes::{Item, bytes, document, get_bytes, get_request, text};
use crate::conditions::Change;
use crate::documents::{replacement, versioned};
use crate::keys::{self, BY_LIST, BY_OWNER, BY_WORK, Key, PUBLIC_EVENTS, UNINDEXED_EVENTS};
use crate::lists::List;
use crate::table::DynamoStore;
use crate::waitlists::mark_of;

pub(crate) fn event_replacement(event: &Versioned<Event>) -> Stored<Change> {
    let mut change = replacement(event)?;
    // An event enters the public list with its first published show and stays. The write
    // itself notes that the search index has to follow.
    if event.value.is_public() {
        for (index, partition) in [(BY_LIST, PUBLIC_EVENTS), (BY_WORK, UNINDEXED_EVENTS)] {
            let (pk, sk) = (index.pk, index.sk);
            change
                .update
                .push_str(&format!(", {pk} = :{pk}, {sk} = :place"));
            change.values.insert(format!(":{pk}"), text(partition));
        }
        change
            .values
            .insert(":place".to_owned(), text(list_place(&event.value)));
    }
    Ok(change)
}

/// A show, with what is marked beside its document.
pub(crate) fn show_of(item: &Item) -> Stored<Versioned<Show>> {
    let mut show: Versioned<Show> = versioned(item)?;
    show.value.waitlist = mark_of(item)?;
    Ok(show)
}

/// Where an event stands in its lists.
fn list_place(event: &Event) -> String {
    keys::by_time(event.created, event.id)
}

fn events(page: Page<Item>) -> Stored<Page<Versioned<Event>>> {
    let events = page.items.iter().map(versioned);
    Ok(Page {
        items: events.collect::<Stored<_>>()?,
        next: page.next,
    })
}

impl DynamoStore {
    /// What is noted of a show, as parts of the write of the show itself.
    pub(crate) fn note_parts(
        &self,
        show: ShowId,
        notes: ShowNotes<'_>,
    ) -> Stored<Vec<TransactWriteItem>> {
        let entry = notes.entry.map(|entry| self.audit_part(entry));
        let prices = notes.prices.map(|log| self.price_log_part(show, log));
        entry.into_iter().chain(prices).collect()
    }
}

#[async_trait]
impl Catalogue for DynamoStore {
    async fn create_venue(
        &self,
        venue: &Venue,
        layout: &Layout,
        request: Option<RequestHash>,
    ) -> Stored<Creation> {
        let stored = Item::from([("layout".to_owned(), bytes(layout_codec::encode(layout)))]);
        let parts = vec![
            self.put_new_part(
                &Key::venue(venue.id),
                document(Item::new(), venue, request)?,
            )?,
            self.put_new_part(&Key::layout(venue.id), stored)?,
        ];
        Ok(match self.transact(parts).await? {
            Ok(()) => Creation::New,
            Err(refused) => {
                let existing = refused.into_iter().next().flatten();
                Creation::Existing(existing.as_ref().and_then(get_request))
            }
        })
    }

    async fn venue(&self, id: VenueId) -> Stored<Option<Venue>> {
        let venue = self.get_versioned(&Key::venue(id)).await?;
        Ok(venue.map(|v| v.value))
    }

    async fn layout(&self, id: VenueId) -> Stored<Option<Layout>> {
        let Some(item) = self.get(&Key::layout(id)).await? else {
            return Ok(None);
        };
        let layout = layout_codec::decode(get_bytes(&item, "layout")?);
        layout
            .map(Some)
            .map_err(|e| onsale_app::ports::StoreError::Corrupt(e.to_string()))
    }

    async fn create_event(&self, event: &Event, request: Option<RequestHash>) -> Stored<Creation> {
        let mut item = document(Item::new(), event, request)?;
        item.insert(BY_OWNER.pk.to_owned(), text(keys::owner(event.owner)));
        item.insert(BY_OWNER.sk.to_owned(), text(list_place(event)));
        Ok(match self.put_new(&Key::event(event.id), item).await? {
            None => Creation::New,
            Some(existing) => Creation::Existing(get_request(&existing)),
        })
    }

    async fn event(&self, id: EventId) -> Stored<Option<Versioned<Event>>> {
        self.get_versioned(&Key::event(id)).await
    }

    async fn replace_event(&self, event: &Versioned<Event>) -> Stored<bool> {
        self.update_if(&Key::event(event.value.id), event_replacement(event)?)
            .await
    }

    async fn create_show(
        &self,
        show: &Show,
        event: &Versioned<Event>,
        request: Option<RequestHash>,
        notes: ShowNotes<'_>,
    ) -> Stored<Option<Creation>> {
        let mut parts = vec![
            self.put_new_part(&Key::show(show.id), document(Item::new(), show, request)?)?,
            self.update_part(&Key::event(event.value.id), event_replacement(event)?)?,
        ];
        parts.extend(self.note_parts(show.id, notes)?);
        Ok(match self.transact(parts).await? {
            Ok(()) => Some(Creation::New),
            Err(refused) => {
                let existing = refused.into_iter().next().flatten();
                existing.map(|item| Creation::Existing(get_request(&item)))
            }
        })
    }

    async fn show(&self, id: ShowId) -> Stored<Option<Versioned<Show>>> {
        let item = self.get(&Key::show(id)).await?;
        item.as_ref().map(show_of).transpose()
    }

    async fn replace_show(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
    ) -> Stored<bool> {
        let mut parts = vec![
            self.update_part(&Key::show(show.value.id), replacement(show)?)?,
            self.update_part(&Key::event(event.value.id), event_replacement(event)?)?,
        ];
        parts.extend(self.note_parts(show.value.id, notes)?);
        Ok(self.transact(parts).await?.is_ok())
    }

    async fn public_events(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        let list = List::newest_first(BY_LIST, PUBLIC_EVENTS);
        events(self.list(&list, after, limit).await?)
    }

    async fn events_of(
        &self,
        owner: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        let list = List::newest_first(BY_OWNER, keys::owner(owner));
        events(self.list(&list, after, limit).await?)
    }
}
