//! The live map of one show, for everybody in this process who watches it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_edge::host::Told;
use onsale_edge::objects::feed::{Feed, READ_MS, map_path, reading};
use tokio::sync::broadcast;

use crate::world::World;

/// A watcher that is this many messages behind reads the map again.
const BEHIND_MAX: usize = 64;
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// A message and the version it leads to.
#[derive(Debug, Clone)]
pub struct Message {
    pub version: u64,
    pub text: Arc<str>,
}

#[derive(Debug)]
pub struct Watched {
    feed: Mutex<Feed>,
    messages: broadcast::Sender<Message>,
    reading: tokio::sync::Mutex<bool>,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            feed: Mutex::default(),
            messages: broadcast::channel(BEHIND_MAX).0,
            reading: tokio::sync::Mutex::new(false),
        }
    }
}

/// Somebody who watches: the first message, and those to come.
#[derive(Debug)]
pub struct Watching {
    pub welcome: Message,
    pub messages: broadcast::Receiver<Message>,
}

impl Watched {
    pub fn is_watched(&self) -> bool {
        self.messages.receiver_count() > 0
    }

    fn feed<T>(&self, act: impl FnOnce(&mut Feed) -> T) -> T {
        act(&mut self.feed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What somebody is told who has to begin anew.
    pub fn reset(&self) -> Message {
        self.welcome(None)
    }

    fn welcome(&self, since: Option<u64>) -> Message {
        self.feed(|feed| Message {
            version: feed.version(),
            text: feed.welcome(since).into(),
        })
    }
}

impl World {
    /// Begins to watch. When the map cannot be read, the answer about it is returned.
    pub async fn watch(
        self: &Arc<Self>,
        show: ShowId,
        since: Option<u64>,
    ) -> Told<Result<(Arc<Watched>, Watching), Response<Vec<u8>>>> {
        let watched = self.feed(show);
        // Subscribed before the first reading, so that nothing is missed and the feed is
        // not taken for abandoned.
        let messages = watched.messages.subscribe();
        let mut is_reading = watched.reading.lock().await;
        if !*is_reading {
            let answer = self.read_map(show).await?;
            let (version, map) = match reading(&answer) {
                Ok(read) => read,
                Err(_) => return Ok(Err(answer)),
            };
            watched.feed(|feed| feed.read(version, map));
            *is_reading = true;
            tokio::spawn(read_while_watched(self.clone(), show, watched.clone()));
        }
        drop(is_reading);
        let watching = Watching {
            welcome: watched.welcome(since),
            messages,
        };
        Ok(Ok((watched, watching)))
    }

    async fn read_map(&self, show: ShowId) -> Told<Response<Vec<u8>>> {
        let mut request = Request::new(Vec::new());
        *request.uri_mut() = map_path(show).parse().map_err(onsale_edge::Trouble::new)?;
        self.function(request, READ_TIMEOUT).await
    }
}

async fn read_while_watched(world: Arc<World>, show: ShowId, watched: Arc<Watched>) {
    let mut every = tokio::time::interval(Duration::from_millis(READ_MS));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        {
            let mut is_reading = watched.reading.lock().await;
            if !watched.is_watched() {
                *is_reading = false;
                return;
            }
        }
        let read = world.read_map(show).await.and_then(|a| reading(&a));
        let (version, map) = match read {
            Ok(read) => read,
            Err(trouble) => {
                tracing::warn!(%show, %trouble, "the live map could not be read");
                continue;
            }
        };
        if let Some(text) = watched.feed(|feed| feed.read(version, map)) {
            let text = text.into();
            // Nobody may be left to hear it; the next turn notices.
            let _ = watched.messages.send(Message { version, text });
        }
    }
}
