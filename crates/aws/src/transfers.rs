//! Transfers: in the list of who sent them, of the address they go to, and of those that
//! nobody was told of.

use async_trait::async_trait;
use onsale_app::ports::{AcceptanceWrite, Page, Stored, Transfers, Versioned, Written};
use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, TransferId};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::transfer::Transfer;

use crate::attributes::get_json;
use crate::documents::{Document, Listing, new_mark};
use crate::keys::{self, BY_BUYER, BY_OWNER, BY_WORK, Key, UNTOLD_TRANSFERS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

impl Document for Transfer {
    fn key(&self) -> Key {
        Key::transfer(self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.created, self.id);
        let listed = |index, list| Listing {
            index,
            place: Some((list, place.clone())),
        };
        let to = self.to.as_ref().map(EmailHash::of).map(keys::offered_to);
        let untold = !self.untold().is_empty();
        vec![
            listed(BY_BUYER, keys::sent_by(self.from)),
            Listing {
                index: BY_OWNER,
                place: to.map(|list| (list, place.clone())),
            },
            Listing {
                index: BY_WORK,
                place: untold.then(|| (UNTOLD_TRANSFERS.to_owned(), place.clone())),
            },
        ]
    }
}

#[async_trait]
impl Transfers for DynamoStore {
    async fn transfer(&self, id: TransferId) -> Stored<Option<Versioned<Transfer>>> {
        self.get_versioned(&Key::transfer(id)).await
    }

    async fn offer_transfer(&self, new: &Transfer, ticket: &Versioned<Ticket>) -> Stored<bool> {
        let mark = new_mark()?;
        let parts = vec![
            self.document_part(mark, 0, new)?,
            self.document_part(mark, ticket.version, &ticket.value)?,
        ];
        self.transact_documents(mark, parts).await
    }

    async fn accept_transfer(&self, write: &AcceptanceWrite) -> Stored<bool> {
        let mark = new_mark()?;
        let parts = vec![
            self.document_part(mark, write.transfer.version, &write.transfer.value)?,
            self.document_part(mark, write.old.version, &write.old.value)?,
            self.document_part(mark, 0, &write.new)?,
            self.document_part(mark, write.order.version, &write.order.value)?,
        ];
        self.transact_documents(mark, parts).await
    }

    async fn replace_transfer(&self, next: &Versioned<Transfer>) -> Stored<Written<Transfer>> {
        self.replace_document(next).await
    }

    async fn transfers_of(
        &self,
        account: AccountId,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Transfer>> {
        let sent = List::newest_first(BY_BUYER, keys::sent_by(account));
        let offered = keys::offered_to(EmailHash::of(email));
        let offered = List::newest_first(BY_OWNER, offered);
        let key = |pk: &str| Key::transfer_id(pk).map(Key::transfer);
        // Both lists have the same order of places, so one place goes on in both.
        let mut all: Vec<(String, Transfer)> = Vec::new();
        let mut more = false;
        for list in [&sent, &offered] {
            let page = self.list_items(list, after, limit, key).await?;
            more |= page.next.is_some();
            for item in &page.items {
                let transfer: Transfer = get_json(item, "doc")?;
                all.push((keys::by_time(transfer.created, transfer.id), transfer));
            }
        }
        all.sort_by(|one, other| other.0.cmp(&one.0));
        all.dedup_by(|one, other| one.0 == other.0);
        more |= all.len() > limit;
        all.truncate(limit);
        let last = all.last().map(|(place, _)| place.clone());
        Ok(Page {
            items: all.into_iter().map(|(_, transfer)| transfer).collect(),
            next: last.filter(|_| more),
        })
    }

    async fn untold_transfers(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<TransferId>> {
        let list = List::oldest_first(BY_WORK, UNTOLD_TRANSFERS);
        let page = self.list(&list, after, limit).await?;
        Ok(Page {
            items: named(&page.items, Key::transfer_id)?,
            next: page.next,
        })
    }
}
