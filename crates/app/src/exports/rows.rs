//! The rows of a page: the orders that its lines name, their tickets, and who they are.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::account::Account;
use onsale_domain::export::{ExportKind, Person, attendee_row, order_row};
use onsale_domain::ids::{AccountId, OrderId, TicketId};
use onsale_domain::order::Order;
use onsale_domain::sales::SaleLine;
use onsale_domain::ticket::Ticket;
use onsale_domain::transfer::MAX_HANDS;

use crate::app::App;
use crate::error::Result;

/// Accounts that are read at the same time.
const READS_AT_ONCE: usize = 16;

/// The text of some rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub text: String,
    pub count: u64,
}

impl Rows {
    fn push(&mut self, row: &str) {
        self.text.push_str(row);
        self.count += 1;
    }
}

impl App {
    /// An order is named by up to two lines, and stands where the first of them does.
    pub(super) async fn rows_of(
        &self,
        kind: ExportKind,
        lines: &[SaleLine],
        into: &mut Rows,
    ) -> Result<()> {
        let ids: Vec<_> = lines.iter().filter(|l| l.first).map(|l| l.order).collect();
        let read = self.store.read_many::<Order>(&ids).await?;
        let orders: BTreeMap<OrderId, Order> =
            read.into_iter().map(|o| (o.value.id, o.value)).collect();
        let in_order = ids.iter().filter_map(|id| orders.get(id));
        match kind {
            ExportKind::Orders => {
                let people = self.people(orders.values().map(|o| o.account)).await?;
                for order in in_order {
                    into.push(&order_row(order, person(&people, order.account)));
                }
            }
            ExportKind::Attendees => {
                let first: Vec<_> = in_order.flat_map(Order::ticket_ids).collect();
                let tickets = self.passed_on_tickets(&first).await?;
                let people = self.people(tickets.values().map(|t| t.account)).await?;
                for id in first {
                    let mut ticket = tickets.get(&id);
                    // Whoever has it now stands below those who passed it on.
                    while let Some(this) = ticket {
                        into.push(&attendee_row(this, person(&people, this.account)));
                        let next = this.hands.passed_on;
                        ticket = next.and_then(|next| tickets.get(&next));
                    }
                }
            }
        }
        Ok(())
    }

    /// These tickets, and all that they became by being passed on.
    async fn passed_on_tickets(&self, first: &[TicketId]) -> Result<BTreeMap<TicketId, Ticket>> {
        let (mut tickets, mut wanted) = (BTreeMap::new(), first.to_vec());
        for _ in 0..=MAX_HANDS {
            let read = self.store.read_many::<Ticket>(&wanted).await?;
            wanted = read
                .iter()
                .filter_map(|t| t.value.hands.passed_on)
                .collect();
            tickets.extend(read.into_iter().map(|t| (t.value.id, t.value)));
            if wanted.is_empty() {
                break;
            }
        }
        Ok(tickets)
    }

    async fn people(
        &self,
        accounts: impl Iterator<Item = AccountId>,
    ) -> Result<BTreeMap<AccountId, Account>> {
        let distinct: BTreeSet<_> = accounts.collect();
        let reads: Vec<_> = distinct
            .into_iter()
            .map(|id| self.store.account(id))
            .collect();
        let read: Vec<Option<Account>> = stream::iter(reads)
            .buffer_unordered(READS_AT_ONCE)
            .try_collect()
            .await?;
        Ok(read.into_iter().flatten().map(|a| (a.id, a)).collect())
    }
}

fn person(people: &BTreeMap<AccountId, Account>, id: AccountId) -> Person<'_> {
    people
        .get(&id)
        .map_or_else(Person::default, |account| Person {
            name: &account.name,
            email: account.email.as_str(),
        })
}
