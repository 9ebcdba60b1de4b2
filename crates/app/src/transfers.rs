//! Tickets go from one owner to another.
//!
//! Accepting is one write of four documents: the transfer, the old ticket, the new one
//! with its code, and the order they belong to. So there is no moment in which a place has
//! two good tickets or none, and nothing to complete after a crash but the announcement,
//! which `reconcile` finds. The order is one of them so that a buyer who cancels and a
//! friend who accepts in the same moment cannot both be first.

mod side;

pub use side::{Seen, Side};

use onsale_domain::account::{Account, Email, MAX_NAME_CHARS};
use onsale_domain::ids::{TicketId, TransferId};
use onsale_domain::order::Order;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::{Show, StoredStatus};
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_code::TicketClaims;
use onsale_domain::told_name::told_name;
use onsale_domain::transfer::{
    MAX_HANDS, MAX_OFFERS, Transfer, TransferRefusal, TransferState, TransferStatus,
};

use crate::accounts::check_reachable;
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{List, Page, Versioned};
use crate::reconcile::{Report, is_idle};
use crate::update::Next;

/// Transfers that a sweep reads at once.
const PAGE: usize = 100;

impl From<TransferRefusal> for Error {
    fn from(refusal: TransferRefusal) -> Self {
        use TransferRefusal as Why;
        Self::Conflict(match refusal {
            Why::TooManyOffers => {
                let limit = u64::from(MAX_OFFERS);
                let of = "offers of one ticket";
                return Self::LimitExceeded { limit, of };
            }
            Why::TooManyHands => {
                let limit = MAX_HANDS as u64;
                let of = "transfers of one place";
                return Self::LimitExceeded { limit, of };
            }
            Why::Used => "a ticket that was used cannot be passed on",
            Why::Revoked => "the ticket was revoked",
            Why::Undone => "the order of this ticket is being cancelled",
            Why::Begun => "the show has begun",
            Why::Withdrawn => "the transfer was withdrawn",
            Why::Declined => "the transfer was declined",
            Why::Accepted => "the transfer was accepted",
            Why::Expired => "the transfer has expired",
        })
    }
}

fn at<T>(version: u64, value: T) -> Versioned<T> {
    Versioned { version, value }
}

impl App {
    /// Offers a ticket of the caller to whoever has this address, account or not.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn offer_transfer(
        &self,
        caller: &Caller,
        ticket: TicketId,
        to: &Email,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<Transfer> {
        self.check_session(caller).await?;
        check_reachable(to)?;
        let id = match key {
            Some(key) => TransferId::derived(&[
                caller.account.as_bytes(),
                ticket.as_bytes(),
                key.as_str().as_bytes(),
            ]),
            None => TransferId::new(self.now(), self.id_entropy()),
        };
        for _ in 0..ROUNDS {
            // Told before, or by the try before this one, whose reply was lost.
            if let Some(known) = self.store.read::<Transfer>(id).await? {
                if known.value.request != Some(request) {
                    return Err(Error::IdempotencyMismatch);
                }
                let transfer = known.value.clone();
                self.tell_transfer(known).await;
                return Ok(transfer);
            }
            let stored = self.store.read::<Ticket>(ticket).await?;
            let stored = stored
                .filter(|t| t.value.account == caller.account && !t.value.code.is_empty())
                .ok_or(Error::NotFound("ticket"))?;
            if self.own_account(caller).await?.email == *to {
                return Err(Error::Invalid("to_email: this address is your own".into()));
            }
            let (show, order) = self.surroundings(&stored.value).await?;
            self.check_no_open_offer(&stored.value).await?;
            let (transfer, value) = Transfer::offer(
                id,
                &stored.value,
                &order.value,
                to.clone(),
                Some(request),
                show.starts_at,
                self.now(),
            )?;
            let offered = at(stored.version, value);
            // Whether it was stored, the next round tells.
            let mut together = self.store.together();
            together.create(&transfer)?.replace(&offered)?;
            self.store.write(&together).await?;
        }
        Err(Error::Unavailable)
    }

    /// The show and the order of a ticket, as they are now.
    pub(crate) async fn surroundings(&self, ticket: &Ticket) -> Result<(Show, Versioned<Order>)> {
        let show = self.store.read::<Show>(ticket.show_id).await?;
        let show = show.ok_or(Error::Corrupt)?.value;
        if show.status == StoredStatus::Cancelled {
            return Err(Error::Conflict("the show is cancelled"));
        }
        let order = self.store.read::<Order>(ticket.order_id).await?;
        Ok((show, order.ok_or(Error::Corrupt)?))
    }

    pub(crate) async fn check_no_open_offer(&self, ticket: &Ticket) -> Result<()> {
        let Some(last) = ticket.hands.offered else {
            return Ok(());
        };
        let last = self
            .store
            .read::<Transfer>(last)
            .await?
            .ok_or(Error::Corrupt)?;
        match last.value.status(self.now()) {
            TransferStatus::Open => Err(Error::Conflict(
                "this ticket is offered to somebody already; withdraw that offer first",
            )),
            _ => Ok(()),
        }
    }

    async fn own_account(&self, caller: &Caller) -> Result<Account> {
        let account = self.store.account(caller.account).await?;
        account.ok_or(Error::Unauthenticated)
    }

    /// A transfer that the caller sent, or that was offered to their address. Everybody
    /// else's does not exist.
    async fn own_transfer(
        &self,
        caller: &Caller,
        id: TransferId,
    ) -> Result<(Versioned<Transfer>, Side)> {
        self.check_session(caller).await?;
        let missing = Error::NotFound("transfer");
        let Some(transfer) = self.store.read::<Transfer>(id).await? else {
            return Err(missing);
        };
        if transfer.value.from == caller.account {
            return Ok((transfer, Side::Sender));
        }
        let account = self.own_account(caller).await?;
        match transfer.value.is_for(&account) {
            true => Ok((transfer, Side::Recipient)),
            false => Err(missing),
        }
    }

    /// One transfer. Its recipient is told who gives the ticket.
    pub async fn transfer(&self, caller: &Caller, id: TransferId) -> Result<Seen> {
        let (transfer, side) = self.own_transfer(caller, id).await?;
        let transfer = transfer.value;
        let from_name = match side {
            Side::Sender => None,
            Side::Recipient => {
                let sender = self.store.account(transfer.from).await?;
                sender.and_then(|sender| told_name(&sender.name, MAX_NAME_CHARS))
            }
        };
        Ok(Seen {
            transfer,
            side,
            from_name,
        })
    }

    /// What the caller sent, and what became of what was offered to them, newest first. An
    /// offer to them that stands is in no list: its id came by mail, and is the proof that
    /// the mailbox is theirs.
    pub async fn transfers(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<(Transfer, Side)>> {
        self.check_session(caller).await?;
        let account = self.own_account(caller).await?;
        let (id, email, now) = (caller.account, &account.email, self.now());
        let page = self.store.transfers_of(id, email, after, limit).await?;
        let sided = |transfer: Transfer| match transfer.from == caller.account {
            true => Some((transfer, Side::Sender)),
            // Accepted by an account that has another address by now.
            false => transfer
                .is_listed_for(&account, now)
                .then_some((transfer, Side::Recipient)),
        };
        Ok(Page {
            items: page.items.into_iter().filter_map(sided).collect(),
            next: page.next,
        })
    }

    /// The recipient accepts: the old code is dead, and this is the new ticket. Asked again,
    /// the answer is the same.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn accept_transfer(&self, caller: &Caller, id: TransferId) -> Result<Ticket> {
        for _ in 0..ROUNDS {
            let (transfer, side) = self.own_transfer(caller, id).await?;
            if side == Side::Sender {
                return Err(Error::NotFound("transfer"));
            }
            if let TransferState::Accepted { new_ticket, .. } = transfer.value.state {
                let ticket = self
                    .store
                    .read::<Ticket>(new_ticket)
                    .await?
                    .ok_or(Error::Corrupt)?;
                self.tell_transfer(transfer).await;
                return Ok(ticket.value);
            }
            let old = self.store.read::<Ticket>(transfer.value.ticket).await?;
            let old = old.ok_or(Error::Corrupt)?;
            let (show, order) = self.surroundings(&old.value).await?;
            let accepted = transfer.value.accept(
                &old.value,
                &order.value,
                caller.account,
                show.starts_at,
                self.now(),
            );
            let accepted = match accepted {
                Ok(accepted) => accepted,
                // The ticket was read after the transfer: what refuses may be the doing of a
                // twin of this request, which accepted in between.
                Err(why) => {
                    let (current, _) = self.own_transfer(caller, id).await?;
                    if current.version == transfer.version {
                        return Err(why.into());
                    }
                    continue;
                }
            };
            let mut new = accepted.new;
            new.code = self.ticket_signer.sign(&TicketClaims {
                ticket: new.id,
                show: new.show_id,
                place: new.place,
                serial: new.serial,
            })?;
            let mut together = self.store.together();
            together
                .replace(&at(transfer.version, accepted.transfer))?
                .replace(&at(old.version, accepted.old))?
                .create(&new)?
                .replace(&at(order.version, accepted.order))?;
            // Whether it was stored, the next round tells.
            if self.store.write(&together).await? {
                metrics::counter!("onsale_transfers_accepted_total").increment(1);
            }
        }
        Err(Error::Unavailable)
    }

    /// The sender takes the offer back.
    pub async fn withdraw_transfer(&self, caller: &Caller, id: TransferId) -> Result<()> {
        self.end_transfer(caller, id, Side::Sender).await
    }

    /// The recipient does not want it.
    pub async fn decline_transfer(&self, caller: &Caller, id: TransferId) -> Result<()> {
        self.end_transfer(caller, id, Side::Recipient).await
    }

    async fn end_transfer(&self, caller: &Caller, id: TransferId, by: Side) -> Result<()> {
        let (transfer, side) = self.own_transfer(caller, id).await?;
        if side != by {
            return Err(Error::NotFound("transfer"));
        }
        let ended = self.update(transfer, |transfer, now| {
            let ended = match side {
                Side::Sender => transfer.withdraw(now)?,
                Side::Recipient => transfer.decline(now)?,
            };
            Ok(match ended {
                Some(ended) => Next::Store(ended, ()),
                None => Next::Leave(()),
            })
        });
        ended.await
    }

    /// Tells the world what it does not know yet of a transfer. What fails here, the sweep
    /// does later.
    async fn tell_transfer(&self, transfer: Versioned<Transfer>) {
        let (id, changed) = (transfer.value.id, transfer.value.changed);
        let news = transfer.value.untold();
        if news.is_empty() {
            return;
        }
        let told: Vec<_> = news
            .into_iter()
            .map(|news| news.announce(&id.to_string(), changed))
            .collect();
        if let Err(error) = self.bus.announce(&told).await {
            // Its id is the proof of a mailbox, and stays out of the log.
            let ticket = transfer.value.ticket;
            tracing::warn!(%ticket, %error, "a transfer could not be announced");
            return;
        }
        let next = at(transfer.version, transfer.value.told());
        // Lost against another step of it: then the sweep tells it once more.
        if let Err(error) = self.store.replace(&next).await {
            let ticket = next.value.ticket;
            tracing::warn!(%ticket, %error, "a transfer may be announced again");
        }
    }

    /// Announces what a process that died did not.
    pub(crate) async fn tell_forgotten_transfers(&self, report: &mut Report) -> Result<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self
                .store
                .page_of_ids::<Transfer>(&List::UntoldTransfers, after.as_deref(), PAGE)
                .await?;
            for id in page.items {
                let transfer = self.store.read::<Transfer>(id).await;
                // Its id lets whoever knows it accept: it stands in no log.
                let transfer = report.readable("a transfer that nobody was told of", transfer)?;
                // A fresh one is about to be told by whoever stored it.
                if let Some(transfer) = transfer.filter(|t| is_idle(t.value.changed, self.now())) {
                    self.tell_transfer(transfer).await;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The tickets that are good for the places of an order now, whoever has them.
    pub(crate) async fn current_tickets(&self, order: &Order) -> Result<Vec<Versioned<Ticket>>> {
        let mut current = Vec::new();
        let mut wanted = order.ticket_ids();
        for _ in 0..=MAX_HANDS {
            let found = self.store.read_many::<Ticket>(&wanted).await?;
            wanted.clear();
            for ticket in found {
                match ticket.value.hands.passed_on {
                    Some(next) => wanted.push(next),
                    None => current.push(ticket),
                }
            }
            if wanted.is_empty() {
                break;
            }
        }
        Ok(current)
    }
}
