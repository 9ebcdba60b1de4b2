//! The live map of one show, for everybody in this process who watches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_edge::host::Told;
use onsale_edge::objects::feed::{Feed, READ_MS, map_path, reading};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::at_work::{AtWork, Working};
use crate::world::{World, now};

/// A watcher that is this many messages behind reads the map again.
const BEHIND_MAX: usize = 64;
/// As many as the worker takes for a show.
const MAX_WATCHERS: usize = 10_000;
/// How long a feed is kept that nobody watches, for whoever comes back, and how many of
/// them: each has a map of at most 25 KB and five minutes of changes.
const KEPT_MS: u64 = 600_000;
const MAX_UNWATCHED: usize = 64;
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
    reading: AtWork,
    /// Held by whoever reads for the first time, for all who come meanwhile.
    first: tokio::sync::Mutex<()>,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            feed: Mutex::default(),
            messages: broadcast::channel(BEHIND_MAX).0,
            reading: AtWork::default(),
            first: tokio::sync::Mutex::default(),
        }
    }
}

/// Somebody who watches: the first message, and those to come.
#[derive(Debug)]
pub struct Watching {
    pub welcome: Message,
    messages: broadcast::Receiver<Message>,
}

/// The feeds of all shows that somebody watches, or watched a while ago.
#[derive(Debug, Default)]
pub struct Feeds(HashMap<ShowId, Arc<Watched>>);

impl Feeds {
    /// The feed of a show; a new one, if none is kept.
    fn of(&mut self, show: ShowId) -> Arc<Watched> {
        if !self.0.contains_key(&show) {
            self.forget_some();
        }
        self.0.entry(show).or_default().clone()
    }

    /// A feed was read last at its version, so that says since when nobody watches.
    fn forget_some(&mut self) {
        let kept_since = now().saturating_sub(KEPT_MS).0;
        let mut unwatched = Vec::new();
        self.0.retain(|show, feed| {
            let version = feed.feed(|feed| feed.version());
            let is_watched = feed.is_watched();
            if !is_watched {
                unwatched.push((version, *show));
            }
            is_watched || version > kept_since
        });
        unwatched.sort_unstable();
        let too_many = (unwatched.len() + 1).saturating_sub(MAX_UNWATCHED);
        for (_, show) in unwatched.iter().take(too_many) {
            self.0.remove(show);
        }
    }
}

impl Watching {
    /// The next message that the welcome does not cover.
    pub async fn next(&mut self) -> Result<Message, RecvError> {
        loop {
            let message = self.messages.recv().await?;
            if message.version > self.welcome.version {
                return Ok(message);
            }
        }
    }
}

impl Watched {
    /// What will be told from now on; nothing when as many listen as may.
    fn listen(&self) -> Option<broadcast::Receiver<Message>> {
        let messages = self.messages.subscribe();
        (self.messages.receiver_count() <= MAX_WATCHERS).then_some(messages)
    }

    fn is_watched(&self) -> bool {
        self.messages.receiver_count() > 0
    }

    /// Takes a new reading and tells everybody what changed. Nobody may be there to hear it.
    fn take(&self, version: u64, map: Vec<u8>) {
        self.feed(|feed| {
            if let Some(text) = feed.read(version, map) {
                let text = text.into();
                let _ = self.messages.send(Message { version, text });
            }
        });
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

/// Why nobody more can watch.
#[derive(Debug)]
pub enum Unwatched {
    /// What was answered about the map instead.
    Refused(Response<Vec<u8>>),
    TooMany,
}

impl World {
    /// Begins to watch.
    pub async fn watch(
        self: &Arc<Self>,
        show: ShowId,
        since: Option<u64>,
    ) -> Told<Result<(Arc<Watched>, Watching), Unwatched>> {
        // Subscribed before the first reading, so that nothing is missed, and before anybody
        // can take the feed for abandoned.
        let (watched, messages) = self.feeds(|feeds| {
            let watched = feeds.of(show);
            let messages = watched.listen();
            (watched, messages)
        });
        let Some(messages) = messages else {
            return Ok(Err(Unwatched::TooMany));
        };
        let first = watched.first.lock().await;
        if let Some(working) = watched.reading.begin() {
            // Nobody watched until now. What changed meanwhile is part of the welcome.
            let answer = self.read_map(show).await?;
            let (version, map) = match reading(&answer) {
                Ok(read) => read,
                Err(_) => return Ok(Err(Unwatched::Refused(answer))),
            };
            watched.take(version, map);
            let reading = read_while_watched(self.clone(), show, watched.clone(), working);
            tokio::spawn(reading);
        }
        drop(first);
        let watching = Watching {
            welcome: watched.welcome(since),
            messages,
        };
        Ok(Ok((watched, watching)))
    }

    /// A map that was answered to somebody is a reading too: whoever has it may begin to
    /// watch from there.
    pub fn note_map(&self, show: ShowId, answer: &Response<Vec<u8>>) {
        if let Ok((version, map)) = reading(answer) {
            self.feeds(|feeds| feeds.of(show)).take(version, map);
        }
    }

    async fn read_map(&self, show: ShowId) -> Told<Response<Vec<u8>>> {
        let mut request = Request::new(Vec::new());
        *request.uri_mut() = map_path(show).parse().map_err(onsale_edge::Trouble::new)?;
        self.function(request, READ_TIMEOUT).await
    }
}

/// Of which show this asks for the map.
pub fn map_of(request: &Request<Vec<u8>>) -> Option<ShowId> {
    let show = request.uri().path().strip_prefix("/api/v1/shows/")?;
    let show = show.strip_suffix("/availability.bin")?;
    show.parse()
        .ok()
        .filter(|_| request.method() == http::Method::GET)
}

async fn read_while_watched(
    world: Arc<World>,
    show: ShowId,
    watched: Arc<Watched>,
    working: Working,
) {
    let mut every = tokio::time::interval(Duration::from_millis(READ_MS));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        {
            let _first = watched.first.lock().await;
            if !watched.is_watched() {
                // Before anybody else may look, or they would count on this task.
                drop(working);
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
        watched.take(version, map);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_watch_a_show_and_the_next_may_when_one_has_left() {
        let watched = Watched::default();
        let mut listening: Vec<_> = (0..10_000).map_while(|_| watched.listen()).collect();
        assert_eq!(listening.len(), 10_000);
        assert!(watched.listen().is_none());
        assert!(watched.listen().is_none(), "who was refused is not counted");
        listening.pop();
        assert!(watched.listen().is_some());
    }
}
