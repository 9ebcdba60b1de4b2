//! Pages that can be read without a script: what is on, an event, a show. The modules of
//! these pages make the same markup, so that nothing moves when they take over.
//!
//! Classes (styled in `web/page.css` and `web/home.css`): `ticket`, `body`, `badge`, `told`,
//! `row`, `button`, `plain`, `good`, `bad`, `stub`, `list`, `quiet`, `notice`; `search`,
//! `filters`, `posters`, `event`, `about`, `price`, `sold`, `poster`, `banner`,
//! `look-N`, `event-about`.

mod event;
mod home;
mod linked_data;
mod show;
pub(crate) mod values;

use http::Uri;
use http::header::{HOST, HeaderMap};

use crate::edge::{Edge, Incoming};
use crate::host::Host;
use crate::web::has_session;
use crate::words::Words;

/// What is put into the shell of a page.
#[derive(Debug, Default)]
pub(crate) struct Rendered {
    /// Text, not HTML.
    pub title: String,
    /// HTML of the head.
    pub head: String,
    /// HTML of `#content`.
    pub content: String,
}

/// How a page could be rendered.
#[derive(Debug)]
pub(crate) enum Rendering {
    Done(Rendered),
    /// There is no such thing.
    Missing,
    /// Its module has to ask for everything.
    Left,
}

/// Renders the page of this name at this address.
pub(crate) async fn render<H: Host>(
    edge: &Edge,
    host: &H,
    name: &str,
    request: &Incoming,
) -> Rendering {
    let site = Reading {
        edge,
        host,
        words: Words::of(request.headers()),
        origin: origin(request.uri(), request.headers()),
        has_session: has_session(request.headers()),
    };
    // `/shows/{id}`, `/shows/{id}/seats`
    let id = request.uri().path().split('/').nth(2).unwrap_or("");
    match name {
        "home" => site.home(request.uri().query().unwrap_or("")).await,
        "event" => site.event(id).await,
        "show" => site.show(id).await,
        "seats" | "fairness" => site.of_show(id).await,
        _ => Rendering::Left,
    }
}

/// One reader of one page.
struct Reading<'a, H> {
    edge: &'a Edge,
    host: &'a H,
    words: Words,
    /// `https://tickets.example`, if it is known.
    origin: Option<String>,
    has_session: bool,
}

impl<H> Reading<'_, H> {
    /// What everybody is told does not exist. An organiser may read a draft of theirs: the
    /// module asks with their session.
    fn missing(&self) -> Rendering {
        match self.has_session {
            true => Rendering::Left,
            false => Rendering::Missing,
        }
    }

    fn t(&self, key: &'static str) -> String {
        crate::web::escaped(self.words.t(key))
    }
}

/// Where this page is, as its reader's browser has it.
fn origin(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    if let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) {
        return Some(format!("{scheme}://{authority}"));
    }
    let host = headers.get(HOST)?.to_str().ok()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte);
    if host.is_empty() || host.len() > 260 || !host.bytes().all(fits) {
        return None;
    }
    let is_here = ["127.", "localhost", "[::1]"]
        .iter()
        .any(|it| host.starts_with(it));
    let scheme = if is_here { "http" } else { "https" };
    Some(format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_what_the_browser_asked_and_cannot_carry_markup() {
        let of = |uri: &str, host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, http::HeaderValue::from_static(host));
            origin(&uri.parse().unwrap(), &headers)
        };
        let known = |text: &str| Some(text.to_owned());
        assert_eq!(of("https://a.example/x", ""), known("https://a.example"));
        assert_eq!(of("/x", "127.0.0.1:8787"), known("http://127.0.0.1:8787"));
        assert_eq!(
            of("/x", "tickets.example"),
            known("https://tickets.example")
        );
        assert_eq!(of("/x", "\"><script>"), None);
        assert_eq!(of("/x", ""), None);
    }
}
