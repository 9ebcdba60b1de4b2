//! A list that an organiser takes away as a file: every order of a show, or everybody who
//! may come.
//!
//! It is written in parts, each under the number of the write that claimed it: no two
//! workers ever write the same part, so one that comes back late can spoil nothing. What
//! counts is what the export says its parts are.

use serde::{Deserialize, Serialize};

use crate::csv;
use crate::ids::{AccountId, ExportId, ShowId};
use crate::money::Money;
use crate::order::{Order, OrderNumber};
use crate::sales::section_of;
use crate::ticket::{Ticket, TicketState};
use crate::time::Millis;

/// How long the file can be fetched; then it is deleted.
pub const KEPT_MS: u64 = 7 * 24 * 3_600_000;
/// An export that is not ready by then never will be.
pub const GIVEN_UP_MS: u64 = 6 * 3_600_000;
/// The beginning of the keys of everything that belongs to exports.
pub const FOLDER: &str = "exports/";
/// Tells spreadsheets that the text is UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportKind {
    Orders,
    Attendees,
}

impl ExportKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Attendees => "attendees",
        }
    }

    /// What the file begins with.
    pub fn heading(self) -> String {
        let names: &[&str] = match self {
            Self::Orders => &[
                "order_id",
                "time",
                "status",
                "name",
                "email",
                "seats",
                "total",
                "refund",
                "currency",
                "order_number",
            ],
            Self::Attendees => &[
                "ticket_id",
                "order_id",
                "seat",
                "section",
                "status",
                "used_at",
                "gate",
                "name",
                "order_number",
            ],
        };
        format!("{BYTE_ORDER_MARK}{}", csv::row(names))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportStatus {
    Preparing,
    Ready,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    pub id: ExportId,
    pub show_id: ShowId,
    /// Who asked for it.
    pub account: AccountId,
    pub kind: ExportKind,
    pub status: ExportStatus,
    /// Where the walk over the show goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whether the walk has come to its end, and the parts have to be put together.
    #[serde(default)]
    pub is_walked: bool,
    pub rows: u64,
    /// The parts in order, by their numbers.
    pub parts: Vec<u64>,
    pub created: Millis,
    pub changed: Millis,
}

impl Export {
    pub fn begin(
        id: ExportId,
        show_id: ShowId,
        account: AccountId,
        kind: ExportKind,
        now: Millis,
    ) -> Self {
        Self {
            id,
            show_id,
            account,
            kind,
            status: ExportStatus::Preparing,
            after: None,
            is_walked: false,
            rows: 0,
            parts: Vec::new(),
            created: now,
            changed: now,
        }
    }

    /// Whether somebody still has to work on it.
    pub fn is_open(&self) -> bool {
        self.status == ExportStatus::Preparing
    }

    /// Whether its file is deleted, or is about to be.
    pub fn is_over(&self, now: Millis) -> bool {
        self.created + KEPT_MS <= now
    }

    /// Somebody works on it: the version of this write is the number of their part.
    pub fn claimed(&self, now: Millis) -> Self {
        let mut next = self.clone();
        next.changed = now;
        next
    }

    /// A part is stored. `next`: where the walk goes on, unless this was the last one.
    pub fn part_written(&self, part: u64, rows: u64, next: Option<String>, now: Millis) -> Self {
        let mut export = self.claimed(now);
        export.parts.push(part);
        export.rows += rows;
        export.is_walked = next.is_none();
        export.after = next;
        export
    }

    pub fn ended(&self, status: ExportStatus, now: Millis) -> Self {
        let mut export = self.claimed(now);
        export.status = status;
        export
    }

    /// The name under which the file is saved.
    pub fn file_name(&self) -> String {
        format!("{}-{}.csv", self.kind.as_str(), self.show_id)
    }

    pub fn file_key(&self) -> String {
        format!("{FOLDER}{}/file.csv", self.id)
    }

    pub fn part_key(&self, part: u64) -> String {
        format!("{FOLDER}{}/parts/{part:08}.csv", self.id)
    }
}

/// Who is named in a line. An account that was deleted names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Person<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

pub fn order_row(order: &Order, buyer: Person<'_>) -> String {
    let amount = |money: Option<Money>| money.map_or_else(String::new, decimal);
    let time = order.sold_at.unwrap_or(order.created);
    csv::row(&[
        &order.id.to_string(),
        &time.to_string(),
        order.status().as_str(),
        buyer.name,
        buyer.email,
        &order.seat_ids().join(" "),
        &amount(Some(order.total())),
        &amount(order.given_back()),
        order.currency.as_str(),
        order.number().as_str(),
    ])
}

pub fn attendee_row(ticket: &Ticket, holder: Person<'_>) -> String {
    let (status, used_at, gate) = match &ticket.state {
        TicketState::Valid => ("valid", String::new(), ""),
        TicketState::Used { at, gate, .. } => ("used", at.to_string(), gate.as_str()),
        TicketState::Revoked { .. } => ("revoked", String::new(), ""),
    };
    csv::row(&[
        &ticket.id.to_string(),
        &ticket.order_id.to_string(),
        &ticket.seat,
        section_of(&ticket.seat),
        status,
        &used_at,
        gate,
        holder.name,
        OrderNumber::of(ticket.order_id).as_str(),
    ])
}

/// `45.00`, as a spreadsheet counts with it.
fn decimal(money: Money) -> String {
    let text = money.to_string();
    text.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
