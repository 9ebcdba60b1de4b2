//! Every condition that a write can carry, by name.

use std::collections::HashMap;
use std::fmt::Write;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use onsale_domain::block::{Cell, Slot, claim_horizon};
use onsale_domain::time::Millis;

/// Holds when nothing is stored under the key yet.
pub const IS_NEW: &str = "attribute_not_exists(pk)";
/// Holds when something is stored under the key.
pub const EXISTS: &str = "attribute_exists(pk)";
/// Holds when the account was not deleted.
pub const IS_SOMEBODYS: &str = "attribute_exists(pk) AND attribute_not_exists(gone)";
/// Holds when the account was not deleted, and never had another epoch.
pub const IS_AT_FIRST_EPOCH: &str = "attribute_exists(pk) AND attribute_not_exists(gone) \
     AND (attribute_not_exists(ep) OR ep = :read_epoch)";
/// Holds when the account was not deleted, and is at the epoch that was read.
pub const IS_AT_EPOCH: &str = "ep = :read_epoch AND attribute_not_exists(gone)";
/// Holds when the item belongs to this account.
pub const BELONGS_TO: &str = "acc = :acc";
/// Holds when the item still is at the version that was read.
pub const IS_AT_VERSION: &str = "v = :read_version";
/// Holds when no map is stored, or an older one.
pub const MAP_IS_OLDER: &str = "attribute_not_exists(ver) OR ver < :ver";
/// Holds when no figures of the room are stored, or older ones.
pub const FIGURES_ARE_OLDER: &str = MAP_IS_OLDER;
/// Holds when nothing came back of mails to an address, or what counts for less long.
pub const FEEDBACK_ENDS_SOONER: &str = MAP_IS_OLDER;
/// Holds when nobody has the lease, or their time is over.
pub const LEASE_IS_FREE: &str = "attribute_not_exists(til) OR til <= :now";

/// Holds when nobody has the lease, or I have, or their time is over.
pub const LEASE_IS_FREE_OR_MINE: &str = "attribute_not_exists(til) OR til <= :now OR hld = :hld";

/// Holds when nobody has used the pass, or this account has and it is open.
pub const PASS_IS_FREE_OR_MINE: &str =
    "attribute_not_exists(pk) OR (acc = :acc AND attribute_not_exists(x))";
/// Holds when the pass was not closed, used or not.
pub const PASS_IS_OPEN: &str = "attribute_not_exists(x)";

/// Holds when as many serials of fan codes as are wanted are left.
pub const SERIALS_ARE_LEFT: &str = "attribute_not_exists(n) OR n <= :room";
/// Holds when the window of a device is not over, and it has room for the account or
/// knows it.
pub const DEVICE_TAKES_ACCOUNT: &str = "attribute_not_exists(forget_at) OR (forget_at > :now \
     AND (size(accs) < :most OR contains(accs, :account)))";
/// Holds when the window of a device is over.
pub const DEVICE_WINDOW_IS_OVER: &str = "forget_at <= :now";
/// Holds when the key of a scan names none yet, was forgotten, or came with this request.
pub const SCAN_IS_NEW_OR_THE_SAME: &str =
    "attribute_not_exists(forget_at) OR forget_at <= :now OR req = :request";

/// Holds when the show exists and nobody is marked as waiting for it.
pub const WAITLIST_IS_CLOSED: &str = "attribute_exists(pk) AND attribute_not_exists(wl)";
/// Holds when the show is marked as it was read.
pub const WAITLIST_IS_MARKED: &str = "wl = :read_mark";

/// The attribute that cancelling a show sets on every block, and closing a pass on it.
pub const CLOSED: &str = "x";

pub fn cell_name(slot: Slot) -> String {
    format!("c{:02}", slot.0)
}

/// An update expression, its condition and their values.
#[derive(Debug, Clone)]
pub struct Change {
    pub update: String,
    /// Without one the update always takes place.
    pub condition: Option<String>,
    pub values: HashMap<String, AttributeValue>,
}

fn cell_value(cell: Cell) -> AttributeValue {
    AttributeValue::B(Blob::new(cell.to_bytes()))
}

fn list(slots: &[Slot], separator: &str, part: impl Fn(&mut String, &str)) -> String {
    let mut text = String::new();
    for (i, slot) in slots.iter().enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        part(&mut text, &cell_name(*slot));
    }
    text
}

// Writing to a String cannot fail, so the results of write! below are dropped.
fn set_all(slots: &[Slot], value: &str) -> String {
    list(slots, ", ", |text, cell| {
        let _ = write!(text, "{cell} = {value}");
    })
}

/// Claim: holds when the block is open and every wanted place has no cell, or one
/// that lapsed for every clock. Cells compare as bytes, expiry first.
pub fn claim(slots: &[Slot], cell: Cell, now: Millis) -> Change {
    let free = list(slots, " AND ", |text, cell| {
        let _ = write!(
            text,
            "(attribute_not_exists({cell}) OR {cell} < :free_before)"
        );
    });
    let horizon = claim_horizon(now).0.to_be_bytes();
    Change {
        update: format!("SET {}", set_all(slots, ":cell")),
        condition: Some(format!("attribute_not_exists({CLOSED}) AND {free}")),
        values: HashMap::from([
            (":cell".to_owned(), cell_value(cell)),
            (
                ":free_before".to_owned(),
                AttributeValue::B(Blob::new(horizon)),
            ),
        ]),
    }
}

fn all_exactly(slots: &[Slot]) -> String {
    list(slots, " AND ", |text, cell| {
        let _ = write!(text, "{cell} = :old");
    })
}

/// Extend or sell: holds when the block is open and every wanted cell is exactly the
/// old one.
pub fn shift(slots: &[Slot], old: Cell, new: Cell) -> Change {
    Change {
        update: format!("SET {}", set_all(slots, ":new")),
        condition: Some(format!(
            "attribute_not_exists({CLOSED}) AND {}",
            all_exactly(slots)
        )),
        values: HashMap::from([
            (":old".to_owned(), cell_value(old)),
            (":new".to_owned(), cell_value(new)),
        ]),
    }
}

/// Sell from others: holds when the block is open and every cell is exactly what it was,
/// each in its own way.
pub fn sell_from(cells: &[(Slot, Cell)], sold: Cell) -> Change {
    let slots: Vec<Slot> = cells.iter().map(|(slot, _)| *slot).collect();
    let exactly = list(&slots, " AND ", |text, cell| {
        let _ = write!(text, "{cell} = :{cell}");
    });
    let mut values = HashMap::from([(":new".to_owned(), cell_value(sold))]);
    for (slot, old) in cells {
        values.insert(format!(":{}", cell_name(*slot)), cell_value(*old));
    }
    Change {
        update: format!("SET {}", set_all(&slots, ":new")),
        condition: Some(format!("attribute_not_exists({CLOSED}) AND {exactly}")),
        values,
    }
}

/// Release: holds when every wanted cell is exactly the old one. A closed block may be
/// freed.
pub fn release(slots: &[Slot], old: Cell) -> Change {
    let names = list(slots, ", ", |text, cell| text.push_str(cell));
    Change {
        update: format!("REMOVE {names}"),
        condition: Some(all_exactly(slots)),
        values: HashMap::from([(":old".to_owned(), cell_value(old))]),
    }
}

/// Leave: holds when every wanted cell is exactly the old one. As with release, a closed
/// block is no obstacle.
pub fn leave(slots: &[Slot], old: Cell, new: Cell) -> Change {
    Change {
        update: format!("SET {}", set_all(slots, ":new")),
        condition: Some(all_exactly(slots)),
        values: HashMap::from([
            (":old".to_owned(), cell_value(old)),
            (":new".to_owned(), cell_value(new)),
        ]),
    }
}

/// Close: always takes place, so that closing twice is closing once. It creates the item
/// of a block that was never claimed, and leaves every cell as it is.
pub fn close() -> Change {
    Change {
        update: format!("SET {CLOSED} = :closed"),
        condition: None,
        values: HashMap::from([(":closed".to_owned(), AttributeValue::Bool(true))]),
    }
}
