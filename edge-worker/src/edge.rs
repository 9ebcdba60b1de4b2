//! The edge itself: what all requests of an isolate, or of a process, share; and the
//! first look at each of them.

use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use onsale_domain::ids::ShowId;
use onsale_domain::limiter::Limiter;
use onsale_domain::room::opaque::Lot;
use onsale_domain::time::Millis;
use std::net::IpAddr;
use std::sync::Arc;

use crate::answer::{Answer, Problem};
use crate::catalogue::Catalogue;
use crate::counting::Counting;
use crate::host::Host;
use crate::refusal_page::for_people;
use crate::room_view::Views;
use crate::secrets::Secrets;
use crate::site::Site;
use crate::watching::{Subject, Watcher};
use crate::words::Words;
use crate::{forward, pages, plain, room, web};

/// A request from outside, read whole: hosts refuse bodies over [`MAX_BODY`] before.
pub type Incoming = Request<Vec<u8>>;

/// Venues and posters may be this large; everything else is refused far below.
pub const MAX_BODY: usize = 4 << 20;

/// What becomes of a request. A feed stays open, and each host has its own way to do that.
#[derive(Debug)]
pub enum Reply {
    Answer(Answer),
    Feed(FeedRequest),
    Watch(Subject, Watcher),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedRequest {
    pub show: ShowId,
    /// The last version the client knows.
    pub since: Option<u64>,
    pub kind: FeedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedKind {
    WebSocket,
    EventStream,
}

/// How often an address, or a ticket, may ask in ten seconds.
#[derive(Debug)]
pub struct EdgeLimits {
    pub per_address: Limiter,
    /// What the gates of a house may ask, which share an address.
    pub per_house: Limiter,
    pub per_ticket: Limiter,
    /// Of tickets whose turn it is not, and who were told that they have no pass.
    pub early_enters: Limiter,
    /// Streams of orders and sales that begin, each of which asks functions for minutes.
    pub watches: Limiter,
    /// The way without a script costs a robot nothing, so few of an address count.
    pub waited_joins: Limiter,
    /// Registering as a fan needs no account and takes a code of the show.
    pub fans: Limiter,
    /// Who asks for more challenges than this looks like a program.
    pub usual_challenges: Limiter,
    pub off: bool,
}

const PERIOD_MS: u64 = 10_000;
const REQUESTS_PER_ADDRESS: u64 = 100;
const REQUESTS_PER_TICKET: u64 = 20;
/// All gates of a house may ask from one address, ten thousand times a minute.
const GATES_A_HOUSE: u64 = 20;

impl EdgeLimits {
    pub fn new(requests_per_10s: u64) -> Self {
        Self {
            per_address: Limiter::new(requests_per_10s, PERIOD_MS, requests_per_10s),
            per_house: Limiter::new(
                requests_per_10s.saturating_mul(GATES_A_HOUSE),
                PERIOD_MS,
                requests_per_10s.saturating_mul(GATES_A_HOUSE),
            ),
            per_ticket: Limiter::new(REQUESTS_PER_TICKET, PERIOD_MS, REQUESTS_PER_TICKET),
            early_enters: Limiter::new(2, PERIOD_MS, 2),
            watches: Limiter::new(60, 60_000, 30),
            waited_joins: Limiter::new(6, 60_000, 6),
            fans: Limiter::new(10, 60_000, 10),
            usual_challenges: Limiter::new(10, 60_000, 10),
            off: false,
        }
    }

    /// The usual limits, or `ONSALE_REQUESTS_PER_ADDRESS` and `ONSALE_REQUESTS_PER_TICKET`
    /// in ten seconds.
    pub fn from_env() -> Result<Self, String> {
        let text = |name: &str| std::env::var(name).ok();
        Self::configured(
            text("ONSALE_REQUESTS_PER_ADDRESS").as_deref(),
            text("ONSALE_REQUESTS_PER_TICKET").as_deref(),
        )
    }

    pub fn configured(of_address: Option<&str>, of_ticket: Option<&str>) -> Result<Self, String> {
        let per_ticket = rate(of_ticket, REQUESTS_PER_TICKET)?;
        Ok(Self {
            per_ticket: Limiter::new(per_ticket, PERIOD_MS, per_ticket),
            ..Self::new(rate(of_address, REQUESTS_PER_ADDRESS)?)
        })
    }

    pub fn off() -> Self {
        Self {
            off: true,
            ..Self::default()
        }
    }

    pub fn address(&self, address: &str, now: Millis) -> Result<(), Problem> {
        self.take(&self.per_address, address_key(address), now)
    }

    /// Scanning at a gate, what the payment provider tells us from its few addresses, or
    /// the pictures of a page.
    /// Who may do that, and how often, is for the function to say.
    fn house(&self, address: &str, now: Millis) -> Result<(), Problem> {
        self.take(&self.per_house, address_key(address), now)
    }

    pub fn ticket(&self, lot: Lot, now: Millis) -> Result<(), Problem> {
        self.take(&self.per_ticket, lot.0, now)
    }

    /// Whether a gate said lately, more than once, that this lot has no pass.
    pub fn is_early(&self, lot: Lot, now: Millis) -> bool {
        !self.off && self.early_enters.check(lot.0, now).is_err()
    }

    pub fn note_early(&self, lot: Lot, now: Millis) {
        // Full is as good as one more: both keep the lot from the gate.
        let _ = self.early_enters.take(lot.0, now);
    }

    fn watch(&self, address: &str, now: Millis) -> Result<(), Problem> {
        self.take(&self.watches, address_key(address), now)
    }

    pub fn waited_join(&self, address: &str, now: Millis) -> Result<(), Problem> {
        self.take(&self.waited_joins, address_key(address), now)
    }

    fn fan(&self, address: &str, now: Millis) -> Result<(), Problem> {
        self.take(&self.fans, address_key(address), now)
    }

    pub fn is_usual(&self, address: &str, now: Millis) -> bool {
        self.take(&self.usual_challenges, address_key(address), now)
            .is_ok()
    }

    fn take(&self, limiter: &Limiter, key: [u8; 16], now: Millis) -> Result<(), Problem> {
        match self.off {
            true => Ok(()),
            false => limiter.take(key, now).map_err(Problem::rate_limited),
        }
    }
}

impl Default for EdgeLimits {
    fn default() -> Self {
        Self::new(REQUESTS_PER_ADDRESS)
    }
}

fn rate(text: Option<&str>, usual: u64) -> Result<u64, String> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(usual),
        Some(text) => match text.parse() {
            Ok(rate @ 1..=1_000_000) => Ok(rate),
            _ => Err("the requests in ten seconds are 1 to 1000000".to_owned()),
        },
    }
}

/// Whose limits those of an address are. A house, or a telephone, has a whole /64 of IPv6
/// addresses to choose from, so they count as one.
fn address_key(address: &str) -> [u8; 16] {
    let network = match address.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V6(ip)) => return (u128::from(ip) >> 64 << 64).to_be_bytes(),
        Ok(IpAddr::V4(ip)) => ip.to_string(),
        Err(_) => address.to_owned(),
    };
    onsale_domain::request_hash::RequestHash::of(network.as_bytes()).0
}

/// One per isolate, or per process.
#[derive(Debug)]
pub struct Edge {
    pub secrets: Secrets,
    pub limits: EdgeLimits,
    pub site: Site,
    pub(crate) views: Views,
    pub(crate) counting: Counting,
    pub(crate) catalogue: Catalogue,
}

impl Edge {
    pub fn new(secrets: Secrets, limits: EdgeLimits, site: Site) -> Arc<Self> {
        Arc::new(Self {
            secrets,
            limits,
            site,
            views: Views::default(),
            counting: Counting::default(),
            catalogue: Catalogue::default(),
        })
    }

    /// Answers a request. `address` is the client's, as the host knows it. A browser that
    /// shows what is answered gets a page even when it is refused.
    pub async fn handle<H: Host>(
        self: &Arc<Self>,
        host: &H,
        request: Incoming,
        address: &str,
    ) -> Reply {
        if !web::wants_page(request.headers()) {
            return self.reply(host, request, address).await;
        }
        let words = Words::of(request.headers());
        let path = request.uri().path().to_owned();
        let again = pages::is_page(&path).then_some(path);
        match self.reply(host, request, address).await {
            Reply::Answer(answer) => Reply::Answer(for_people(words, answer, again.as_deref())),
            stream => stream,
        }
    }

    async fn reply<H: Host>(self: &Arc<Self>, host: &H, request: Incoming, address: &str) -> Reply {
        let path = request.uri().path().to_owned();
        let found = match path.strip_prefix('/').unwrap_or("").split_once('/') {
            // Hosts answer with the files that there are.
            Some(("assets", _)) => Err(Problem::missing("There is no such file.")),
            Some(("room", rest)) => self.room(host, &request, rest, address).await,
            Some(("feed", rest)) => match self.feed(host, &request, rest, address) {
                Ok(reply) => return reply,
                Err(problem) => Err(problem),
            },
            _ => {
                if let Some(page) = pages::answer(self, host, &request, address).await {
                    return Reply::Answer(page.unwrap_or_else(Problem::answer));
                }
                if let Some(page) = plain::answer(self, host, &request, address).await {
                    return Reply::Answer(page);
                }
                let id = forward::request_id(host, request.headers());
                let found = self.forwarded(host, request, address, &id).await;
                let mut answer = found.unwrap_or_else(Problem::answer);
                answer
                    .headers_mut()
                    .insert(onsale_wire::REQUEST_ID_HEADER, id);
                return Reply::Answer(answer);
            }
        };
        Reply::Answer(found.unwrap_or_else(Problem::answer))
    }

    async fn room<H: Host>(
        self: &Arc<Self>,
        host: &H,
        request: &Incoming,
        rest: &str,
        address: &str,
    ) -> Result<Answer, Problem> {
        let (show, action) = rest.split_once('/').unwrap_or((rest, ""));
        match show.parse() {
            Ok(show) => Ok(room::answer(self, host, request, show, action, address).await),
            Err(_) => Err(Problem::no_show()),
        }
    }

    fn feed<H: Host>(
        &self,
        host: &H,
        request: &Incoming,
        rest: &str,
        address: &str,
    ) -> Result<Reply, Problem> {
        self.limits.address(address, host.now())?;
        if request.method() != Method::GET {
            return Err(wrong_method("GET"));
        }
        if let Some(order) = rest.strip_prefix("orders/") {
            self.limits.watch(address, host.now())?;
            let order = order
                .parse()
                .map_err(|_| Problem::missing("There is no such order. Ids are case-sensitive."))?;
            let watcher = Watcher::of(request.uri(), request.headers());
            return Ok(Reply::Watch(Subject::Order(order), watcher));
        }
        if let Some(show) = rest.strip_suffix("/sales") {
            self.limits.watch(address, host.now())?;
            let show = show.parse().map_err(|_| Problem::no_show())?;
            let watcher = Watcher::of(request.uri(), request.headers());
            return Ok(Reply::Watch(Subject::Sales(show), watcher));
        }
        let show = rest.parse().map_err(|_| Problem::no_show())?;
        Ok(Reply::Feed(FeedRequest {
            show,
            since: resume_from(request.headers(), request.uri()),
            kind: feed_kind(request.headers())?,
        }))
    }

    async fn forwarded<H: Host>(
        self: &Arc<Self>,
        host: &H,
        request: Incoming,
        address: &str,
        id: &HeaderValue,
    ) -> Result<Answer, Problem> {
        let many = is_of_show(&request, &["scans", "scans/batch"])
            || is_webhook(&request)
            || is_poster(&request);
        match many {
            true => self.limits.house(address, host.now())?,
            false => self.limits.address(address, host.now())?,
        }
        if is_of_show(&request, &["fans"]) {
            self.limits.fan(address, host.now())?;
        }
        forward::forward(self, host, request, id).await
    }
}

#[cfg(test)]
impl Edge {
    /// An edge for tests of what it answers by itself.
    pub(crate) fn for_tests(site: Site) -> Arc<Self> {
        let given = |name: &str| {
            let digits = "11".repeat(32);
            match name {
                "ROOM_SECRET" | "WORK_KEYS" => Some(digits),
                "TICKET_KEYS" => Some(format!("1:{digits}")),
                "PASS_SIGNING_KEY" => Some(format!("test:{}", "A".repeat(43))),
                "INTERNAL_KEYS" => Some(format!("test:{digits}")),
                _ => None,
            }
        };
        let secrets = Secrets::read(given).expect("these are keys");
        Self::new(secrets, EdgeLimits::off(), site)
    }
}

/// Whether one of these is sent to a show: `scans` when a gate reports who came.
fn is_of_show(request: &Incoming, actions: &[&str]) -> bool {
    let of_show = request.uri().path().strip_prefix("/api/v1/shows/");
    let action = of_show.and_then(|rest| rest.split_once('/'));
    request.method() == Method::POST && action.is_some_and(|(_, action)| actions.contains(&action))
}

/// What the payment provider tells us unasked. It signs that, and the function checks it.
fn is_webhook(request: &Incoming) -> bool {
    request.method() == Method::POST && request.uri().path() == "/api/v1/payments/webhook"
}

/// The front page shows two dozen of them, and the readers of a house share an address.
fn is_poster(request: &Incoming) -> bool {
    let path = request.uri().path();
    let of_event = path.strip_prefix("/api/v1/events/");
    let rest = of_event.and_then(|rest| rest.split_once('/'));
    request.method() == Method::GET && rest.is_some_and(|(_, rest)| rest.starts_with("poster/"))
}

/// `allowed` are the methods as the header names them.
pub(crate) fn wrong_method(allowed: &'static str) -> Problem {
    Problem::method(format!("Use {allowed} here.")).allow(allowed)
}

fn resume_from(headers: &HeaderMap, uri: &Uri) -> Option<u64> {
    let last = headers.get("last-event-id").and_then(|v| v.to_str().ok());
    // A browser that reconnects repeats its first address, so what it saw last counts more.
    if let Some(version) = last.and_then(|text| text.parse().ok()) {
        return Some(version);
    }
    let mut asked = form_urlencoded::parse(uri.query()?.as_bytes());
    asked.find(|(name, _)| name == "since")?.1.parse().ok()
}

fn feed_kind(headers: &HeaderMap) -> Result<FeedKind, Problem> {
    let says = |name: http::HeaderName, what: &str| {
        let value = headers.get(name).and_then(|v| v.to_str().ok());
        value.is_some_and(|v| v.to_ascii_lowercase().contains(what))
    };
    if says(http::header::UPGRADE, "websocket") {
        Ok(FeedKind::WebSocket)
    } else if says(http::header::ACCEPT, "text/event-stream") {
        Ok(FeedKind::EventStream)
    } else {
        Err(Problem::invalid(
            "This is a live feed: open it as a WebSocket, or send Accept: text/event-stream.",
        ))
    }
}
