//! Names of attributes that were read before.
//!
//! All items together have few names, which are constants of the program. Those that were read
//! once are kept for good, so that the next item with them copies none of them: of a block with
//! 32 places that is half of all allocations.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use crate::item::{Item, Name};

/// Names that are kept, and their bytes: 64 KB in all, whatever the file holds.
const MOST_NAMES: usize = 1024;
const MOST_BYTES: usize = 64;

type Set = HashSet<&'static str, BuildHasherDefault<Fnv>>;

static KNOWN: LazyLock<RwLock<Set>> = LazyLock::new(RwLock::default);

/// The names that are known at this moment.
pub(super) struct Names(RwLockReadGuard<'static, Set>);

impl Names {
    pub(super) fn known() -> Self {
        Self(KNOWN.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn name(&self, text: &str) -> Name {
        match self.0.get(text) {
            Some(known) => Name::Borrowed(known),
            None => Name::Owned(text.to_owned()),
        }
    }

    /// Keeps the names of the item that are new.
    pub(super) fn learn(self, item: &Item) {
        let has_room = self.0.len() < MOST_NAMES;
        drop(self);
        let is_new = |name: &&Name| matches!(name, Name::Owned(text) if text.len() <= MOST_BYTES);
        if !has_room || !item.iter().any(|(name, _)| is_new(&name)) {
            return;
        }
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        for name in item.iter().map(|(name, _)| name).filter(is_new) {
            if known.len() < MOST_NAMES && !known.contains(&**name) {
                known.insert(Box::leak(name.to_string().into_boxed_str()));
            }
        }
    }
}

/// FNV-1a: names have a few bytes, for which it takes a third of what the usual hash takes. It
/// can be fooled into collisions, but there are few names.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The table also looks at the highest bits, which short names hardly reach.
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
