//! What organisers did to their shows: who, when, what, and from what to what.
//!
//! An entry is written with the change that it is about, or under an id that follows from
//! that change, so that doing it again writes the same entry. Entries are never changed.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::ids::{AccountId, AuditId, ShowId};
use crate::pricing::{Pricing, multiple};
use crate::show::{Room, Show, StoredStatus};
use crate::time::Millis;

/// Longer values are cut: an entry tells what changed, the show tells all of it.
const MAX_VALUE_CHARS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditAction {
    ShowCreated,
    ShowChanged,
    ShowPublished,
    ShowCancelled,
    RoomChanged,
    FanCodesMade,
    StaffAdded,
    StaffRemoved,
    ListExported,
    /// Something that all shows of an event have in common, on the trail of each that is
    /// still to come.
    EventChanged,
    /// Addresses and codes of its fans were read.
    FansListed,
    AdmissionUndone,
}

/// One thing that changed, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditChange {
    pub field: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl AuditChange {
    pub fn new(field: &str, before: Option<String>, after: Option<String>) -> Self {
        Self {
            field: field.to_owned(),
            before: before.map(cut),
            after: after.map(cut),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub id: AuditId,
    pub show: ShowId,
    /// Who did it.
    pub account: AccountId,
    pub at: Millis,
    pub action: AuditAction,
    pub changes: Vec<AuditChange>,
}

impl AuditEntry {
    /// `subject` names the very change that the entry is about.
    pub fn new(
        show: ShowId,
        account: AccountId,
        action: AuditAction,
        subject: &[u8],
        changes: Vec<AuditChange>,
        at: Millis,
    ) -> Self {
        let kind = [action as u8];
        Self {
            id: AuditId::derived(&[show.as_bytes(), &kind, subject]),
            show,
            account,
            at,
            action,
            changes,
        }
    }

    pub fn show_created(show: &Show, account: AccountId, at: Millis) -> Self {
        let status = AuditChange::new("status", None, Some(status(show.status).to_owned()));
        let starts = AuditChange::new("starts_at", None, Some(show.starts_at.to_string()));
        let prices = AuditChange::new("prices", None, Some(prices(show)));
        let changes = vec![status, starts, prices];
        Self::new(show.id, account, AuditAction::ShowCreated, b"", changes, at)
    }

    /// What became of a show at this version; `None`: nothing did.
    pub fn show_changed(
        before: &Show,
        after: &Show,
        version: u64,
        account: AccountId,
        at: Millis,
    ) -> Option<Self> {
        let changes = show_changes(before, after);
        let first = changes.first()?;
        let only_room = changes.iter().all(|c| c.field.starts_with("room."));
        let action = match (first.field.as_str(), after.status) {
            ("status", StoredStatus::OnSale) => AuditAction::ShowPublished,
            ("status", StoredStatus::Cancelled) => AuditAction::ShowCancelled,
            _ if only_room => AuditAction::RoomChanged,
            _ => AuditAction::ShowChanged,
        };
        let subject = version.to_be_bytes();
        Some(Self::new(after.id, account, action, &subject, changes, at))
    }
}

/// What became of an event, whose shows have it in common.
pub fn event_changes(before: &Event, after: &Event) -> Vec<AuditChange> {
    differences(event_fields(before), event_fields(after))
}

fn show_changes(before: &Show, after: &Show) -> Vec<AuditChange> {
    differences(fields(before), fields(after))
}

type Fields = Vec<(&'static str, Option<String>)>;

fn differences(before: Fields, after: Fields) -> Vec<AuditChange> {
    let pairs = before.into_iter().zip(after);
    let changed = pairs.filter(|((_, old), (_, new))| old != new);
    changed
        .map(|((field, old), (_, new))| AuditChange::new(field, old, new))
        .collect()
}

/// Everything of an event that its organiser may change, as text.
fn event_fields(event: &Event) -> Fields {
    vec![
        ("title", Some(event.title.clone())),
        ("description", event.description.clone()),
        ("category", Some(event.category.clone())),
        ("poster_url", event.poster_url.clone()),
    ]
}

/// Everything of a show that its organiser may change, as text. The status comes first.
fn fields(show: &Show) -> Fields {
    let Room {
        mode,
        capacity,
        rate_per_second,
        order,
        opens_at,
        pass_seconds,
        beacon,
        message,
    } = &show.room;
    let time = |at: &Option<Millis>| at.map(|at| at.to_string());
    let policy = show.refund_policy.iter();
    let policy: Vec<_> = policy
        .map(|step| format!("{} h: {} %", step.hours_before, step.percent))
        .collect();
    vec![
        ("status", Some(status(show.status).to_owned())),
        ("starts_at", Some(show.starts_at.to_string())),
        ("on_sale_at", time(&show.on_sale_at)),
        ("currency", Some(show.currency.to_string())),
        ("prices", Some(prices(show))),
        ("pricing", pricing(show.pricing)),
        ("hold_seconds", Some(show.hold_seconds.to_string())),
        (
            "max_tickets_per_buyer",
            Some(show.max_tickets_per_buyer.to_string()),
        ),
        ("refund_policy", Some(policy.join(", "))),
        ("room.mode", word(mode)),
        ("room.capacity", Some(capacity.to_string())),
        ("room.rate_per_second", Some(rate_per_second.to_string())),
        ("room.order", word(order)),
        ("room.opens_at", time(opens_at)),
        ("room.pass_seconds", Some(pass_seconds.to_string())),
        ("room.beacon", beacon.as_ref().and_then(word)),
        ("room.message", message.clone()),
    ]
}

/// Fixed prices are nothing to tell of.
fn pricing(pricing: Pricing) -> Option<String> {
    match pricing {
        Pricing::Fixed => None,
        Pricing::Dynamic(bounds) => {
            let (floor, ceiling) = (multiple(bounds.floor), multiple(bounds.ceiling));
            Some(format!("dynamic, {floor} to {ceiling}"))
        }
    }
}

fn status(status: StoredStatus) -> &'static str {
    match status {
        StoredStatus::Draft => "draft",
        StoredStatus::OnSale => "on_sale",
        StoredStatus::Cancelled => "cancelled",
    }
}

fn prices(show: &Show) -> String {
    let each = show.prices.iter();
    let each: Vec<_> = each
        .map(|(section, price)| format!("{section} {}", price.0))
        .collect();
    each.join(", ")
}

/// A value as the API writes it.
fn word(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value).ok()? {
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_VALUE_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
