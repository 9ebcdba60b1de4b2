//! The files that pages load, from this binary. A page that was open while the process was
//! replaced still finds them under its older version.

use axum::body::Body;
use axum::response::Response;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use onsale_edge::answer::Problem;
use onsale_web::{File, HEADERS, IMMUTABLE, POLICY};

use crate::compressed::accepts_gzip;

/// The answer to a request for a file. `None`: no file is asked for, or there is none.
pub fn answer(method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
    let (file, kept) = found(path)?;
    if *method != Method::GET && *method != Method::HEAD {
        let refused = Problem::method("Use GET, HEAD here.").allow("GET, HEAD");
        return Some(refused.answer().map(Body::from));
    }
    let gzip = file.gzip.filter(|_| accepts_gzip(headers));
    let mut answer = Response::new(Body::from(gzip.unwrap_or(file.plain)));
    let said = answer.headers_mut();
    let policy = ("content-security-policy", POLICY);
    for (name, value) in HEADERS.iter().chain([&policy]) {
        said.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    said.insert(CONTENT_TYPE, HeaderValue::from_static(file.media_type()));
    said.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    said.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    if gzip.is_some() {
        said.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(answer)
}

/// The file at this address, and how long it may be kept.
fn found(path: &str) -> Option<(&'static File, &'static str)> {
    let Some((name, is_current)) = onsale_web::asset_path(path) else {
        let file = onsale_web::file(path.strip_prefix('/')?)?;
        return file.is_service_worker().then_some((file, "no-cache"));
    };
    let kept = if is_current { IMMUTABLE } else { "no-cache" };
    Some((onsale_web::file(name)?, kept))
}

#[cfg(test)]
mod tests {
    use onsale_web::VERSION;

    use super::*;

    fn asked(path: &str, encodings: Option<&'static str>) -> Option<Response> {
        let mut headers = HeaderMap::new();
        if let Some(encodings) = encodings {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encodings));
        }
        answer(&Method::GET, path, &headers)
    }

    fn header(answer: &Response, name: HeaderName) -> &str {
        answer
            .headers()
            .get(name)
            .map_or("", |it| it.to_str().unwrap())
    }

    #[test]
    fn a_file_is_kept_for_ever_under_its_version_and_looked_for_again_under_an_older_one() {
        let now = asked(&format!("/assets/{VERSION}/words.js"), None).unwrap();
        assert_eq!(header(&now, CACHE_CONTROL), IMMUTABLE);
        assert_eq!(header(&now, CONTENT_TYPE), "text/javascript; charset=utf-8");
        assert_eq!(header(&now, CONTENT_ENCODING), "");
        let older = asked("/assets/0123456789abcdef/words.js", None).unwrap();
        assert_eq!(header(&older, CACHE_CONTROL), "no-cache");
        for path in [
            "/assets/words.js",
            "/assets/x/words.js",
            "/words.js",
            "/assets/0123456789abcdef/../words.js",
        ] {
            assert!(asked(path, None).is_none(), "{path}");
        }
    }

    #[test]
    fn a_browser_that_reads_gzip_gets_it() {
        let path = format!("/assets/{VERSION}/words.js");
        let answer = asked(&path, Some("br, gzip;q=0.8")).unwrap();
        assert_eq!(header(&answer, CONTENT_ENCODING), "gzip");
        assert_eq!(header(&answer, VARY), "accept-encoding");
        let plain = asked(&path, Some("gzip;q=0, br")).unwrap();
        assert_eq!(header(&plain, CONTENT_ENCODING), "");
    }
}
