//! The live map of a show as a Durable Object. While somebody watches it reads the map
//! once a second; its WebSockets outlive it, its event streams keep it awake.

use std::cell::{Cell, RefCell};

use futures_channel::mpsc::{Sender, channel};
use futures_util::StreamExt as _;
use futures_util::lock::Mutex;
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
// The macro looks for `wasm_bindgen` here.
use worker::wasm_bindgen;
use worker::{
    DurableObject, Env, Error, Request, Response, ResponseBuilder, Result, State, WebSocket,
    WebSocketIncomingMessage, WebSocketPair, console_warn, durable_object, worker_sys,
};

use super::messages::response;
use super::object_alarm::{Alarm, now};
use super::object_calls::ObjectName;
use super::object_links::ObjectLinks;
use super::object_storage::ObjectStorage;
use crate::answer::Problem;
use crate::host::{Storage as _, Told, Trouble};
use crate::objects::feed::{Feed, READ_MS, map_path, reading};

/// Far below the 32,768 sockets that the runtime takes: one too many would be a panic.
const MAX_WATCHERS: usize = 10_000;
/// Whoever is behind by this many messages is let go, and comes back for what they missed.
const MAX_BEHIND: usize = 32;
/// A quiet event stream gets a sign of life after so many readings.
const QUIET_READINGS: u32 = 15;
/// How long a feed is kept that nobody watches. Whoever comes back later begins anew.
const KEPT_MS: u64 = 24 * 3_600_000;
const FEED: &str = "feed";

#[durable_object]
#[derive(Debug)]
pub struct SeatFeed {
    state: State,
    alarm: Alarm,
    source: Told<Source>,
    storage: ObjectStorage,
    feed: RefCell<Feed>,
    /// When the map was read last. While nobody watches it is not read at all.
    read_at: Cell<Millis>,
    /// Held by whoever reads the map for the first time, for all who come meanwhile.
    first: Mutex<()>,
    streams: RefCell<Vec<Sender<Vec<u8>>>>,
    quiet: Cell<u32>,
}

#[derive(Debug)]
struct Source {
    show: ShowId,
    links: ObjectLinks,
}

/// Why nobody can watch now.
enum Unwatched {
    NoShow,
    Trouble(Trouble),
}

impl DurableObject for SeatFeed {
    fn new(state: State, env: Env) -> Self {
        // Answered by the runtime, without waking the object.
        if let Ok(pair) = worker_sys::WebSocketRequestResponsePair::new("ping", "pong") {
            state.set_websocket_auto_response(&pair);
        }
        Self {
            alarm: Alarm::new(&state),
            source: source(&state, env),
            storage: ObjectStorage::new(&state),
            feed: RefCell::default(),
            read_at: Cell::new(Millis(0)),
            first: Mutex::new(()),
            streams: RefCell::default(),
            quiet: Cell::new(0),
            state,
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        if self.watchers() >= MAX_WATCHERS {
            return response(Problem::unavailable().answer());
        }
        // While somebody watches the alarm sees to it.
        if !self.is_current() && (self.watchers() == 0 || self.feed.borrow().version() == 0) {
            match self.read_first().await {
                Ok(()) => {}
                Err(Unwatched::NoShow) => return response(Problem::no_show().answer()),
                Err(Unwatched::Trouble(trouble)) => {
                    console_warn!("the map cannot be read: {trouble}");
                    return response(Problem::unavailable().answer());
                }
            }
        }
        // Read without the crate `url`, which brings the tables of Unicode along.
        let url = request.inner().url();
        let since = url.split_once("since=");
        let since = since.and_then(|(_, version)| version.parse().ok());
        let opened = match request.headers().has("upgrade")? {
            true => self.open_socket(since)?,
            false => self.open_stream(since)?,
        };
        let armed = self.alarm.set_sooner(READ_MS).await;
        armed.map_err(|trouble| Error::from(trouble.0))?;
        Ok(opened)
    }

    async fn alarm(&self) -> Result<Response> {
        if self.watchers() > 0 {
            let armed = self.alarm.set_again(READ_MS).await;
            armed.map_err(|trouble| Error::from(trouble.0))?;
            if let Err(Unwatched::Trouble(trouble)) = self.read().await {
                console_warn!("the map cannot be read: {trouble}");
            }
        } else if let Err(trouble) = self.rest().await {
            console_warn!("a feed is not kept for those who come back: {trouble}");
        }
        Response::empty()
    }

    /// Watchers have nothing to say.
    async fn websocket_message(&self, _: WebSocket, _: WebSocketIncomingMessage) -> Result<()> {
        Ok(())
    }

    async fn websocket_close(
        &self,
        socket: WebSocket,
        code: usize,
        _: String,
        _: bool,
    ) -> Result<()> {
        // It may be closed on both sides already, and then there is nothing to do.
        let _ = socket.close(u16::try_from(code).ok(), None::<String>);
        Ok(())
    }

    async fn websocket_error(&self, _: WebSocket, _: Error) -> Result<()> {
        Ok(())
    }
}

impl SeatFeed {
    fn watchers(&self) -> usize {
        self.state.get_websockets().len() + self.streams.borrow().len()
    }

    /// Whether the map was read a moment ago.
    fn is_current(&self) -> bool {
        self.read_at.get() + 2 * READ_MS > now()
    }

    /// Reads the map unless it is known by now: after a restart thousands come back at once,
    /// and one reading serves them all.
    async fn read_first(&self) -> std::result::Result<(), Unwatched> {
        let _first = self.first.lock().await;
        if self.is_current() {
            return Ok(());
        }
        let is_forgotten = self.feed.borrow().version() == 0;
        let is_restored = is_forgotten && self.restore().await;
        self.read().await?;
        if is_restored {
            // Sockets that outlived our memory know more than what was stored before they came.
            self.tell(&self.feed.borrow().welcome(None));
        }
        Ok(())
    }

    /// Takes over what was stored when nobody watched any more.
    async fn restore(&self) -> bool {
        let stored = match self.storage.load().await {
            Ok(stored) => stored,
            Err(trouble) => {
                console_warn!("a stored feed cannot be read: {trouble}");
                return false;
            }
        };
        let found = stored.iter().find(|(name, _)| name == FEED);
        let Some(feed) = found.and_then(|(_, bytes)| Feed::restored(bytes)) else {
            return false;
        };
        *self.feed.borrow_mut() = feed;
        true
    }

    /// Nobody watches: keeps the feed for a day.
    async fn rest(&self) -> Told<()> {
        if self.read_at.get() + KEPT_MS <= now() {
            return self.storage.clear().await;
        }
        self.store().await?;
        self.alarm.set_again(KEPT_MS).await
    }

    /// Keeps the feed for whoever comes back: an object that nobody asks is forgotten.
    async fn store(&self) -> Told<()> {
        if self.feed.borrow().version() == 0 {
            return Ok(());
        }
        let bytes = self.feed.borrow_mut().stored()?;
        let kept = vec![(FEED.to_owned(), Some(bytes))];
        self.storage.store(kept).await
    }

    /// Reads the map and tells everybody what changed.
    async fn read(&self) -> std::result::Result<(), Unwatched> {
        let source = self.source.as_ref();
        let source = source.map_err(|trouble| Unwatched::Trouble(trouble.clone()))?;
        let (version, map) = source.read().await?;
        // Watchers of a feed that has lost its memory missed they cannot know what.
        let forgot = self.feed.borrow().version() == 0;
        let changed = self.feed.borrow_mut().read(version, map);
        self.read_at.set(now());
        let message = match forgot {
            true => Some(self.feed.borrow().welcome(None)),
            false => changed,
        };
        match message {
            Some(message) => self.tell(&message),
            None => self.stay_in_touch(),
        }
        Ok(())
    }

    fn tell(&self, message: &str) {
        for socket in self.state.get_websockets() {
            // A socket that is closing hears nothing more.
            let _ = socket.send_with_str(message);
        }
        self.send(event(self.feed.borrow().version(), message));
    }

    /// Streams whose readers are gone are noticed by writing to them.
    fn stay_in_touch(&self) {
        self.quiet.set(self.quiet.get() + 1);
        if self.quiet.get() >= QUIET_READINGS {
            self.send(b": still here\n\n".to_vec());
        }
    }

    fn send(&self, bytes: Vec<u8>) {
        self.quiet.set(0);
        self.streams
            .borrow_mut()
            .retain_mut(|stream| stream.try_send(bytes.clone()).is_ok());
    }

    fn open_socket(&self, since: Option<u64>) -> Result<Response> {
        let pair = WebSocketPair::new()?;
        self.state.accept_web_socket(&pair.server);
        pair.server
            .send_with_str(self.feed.borrow().welcome(since))?;
        Response::from_websocket(pair.client)
    }

    fn open_stream(&self, since: Option<u64>) -> Result<Response> {
        let (mut stream, events) = channel(MAX_BEHIND);
        let feed = self.feed.borrow();
        // An empty stream has room for its first event.
        let _ = stream.try_send(event(feed.version(), &feed.welcome(since)));
        self.streams.borrow_mut().push(stream);
        ResponseBuilder::new()
            .with_header("content-type", "text/event-stream")?
            .with_header("cache-control", "no-store")?
            .from_stream(events.map(Ok::<_, Error>))
    }
}

fn event(version: u64, message: &str) -> Vec<u8> {
    format!("id: {version}\ndata: {message}\n\n").into_bytes()
}

impl Source {
    async fn read(&self) -> std::result::Result<(u64, Vec<u8>), Unwatched> {
        let request = http::Request::get(map_path(self.show)).body(Vec::new());
        let trouble = Unwatched::Trouble;
        let request = request.map_err(|error| trouble(Trouble::new(error)))?;
        let answer = self.links.function("catalog", request).await;
        let answer = answer.map_err(trouble)?;
        match answer.status() {
            http::StatusCode::NOT_FOUND => Err(Unwatched::NoShow),
            _ => reading(&answer).map_err(trouble),
        }
    }
}

fn source(state: &State, env: Env) -> Told<Source> {
    let show = ObjectName::of(state)?.show;
    let links = ObjectLinks::new(env)?;
    Ok(Source { show, links })
}
