//! Extractors that tell a handler who is asking.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, header};
use onsale_app::{Caller, Error};
use onsale_domain::account::Role;
use onsale_wire::{Origin, cookie, origin};

use crate::problem::Problem;
use crate::state::Api;

pub const COOKIE: &str = "onsale_session";
/// The same wherever the browser came by TLS: no other host of the domain can set it, and it
/// never travels in the clear.
pub const HOST_COOKIE: &str = "__Host-onsale_session";
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// A caller whose token is good. Whether the session is still open is for the use case
/// to read, together with what else it reads; one that it found ended is turned away here
/// from then on, so that it uses nothing up of what its account may ask.
#[derive(Debug, Clone, Copy)]
pub struct Authenticated(pub Caller);

/// The same at a gate, where one session asks for everybody who comes in, and so may ask
/// more often.
#[derive(Debug, Clone, Copy)]
pub struct AtGate(pub Caller);

/// A caller whose session is open.
#[derive(Debug, Clone, Copy)]
pub struct LoggedIn(pub Caller);

/// A logged-in organiser. Checked before the body is read: only organisers may send the
/// large ones.
#[derive(Debug, Clone, Copy)]
pub struct Organiser(pub Caller);

/// A logged-in caller or a stranger. A bad token is refused, not ignored: its owner
/// thinks they are logged in.
#[derive(Debug, Clone, Copy)]
pub struct MaybeLoggedIn(pub Option<Caller>);

/// A request that no page of another site made a browser send. For requests that open a session
/// and set its cookie: otherwise another site could log its visitors into an account of its own,
/// and watch what they do there. A program names no origin.
#[derive(Debug, Clone, Copy)]
pub struct FromHere;

impl<S: Sync> FromRequestParts<S> for FromHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match named_origin(&parts.headers) {
            Origin::Ours | Origin::Unnamed => Ok(Self),
            Origin::Foreign => Err(Problem::forbidden(
                "A page of another site sent this. Open the page on this site itself.",
            )),
        }
    }
}

impl FromRequestParts<Api> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = authenticate(parts, api)?.ok_or(Error::Unauthenticated)?;
        if api.app.is_known_to_be_over(caller.session) {
            return Err(Error::Unauthenticated.into());
        }
        api.limits.request(caller.account, api.app.now())?;
        Ok(Self(caller))
    }
}

impl FromRequestParts<Api> for AtGate {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = verify(parts, api)?.ok_or(Error::Unauthenticated)?;
        api.limits.gate_token(caller.session, api.app.now())?;
        Ok(Self(caller))
    }
}

impl FromRequestParts<Api> for LoggedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = authenticate(parts, api)?.ok_or(Error::Unauthenticated)?;
        check_session(&caller, api).await?;
        Ok(Self(caller))
    }
}

impl FromRequestParts<Api> for Organiser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let LoggedIn(caller) = LoggedIn::from_request_parts(parts, api).await?;
        match caller.role {
            Role::Organiser => Ok(Self(caller)),
            Role::Buyer | Role::Staff => {
                Err(Error::Forbidden("only organisers may do this").into())
            }
        }
    }
}

impl FromRequestParts<Api> for MaybeLoggedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let caller = authenticate(parts, api)?;
        if let Some(caller) = &caller {
            check_session(caller, api).await?;
        }
        Ok(Self(caller))
    }
}

/// Only an open session takes from what its account may ask: a token that was logged out
/// must not use that up for its owner.
async fn check_session(caller: &Caller, api: &Api) -> Result<(), Problem> {
    api.app.check_session(caller).await?;
    Ok(api.limits.request(caller.account, api.app.now())?)
}

/// `None`: the request carries no token at all. It counts against what its token may ask.
fn authenticate(parts: &mut Parts, api: &Api) -> Result<Option<Caller>, Problem> {
    let caller = verify(parts, api)?;
    if let Some(caller) = &caller {
        api.limits.token(caller.session, api.app.now())?;
    }
    Ok(caller)
}

fn verify(parts: &mut Parts, api: &Api) -> Result<Option<Caller>, Problem> {
    let Some(token) = token(&parts.headers)? else {
        return Ok(None);
    };
    let now = api.app.now();
    let (caller, suspicion) = api
        .sessions
        .verify_suspected(token.text(), now)
        .ok_or(Error::Unauthenticated)?;
    if matches!(token, Token::Cookie(_)) && is_write(&parts.method) {
        check_origin(&parts.headers)?;
    }
    // For `WorkProof`, which asks the same token.
    parts.extensions.insert(suspicion);
    Ok(Some(caller))
}

enum Token<'a> {
    Bearer(&'a str),
    Cookie(&'a str),
}

impl<'a> Token<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Bearer(text) | Self::Cookie(text) => text,
        }
    }
}

/// The header wins: a program that sends one means it, whatever cookies it keeps.
fn token(headers: &HeaderMap) -> Result<Option<Token<'_>>, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(value) = values.next() {
        let bearer = value
            .to_str()
            .ok()
            .and_then(bearer)
            .filter(|_| values.next().is_none());
        return match bearer {
            Some(text) => Ok(Some(Token::Bearer(text))),
            None => Err(Error::Unauthenticated.into()),
        };
    }
    Ok(cookie(headers, cookie_name(headers)).map(Token::Cookie))
}

/// The cookie that carries the session of this browser. On a developer's machine there is no
/// TLS, and some browsers would drop a secure cookie.
pub fn cookie_name(request: &HeaderMap) -> &'static str {
    if came_by_tls(request) {
        HOST_COOKIE
    } else {
        COOKIE
    }
}

/// Whether whoever stands before us says that the browser came by TLS.
pub fn came_by_tls(request: &HeaderMap) -> bool {
    let proto = request.get(FORWARDED_PROTO);
    proto.is_some_and(|proto| proto.as_bytes().eq_ignore_ascii_case(b"https"))
}

/// The scheme is not case-sensitive (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, text) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| text.trim())
}

fn is_write(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    match named_origin(headers) {
        Origin::Ours => Ok(()),
        Origin::Unnamed | Origin::Foreign => Err(Problem::forbidden(
            "A change that is authorised by cookie must come from our own pages: its Origin \
             header has to name this host. Programs send Authorization: Bearer instead.",
        )),
    }
}

/// Behind the edge, `Host` is the function's own and `X-Forwarded-Host` is what the browser
/// asked for; a page of another site cannot set that one without a preflight, which we never
/// grant.
fn named_origin(headers: &HeaderMap) -> Origin {
    let ours = [header::HOST, FORWARDED_HOST];
    let hosts = ours
        .iter()
        .filter_map(|name| headers.get(name)?.to_str().ok());
    origin(headers, hosts)
}
