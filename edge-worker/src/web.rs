//! The pages and their files, built into the binary: they are small, and so always fit it.

use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use onsale_domain::ids::ShowId;
use onsale_domain::room::status::State;

use crate::answer::{Answer, Problem, bytes};
use crate::edge::wrong_method;
use crate::pages;

const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/room.html"));
const JOIN: &str = include_str!(concat!(env!("OUT_DIR"), "/noscript-join.html"));
const WAIT: &str = include_str!(concat!(env!("OUT_DIR"), "/noscript-wait.html"));
const SOLD_OUT: &str = include_str!(concat!(env!("OUT_DIR"), "/noscript-sold-out.html"));
const ENTER: &str = include_str!(concat!(env!("OUT_DIR"), "/noscript-enter.html"));
const INSIDE: &str = include_str!(concat!(env!("OUT_DIR"), "/noscript-inside.html"));
const REMIND: &str = include_str!(concat!(env!("OUT_DIR"), "/remind.html"));
const REMIND_FORM: &str = include_str!(concat!(env!("OUT_DIR"), "/remind-form.html"));

/// Changes with every version of a file, so that each may be kept for ever.
pub(crate) const VERSION: &str = env!("ONSALE_WEB_VERSION");

const ASSETS: &[(&str, &str, &[u8])] = &[
    (
        "room.css",
        "text/css; charset=utf-8",
        include_bytes!(concat!(env!("OUT_DIR"), "/room.css")),
    ),
    (
        "room.js",
        "text/javascript; charset=utf-8",
        include_bytes!(concat!(env!("OUT_DIR"), "/room.js")),
    ),
    (
        "work.js",
        "text/javascript; charset=utf-8",
        include_bytes!(concat!(env!("OUT_DIR"), "/work.js")),
    ),
];

const POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; \
    style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

/// Headers of every answer that a browser shows or runs.
fn secured(mut answer: Answer) -> Answer {
    let headers = answer.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
        (
            "strict-transport-security",
            "max-age=63072000; includeSubDomains",
        ),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    answer
}

pub fn html(status: StatusCode, page: String) -> Answer {
    secured(bytes(status, "text/html; charset=utf-8", page))
}

pub fn asset(method: &Method, name: &str) -> Answer {
    if *method != Method::GET && *method != Method::HEAD {
        return wrong_method("GET, HEAD").answer();
    }
    let of_room = ASSETS.iter().find(|(known, _, _)| *known == name);
    let of_room = of_room.map(|(_, media_type, content)| (*media_type, content.to_vec()));
    let of_pages = || pages::file(name).map(|(media_type, text)| (media_type, text.into_bytes()));
    let Some((media_type, content)) = of_room.or_else(of_pages) else {
        return Problem::not_found("There is no such file.").answer();
    };
    let mut answer = secured(bytes(StatusCode::OK, media_type, content));
    answer.headers_mut().insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    answer
}

pub fn page(show: ShowId, title: &str, state: State, without_script: &str) -> String {
    let state = match state {
        State::Prequeue => "prequeue",
        State::Waiting => "waiting",
        State::Admitted => "admitted",
        State::SoldOut => "sold_out",
        State::Closed => "closed",
        State::Open => "open",
        State::Join => "join",
    };
    fill(
        PAGE,
        &[
            ("version", VERSION),
            ("show", &show.to_string()),
            ("title", &escaped(title)),
            ("state", state),
            ("noscript", without_script),
        ],
    )
}

pub fn join_form(show: ShowId, payload: &str, seconds: u64) -> String {
    fill(
        JOIN,
        &[
            ("show", &show.to_string()),
            ("altcha", &escaped(payload)),
            ("seconds", &seconds.to_string()),
        ],
    )
}

pub fn wait_notice(words: &str, refresh_after_ms: u64) -> String {
    let seconds = refresh_seconds(refresh_after_ms);
    fill(WAIT, &[("words", &escaped(words)), ("seconds", &seconds)])
}

/// Leads to the page of the show, where one joins the waitlist.
pub fn sold_out_notice(show: ShowId, refresh_after_ms: u64) -> String {
    let seconds = refresh_seconds(refresh_after_ms);
    fill(
        SOLD_OUT,
        &[("show", &show.to_string()), ("seconds", &seconds)],
    )
}

/// How long a page without a script stands before it is loaded again.
fn refresh_seconds(refresh_after_ms: u64) -> String {
    refresh_after_ms.div_ceil(1_000).max(5).to_string()
}

pub fn enter_form(show: ShowId) -> String {
    fill(ENTER, &[("show", &show.to_string())])
}

/// For whoever is inside: how to stay, and how to go.
pub fn inside_forms(show: ShowId) -> String {
    fill(INSIDE, &[("show", &show.to_string())])
}

/// What the page about reminders says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reminding {
    /// Somebody waits and may ask.
    Ask,
    Asked,
    /// There is nothing to wait for, or nobody who waits.
    NotWaiting,
}

/// A page that needs no script: it is looked at once.
pub fn remind_page(show: ShowId, title: &str, reminding: Reminding) -> String {
    let show = show.to_string();
    let form = fill(REMIND_FORM, &[("show", &show)]);
    let (headline, words, form) = match reminding {
        Reminding::Ask => (
            "Shall we tell you when it is your turn?",
            "We write to you once, when the room lets you in, and then forget the address.",
            form.as_str(),
        ),
        Reminding::Asked => (
            "We will write to you",
            "Once, when it is your turn. You may close the waiting room until then.",
            "",
        ),
        Reminding::NotWaiting => (
            "You are not waiting",
            "Only somebody in line can be told when it is their turn.",
            "",
        ),
    };
    fill(
        REMIND,
        &[
            ("version", VERSION),
            ("show", &show),
            ("title", &escaped(title)),
            ("headline", headline),
            ("words", words),
            ("form", form),
        ],
    )
}

/// A refusal as a page of few words, and the way back.
pub fn refusal(problem: Problem, back: Option<&str>) -> Answer {
    let words = escaped(problem.detail());
    let back = back.map_or(String::new(), |path| {
        format!("<p><a class=\"button\" href=\"{path}\">Back to the waiting room</a></p>")
    });
    let refused = problem.answer();
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Onsale</title>\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"stylesheet\" href=\"/assets/room.css?v={VERSION}\"><main><p>{words}</p>{back}</main>"
    );
    let mut answer = html(refused.status(), page);
    if let Some(wait) = refused.headers().get(http::header::RETRY_AFTER) {
        answer
            .headers_mut()
            .insert(http::header::RETRY_AFTER, wait.clone());
    }
    answer
}

/// One pass over the template, so that a value that looks like a placeholder stays text.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len() + 1_024);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, tail)) = after.split_once("}}") else {
            filled.push_str("{{");
            rest = after;
            continue;
        };
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            filled.push_str(value);
        }
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOW: ShowId = ShowId::from_bytes([1; 16]);

    #[test]
    fn a_title_cannot_become_a_part_of_the_page() {
        let page = page(SHOW, "<script>{{show}}&\"", State::Join, "");
        assert!(page.contains("&lt;script&gt;{{show}}&amp;&quot;"));
        assert!(!page.contains("<script>{{"));
    }

    #[test]
    fn no_placeholder_is_left_over() {
        let join = join_form(SHOW, "payload", 20);
        for text in [
            page(SHOW, "Title", State::Waiting, &join),
            wait_notice("words", 1),
            sold_out_notice(SHOW, 1),
            enter_form(SHOW),
            inside_forms(SHOW),
            remind_page(SHOW, "Title", Reminding::Ask),
            remind_page(SHOW, "Title", Reminding::Asked),
            remind_page(SHOW, "Title", Reminding::NotWaiting),
        ] {
            assert!(!text.contains("{{"), "{text}");
            assert!(!text.contains("}}"), "{text}");
        }
    }

    #[test]
    fn the_page_and_its_files_have_less_than_thirty_kilobytes() {
        let files: usize = ASSETS.iter().map(|(_, _, content)| content.len()).sum();
        let all = files + page(SHOW, "Title", State::Join, "").len();
        assert!(all < 30_000, "{all}");
    }
}
