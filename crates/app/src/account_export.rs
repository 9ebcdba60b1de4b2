//! What is stored about somebody, for them to take along. Mails are not in it: they were
//! sent, and tell what is here. Nor is what an organiser published, which their lists have.
//!
//! It comes in pages, each bounded in what it reads, so that any size works wherever an
//! answer must end in time. Nothing in it lets anybody in: no password, no token, and not
//! the codes of tickets, which their owner reads with the tickets.

use onsale_domain::account::Account;
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::order::Order;
use onsale_domain::room::opaque::PassId;
use onsale_domain::staff::Staff;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_domain::transfer::Transfer;
use onsale_domain::waitlist::WaitlistEntry;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::HoldView;
use crate::ports::Session;
use crate::transfers::Side;

/// Items that one read of a list returns.
const PAGE: usize = 100;
/// Reads of lists in one page of an export: some 1,000 orders, or 1,000 events whose shows
/// are looked through for holds.
const READS_A_PAGE: usize = 10;

/// Where a page begins: in which list, and after what in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    part: Part,
    after: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Sessions,
    Orders,
    Received,
    Fans,
    Waitlists,
    Transfers,
    Holds,
}

impl Part {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Sessions, "sessions"),
        (Self::Orders, "orders"),
        (Self::Received, "received"),
        (Self::Fans, "fans"),
        (Self::Waitlists, "waitlists"),
        (Self::Transfers, "transfers"),
        (Self::Holds, "holds"),
    ];

    fn next(self) -> Option<Self> {
        let place = Self::ALL.iter().position(|(part, _)| *part == self)?;
        Self::ALL.get(place + 1).map(|(part, _)| *part)
    }
}

impl Place {
    fn parse(cursor: Option<&str>) -> Option<Self> {
        let Some(cursor) = cursor else {
            return Some(Self {
                part: Part::Sessions,
                after: None,
            });
        };
        let (name, after) = cursor.split_once('@')?;
        let (part, _) = Part::ALL.into_iter().find(|(_, known)| *known == name)?;
        Some(Self {
            part,
            after: (!after.is_empty()).then(|| after.to_owned()),
        })
    }

    fn cursor(&self) -> String {
        let known = Part::ALL.iter().find(|(part, _)| *part == self.part);
        let name = known.map_or("", |(_, name)| name);
        format!("{name}@{}", self.after.as_deref().unwrap_or(""))
    }

    /// What follows a read of this list; `None` after the last one.
    fn beyond(&self, next: Option<String>) -> Option<Self> {
        let part = match next {
            Some(_) => self.part,
            None => self.part.next()?,
        };
        Some(Self { part, after: next })
    }
}

/// One page. The account is on the first one only.
#[derive(Debug, Default)]
pub struct Export {
    pub account: Option<Account>,
    pub staff: Option<Staff>,
    pub sessions: Vec<Session>,
    pub orders: Vec<(Order, Vec<Ticket>)>,
    /// Tickets that somebody gave them, and that they have.
    pub received: Vec<Ticket>,
    /// Since they have the account: registering proves no address, and what came before may
    /// be somebody else's.
    pub fan_registrations: Vec<(ShowId, Millis)>,
    /// Entries in waitlists, with the names of the sections that would do.
    pub waitlists: Vec<(WaitlistEntry, Vec<String>)>,
    pub transfers: Vec<(Transfer, Side)>,
    pub holds: Vec<HoldView>,
    /// The pass under which the last hold in a show began.
    pub passes: Vec<(ShowId, PassId)>,
    pub next: Option<String>,
}

impl App {
    pub async fn export_account(&self, caller: &Caller, cursor: Option<&str>) -> Result<Export> {
        let mut place = Place::parse(cursor)
            .ok_or_else(|| Error::Invalid("cursor: the next_cursor of a page".into()))?;
        let account = self.me(caller).await?;
        let mut export = Export::default();
        for _ in 0..READS_A_PAGE {
            let after = place.after.as_deref();
            let next = match place.part {
                Part::Sessions => self.export_sessions(caller, after, &mut export).await?,
                Part::Orders => self.export_orders(caller, after, &mut export).await?,
                Part::Received => self.export_received(caller, after, &mut export).await?,
                Part::Fans => self.export_fans(&account, after, &mut export).await?,
                Part::Waitlists => self.export_waitlists(caller, after, &mut export).await?,
                Part::Transfers => self.export_transfers(caller, after, &mut export).await?,
                Part::Holds => self.export_holds(caller, after, &mut export).await?,
            };
            match place.beyond(next) {
                Some(next) => place = next,
                None => return self.with_account(export, account, cursor).await,
            }
        }
        export.next = Some(place.cursor());
        self.with_account(export, account, cursor).await
    }

    async fn with_account(
        &self,
        mut export: Export,
        account: Account,
        cursor: Option<&str>,
    ) -> Result<Export> {
        if cursor.is_none() {
            let staff = self.store.read::<Staff>(account.id).await?;
            export.staff = staff.map(|staff| staff.value);
            export.account = Some(account);
        }
        Ok(export)
    }

    async fn export_sessions(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let page = self.store.sessions_of(caller.account, after, PAGE).await?;
        export.sessions.extend(page.items);
        Ok(page.next)
    }

    async fn export_orders(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let page = self.store.orders_of(caller.account, after, PAGE).await?;
        let ids = page.items.iter().flat_map(Order::ticket_ids);
        let ids: Vec<TicketId> = ids.collect();
        let mut tickets = Vec::new();
        for ticket in self.store.read_many::<Ticket>(&ids).await? {
            // Somebody else's by now, or never anybody's.
            let own = ticket.value.account == caller.account && !ticket.value.code.is_empty();
            tickets.extend(own.then_some(ticket.value));
        }
        for order in page.items {
            let of_order = tickets.iter().filter(|t| t.order_id == order.id);
            let mut of_order: Vec<_> = of_order.cloned().collect();
            of_order.sort_by_key(|ticket| ticket.place);
            export.orders.push((order, of_order));
        }
        Ok(page.next)
    }

    async fn export_received(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let owned = self.store.tickets_owned(caller.account, after, PAGE);
        let page = owned.await?;
        let received = |ticket: &Ticket| !ticket.hands.before.is_empty();
        export
            .received
            .extend(page.items.into_iter().filter(received));
        Ok(page.next)
    }

    async fn export_fans(
        &self,
        account: &Account,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let page = self.store.fan_of(&account.email, after, PAGE).await?;
        let registered = page.items.iter().map(|(show, fan)| (*show, fan.registered));
        let theirs = registered.filter(|(_, at)| account.had_address_at(*at));
        export.fan_registrations.extend(theirs);
        Ok(page.next)
    }

    async fn export_waitlists(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let entries = self.store.waitlist_entries_of(caller.account, after, PAGE);
        let page = entries.await?;
        for entry in page.items {
            let entry = entry.value;
            let show = self.recent_show(entry.show_id).await?;
            let layout = self.layout_of(&show).await?;
            let wanted = entry.wish.sections.iter();
            let named = wanted.filter_map(|number| layout.sections().get(usize::from(*number)));
            let named = named.map(|section| section.name.clone()).collect();
            export.waitlists.push((entry, named));
        }
        Ok(page.next)
    }

    async fn export_transfers(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let page = self.transfers(caller, after, PAGE).await?;
        export.transfers.extend(page.items);
        Ok(page.next)
    }

    /// Nothing lists the shows in which somebody holds places, because a hold would have to
    /// pay for it: the shows to come are looked through.
    async fn export_holds(
        &self,
        caller: &Caller,
        after: Option<&str>,
        export: &mut Export,
    ) -> Result<Option<String>> {
        let now = self.now();
        let page = self.store.public_events(after, PAGE).await?;
        let shows = page.items.iter().flat_map(|event| &event.value.shows);
        let coming = shows.filter(|show| show.is_coming(now)).map(|show| show.id);
        let coming: Vec<ShowId> = coming.collect();
        for (id, buyer) in self.store.buyers(caller.account, &coming).await? {
            let show = self.recent_show(id).await?;
            let layout = self.layout_of(&show).await?;
            let views = buyer.entries.iter();
            let views = views.map(|entry| HoldView::of(entry, &show, &layout, now));
            export.holds.extend(views);
            export.passes.extend(buyer.last_pass.map(|pass| (id, pass)));
        }
        Ok(page.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_its_list_and_place_and_every_list_comes_once() {
        let mut place = Place::parse(None).unwrap();
        let mut parts = Vec::new();
        loop {
            parts.push(place.part);
            let part = place.beyond(Some("x@y".into())).unwrap();
            assert_eq!(Place::parse(Some(&part.cursor())), Some(part.clone()));
            match part.beyond(None) {
                Some(next) => place = next,
                None => break,
            }
            assert_eq!(Place::parse(Some(&place.cursor())), Some(place.clone()));
        }
        assert_eq!(parts, Part::ALL.map(|(part, _)| part));
        for wrong in ["", "orders", "tickets@", "@"] {
            assert_eq!(Place::parse(Some(wrong)), None, "{wrong}");
        }
    }
}
