//! Tickets that go from one owner to another.

use async_trait::async_trait;
use onsale_app::ports::{AcceptanceWrite, Page, Stored, Transfers, Versioned, Written};
use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, TransferId};
use onsale_domain::ticket::Ticket;
use onsale_domain::transfer::Transfer;

use crate::gates::{put, stand};
use crate::orders::{page, replace};
use crate::{MemoryStore, Step};

#[async_trait]
impl Transfers for MemoryStore {
    async fn transfer(&self, id: TransferId) -> Stored<Option<Versioned<Transfer>>> {
        let read = async { Ok(self.items().transfers.get(&id).cloned()) };
        self.pass("transfer", read).await
    }

    async fn offer_transfer(&self, new: &Transfer, ticket: &Versioned<Ticket>) -> Stored<bool> {
        self.reach(Step::ReplaceTicket).await;
        self.pass("offer_transfer", async {
            let mut items = self.items();
            let known = items.transfers.contains_key(&new.id);
            if known || !stand(&items, std::slice::from_ref(ticket)) {
                return Ok(false);
            }
            put(&mut items, ticket);
            let (version, value) = (1, new.clone());
            items.transfers.insert(new.id, Versioned { version, value });
            Ok(true)
        })
        .await
    }

    async fn accept_transfer(&self, write: &AcceptanceWrite) -> Stored<bool> {
        self.reach(Step::AcceptTransfer).await;
        self.pass("accept_transfer", async {
            let mut items = self.items();
            let (transfer, order) = (&write.transfer, &write.order);
            let known = items.transfers.get(&transfer.value.id);
            let stands = known.is_some_and(|known| known.version == transfer.version)
                && items
                    .orders
                    .get(&order.value.id)
                    .is_some_and(|known| known.version == order.version)
                && !items.tickets.contains_key(&write.new.id)
                && stand(&items, std::slice::from_ref(&write.old));
            if !stands {
                return Ok(false);
            }
            replace(&mut items.transfers, transfer.value.id, transfer)?;
            replace(&mut items.orders, order.value.id, order)?;
            put(&mut items, &write.old);
            let (version, value) = (1, write.new.clone());
            items.tickets.insert(value.id, Versioned { version, value });
            Ok(true)
        })
        .await
    }

    async fn replace_transfer(&self, next: &Versioned<Transfer>) -> Stored<Written<Transfer>> {
        self.pass("replace_transfer", async {
            replace(&mut self.items().transfers, next.value.id, next)
        })
        .await
    }

    async fn transfers_of(
        &self,
        account: AccountId,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Transfer>> {
        let items = self.items();
        let all = items.transfers.values().map(|transfer| &transfer.value);
        let own =
            all.filter(|transfer| transfer.from == account || transfer.to.as_ref() == Some(email));
        // Newest first: the key counts down.
        let key = |t: &Transfer| {
            let id = u128::MAX - u128::from_be_bytes(*t.id.as_bytes());
            format!("{:020}#{id:040}", u64::MAX - t.created.0)
        };
        let mut sorted: Vec<_> = own.map(|t| (key(t), t.clone())).collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }

    async fn untold_transfers(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<TransferId>> {
        let items = self.items();
        let all = items.transfers.values().map(|transfer| &transfer.value);
        let untold = all.filter(|transfer| !transfer.untold().is_empty());
        let mut sorted: Vec<_> = untold
            .map(|t| (format!("{:020}#{}", t.created.0, t.id), t.id))
            .collect();
        sorted.sort();
        Ok(page(sorted, after, limit))
    }
}
