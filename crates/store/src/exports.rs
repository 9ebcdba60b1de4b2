//! Exports: how far each is, and the list of those that are not ready.

use onsale_domain::export::Export;
use onsale_domain::ids::ExportId;
use onsale_table::Index;

use crate::documents::Document;
use crate::indexes::BY_WORK;
use crate::lists::{List, Place, by_time};

impl Document for Export {
    const KIND: &'static str = "EXP";
    const INDEXES: &'static [Index] = &[BY_WORK];
    type Id = ExportId;

    fn id(&self) -> ExportId {
        self.id
    }

    fn lists(&self) -> Vec<Place> {
        let open = List::OpenExports.at(by_time(self.created, self.id));
        self.is_open().then_some(open).into_iter().collect()
    }
}
