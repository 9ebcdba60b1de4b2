//! Extractors that tell a handler who is asking.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, header};
use onsale_app::{Caller, Error};
use onsale_domain::account::Role;

use crate::cookies::cookie;
use crate::problem::{Code, Problem};
use crate::state::Api;

pub const COOKIE: &str = "onsale_session";
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
    Ok(cookie(headers, COOKIE).map(Token::Cookie))
}

/// The scheme is not case-sensitive (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, text) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| text.trim())
}

fn is_write(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// A browser sends the cookie along with requests that other sites make. It also says,
/// in a header that no page can change, which site made them. Behind the edge, `Host`
/// is the function's own and `X-Forwarded-Host` is what the browser asked for; a page
/// of another site cannot set that one without a preflight, which we never grant.
fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let origin = headers
        .get(header::ORIGIN)
        .and_then(|value| value.to_str().ok());
    let site = origin.and_then(|origin| {
        origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"))
    });
    let ours = [header::HOST, FORWARDED_HOST];
    let mut hosts = ours
        .iter()
        .filter_map(|name| headers.get(name)?.to_str().ok());
    let same_site = site.is_some_and(|site| hosts.any(|host| host.eq_ignore_ascii_case(site)));
    if same_site {
        return Ok(());
    }
    Err(Problem::new(
        Code::Forbidden,
        "A change that is authorised by cookie must come from our own pages: its Origin header \
         has to name this host. Programs send Authorization: Bearer instead.",
    ))
}
