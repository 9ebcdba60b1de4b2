//! Requests and answers: as the runtime has them, and as the edge has them.

use futures_util::StreamExt as _;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use worker::js_sys::{Array, Uint8Array};
use worker::wasm_bindgen::{self, JsCast as _, JsValue, prelude::wasm_bindgen};
use worker::web_sys;
use worker::{ByteStream, Headers, Response};

use crate::answer::{Answer, Problem};
use crate::edge::{Incoming, MAX_BODY};
use crate::forward::route_of;
use crate::host::{Told, Trouble};

/// What has no route of its own, the waiting room for one, takes less than this.
const MAX_OTHER_BODY: usize = 64 << 10;
const OBJECT_CALLS_HEADER: HeaderName = HeaderName::from_static("onsale-object-calls");

#[wasm_bindgen(module = "/src/cloudflare/respond.js")]
extern "C" {
    fn respond(status: u16, headers: &str, body: Option<&[u8]>) -> JsValue;
}

/// A request whose body has not been read yet.
#[derive(Debug)]
pub struct Arrived {
    request: web_sys::Request,
    read: Incoming,
}

impl Arrived {
    /// Headers come as lines, a name and its value in turn. A name or value that HTTP does
    /// not know is left out.
    pub fn read(
        request: web_sys::Request,
        method: &str,
        url: &str,
        headers: &str,
    ) -> Result<Self, Problem> {
        let mut read = http::Request::builder()
            .method(Method::from_bytes(method.as_bytes()).map_err(not_http)?)
            .uri(url)
            .body(Vec::new())
            .map_err(not_http)?;
        let mut lines = headers.split('\n');
        while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
                continue;
            };
            let cookies = match name == COOKIE && !value.is_ascii() {
                true => Some(ascii_cookies(value)),
                false => None,
            };
            let value = cookies.as_deref().unwrap_or(value);
            if let Ok(value) = HeaderValue::from_str(value) {
                read.headers_mut().append(name, value);
            }
        }
        Ok(Self { request, read })
    }

    /// The request with its body, and no more of that than its route allows.
    pub async fn whole(self) -> Result<Incoming, Problem> {
        let Self { request, mut read } = self;
        // The runtime knows no body with these.
        if [Method::GET, Method::HEAD].contains(read.method()) {
            return Ok(read);
        }
        let max_len = match route_of(read.uri().path()) {
            Some(route) => route.max_body.min(MAX_BODY),
            None => MAX_OTHER_BODY,
        };
        let mut chunks = request.body().map(ByteStream::from);
        let announced = announced_len(read.headers()).is_some_and(|len| len > max_len);
        let body = match announced {
            true => Err(Unread::TooLong),
            false => body(chunks.as_mut(), max_len).await,
        };
        *read.body_mut() = match body {
            Ok(body) => body,
            Err(Unread::TooLong) => {
                let_finish(chunks.as_mut()).await;
                return Err(too_large(max_len));
            }
            Err(Unread::Broken(_)) => {
                return Err(Problem::invalid("The body ended before it was complete."));
            }
        };
        Ok(read)
    }
}

/// A cookie of somebody else's in another alphabet costs no other cookie.
fn ascii_cookies(line: &str) -> String {
    let pairs: Vec<&str> = line.split(';').filter(|pair| pair.is_ascii()).collect();
    pairs.join(";")
}

fn not_http(_: impl std::error::Error) -> Problem {
    Problem::invalid("The method or the address of this request is not valid.")
}

fn too_large(max_len: usize) -> Problem {
    Problem::too_large(format!("The body has at most {max_len} bytes here."))
}

fn announced_len(headers: &HeaderMap) -> Option<usize> {
    let len = headers.get(http::header::CONTENT_LENGTH)?;
    len.to_str().ok()?.parse().ok()
}

/// Why a body was not read.
#[derive(Debug)]
pub enum Unread {
    TooLong,
    Broken(worker::Error),
}

pub async fn body(chunks: Option<&mut ByteStream>, max_len: usize) -> Result<Vec<u8>, Unread> {
    let Some(chunks) = chunks else {
        return Ok(Vec::new());
    };
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(Unread::Broken)?;
        if body.len() + chunk.len() > max_len {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads what is left of a body and forgets it: whoever is still sending would find the
/// connection closed and never see the refusal. Who sends very much more is cut off.
async fn let_finish(chunks: Option<&mut ByteStream>) {
    let Some(chunks) = chunks else { return };
    let mut len = 0;
    while len < 2 * MAX_BODY
        && let Some(Ok(chunk)) = chunks.next().await
    {
        len += chunk.len();
    }
}

/// Headers that HTTP knows; a name or value that it does not know is left out.
pub fn header_map(headers: &web_sys::Headers) -> HeaderMap {
    let mut map = HeaderMap::new();
    for entry in headers.entries().into_iter().flatten() {
        let entry = Array::from(&entry);
        let (Some(name), Some(value)) = (entry.get(0).as_string(), entry.get(1).as_string()) else {
            continue;
        };
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            map.append(name, value);
        }
    }
    map
}

fn headers(map: &HeaderMap) -> worker::Result<Headers> {
    let headers = Headers::new();
    for (name, value) in map {
        if let Ok(value) = std::str::from_utf8(value.as_bytes()) {
            headers.append(name.as_str(), value)?;
        }
    }
    Ok(headers)
}

/// A request that the runtime can send.
pub fn outgoing(url: &str, request: &http::Request<Vec<u8>>) -> Told<web_sys::Request> {
    let init = web_sys::RequestInit::new();
    init.set_method(request.method().as_str());
    init.set_headers(headers(request.headers()).map_err(Trouble::new)?.0.as_ref());
    // Whoever asked follows a redirection, or not.
    init.set_redirect(web_sys::RequestRedirect::Manual);
    if !request.body().is_empty() {
        init.set_body(&Uint8Array::from(request.body().as_slice()));
    }
    web_sys::Request::new_with_str_and_init(url, &init)
        .map_err(|error| Trouble(format!("{url} cannot be asked: {error:?}")))
}

pub fn response(answer: Answer) -> worker::Result<Response> {
    Ok(responded(&answer)
        .unchecked_into::<web_sys::Response>()
        .into())
}

/// An answer as the runtime's own response.
pub fn responded(answer: &Answer) -> JsValue {
    let mut headers = String::new();
    for (name, value) in answer.headers() {
        if let Ok(value) = std::str::from_utf8(value.as_bytes()) {
            headers.extend([name.as_str(), "\n", value, "\n"]);
        }
    }
    match answer.status() {
        // The runtime accepts no others, and no body with these three.
        status if !(200..600).contains(&status.as_u16()) => {
            responded(&Problem::unavailable().answer())
        }
        status
        @ (StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED) => {
            respond(status.as_u16(), &headers, None)
        }
        status => respond(status.as_u16(), &headers, Some(answer.body())),
    }
}

/// How many objects were asked before an answer was given.
#[derive(Debug, Clone, Copy)]
pub struct ObjectCalls(pub u32);

impl ObjectCalls {
    pub fn tell(self, answer: &mut Answer) {
        let number = HeaderValue::from(self.0);
        answer.headers_mut().insert(OBJECT_CALLS_HEADER, number);
    }
}
