//! Cancelling a show: how far it is.

use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::ShowId;
use onsale_table::Index;

use crate::documents::Document;
use crate::indexes::BY_WORK;
use crate::lists::{List, Place, by_time};

impl Document for Cancellation {
    const KIND: &'static str = "CXL";
    const INDEXES: &'static [Index] = &[BY_WORK];
    type Id = ShowId;

    fn id(&self) -> ShowId {
        self.show_id
    }

    fn lists(&self) -> Vec<Place> {
        let open = List::OpenCancellations.at(by_time(self.began, self.show_id));
        self.is_open().then_some(open).into_iter().collect()
    }
}
