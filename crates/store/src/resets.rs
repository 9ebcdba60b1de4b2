//! Links to set a password. Each is listed as open work until it is announced.

use onsale_domain::ids::ResetId;
use onsale_domain::password_reset::Reset;
use onsale_domain::time::Millis;
use onsale_table::Index;

use crate::documents::Document;
use crate::indexes::BY_WORK;
use crate::lists::{List, Place, by_time};

/// A link that is too old is refused by its time; the item is kept a day longer, because its id
/// must not be used again within its hour.
const KEPT_MS: u64 = 24 * 3_600_000;

impl Document for Reset {
    const KIND: &'static str = "RST";
    const INDEXES: &'static [Index] = &[BY_WORK];
    type Id = ResetId;

    fn id(&self) -> ResetId {
        self.id
    }

    fn lists(&self) -> Vec<Place> {
        let open = List::OpenResets.at(by_time(self.asked, self.id));
        (!self.announced).then_some(open).into_iter().collect()
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(self.expires() + KEPT_MS)
    }
}
