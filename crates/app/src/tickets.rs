//! Tickets: read by their owners, scanned once at the gate.

use std::sync::Arc;

use onsale_domain::account::Account;
use onsale_domain::event::Event;
use onsale_domain::gate::{Admission, MAX_GATE_LEN};
use onsale_domain::ids::{OrderId, ShowId, TicketId};
use onsale_domain::money::Cents;
use onsale_domain::order::{Order, Stage};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::Show;
use onsale_domain::ticket::{Scan, Ticket};
use onsale_domain::ticket_code::{CodeError, TicketKeys};
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{KeptScan, Page, Versioned};

/// How long the key of a scan names it.
const SCANS_KEPT_MS: u64 = 24 * 3_600_000;

/// What a gate is told. Everything that is not `Admitted` keeps the person out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanAnswer {
    Admitted(Ticket),
    AlreadyUsed { ticket: Ticket, at: Millis },
    Revoked(Ticket),
    Invalid(Invalid),
}

/// Why a code is none of this show's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    Malformed,
    UnknownKey,
    BadSignature,
    WrongShow,
    UnknownTicket,
}

/// A ticket with all that is printed on it.
#[derive(Debug, Clone)]
pub struct TicketDetails {
    pub ticket: Ticket,
    pub show: Arc<Show>,
    pub event: Event,
    pub venue: Venue,
    pub holder: Account,
    /// What was paid for the place.
    pub price: Option<Cents>,
}

impl App {
    /// The tickets of an order of the caller, in the order of its seats.
    pub async fn tickets_of(&self, caller: &Caller, id: OrderId) -> Result<Vec<Ticket>> {
        let order = self.own_order(caller, id).await?.value;
        let ids = order.ticket_ids();
        if order.stage == Stage::Issuing {
            // All or none: the rest is about to come.
            return Ok(Vec::new());
        }
        let found = self.store.read_many::<Ticket>(&ids).await?;
        let mut tickets: Vec<_> = found.into_iter().map(|ticket| ticket.value).collect();
        // A ticket that was revoked before it was issued was never anybody's.
        tickets.retain(|ticket| !ticket.code.is_empty());
        tickets.sort_by_key(|ticket| ids.iter().position(|id| *id == ticket.id));
        Ok(tickets)
    }

    /// A ticket of the caller.
    pub async fn ticket(&self, caller: &Caller, id: TicketId) -> Result<Ticket> {
        self.check_session(caller).await?;
        let ticket = self
            .store
            .read::<Ticket>(id)
            .await?
            .map(|ticket| ticket.value);
        ticket
            .filter(|t| t.account == caller.account && !t.code.is_empty())
            .ok_or(Error::NotFound("ticket"))
    }

    /// The tickets that the caller has, bought or received, newest first.
    pub async fn my_tickets(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<Ticket>> {
        self.check_session(caller).await?;
        let account = caller.account;
        Ok(self.store.tickets_owned(account, after, limit).await?)
    }

    pub async fn ticket_details(&self, caller: &Caller, id: TicketId) -> Result<TicketDetails> {
        let ticket = self.ticket(caller, id).await?;
        let show = self.recent_show(ticket.show_id).await?;
        let event = self.store.read::<Event>(show.event_id).await?;
        let venue = self.store.venue(show.venue_id).await?;
        let holder = self.store.account(ticket.account).await?;
        let order = self.store.read::<Order>(ticket.order_id).await?;
        let price = order.and_then(|order| {
            let seat = order
                .value
                .seats
                .into_iter()
                .find(|s| s.place == ticket.place);
            seat.map(|seat| seat.price)
        });
        Ok(TicketDetails {
            price,
            event: event.ok_or(Error::Corrupt)?.value,
            venue: venue.ok_or(Error::Corrupt)?,
            holder: holder.ok_or(Error::Corrupt)?,
            ticket,
            show,
        })
    }

    /// A code is shown at a gate of this show. Somebody is let in only once that is
    /// stored, so of any number of scans at once one admits.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn scan(
        &self,
        caller: &Caller,
        show_id: ShowId,
        keys: &TicketKeys,
        code: &str,
        gate: &str,
        key: Option<&IdempotencyKey>,
    ) -> Result<ScanAnswer> {
        self.gate_show(caller, show_id).await?;
        check_name("gate", gate)?;
        let kept = key.map(|key| self.scan_for(caller, show_id, key, [code, gate]));
        self.check_scan(kept.as_ref()).await?;
        let claims = match keys.verify(code) {
            Ok(claims) => claims,
            Err(error) => return Ok(ScanAnswer::Invalid(invalid(error))),
        };
        if claims.show != show_id {
            return Ok(ScanAnswer::Invalid(Invalid::WrongShow));
        }
        let Some(mut ticket) = self.store.read::<Ticket>(claims.ticket).await? else {
            return Ok(ScanAnswer::Invalid(Invalid::UnknownTicket));
        };
        let scan_id = match &kept {
            Some(kept) => kept.id.clone(),
            None => self.scan_id(),
        };
        for _ in 0..ROUNDS {
            let before = &ticket.value;
            let admission = Admission {
                scan: scan_id.clone(),
                at: self.now(),
                gate: gate.to_owned(),
                by: Some(caller.account),
                device: None,
                undone: None,
            };
            let used = match before.scan(claims.serial, admission) {
                Scan::Revoked => {
                    return Ok(answered("revoked", ScanAnswer::Revoked(ticket.value)));
                }
                // The same scan again, by a gate that never saw its answer.
                _ if let Some(known) = before.all_admissions().of_scan(&scan_id) => {
                    return match known.undone {
                        None => Ok(ScanAnswer::Admitted(ticket.value)),
                        Some(_) => Err(Error::Conflict(
                            "this scan was undone; scan again with another key",
                        )),
                    };
                }
                Scan::AlreadyUsed { at } => {
                    let ticket = ticket.value;
                    return Ok(answered(
                        "already_used",
                        ScanAnswer::AlreadyUsed { ticket, at },
                    ));
                }
                Scan::Admitted(_) if !before.admissions.has_room() => {
                    return Err(Error::Conflict(
                        "this ticket was used and undone too often; it admits nobody any more",
                    ));
                }
                Scan::Admitted(used) => *used,
            };
            let next = Versioned {
                version: ticket.version,
                value: used,
            };
            if self.store_admission(before, &next, kept.as_ref()).await? {
                return Ok(answered("admitted", ScanAnswer::Admitted(next.value)));
            }
            self.check_scan(kept.as_ref()).await?;
            let current = self.store.read::<Ticket>(claims.ticket).await?;
            ticket = current.ok_or(Error::Corrupt)?;
        }
        Err(Error::Unavailable)
    }

    fn scan_id(&self) -> String {
        hex(&self.id_entropy())
    }

    /// The scan that this caller's key names, and what it names it for.
    fn scan_for(
        &self,
        caller: &Caller,
        show: ShowId,
        key: &IdempotencyKey,
        request: [&str; 2],
    ) -> KeptScan {
        let hash = |parts: &[&str]| RequestHash::of(parts.join("\0").as_bytes());
        let (account, show) = (caller.account.to_string(), show.to_string());
        KeptScan {
            id: hex(&hash(&[&account, &show, key.as_str()]).0),
            request: hash(&request),
            until: self.now() + SCANS_KEPT_MS,
        }
    }

    /// A key names one scan only.
    async fn check_scan(&self, scan: Option<&KeptScan>) -> Result<()> {
        let Some(scan) = scan else {
            return Ok(());
        };
        let known = self.store.kept_scan(&scan.id, self.now()).await?;
        match known.is_some_and(|known| known != scan.request) {
            true => Err(Error::IdempotencyMismatch),
            false => Ok(()),
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn answered(result: &'static str, answer: ScanAnswer) -> ScanAnswer {
    metrics::counter!("onsale_scans_total", "result" => result).increment(1);
    answer
}

/// The name of a gate, or of a device at one.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    let fits = (1..=MAX_GATE_LEN).contains(&name.chars().count());
    match fits && !name.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Error::Invalid(format!(
            "{what}: 1 to {MAX_GATE_LEN} characters"
        ))),
    }
}

pub(crate) fn invalid(error: CodeError) -> Invalid {
    match error {
        CodeError::Malformed => Invalid::Malformed,
        CodeError::UnknownKey => Invalid::UnknownKey,
        CodeError::BadSignature => Invalid::BadSignature,
    }
}
