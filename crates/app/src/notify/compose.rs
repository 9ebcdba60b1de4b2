//! From news to a letter: looks up every value that it names.

use onsale_domain::account::Email;
use onsale_domain::announcement::{News, OrderNews, ShowFacts};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, ResetId, ShowId, TicketId, TransferId};
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, Letter, OrderLine, ShowLine, TEMPLATES, TicketLine};
use onsale_domain::mail::{Dropped, Mail, Recipient};
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::{Order, Stage, Why};
use onsale_domain::password_reset::ResetPurpose;
use onsale_domain::show::StoredStatus;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;
use onsale_domain::transfer::{Transfer, TransferStatus};

use crate::app::App;
use crate::error::{Error, Result};

/// What came of composing: a letter, or nothing to say.
pub(super) type Outcome<T> = std::result::Result<T, Dropped>;

struct Addressed {
    to: Email,
    language: Option<Language>,
    /// Whom the letter names: its reader, or who gives something away.
    name: String,
}

impl App {
    /// The letter of a mail, or why there is none to send.
    pub(super) async fn compose(
        &self,
        mail: &Mail,
        default: Language,
    ) -> Result<Outcome<Composed>> {
        let Some(news) = &mail.news else {
            return Ok(Err(Dropped::NobodyThere));
        };
        let Some(Addressed { to, language, name }) = self.addressed(&mail.to, news).await? else {
            return Ok(Err(Dropped::NobodyThere));
        };
        let letter = self.letter(news, &mail.to, mail.at, name).await?;
        Ok(letter.map(|letter| Composed {
            to,
            language: language.unwrap_or(default),
            letter,
            templates: TEMPLATES,
            at: self.now(),
            head: None,
        }))
    }

    /// To whom a mail goes; `None`: there is nobody any more.
    async fn addressed(&self, to: &Recipient, news: &News) -> Result<Option<Addressed>> {
        let (account, email) = match (to, news) {
            (Recipient::Account(account), _) => (*account, None),
            (Recipient::Address(email), News::TransferOffered { from_account, .. }) => {
                (*from_account, Some(email.clone()))
            }
            // Who waits in a room has left no name.
            (Recipient::Address(email), News::TurnCame { language, .. }) => {
                return Ok(Some(Addressed {
                    to: email.clone(),
                    language: *language,
                    name: String::new(),
                }));
            }
            (Recipient::Address(_) | Recipient::Nobody, _) => return Ok(None),
        };
        let account = self.store.account(account).await?;
        Ok(account.map(|account| Addressed {
            to: email.unwrap_or(account.email),
            // Whoever gives something away to a stranger most likely shares a language.
            language: account.language,
            name: account.name,
        }))
    }

    async fn letter(
        &self,
        news: &News,
        to: &Recipient,
        at: Millis,
        name: String,
    ) -> Result<Outcome<Letter>> {
        if worth_sending_until(news, at).is_some_and(|until| until <= self.now()) {
            return Ok(Err(Dropped::TooLate));
        }
        Ok(Ok(match news {
            News::OrderConfirmed(news) => return self.confirmation(news, name).await,
            News::OrderDeclined(news) => return self.decline(news, name).await,
            News::OrderCancelled(news) => {
                return match to {
                    Recipient::Account(account) if !belongs(news.account_id, *account) => {
                        self.ticket_lost(news, *account, name).await
                    }
                    _ => self.cancellation(news, name).await,
                };
            }
            News::RefundIssued { order, refund } => self.refunded(order, *refund, name).await?,
            News::OfferMade(offer) => Letter::Offer {
                name,
                show: self.show_line(offer.show_id).await?,
                hold_id: offer.hold_id,
                seats: offer.seats.clone(),
                expires_at: offer.expires_at,
            },
            News::OfferLapsed(offer) => Letter::OfferLapsed {
                name,
                show: self.show_line(offer.show_id).await?,
                waitlist_id: offer.waitlist_id,
            },
            News::TicketResold(sold) => Letter::Resold {
                name,
                show: self.show_line(sold.show_id).await?,
                seat: sold.seat.clone(),
                refund: sold.refund,
            },
            News::ShowChanged { show_id, was, is } => {
                let line = self.show_line(*show_id).await?;
                Letter::ShowChanged {
                    name,
                    show: with_facts(&line, is),
                    was: with_facts(&line, was),
                }
            }
            News::ShowCancelled { show_id, .. } => Letter::ShowCancelled {
                name,
                show: self.show_line(*show_id).await?,
            },
            News::TransferOffered {
                transfer_id,
                ticket_id,
                show_id,
                from_account,
                ..
            } => {
                let offered = self.offered_ticket(*transfer_id, *ticket_id, *from_account);
                let Some(ticket) = offered.await? else {
                    return Ok(Err(Dropped::Overtaken));
                };
                Letter::Transfer {
                    from: name,
                    show: self.show_line(*show_id).await?,
                    transfer_id: *transfer_id,
                    seat: ticket.seat,
                }
            }
            News::PasswordResetAsked {
                reset_id, purpose, ..
            } => mailed_link(*purpose, *reset_id, name),
            News::TurnCame {
                show_id, enter_by, ..
            } => {
                if self.recent_show(*show_id).await?.status == StoredStatus::Cancelled {
                    return Ok(Err(Dropped::Overtaken));
                }
                Letter::YourTurn {
                    show: self.show_line(*show_id).await?,
                    enter_by: *enter_by,
                }
            }
            News::SeatsReturned { .. }
            | News::SagaStuck { .. }
            | News::TransferAccepted { .. }
            | News::EventChanged { .. } => {
                return Ok(Err(Dropped::Overtaken));
            }
        }))
    }

    async fn confirmation(&self, news: &OrderNews, name: String) -> Result<Outcome<Letter>> {
        let order = self.ordered(news).await?;
        if !order.has_tickets() {
            return Ok(Err(Dropped::Overtaken));
        }
        let ids = order.ticket_ids();
        let stored = self.store.read_many::<Ticket>(&ids).await?;
        let mut tickets = Vec::with_capacity(ids.len());
        for (id, seat) in ids.iter().zip(&order.seats) {
            let ticket = stored.iter().find(|t| t.value.id == *id);
            let ticket = &ticket.ok_or(Error::Corrupt)?.value;
            // Given away already: it is somebody else's to show.
            if is_good(&ticket.state) && belongs(ticket.account, order.account) {
                tickets.push(TicketLine {
                    ticket_id: *id,
                    seat: ticket.seat.clone(),
                    price: seat.price,
                    code: ticket.code.clone(),
                });
            }
        }
        if tickets.is_empty() {
            return Ok(Err(Dropped::Overtaken));
        }
        Ok(Ok(Letter::Confirmation {
            name,
            show: self.show_line(news.show_id).await?,
            order: order_line(&order),
            tickets,
        }))
    }

    async fn decline(&self, news: &OrderNews, name: String) -> Result<Outcome<Letter>> {
        let order = self.ordered(news).await?;
        if !matches!(order.stage, Stage::Declining | Stage::Declined) {
            return Ok(Err(Dropped::Overtaken));
        }
        Ok(Ok(Letter::Decline {
            name,
            show: self.show_line(news.show_id).await?,
            order: order_line(&order),
            reason: news.reason.clone(),
            pay_until: order.pay_until,
        }))
    }

    async fn cancellation(&self, news: &OrderNews, name: String) -> Result<Outcome<Letter>> {
        let order = self.ordered(news).await?;
        let is_refunded = order.refund().is_some_and(|r| r.amount > Cents(0));
        let why = order.undo.as_ref().map(|undo| undo.why);
        let Some(why) = why.filter(|why| *why != Why::ShowCancelled && !is_refunded) else {
            // The mail about the refund, or about the show, says it.
            return Ok(Err(Dropped::Overtaken));
        };
        Ok(Ok(Letter::Cancellation {
            name,
            show: self.show_line(news.show_id).await?,
            order: order_line(&order),
            why,
            refund: None,
        }))
    }

    /// For somebody who was given tickets of this order.
    async fn ticket_lost(
        &self,
        news: &OrderNews,
        holder: AccountId,
        name: String,
    ) -> Result<Outcome<Letter>> {
        let order = self.ordered(news).await?;
        let mut lost = self.lost_by_others(&order).await?;
        lost.retain(|ticket| belongs(ticket.account, holder));
        if lost.is_empty() {
            return Ok(Err(Dropped::Overtaken));
        }
        Ok(Ok(Letter::TicketLost {
            name,
            show: self.show_line(news.show_id).await?,
            seats: lost.into_iter().map(|ticket| ticket.seat).collect(),
        }))
    }

    async fn refunded(&self, news: &OrderNews, refund: Money, name: String) -> Result<Letter> {
        let order = self.ordered(news).await?;
        let why = order.undo.as_ref().map(|undo| undo.why);
        Ok(Letter::Cancellation {
            name,
            show: self.show_line(news.show_id).await?,
            order: order_line(&order),
            why: why.ok_or(Error::Corrupt)?,
            refund: Some(refund),
        })
    }

    /// The ticket that is offered; `None`: there is nothing to accept any more, because it
    /// was taken, or taken back.
    async fn offered_ticket(
        &self,
        transfer: TransferId,
        ticket: TicketId,
        from: AccountId,
    ) -> Result<Option<Ticket>> {
        let ticket = self.store.read::<Ticket>(ticket).await?;
        let ticket = ticket.ok_or(Error::Corrupt)?.value;
        let offer = self.store.read::<Transfer>(transfer).await?;
        let is_over = offer.is_some_and(|t| t.value.status(self.now()) != TransferStatus::Open);
        let is_theirs = is_good(&ticket.state) && belongs(ticket.account, from);
        Ok((is_theirs && !is_over).then_some(ticket))
    }

    pub(super) async fn ordered(&self, news: &OrderNews) -> Result<Order> {
        let order = self.store.read::<Order>(news.order_id).await?;
        Ok(order.ok_or(Error::Corrupt)?.value)
    }

    async fn show_line(&self, id: ShowId) -> Result<ShowLine> {
        let show = self.recent_show(id).await?;
        let event = self.store.read::<Event>(show.event_id).await?;
        let event = event.ok_or(Error::Corrupt)?.value;
        let venue = self.store.venue(show.venue_id).await?;
        let venue = venue.ok_or(Error::Corrupt)?;
        Ok(ShowLine {
            show_id: id,
            title: event.title,
            venue: venue.name,
            city: venue.city,
            timezone: venue.timezone,
            starts_at: show.starts_at,
        })
    }
}

/// Until when a letter about this news is worth sending; `None`: for ever.
fn worth_sending_until(news: &News, at: Millis) -> Option<Millis> {
    match news {
        News::OfferMade(offer) => Some(offer.expires_at),
        News::PasswordResetAsked { purpose, .. } => Some(at + purpose.lasts_ms()),
        News::TurnCame { enter_by, .. } => Some(*enter_by),
        _ => None,
    }
}

fn mailed_link(purpose: ResetPurpose, reset_id: ResetId, name: String) -> Letter {
    let minutes = purpose.lasts_ms() / 60_000;
    match purpose {
        ResetPurpose::Reset => Letter::PasswordReset {
            name,
            reset_id,
            minutes,
        },
        ResetPurpose::Invitation => Letter::Invitation { name, reset_id },
        ResetPurpose::LogIn => Letter::LogInLink {
            name,
            reset_id,
            minutes,
        },
        ResetPurpose::ProveAddress => Letter::ProveAddress {
            name,
            reset_id,
            minutes,
        },
    }
}

/// A show as it is or was when these were its facts.
fn with_facts(line: &ShowLine, facts: &ShowFacts) -> ShowLine {
    ShowLine {
        title: facts.title.clone(),
        venue: facts.venue.clone(),
        city: facts.city.clone(),
        starts_at: facts.starts_at,
        ..line.clone()
    }
}

fn order_line(order: &Order) -> OrderLine {
    OrderLine {
        order_id: order.id,
        seats: order.seat_ids(),
        total: order.total(),
    }
}

pub(super) fn is_good(state: &TicketState) -> bool {
    !matches!(state, TicketState::Revoked { .. })
}

fn belongs(holder: AccountId, account: AccountId) -> bool {
    holder == account
}
