//! Posters of events. An uploaded one is kept under its content, so its address never
//! shows another picture; a replaced one stays where it is, for pages that were sent
//! before, and goes with all others when the event gives up its poster.

use onsale_domain::ids::EventId;
use onsale_domain::poster::{self, PosterName};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::events::WRITE_ATTEMPTS;
use crate::ports::Fetched;

const OBJECTS: &str = "posters/";

fn prefix(event: EventId) -> String {
    format!("{OBJECTS}{event}/")
}

fn object_key(event: EventId, name: PosterName) -> String {
    format!("{}{name}", prefix(event))
}

impl App {
    /// Whether this caller may change the poster: asked before a picture is decoded.
    pub async fn check_may_change_poster(&self, caller: &Caller, event: EventId) -> Result<()> {
        self.own_event(caller, event).await.map(|_| ())
    }

    /// Makes this JPEG the poster of an event, and returns its address. The picture is
    /// stored before the event names it. Repeating it changes nothing.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn set_poster(
        &self,
        caller: &Caller,
        event: EventId,
        jpeg: Vec<u8>,
    ) -> Result<String> {
        self.own_event(caller, event).await?;
        let name = PosterName::of(&jpeg);
        // Refused: it is there already, since its name follows from its content.
        let key = object_key(event, name);
        self.objects.replace(&key, jpeg, None).await?;
        let address = poster::address(event, name);
        self.point_to_poster(caller, event, Some(&address)).await?;
        Ok(address)
    }

    /// Takes the poster away, and deletes every picture that the event had: what must not
    /// be seen is not found under its address either.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn remove_poster(&self, caller: &Caller, event: EventId) -> Result<()> {
        self.point_to_poster(caller, event, None).await?;
        let prefix = prefix(event);
        let mut after = None;
        loop {
            let page = self.objects.list(&prefix, after.as_deref()).await?;
            for object in &page.items {
                self.objects.delete(&object.key).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The picture at an address of [`App::set_poster`], for everybody.
    pub async fn poster(&self, event: EventId, name: PosterName) -> Result<Vec<u8>> {
        match self.objects.get(&object_key(event, name), None).await? {
            Fetched::Found(object) => Ok(object.body),
            Fetched::Missing | Fetched::Unchanged => Err(Error::NotFound("poster")),
        }
    }

    async fn point_to_poster(
        &self,
        caller: &Caller,
        id: EventId,
        address: Option<&str>,
    ) -> Result<()> {
        for _ in 0..WRITE_ATTEMPTS {
            let mut stored = self.own_event(caller, id).await?;
            if stored.value.poster_url.as_deref() == address {
                return Ok(());
            }
            let before = stored.value.clone();
            stored.value.poster_url = address.map(str::to_owned);
            if self.replace_event(&stored, None).await? {
                self.note_event_change(caller, &before, &stored).await;
                self.announce_change(&stored).await;
                return Ok(());
            }
        }
        Err(Error::Conflict(
            "the event is being changed by others; try again",
        ))
    }
}
