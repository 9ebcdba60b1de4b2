//! A cookie is found under the name that was sent, and no text that others put before or
//! after it changes its value, except another cookie of that name before it.
#![no_main]

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use onsale_fuzz::start_from;
use onsale_wire::cookie;

const NAME: &str = "__Host-onsale_session";

fn start() {
    start_from(
        "cookie_header",
        [
            "theme=dark; lang=\"en\"",
            "__Host-onsale_session=forged",
            "\u{2000}__Host-onsale_session=forged",
            "a=\"; __Host-onsale_session=forged\"",
        ],
    );
}

fn headers(line: &[u8]) -> Option<HeaderMap> {
    let line = HeaderValue::from_bytes(line).ok()?;
    Some(HeaderMap::from_iter([(COOKIE, line)]))
}

/// The pair as browsers and RFC 6265 see it: bytes between `;`, without spaces and tabs around.
fn is_sent(others: &[u8]) -> bool {
    let begin = [NAME.as_bytes(), b"="].concat();
    others.split(|byte| *byte == b';').any(|pair| {
        let is_space = |byte: &&u8| [b' ', b'\t'].contains(byte);
        let skipped = pair.iter().take_while(is_space).count();
        pair[skipped..].starts_with(&begin) && std::str::from_utf8(pair).is_ok()
    })
}

fuzz_target!(init: start(), |others: &[u8]| {
    let Some(alone) = headers(others) else { return };
    let found = cookie(&alone, NAME);
    assert_eq!(found.is_some(), is_sent(others));
    let before = [others, b"; __Host-onsale_session=genuine"].concat();
    let before = headers(&before).expect("it was a header without ours");
    assert_eq!(cookie(&before, NAME), Some(found.unwrap_or("genuine")));
    let after = [b"__Host-onsale_session=genuine; ", others].concat();
    let after = headers(&after).expect("it was a header without ours");
    assert_eq!(cookie(&after, NAME), Some("genuine"));
});
