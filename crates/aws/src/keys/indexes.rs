//! The indexes of the table, and those of their partitions that have a fixed name.

#[derive(Debug, Clone, Copy)]
pub struct Index {
    pub name: &'static str,
    pub pk: &'static str,
    pub sk: &'static str,
}

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
/// Lists of what was bought and of passes that ended, by time. Keys only.
pub const BY_BUYER: Index = Index {
    name: "gsi3",
    pk: "gsi3pk",
    sk: "gsi3sk",
};
/// The partition of the sandbox's payments in `BY_BUYER`.
pub const SANDBOX_PAYMENTS: &str = "SANDBOX";
/// What a saga still has to work on. Keys only, and sparse: whatever has ended is not
/// in it.
pub const BY_WORK: Index = Index {
    name: "gsi4",
    pk: "gsi4pk",
    sk: "gsi4sk",
};
/// The partition of cancellations in `BY_WORK`.
pub const OPEN_CANCELLATIONS: &str = "OPENCXL";
/// The partition of events in `BY_WORK` that changed since they were indexed.
pub const UNINDEXED_EVENTS: &str = "UNINDEXED";
/// The partition of resets that were not announced in `BY_WORK`.
pub const OPEN_RESETS: &str = "OPENRST";
/// The partition of deletions in `BY_WORK`.
pub const OPEN_DELETIONS: &str = "OPENDEL";
/// The partition of transfers that the world was not told of, in `BY_WORK`.
pub const UNTOLD_TRANSFERS: &str = "UNTOLD";
/// The partition of mailings in `BY_WORK`.
pub const OPEN_MAILINGS: &str = "OPENMLG";
/// The partition of parked mails in `BY_WORK`. There are few, or the mail service takes
/// none, and then no more than it could send.
pub const PARKED_MAILS: &str = "PARKEDMAIL";
/// The partition of exports in `BY_WORK`.
pub const OPEN_EXPORTS: &str = "OPENEXP";
/// The partition of shows with a waitlist in `BY_WORK`.
pub const OPEN_WAITLISTS: &str = "OPENWLS";
/// Open orders are spread over this many partitions of `BY_WORK`: an order enters and
/// leaves once each, and a partition takes 1,000 writes a second, so 16 of them carry
/// some 8,000 orders a second.
pub const WORK_SHARDS: u8 = 16;
