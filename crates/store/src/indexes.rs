//! The indexes of the table, as `template.yaml` declares them.

use onsale_table::{Index, Projection, Schema};

/// Lists that belong to an account.
pub const BY_OWNER: Index = Index {
    name: "gsi1",
    pk: "gsi1pk",
    sk: "gsi1sk",
    projection: Projection::All,
};
/// Lists that belong to everybody.
pub const BY_LIST: Index = Index {
    name: "gsi2",
    pk: "gsi2pk",
    sk: "gsi2sk",
    projection: Projection::All,
};
/// Lists of what was bought and of passes that ended, by time.
pub const BY_BUYER: Index = Index {
    name: "gsi3",
    pk: "gsi3pk",
    sk: "gsi3sk",
    projection: Projection::Keys,
};
/// What still has to be worked on. What has ended is not in it, so it stays small.
pub const BY_WORK: Index = Index {
    name: "gsi4",
    pk: "gsi4pk",
    sk: "gsi4sk",
    projection: Projection::Keys,
};

/// The shape of the table that the store needs.
pub const SCHEMA: Schema = Schema {
    indexes: &[BY_OWNER, BY_LIST, BY_BUYER, BY_WORK],
    forget_at: crate::attributes::FORGET_AT,
};

/// Open work is spread over this many partitions of `BY_WORK`: an order enters and leaves once
/// each, and a partition takes 1,000 writes a second, so 16 of them carry some 8,000 orders a
/// second.
pub const WORK_SHARDS: u8 = 16;
