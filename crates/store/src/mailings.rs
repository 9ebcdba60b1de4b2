//! Mailings: stored in one transaction with the change that they tell of.

use onsale_domain::ids::EventId;
use onsale_domain::mailing::{Mailing, MailingId};
use onsale_domain::time::Millis;
use onsale_table::Index;

use crate::documents::{Document, Name};
use crate::indexes::BY_WORK;
use crate::lists::{List, Place, by_time};

impl Name for MailingId {
    fn text(&self) -> String {
        format!("{}#{}", self.event_id.simple(), self.version)
    }

    fn parse(text: &str) -> Option<Self> {
        let (event, version) = text.split_once('#')?;
        Some(Self {
            event_id: <EventId as Name>::parse(event)?,
            version: version.parse().ok()?,
        })
    }
}

impl Document for Mailing {
    const KIND: &'static str = "MLG";
    const INDEXES: &'static [Index] = &[BY_WORK];
    type Id = MailingId;

    fn id(&self) -> MailingId {
        self.id
    }

    fn lists(&self) -> Vec<Place> {
        let open = List::OpenMailings.at(by_time(self.created, self.id));
        self.is_open().then_some(open).into_iter().collect()
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(Mailing::forget_at(self))
    }
}
