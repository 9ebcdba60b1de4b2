//! Some of the reminders of a show: who asked to be told by mail, until the cloud knows.
//!
//! It looks at the room as its visitors would, and tells the cloud of those who may enter.
//! A turn is told again until the cloud has said that it heard: the same turn is the same
//! mail there.

use futures_util::lock::Mutex;
use http::StatusCode;
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::draw::Seeds;
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::{
    Kept, Look, NotKept, Reminder, Reminders, TURNS_A_CALL, Turn, Turns,
};
use std::collections::BTreeMap;

use crate::host::{Links, Storage, Told, Trouble};
use crate::internal::signed_request;

/// After a new reminder somebody looks within this long.
pub const LOOK_AFTER_MS: u64 = 2_000;
/// After trouble it is tried again.
pub const RETRY_MS: u64 = 5_000;
const LOT: &str = "lot/";

#[derive(Debug)]
pub struct RemindersObject<S, L> {
    show: ShowId,
    storage: S,
    links: L,
    keys: InternalKeys,
    /// What draws follow from, once their buckets are closed.
    seeds: Seeds,
    /// `None` until loaded, and again after a failed write.
    kept: Mutex<Option<Reminders>>,
}

impl<S: Storage, L: Links> RemindersObject<S, L> {
    pub fn new(show: ShowId, storage: S, links: L, keys: InternalKeys, seeds: Seeds) -> Self {
        Self {
            show,
            storage,
            links,
            keys,
            seeds,
            kept: Mutex::new(None),
        }
    }

    /// Keeps a reminder. Whoever calls it sees to it that [`Self::look`] is called within
    /// [`LOOK_AFTER_MS`].
    pub async fn remind(&self, reminder: Reminder) -> Told<Result<(), NotKept>> {
        let lot = reminder.ticket.lot;
        let mut slot = self.kept.lock().await;
        let mut kept = self.loaded(&mut slot).await?;
        let asked = kept.ask(reminder);
        match asked {
            Ok(()) => self.keep(kept, &[lot], &mut slot).await?,
            Err(_) => *slot = Some(kept),
        }
        Ok(asked)
    }

    /// Tells the cloud whose turn it is. In how many milliseconds to look again; `None`:
    /// nobody is left.
    pub async fn look(&self) -> Told<Option<u64>> {
        let room = match self.anybody_waits().await? {
            true => {
                let bulletin = self.links.bulletin(self.show).await?;
                let gone = || Trouble::new("the show of a reminder is gone");
                Some(bulletin.ok_or_else(gone)?.published)
            }
            false => None,
        };
        let now = self.links.now();
        let look = {
            let mut slot = self.kept.lock().await;
            let mut kept = self.loaded(&mut slot).await?;
            let look = kept.look(room.as_ref().map(|room| (room, &self.seeds)), now);
            for lot in &look.gone {
                kept.forget(*lot);
            }
            self.keep(kept, &look.gone, &mut slot).await?;
            look
        };
        let Look {
            turns, again_ms, ..
        } = look;
        for turns in turns.chunks(TURNS_A_CALL) {
            self.tell(turns).await?;
            let lots: Vec<Lot> = turns.iter().map(|turn| turn.lot).collect();
            let mut slot = self.kept.lock().await;
            let mut kept = self.loaded(&mut slot).await?;
            for turn in turns {
                kept.told(turn.lot, turn.enter_by);
            }
            self.keep(kept, &lots, &mut slot).await?;
        }
        Ok(again_ms)
    }

    async fn anybody_waits(&self) -> Told<bool> {
        let mut slot = self.kept.lock().await;
        let kept = self.loaded(&mut slot).await?;
        let waits = kept.anybody_waits();
        *slot = Some(kept);
        Ok(waits)
    }

    async fn tell(&self, turns: &[Turn]) -> Told<()> {
        let turns = turns.to_vec();
        let body = serde_json::to_vec(&Turns { turns }).map_err(Trouble::new)?;
        let target = format!("/internal/shows/{}/turns", self.show);
        let request = signed_request(&self.keys, "POST", &target, body, self.links.now())?;
        let answer = self.links.room_function(request).await?;
        match answer.status() {
            StatusCode::NO_CONTENT => Ok(()),
            status => Err(Trouble(format!("telling of turns was answered {status}"))),
        }
    }

    /// Takes the reminders out of their slot. Whoever puts them back vouches that they are
    /// stored.
    async fn loaded(&self, slot: &mut Option<Reminders>) -> Told<Reminders> {
        if let Some(kept) = slot.take() {
            return Ok(kept);
        }
        let mut kept = BTreeMap::new();
        for (name, value) in self.storage.load().await? {
            if let Some(lot) = name.strip_prefix(LOT) {
                let lot: Lot = lot.parse().map_err(Trouble::new)?;
                let one: Kept = postcard::from_bytes(&value).map_err(Trouble::new)?;
                kept.insert(lot, one);
            }
        }
        Ok(Reminders::restore(kept))
    }

    async fn keep(
        &self,
        kept: Reminders,
        changed: &[Lot],
        slot: &mut Option<Reminders>,
    ) -> Told<()> {
        let mut changes = Vec::with_capacity(changed.len());
        for lot in changed {
            let one = kept.get(*lot).map(postcard::to_allocvec).transpose();
            changes.push((format!("{LOT}{lot}"), one.map_err(Trouble::new)?));
        }
        if !changes.is_empty() {
            self.storage.store(changes).await?;
        }
        *slot = Some(kept);
        Ok(())
    }
}
