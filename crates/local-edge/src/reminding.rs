//! Reminders in this process: each object has a task that looks when it is time.

use std::sync::Arc;
use std::time::Duration;

use onsale_domain::ids::ShowId;
use onsale_domain::room::gate::GateIndex;
use onsale_edge::objects::reminders::{LOOK_AFTER_MS, RETRY_MS, RemindersObject};
use tokio::sync::Notify;

use crate::store::ObjectStorage;
use crate::world::{LocalLinks, World};

const KIND: &str = "reminders";

type Reminders = RemindersObject<ObjectStorage, LocalLinks>;

#[derive(Debug)]
pub struct Reminding {
    pub object: Reminders,
    asked: Notify,
}

pub fn name(show: ShowId, gate: GateIndex) -> String {
    format!("{show}/{KIND}/{}", gate.number())
}

fn read_name(name: &str) -> Option<(ShowId, GateIndex)> {
    let (show, rest) = name.split_once('/')?;
    let (kind, number) = rest.split_once('/')?;
    let number: u8 = number.parse().ok()?;
    let gate = GateIndex::all().find(|gate| gate.number() == number)?;
    Some((show.parse().ok()?, gate)).filter(|_| kind == KIND)
}

/// Goes on with what a process before this one promised.
pub async fn resume(world: Arc<World>) {
    match world.stored_objects().await {
        Ok(names) => {
            for (show, gate) in names.iter().filter_map(|name| read_name(name)) {
                world.reminders(show, gate).look_soon();
            }
        }
        Err(trouble) => tracing::error!(%trouble, "reminders of before cannot be read"),
    }
}

impl Reminding {
    pub fn start(object: Reminders) -> Arc<Self> {
        let asked = Notify::new();
        let reminding = Arc::new(Self { object, asked });
        tokio::spawn(reminding.clone().run());
        reminding
    }

    /// Somebody new is there.
    pub fn look_soon(&self) {
        self.asked.notify_one();
    }

    async fn run(self: Arc<Self>) {
        self.asked.notified().await;
        loop {
            tokio::time::sleep(Duration::from_millis(LOOK_AFTER_MS)).await;
            let again_ms = self.object.look().await.unwrap_or_else(|trouble| {
                tracing::warn!(%trouble, "reminders were not looked at");
                Some(RETRY_MS)
            });
            let asked = self.asked.notified();
            match again_ms {
                None => asked.await,
                Some(ms) => {
                    let wait = Duration::from_millis(ms.saturating_sub(LOOK_AFTER_MS));
                    let _ = tokio::time::timeout(wait, asked).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_by_its_name_and_others_are_not() {
        let show = ShowId::from_bytes([1; 16]);
        for gate in GateIndex::all() {
            assert_eq!(read_name(&name(show, gate)), Some((show, gate)));
        }
        for wrong in ["", "x/reminders/1"] {
            assert_eq!(read_name(wrong), None);
        }
        assert_eq!(read_name(&format!("{show}/gate/1")), None);
        assert_eq!(read_name(&format!("{show}/reminders/99")), None);
    }
}
