//! Counts what requests would cost on DynamoDB.

use crate::item::{Item, Key};
use crate::table::Reads;
use crate::units::{item_bytes, read_half_units, write_units};

/// Capacity that requests have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Units {
    /// Twice the read units, so that half units stay whole numbers.
    pub read_half_units: u64,
    /// Write units of the table itself.
    pub write_units: u64,
    /// Write units of its indexes.
    pub index_write_units: u64,
    /// Calls that DynamoDB would have received. A write of several in order is a call of its own.
    pub requests: u64,
}

impl Units {
    pub(super) fn read(&mut self, bytes: usize, reads: Reads) {
        self.read_half_units += read_half_units(bytes, reads == Reads::Consistent);
    }
}

/// How much more a write of the table costs because of the request that it is part of. Its
/// indexes are written after it, and cost the same in every request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tariff {
    Single,
    /// DynamoDB writes each item of a transaction twice.
    Transaction,
}

impl Tariff {
    pub(super) fn factor(self) -> u64 {
        match self {
            Self::Single => 1,
            Self::Transaction => 2,
        }
    }
}

/// Bytes of what is stored under the key; 0: nothing is.
pub(super) fn bytes(key: &Key, item: Option<&Item>) -> usize {
    item.map_or(0, |item| item_bytes(key, item))
}

/// Write units of an item that was and becomes this.
pub(super) fn written(key: &Key, before: Option<&Item>, after: Option<&Item>) -> u64 {
    write_units(bytes(key, before), bytes(key, after))
}
