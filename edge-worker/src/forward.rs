//! The way to the functions: which of them answers a path, and how long it may take.
//! The table is made from the OpenAPI document when this crate is built.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::sync::Arc;

use crate::answer::{Answer, Cookie, Problem, cookie, set_cookie};
use crate::edge::{Edge, Incoming};
use crate::host::Host;
use crate::room::VISITOR_COOKIE;
use onsale_domain::ids::ShowId;
use onsale_domain::request_id;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use onsale_wire::{PASS_COOKIE, PASS_HEADER, REQUEST_ID_HEADER, SUSPICION_HEADER};

/// A segment of a path; `None` stands for any one.
pub type Segment = Option<&'static str>;

/// A route of the API.
#[derive(Debug)]
pub struct Route {
    pub path: &'static [Segment],
    pub function: &'static str,
    pub max_body: usize,
    pub timeout_ms: u64,
}

include!(concat!(env!("OUT_DIR"), "/routes.rs"));

/// Headers that belong to one connection, or that only the edge may set.
const DROPPED: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "onsale-time",
    "onsale-key",
    "onsale-signature",
];

pub fn route_of(path: &str) -> Option<&'static Route> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let fits = |route: &&Route| {
        route.path.len() == segments.len()
            && route
                .path
                .iter()
                .zip(&segments)
                .all(|(known, given)| known.is_none_or(|known| known == *given))
    };
    // Where a word and a parameter both fit, the word is meant.
    ROUTES
        .iter()
        .filter(fits)
        .min_by_key(|route| route.path.iter().filter(|s| s.is_none()).count())
}

/// The id that a request brought, if it is fit for a log, or else a new one.
pub fn request_id<H: Host>(host: &H, headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(&REQUEST_ID_HEADER);
    let is_fit = |id: &&HeaderValue| id.to_str().is_ok_and(request_id::is_fit);
    given.filter(is_fit).cloned().unwrap_or_else(|| {
        let mut random = [0; 8];
        host.fill(&mut random);
        let id = request_id::from_random(u64::from_le_bytes(random));
        // Sixteen digits are always a header.
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("none"))
    })
}

/// The show in which somebody wants places, or to pay for them, with a pass that we gave
/// them: what strangers send tells nothing about those inside.
fn shopping_in(edge: &Edge, request: &Incoming, now: Millis) -> Option<ShowId> {
    let of_show = request.uri().path().strip_prefix("/api/v1/shows/")?;
    let (show, wanted) = of_show.split_once('/')?;
    let pays = wanted.starts_with("holds/") && wanted.ends_with("/checkout");
    if *request.method() != Method::POST || !(pays || wanted == "holds") {
        return None;
    }
    let show = show.parse().ok()?;
    let pass = match request.headers().get(PASS_HEADER) {
        Some(value) => value.to_str().ok()?,
        None => cookie(request.headers(), PASS_COOKIE)?,
    };
    let claims = edge.secrets.passes.read(pass)?;
    claims.check(show, now).is_ok().then_some(show)
}

pub async fn forward<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    mut request: Incoming,
    id: &HeaderValue,
) -> Result<Answer, Problem> {
    let route = route_of(request.uri().path())
        .ok_or_else(|| Problem::missing("There is nothing at this address."))?;
    if request.body().len() > route.max_body {
        return Err(Problem::too_large(format!(
            "The body has at most {} bytes here.",
            route.max_body
        )));
    }
    let idempotent = *request.method() == Method::GET;
    let uri = request.uri().clone();
    let visitor = cookie(request.headers(), VISITOR_COOKIE)
        .and_then(|text| edge.secrets.room.read_visitor(text));
    let shopping_in = shopping_in(edge, &request, host.now());
    for name in DROPPED {
        request.headers_mut().remove(*name);
    }
    request.headers_mut().insert(REQUEST_ID_HEADER, id.clone());
    let answered = host
        .function(route.function, request, route.timeout_ms)
        .await;
    if let Some(show) = shopping_in
        && let Some(works) = answered.as_ref().map_or(Some(false), shows_that_it_works)
    {
        edge.count_call(host, show, works);
    }
    let mut answer = answered.map_err(|trouble| {
        let id = id.to_str().unwrap_or_default();
        let function = route.function;
        host.log(&format!(
            "{function} does not answer request {id}: {trouble}"
        ));
        match idempotent {
            true => Problem::unavailable(),
            false => Problem::unanswered_write(2),
        }
    })?;
    let suspicion = answer.headers_mut().remove(SUSPICION_HEADER);
    let level = match suspicion.as_ref().map(|value| value.as_bytes()) {
        Some(b"unusual") => Suspicion::Unusual,
        Some(b"automated") => Suspicion::Automated,
        _ => Suspicion::Nothing,
    };
    // From now on the visitor's cookie says so, and the room asks them for more work.
    if let Some((visitor, known)) = visitor
        && level > known
    {
        let text = edge.secrets.room.visitor_text(visitor, level);
        let cookie = Cookie {
            name: VISITOR_COOKIE,
            value: &text,
            path: "/",
            max_age_s: 365 * 24 * 3_600,
        };
        set_cookie(&mut answer, &cookie, &uri);
    }
    Ok(answer)
}

/// Whether this answer to somebody who shops shows that the functions work, or that they do not.
/// Refusals that never ask the store, such as our limits, show neither: those who try again
/// and again while nothing works get many of them.
fn shows_that_it_works(answer: &Answer) -> Option<bool> {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_ours = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/problem"));
    match answer.status() {
        status if status.is_server_error() => Some(false),
        // No limit of ours: the function has no instance left.
        StatusCode::TOO_MANY_REQUESTS if !is_ours => Some(false),
        StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => Some(true),
        status => status.is_success().then_some(true),
    }
}
