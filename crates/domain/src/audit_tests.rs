use super::*;
use crate::ids::{EventId, VenueId};
use crate::money::{Cents, Currency};
use crate::show::{RoomMode, default_refund_policy};

const WHO: AccountId = AccountId::from_bytes([9; 16]);

fn show() -> Show {
    Show {
        id: ShowId::from_bytes([1; 16]),
        event_id: EventId::from_bytes([2; 16]),
        venue_id: VenueId::from_bytes([3; 16]),
        owner: WHO,
        starts_at: Millis(1_900_000_000_000),
        on_sale_at: None,
        currency: Currency::parse("EUR").unwrap(),
        prices: vec![("A".into(), Cents(4_500)), ("B".into(), Cents(100))],
        pricing: crate::pricing::Pricing::Fixed,
        waitlist: Default::default(),
        hold_seconds: 600,
        max_tickets_per_buyer: 6,
        refund_policy: default_refund_policy(),
        room: Room::default(),
        overbook_percent: 0,
        status: StoredStatus::Draft,
        created: Millis(1),
    }
}

fn changed(change: impl FnOnce(&mut Show)) -> Option<AuditEntry> {
    let mut after = show();
    change(&mut after);
    AuditEntry::show_changed(&show(), &after, 4, WHO, Millis(7))
}

#[test]
fn an_entry_says_what_changed_from_what_to_what() {
    let entry = changed(|show| {
        show.prices[0].1 = Cents(5_000);
        show.on_sale_at = Some(Millis(1_800_000_000_000));
    });
    let entry = entry.unwrap();
    assert_eq!(entry.action, AuditAction::ShowChanged);
    let changes: Vec<_> = entry
        .changes
        .iter()
        .map(|c| (c.field.as_str(), c.before.as_deref(), c.after.as_deref()))
        .collect();
    assert_eq!(
        changes,
        [
            ("on_sale_at", None, Some("2027-01-15T08:00:00Z")),
            ("prices", Some("A 4500, B 100"), Some("A 5000, B 100")),
        ]
    );
    assert_eq!((entry.account, entry.at), (WHO, Millis(7)));
}

#[test]
fn each_kind_of_change_has_its_name_and_no_change_leaves_nothing() {
    let action = |change: fn(&mut Show)| changed(change).map(|entry| entry.action);
    use AuditAction::*;
    assert_eq!(action(|_| {}), None);
    assert_eq!(
        action(|s| s.status = StoredStatus::OnSale),
        Some(ShowPublished)
    );
    assert_eq!(
        action(|s| s.status = StoredStatus::Cancelled),
        Some(ShowCancelled)
    );
    assert_eq!(action(|s| s.room.mode = RoomMode::Queue), Some(RoomChanged));
    assert_eq!(action(|s| s.hold_seconds = 5), Some(ShowChanged));
    let both: fn(&mut Show) = |s| {
        s.room.capacity = 5;
        s.hold_seconds = 5;
    };
    assert_eq!(action(both), Some(ShowChanged));
}

#[test]
fn the_same_change_has_the_same_entry_and_a_later_one_another() {
    let mut after = show();
    after.hold_seconds = 5;
    let entry = |version| AuditEntry::show_changed(&show(), &after, version, WHO, Millis(7));
    assert_eq!(entry(4), entry(4));
    assert_ne!(entry(4).unwrap().id, entry(5).unwrap().id);
}

#[test]
fn a_long_value_is_cut() {
    let entry = changed(|show| show.prices[0].0 = "ü".repeat(500)).unwrap();
    let after = entry.changes[0].after.as_ref().unwrap();
    assert_eq!(after.chars().count(), MAX_VALUE_CHARS + 1);
}
