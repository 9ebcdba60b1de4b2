//! The way to the functions: which of them answers a path, and how long it may take.
//! The table is made from the OpenAPI document when this crate is built.

use http::{HeaderName, Method};
use std::sync::Arc;

use crate::answer::{Answer, Cookie, Problem, cookie, set_cookie};
use crate::edge::{Edge, Incoming};
use crate::host::Host;
use crate::room::VISITOR_COOKIE;
use onsale_domain::room::difficulty::Suspicion;

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
const SUSPICION_HEADER: HeaderName = HeaderName::from_static("onsale-suspicion");

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

pub async fn forward<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    mut request: Incoming,
) -> Result<Answer, Problem> {
    let route = route_of(request.uri().path())
        .ok_or_else(|| Problem::not_found("There is nothing at this address."))?;
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
    for name in DROPPED {
        request.headers_mut().remove(*name);
    }
    let answered = host
        .function(route.function, request, route.timeout_ms)
        .await;
    let mut answer = answered.map_err(|trouble| {
        host.log(&format!("{} does not answer: {trouble}", route.function));
        match idempotent {
            true => Problem::unavailable(),
            false => Problem::unavailable_detail(
                "A part of the service did not answer in time, so the request may or may \
                 not have taken effect. Repeat it with the same Idempotency-Key: it happens once.",
            )
            .retry_after(2),
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
