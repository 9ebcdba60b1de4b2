//! Tickets that their owners put back at face value, and for whom they are kept.
//!
//! A ticket that was put back is one more place that a pass over the waitlist can offer.
//! It is then promised to the hold of the offer, as a free place would be claimed for it;
//! `checkout` sells it (`checkout/resale.rs`). A promise that nobody takes back lapses, so
//! nothing has to be cleaned up after a crash.

use onsale_domain::ids::{AccountId, HoldId, ShowId, TicketId};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_return::{Promise, Resale, ReturnRefusal};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Versioned, Written};
use crate::update::Next;

/// Tickets that one pass over a waitlist looks at, those that wait longest first.
const RETURNS_A_PASS: usize = 500;

impl From<ReturnRefusal> for Error {
    fn from(refusal: ReturnRefusal) -> Self {
        Self::Conflict(match refusal {
            ReturnRefusal::Used => "a ticket that was used cannot be put back",
            ReturnRefusal::Revoked => "the ticket was revoked",
            ReturnRefusal::Resold => "the ticket was resold",
            ReturnRefusal::Undone => "the order of this ticket is being cancelled",
            ReturnRefusal::Begun => "the show has begun",
        })
    }
}

/// What came of moving a ticket.
enum Move {
    To(Box<Ticket>),
    /// It is there already.
    Done,
    Refused,
}

fn to(next: Option<Ticket>) -> Move {
    next.map_or(Move::Refused, |next| Move::To(Box::new(next)))
}

impl App {
    /// The owner puts a ticket back. It stays good until it is resold. Asked again, the
    /// answer is what has become of it.
    pub async fn return_ticket(
        &self,
        caller: &Caller,
        id: TicketId,
        key: Option<&IdempotencyKey>,
    ) -> Result<Ticket> {
        let request = key.map(|key| RequestHash::of(key.as_str().as_bytes()));
        for _ in 0..ROUNDS {
            let stored = self.own_ticket(caller, id).await?;
            let known = stored.value.put_back.as_ref();
            let again = known.is_some_and(|r| request.is_some() && r.request == request);
            if again || stored.value.is_put_back() {
                self.wake_waitlist(stored.value.show_id).await;
                return Ok(stored.value);
            }
            let (show, order) = self.surroundings(&stored.value).await?;
            self.check_no_open_offer(&stored.value).await?;
            let value =
                stored
                    .value
                    .put_back_for(&order.value, request, show.starts_at, self.now())?;
            let next = Versioned {
                version: stored.version,
                value,
            };
            if let Written::Done(_) = self.store.replace(&next).await? {
                metrics::counter!("onsale_returns_total", "result" => "put_back").increment(1);
                self.wake_waitlist(next.value.show_id).await;
                return Ok(next.value);
            }
        }
        Err(Error::Unavailable)
    }

    /// The owner takes it back, which is possible until it is resold. Again: the same.
    pub async fn keep_ticket(&self, caller: &Caller, id: TicketId) -> Result<()> {
        let stored = self.own_ticket(caller, id).await?;
        let show = stored.value.show_id;
        let kept = self.update(stored, |ticket, now| {
            // It may be another's by now.
            if !is_of(ticket, caller.account) {
                return Err(Error::NotFound("ticket"));
            }
            Ok(match ticket.taken_back(now)? {
                Some(kept) => Next::Store(kept, true),
                None => Next::Leave(false),
            })
        });
        if kept.await? {
            metrics::counter!("onsale_returns_total", "result" => "taken_back").increment(1);
            // The account that it was promised to is put back in line.
            self.wake_waitlist(show).await;
        }
        Ok(())
    }

    async fn own_ticket(&self, caller: &Caller, id: TicketId) -> Result<Versioned<Ticket>> {
        self.check_session(caller).await?;
        let stored = self.store.read::<Ticket>(id).await?;
        stored
            .filter(|t| is_of(&t.value, caller.account))
            .ok_or(Error::NotFound("ticket"))
    }

    /// The tickets of a show that were put back, as they are now.
    pub(crate) async fn returned_tickets(&self, show: ShowId) -> Result<Vec<Ticket>> {
        let ids = self.store.tickets_put_back(show, RETURNS_A_PASS).await?;
        let tickets = self.store.read_many::<Ticket>(&ids).await?;
        Ok(tickets.into_iter().map(|ticket| ticket.value).collect())
    }

    /// Keeps every one of these tickets for a hold. `false`: one of them cannot be kept;
    /// others may be, until somebody lets them go or the promise lapses.
    pub(crate) async fn promise_tickets(
        &self,
        resales: &[Resale],
        promise: Promise,
    ) -> Result<bool> {
        for resale in resales {
            let promised = self.move_ticket(resale.ticket, |ticket| {
                match ticket.promise() == Some(promise) {
                    true => Move::Done,
                    false => to(ticket.promised(promise, self.now())),
                }
            });
            if !promised.await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps them for longer, while their hold is being paid.
    pub(crate) async fn extend_promises(
        &self,
        resales: &[Resale],
        old: Promise,
        new: Promise,
    ) -> Result<bool> {
        for resale in resales {
            let extended = self.move_ticket(resale.ticket, |ticket| {
                match ticket.promise() == Some(new) {
                    true => Move::Done,
                    false => to(ticket.promise_moved(old, new)),
                }
            });
            if !extended.await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Lets those go that are kept for this hold.
    pub(crate) async fn release_promises(&self, resales: &[Resale], hold: HoldId) -> Result<()> {
        for resale in resales {
            let released = |ticket: &Ticket| to(ticket.promise_released(hold));
            self.move_ticket(resale.ticket, released).await?;
        }
        Ok(())
    }

    /// Whether every one of them is kept for this hold, or was sold to it.
    pub(crate) async fn are_kept_for(&self, resales: &[Resale], hold: HoldId) -> Result<bool> {
        let ids: Vec<_> = resales.iter().map(|resale| resale.ticket).collect();
        let tickets = self.store.read_many::<Ticket>(&ids).await?;
        let kept = |ticket: &Versioned<Ticket>| {
            let ticket = &ticket.value;
            let promised = ticket.promise().is_some_and(|p| p.hold == hold);
            promised || ticket.is_resold_to(onsale_domain::ids::OrderId::of(hold))
        };
        Ok(tickets.len() == ids.len() && tickets.iter().all(kept))
    }

    /// Moves a ticket on from whatever it is. `false`: it may not move.
    async fn move_ticket(
        &self,
        id: TicketId,
        step: impl Fn(&Ticket) -> Move + Send,
    ) -> Result<bool> {
        let stored = self.store.read::<Ticket>(id).await?.ok_or(Error::Corrupt)?;
        let moved = self.update(stored, |ticket, _| {
            Ok(match step(ticket) {
                Move::To(next) => Next::Store(*next, true),
                Move::Done => Next::Leave(true),
                Move::Refused => Next::Leave(false),
            })
        });
        moved.await
    }
}

/// Whether the ticket was issued, and the account has it.
fn is_of(ticket: &Ticket, account: AccountId) -> bool {
    ticket.account == account && !ticket.code.is_empty()
}
