//! A ticket goes from one owner to another: offered to an address, accepted by whoever
//! has it. The old ticket dies in the moment in which the new one is born.

use serde::{Deserialize, Serialize};

use crate::account::{Account, Email};
use crate::announcement::News;
use crate::deletion::Deletion;
use crate::gate::Admissions;
use crate::ids::{AccountId, OrderId, ShowId, TicketId, TransferId};
use crate::mail::{MailId, Recipient};
use crate::order::Order;
use crate::request_hash::RequestHash;
use crate::ticket::{Ticket, TicketState};
use crate::time::{CLOCK_SKEW_MS, Millis};

/// How long an offer stands, unless the show begins before.
pub const OFFER_MS: u64 = 7 * 24 * 3_600_000;
/// So often may one ticket be offered: each offer is a letter to a stranger.
pub const MAX_OFFERS: u8 = 20;
/// So often may one place change hands.
pub const MAX_HANDS: usize = 10;

/// From whom a ticket came, and to whom it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hands {
    /// The last offer of this ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<TransferId>,
    /// How many there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offers: u8,
    /// The ticket that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_on: Option<TicketId>,
    /// Everybody who had the place before, first buyer first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Hand>,
}

fn is_zero(count: &u8) -> bool {
    *count == 0
}

impl Hands {
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }
}

/// An owner who gave the place away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hand {
    pub ticket: TicketId,
    pub account: AccountId,
    pub transfer: TransferId,
    pub until: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum TransferState {
    Open,
    Accepted {
        at: Millis,
        by: AccountId,
        new_ticket: TicketId,
    },
    Declined {
        at: Millis,
    },
    Withdrawn {
        at: Millis,
    },
}

/// The status that the world sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferStatus {
    Open,
    Accepted,
    Declined,
    Withdrawn,
    Expired,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    pub id: TransferId,
    /// The ticket that is offered.
    pub ticket: TicketId,
    pub order_id: OrderId,
    pub show_id: ShowId,
    pub seat: String,
    pub from: AccountId,
    /// `None`: forgotten, with somebody who has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Email>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestHash>,
    #[serde(flatten)]
    pub state: TransferState,
    pub created: Millis,
    pub expires: Millis,
    pub changed: Millis,
    /// Whether the world was told of the offer, and of its acceptance.
    pub offer_told: bool,
    pub acceptance_told: bool,
}

/// Why a ticket cannot be offered or accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransferRefusal {
    #[error("a ticket that was used cannot be passed on")]
    Used,
    #[error("the ticket was revoked")]
    Revoked,
    #[error("the order of this ticket is being cancelled")]
    Undone,
    #[error("the show has begun")]
    Begun,
    #[error("the transfer was withdrawn")]
    Withdrawn,
    #[error("the transfer was declined")]
    Declined,
    #[error("the transfer was accepted")]
    Accepted,
    #[error("the transfer has expired")]
    Expired,
    #[error("this ticket was offered too often")]
    TooManyOffers,
    #[error("this place changed hands too often")]
    TooManyHands,
}

/// Everything that changes in the moment in which a ticket is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    pub transfer: Transfer,
    pub old: Ticket,
    /// Still without its code.
    pub new: Ticket,
    pub order: Order,
}

/// Whether the ticket may change hands at all.
fn may_pass_on(ticket: &Ticket, order: &Order) -> Result<(), TransferRefusal> {
    match ticket.state {
        TicketState::Used { .. } => return Err(TransferRefusal::Used),
        TicketState::Revoked { .. } => return Err(TransferRefusal::Revoked),
        TicketState::Valid => {}
    }
    if order.undo.is_some() || !order.has_tickets() {
        return Err(TransferRefusal::Undone);
    }
    match ticket.hands.before.len() < MAX_HANDS {
        true => Ok(()),
        false => Err(TransferRefusal::TooManyHands),
    }
}

impl Transfer {
    /// Offers a ticket, whose last offer must be over: the transfer, and the ticket with it.
    pub fn offer(
        id: TransferId,
        ticket: &Ticket,
        order: &Order,
        to: Email,
        request: Option<RequestHash>,
        starts_at: Millis,
        now: Millis,
    ) -> Result<(Self, Ticket), TransferRefusal> {
        may_pass_on(ticket, order)?;
        if now >= starts_at {
            return Err(TransferRefusal::Begun);
        }
        if ticket.hands.offers >= MAX_OFFERS {
            return Err(TransferRefusal::TooManyOffers);
        }
        let mut offered = ticket.clone();
        offered.hands.offered = Some(id);
        offered.hands.offers += 1;
        offered.end_return(now);
        let transfer = Self {
            id,
            ticket: ticket.id,
            order_id: ticket.order_id,
            show_id: ticket.show_id,
            seat: ticket.seat.clone(),
            from: ticket.account,
            to: Some(to),
            request,
            state: TransferState::Open,
            created: now,
            expires: starts_at.min(now + OFFER_MS),
            changed: now,
            offer_told: false,
            acceptance_told: false,
        };
        Ok((transfer, offered))
    }

    pub fn status(&self, now: Millis) -> TransferStatus {
        match self.state {
            TransferState::Open if now >= self.expires => TransferStatus::Expired,
            TransferState::Open => TransferStatus::Open,
            TransferState::Accepted { .. } => TransferStatus::Accepted,
            TransferState::Declined { .. } => TransferStatus::Declined,
            TransferState::Withdrawn { .. } => TransferStatus::Withdrawn,
        }
    }

    /// Whether it is this account's to accept: by the address it was offered to, and once
    /// it was accepted, by who did.
    pub fn is_for(&self, account: &Account) -> bool {
        match self.state {
            TransferState::Accepted { by, .. } => by == account.id,
            _ => self.to.as_ref() == Some(&account.email),
        }
    }

    /// Whether the lists of this account name it. Nobody proves an address by registering
    /// with it: an offer that stands is for whoever has its id, which was mailed to the
    /// address, and one from before the account was somebody else's.
    pub fn is_listed_for(&self, account: &Account, now: Millis) -> bool {
        // By a clock that is behind, one that has just expired can be accepted.
        let may_stand = self.status(now.saturating_sub(CLOCK_SKEW_MS)) == TransferStatus::Open;
        match self.state {
            TransferState::Accepted { .. } => self.is_for(account),
            _ => !may_stand && self.is_for(account) && account.had_address_at(self.reached()),
        }
    }

    /// When it was for whoever has the address: when they declined it, for which they need
    /// its id, or else when it was offered.
    fn reached(&self) -> Millis {
        match self.state {
            TransferState::Declined { at } => at,
            _ => self.created,
        }
    }

    pub fn is_accepted_by(&self, account: AccountId) -> bool {
        matches!(self.state, TransferState::Accepted { by, .. } if by == account)
    }

    fn check_open(&self, now: Millis) -> Result<(), TransferRefusal> {
        match self.status(now) {
            TransferStatus::Open => Ok(()),
            TransferStatus::Expired => Err(TransferRefusal::Expired),
            TransferStatus::Accepted => Err(TransferRefusal::Accepted),
            TransferStatus::Declined => Err(TransferRefusal::Declined),
            TransferStatus::Withdrawn => Err(TransferRefusal::Withdrawn),
        }
    }

    /// The recipient accepts. The new ticket's id follows from the transfer, so whoever
    /// does this again means the same one.
    pub fn accept(
        &self,
        old: &Ticket,
        order: &Order,
        by: AccountId,
        starts_at: Millis,
        now: Millis,
    ) -> Result<Acceptance, TransferRefusal> {
        self.check_open(now)?;
        // A later offer took the place of this one.
        if old.hands.offered != Some(self.id) {
            return Err(TransferRefusal::Expired);
        }
        may_pass_on(old, order)?;
        if now >= starts_at {
            return Err(TransferRefusal::Begun);
        }
        let id = TicketId::derived(&[self.id.as_bytes()]);
        let mut before = old.hands.before.clone();
        before.push(Hand {
            ticket: old.id,
            account: old.account,
            transfer: self.id,
            until: now,
        });
        let new = Ticket {
            id,
            account: by,
            serial: 0,
            code: String::new(),
            state: TicketState::Valid,
            issued: now,
            changed: Millis(0),
            admissions: Admissions::default(),
            hands: Hands {
                before,
                ..Hands::default()
            },
            put_back: None,
            ..old.clone()
        };
        let mut dead = old.revoked(now).ok_or(TransferRefusal::Revoked)?;
        dead.hands.passed_on = Some(id);
        let mut transfer = self.clone();
        transfer.changed = now;
        transfer.state = TransferState::Accepted {
            at: now,
            by,
            new_ticket: id,
        };
        Ok(Acceptance {
            transfer,
            old: dead,
            new,
            order: order.with_transfer(),
        })
    }

    /// The sender takes the offer back; `None`: it was before.
    pub fn withdraw(&self, now: Millis) -> Result<Option<Self>, TransferRefusal> {
        match self.state {
            TransferState::Withdrawn { .. } => Ok(None),
            _ => self.end(TransferState::Withdrawn { at: now }, now),
        }
    }

    /// The recipient does not want it; `None`: said so before.
    pub fn decline(&self, now: Millis) -> Result<Option<Self>, TransferRefusal> {
        match self.state {
            TransferState::Declined { .. } => Ok(None),
            _ => self.end(TransferState::Declined { at: now }, now),
        }
    }

    fn end(&self, state: TransferState, now: Millis) -> Result<Option<Self>, TransferRefusal> {
        self.check_open(now)?;
        let mut next = self.clone();
        next.state = state;
        next.changed = now;
        Ok(Some(next))
    }

    /// What is left of it when somebody has left who had this account and this address: an
    /// offer that stands ends, and the address is forgotten, theirs or the one they gave.
    /// Whoever accepted something from them keeps their own. `None`: nothing changes.
    pub fn forgotten(&self, leaver: &Deletion, now: Millis) -> Option<Self> {
        let sent = self.from == leaver.account;
        let got = match self.state {
            TransferState::Accepted { by, .. } => by == leaver.account,
            // Earlier and later ones are for whoever else has the address.
            _ => {
                let to_them = self.to.is_some() && self.to == leaver.email;
                to_them && leaver.had_address_at(self.reached())
            }
        };
        let mut next = self.clone();
        if (sent || got) && self.state == TransferState::Open {
            next.state = match sent {
                true => TransferState::Withdrawn { at: now },
                false => TransferState::Declined { at: now },
            };
        }
        let accepted = matches!(self.state, TransferState::Accepted { .. });
        if got || (sent && !accepted) {
            next.to = None;
        }
        if sent {
            next.request = None;
        }
        let changes = next != *self;
        next.changed = now;
        changes.then_some(next)
    }

    /// The letter to whoever it is offered to, which names who offers it.
    pub fn letter(&self) -> Option<MailId> {
        let to = Recipient::Address(self.to.clone()?);
        let offered = "TransferOffered";
        Some(MailId::of(&format!("{offered}:{}", self.id), &to))
    }

    /// What the world does not know yet. An offer that was taken back before anybody heard
    /// of it is not told any more.
    pub fn untold(&self) -> Vec<News> {
        let mut news = Vec::new();
        let over = matches!(
            self.state,
            TransferState::Declined { .. } | TransferState::Withdrawn { .. }
        );
        if let Some(to) = self.to.clone()
            && !self.offer_told
            && !over
        {
            news.push(News::TransferOffered {
                transfer_id: self.id,
                ticket_id: self.ticket,
                show_id: self.show_id,
                from_account: self.from,
                to_email: to,
            });
        }
        if let TransferState::Accepted { by, new_ticket, .. } = self.state
            && !self.acceptance_told
        {
            news.push(News::TransferAccepted {
                transfer_id: self.id,
                ticket_id: self.ticket,
                new_ticket_id: new_ticket,
                show_id: self.show_id,
                from_account: self.from,
                to_account: by,
            });
        }
        news
    }

    /// The transfer after all of `untold` was told.
    #[must_use]
    pub fn told(&self) -> Self {
        let mut next = self.clone();
        next.offer_told = true;
        next.acceptance_told = matches!(self.state, TransferState::Accepted { .. });
        next
    }
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;
