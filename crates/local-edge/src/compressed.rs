//! Long answers of text are compressed for whoever can read that. Streams are not: they
//! are sent as they come.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, VARY,
};
use http::{HeaderMap, HeaderValue, Response};

/// Below this a packet is a packet.
const MIN_BYTES: usize = 1_024;
/// A layout of 191 KB becomes 5 KB in a millisecond; higher levels gain little.
const LEVEL: u32 = 5;

/// Whether a client reads gzip: `gzip` or `*`, with a weight above nothing.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter();
    let codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','));
    let mut any = None;
    for coding in codings {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        let wanted = weight.parse::<f32>().is_ok_and(|weight| weight > 0.0);
        if name.trim().eq_ignore_ascii_case("gzip") {
            return wanted;
        }
        if name.trim() == "*" {
            any = Some(wanted);
        }
    }
    any.unwrap_or(false)
}

/// The answer, compressed if it is text that is worth it and the client reads gzip.
pub fn compressed(mut answer: Response<Vec<u8>>, accepts: bool) -> Response<Vec<u8>> {
    if !is_text(answer.headers()) || answer.body().len() < MIN_BYTES {
        return answer;
    }
    let said = answer.headers();
    if said.contains_key(CONTENT_ENCODING) || said.contains_key(CONTENT_RANGE) {
        return answer;
    }
    answer
        .headers_mut()
        .append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    if !accepts {
        return answer;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    let done = encoder
        .write_all(answer.body())
        .and_then(|()| encoder.finish());
    // Memory can always be written; should that change, the plain answer is right too.
    if let Ok(body) = done {
        *answer.body_mut() = body;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.remove(CONTENT_LENGTH);
    }
    answer
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let kind = kind.unwrap_or("").split(';').next().unwrap_or("");
    let is_stream = kind == "text/event-stream";
    let is_json = kind == "application/json" || kind.ends_with("+json");
    let is_text = kind.starts_with("text/") || kind == "image/svg+xml";
    (is_json || is_text) && !is_stream
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn answer(kind: &'static str, len: usize) -> Response<Vec<u8>> {
        let answer = Response::builder().header(CONTENT_TYPE, kind);
        answer.body(b"onsale ".repeat(len / 7 + 1)).unwrap()
    }

    #[test]
    fn long_text_is_compressed_for_those_who_read_it_and_stays_the_same() {
        for kind in [
            "application/json",
            "application/problem+json",
            "text/html; charset=utf-8",
        ] {
            let plain = answer(kind, 100_000);
            let sent = compressed(plain.clone(), true);
            assert_eq!(sent.headers()[CONTENT_ENCODING], "gzip");
            assert_eq!(sent.headers()[VARY], "accept-encoding");
            assert!(sent.body().len() < 2_000);
            let mut read = Vec::new();
            let mut decoder = flate2::read::GzDecoder::new(sent.body().as_slice());
            decoder.read_to_end(&mut read).unwrap();
            assert_eq!(&read, plain.body());
            let other = compressed(plain.clone(), false);
            assert_eq!(other.body(), plain.body());
            assert_eq!(other.headers()[VARY], "accept-encoding");
        }
    }

    #[test]
    fn short_answers_pictures_and_streams_stay_as_they_are() {
        for plain in [
            answer("application/json", 500),
            answer("image/png", 5_000),
            answer("application/octet-stream", 5_000),
            answer("text/event-stream", 5_000),
        ] {
            assert!(
                !compressed(plain, true)
                    .headers()
                    .contains_key(CONTENT_ENCODING)
            );
        }
    }

    #[test]
    fn a_client_says_whether_it_reads_gzip() {
        for (said, reads) in [
            ("gzip", true),
            ("br;q=1.0, GZIP;q=0.1", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("br", false),
            ("gzip;q=x", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(said));
            assert_eq!(accepts_gzip(&headers), reads, "{said}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
