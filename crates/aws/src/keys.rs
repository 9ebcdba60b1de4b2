//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM
//! policies limit each function (`dynamodb:LeadingKeys`). The sort key repeats it: one
//! item per partition, so that nothing shares a hot one.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_domain::account::Email;
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId, VenueId};
use onsale_domain::time::Millis;

/// Partition and sort key attributes.
pub const PK: &str = "pk";
pub const SK: &str = "sk";
/// Lists that belong to an account.
pub const BY_OWNER: Index = Index {
    name: "gsi1",
    pk: "gsi1pk",
    sk: "gsi1sk",
};
/// Lists that belong to everybody.
pub const BY_LIST: Index = Index {
    name: "gsi2",
    pk: "gsi2pk",
    sk: "gsi2sk",
};
/// The partition of the public catalogue in `BY_LIST`.
pub const PUBLIC_EVENTS: &str = "EVENTS";

#[derive(Debug, Clone, Copy)]
pub struct Index {
    pub name: &'static str,
    pub pk: &'static str,
    pub sk: &'static str,
}

/// The key of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub pk: String,
    pub sk: &'static str,
}

impl Key {
    fn new(kind: &'static str, rest: impl std::fmt::Display) -> Self {
        Self {
            pk: format!("{kind}#{rest}"),
            sk: kind,
        }
    }

    pub fn account(id: AccountId) -> Self {
        Self::new("ACC", id.simple())
    }

    /// Whose email this is.
    pub fn email(email: &Email) -> Self {
        Self::new("EML", email.as_str())
    }

    pub fn session(id: SessionId) -> Self {
        Self::new("SES", id.simple())
    }

    pub fn venue(id: VenueId) -> Self {
        Self::new("VEN", id.simple())
    }

    /// The layout of a venue, apart from the venue because it is large.
    pub fn layout(id: VenueId) -> Self {
        Self::new("LAY", id.simple())
    }

    pub fn event(id: EventId) -> Self {
        Self::new("EVT", id.simple())
    }

    pub fn show(id: ShowId) -> Self {
        Self::new("SHW", id.simple())
    }

    pub fn block(show: ShowId, block: BlockIndex) -> Self {
        Self::new("BLK", format_args!("{}#{}", show.simple(), block.0))
    }

    pub fn buyer(show: ShowId, account: AccountId) -> Self {
        Self::new(
            "BUY",
            format_args!("{}#{}", show.simple(), account.simple()),
        )
    }

    pub fn map(show: ShowId) -> Self {
        Self::new("MAP", show.simple())
    }

    /// The lease on rebuilding a map, apart from the map because it is written often
    /// and the map is large.
    pub fn map_lease(show: ShowId) -> Self {
        Self::new("MPL", show.simple())
    }

    pub fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([
            (PK.to_owned(), AttributeValue::S(self.pk.clone())),
            (SK.to_owned(), AttributeValue::S(self.sk.to_owned())),
        ])
    }

    /// The number of the block that a partition key names.
    pub fn block_index(pk: &str) -> Option<BlockIndex> {
        let mut parts = pk.strip_prefix("BLK#")?.split('#');
        parts.nth(1)?.parse().ok().map(BlockIndex)
    }
}

pub fn owner(account: AccountId) -> String {
    format!("ORG#{}", account.simple())
}

/// Sorts by time, then by id.
pub fn by_time(created: Millis, id: impl std::fmt::Display) -> String {
    format!("{:015}#{id}", created.0)
}
