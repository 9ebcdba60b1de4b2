//! Which changes of an event or a show everybody with tickets has to know.

use onsale_domain::event::Event;
use onsale_domain::mailing::{EventFacts, Mailing, MailingId, MovedShow};
use onsale_domain::show::{Show, StoredStatus};

use crate::app::App;
use crate::ports::Versioned;

impl App {
    /// The mailing of a changed show, to be stored together with it.
    pub(crate) fn mailing_of_show(
        &self,
        was: &Show,
        is: &Show,
        event: &Versioned<Event>,
    ) -> Option<Mailing> {
        // Nobody has tickets of a draft.
        if was.status != StoredStatus::OnSale {
            return None;
        }
        let shows = vec![MovedShow {
            show_id: is.id,
            was_at: was.starts_at,
            is_at: is.starts_at,
        }];
        let facts = facts(&event.value);
        Mailing::of_change(id(event), (facts.clone(), facts), shows, self.now())
    }

    /// The mailing of a changed event, for all of its shows that are still to come.
    pub(crate) fn mailing_of_event(&self, was: &Event, is: &Versioned<Event>) -> Option<Mailing> {
        let now = self.now();
        let coming = is.value.shows.iter().filter(|show| show.is_coming(now));
        let shows = coming.map(|show| MovedShow {
            show_id: show.id,
            was_at: show.starts_at,
            is_at: show.starts_at,
        });
        let facts = (facts(was), facts(&is.value));
        Mailing::of_change(id(is), facts, shows.collect(), now)
    }
}

fn id(event: &Versioned<Event>) -> MailingId {
    MailingId {
        event_id: event.value.id,
        // The version that this write makes: no other write makes it.
        version: event.version + 1,
    }
}

fn facts(event: &Event) -> EventFacts {
    EventFacts {
        title: event.title.clone(),
        venue: event.venue.clone(),
        city: event.city.clone(),
    }
}
