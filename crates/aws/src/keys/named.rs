//! What a partition key names: the way back from a key of an index to the item.

use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{
    AccountId, EventId, ExportId, OrderId, ResetId, ShowId, TicketId, TransferId,
};
use onsale_domain::mail::MailId;
use onsale_domain::mailing::MailingId;

use super::{
    AUDIT, CANCELLATION, DELETION, EVENT, EXPORT, FAN, GATE_COUNT, Key, MAIL, MAILING, ORDER,
    RESET, SANDBOX, SESSION, SHOW, STAFF, TICKET, TRANSFER, WAITLIST,
};

impl Key {
    /// The number of the block that a partition key names.
    pub fn block_index(pk: &str) -> Option<BlockIndex> {
        let mut parts = pk.strip_prefix("BLK#")?.split('#');
        parts.nth(1)?.parse().ok().map(BlockIndex)
    }

    /// The event that a partition key names.
    pub fn event_id(pk: &str) -> Option<EventId> {
        let digits = named(pk, EVENT)?;
        format!("{}_{digits}", EventId::PREFIX).parse().ok()
    }

    /// The order that a partition key names.
    pub fn order_id(pk: &str) -> Option<OrderId> {
        let digits = named(pk, ORDER)?;
        format!("{}_{digits}", OrderId::PREFIX).parse().ok()
    }

    /// The ticket that a partition key names.
    pub fn ticket_id(pk: &str) -> Option<TicketId> {
        let digits = named(pk, TICKET)?;
        format!("{}_{digits}", TicketId::PREFIX).parse().ok()
    }

    /// The transfer that a partition key names.
    pub fn transfer_id(pk: &str) -> Option<TransferId> {
        let digits = named(pk, TRANSFER)?;
        format!("{}_{digits}", TransferId::PREFIX).parse().ok()
    }

    /// The gate whose count a partition key names.
    pub fn counted_gate(pk: &str) -> Option<&str> {
        named(pk, GATE_COUNT)?.split_once('#').map(|(_, gate)| gate)
    }

    /// The export that a partition key names.
    pub fn export_id(pk: &str) -> Option<ExportId> {
        let digits = named(pk, EXPORT)?;
        format!("{}_{digits}", ExportId::PREFIX).parse().ok()
    }

    /// The show whose cancellation a partition key names.
    pub fn cancelled_show(pk: &str) -> Option<ShowId> {
        let digits = named(pk, CANCELLATION)?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The reset that a partition key names.
    pub fn reset_id(pk: &str) -> Option<ResetId> {
        let digits = named(pk, RESET)?;
        format!("{}_{digits}", ResetId::PREFIX).parse().ok()
    }

    /// The account whose deletion a partition key names.
    pub fn deleted_account(pk: &str) -> Option<AccountId> {
        let digits = named(pk, DELETION)?;
        format!("{}_{digits}", AccountId::PREFIX).parse().ok()
    }

    /// The show of the fan that a partition key names.
    pub fn fan_show(pk: &str) -> Option<ShowId> {
        let (digits, _) = named(pk, FAN)?.split_once('#')?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The mail that a partition key names.
    pub fn mail_id(pk: &str) -> Option<MailId> {
        named(pk, MAIL).map(MailId::stored)
    }

    /// The mailing that a partition key names.
    pub fn mailing_id(pk: &str) -> Option<MailingId> {
        let (digits, version) = named(pk, MAILING)?.split_once('#')?;
        Some(MailingId {
            event_id: format!("{}_{digits}", EventId::PREFIX).parse().ok()?,
            version: version.parse().ok()?,
        })
    }

    /// The show that a partition key names.
    pub fn show_id(pk: &str) -> Option<ShowId> {
        let digits = named(pk, SHOW)?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The entry of a waitlist that a partition key names.
    pub fn listed_waitlist_entry(pk: &str) -> Option<Self> {
        named(pk, WAITLIST).map(|rest| Self::new(WAITLIST, rest))
    }

    /// Whose entry in a waitlist a partition key names.
    pub fn waitlist_account(pk: &str) -> Option<AccountId> {
        let (_, digits) = named(pk, WAITLIST)?.split_once('#')?;
        format!("{}_{digits}", AccountId::PREFIX).parse().ok()
    }

    /// The payment of the sandbox that a partition key names.
    pub fn sandbox_id(pk: &str) -> Option<&str> {
        named(pk, SANDBOX)
    }
}

/// The key that a partition key of a fan names.
pub fn listed_fan(pk: &str) -> Option<Key> {
    named(pk, FAN).map(|rest| Key::new(FAN, rest))
}

/// The key that a partition key of a session names.
pub fn listed_session(pk: &str) -> Option<Key> {
    named(pk, SESSION).map(|rest| Key::new(SESSION, rest))
}

/// The key that a partition key of staff names.
pub fn listed_staff(pk: &str) -> Option<Key> {
    named(pk, STAFF).map(|rest| Key::new(STAFF, rest))
}

/// The key that a partition key of an audit entry names.
pub fn listed_audit(pk: &str) -> Option<Key> {
    named(pk, AUDIT).map(|rest| Key::new(AUDIT, rest))
}

/// What follows the kind in a partition key.
fn named<'a>(pk: &'a str, kind: &str) -> Option<&'a str> {
    pk.strip_prefix(kind)?.strip_prefix('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_may_have_any_name() {
        let key = Key::gate_count(ShowId::from_bytes([1; 16]), "#1 north");
        assert_eq!(Key::counted_gate(&key.pk), Some("#1 north"));
    }
}
