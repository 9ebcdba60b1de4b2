//! Reading one cookie of a request.

use axum::http::{HeaderMap, header};

/// The value of a cookie, if the request has it.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter();
    let mut pairs = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(known, _)| *known == name);
    found.map(|(_, text)| text.trim_matches('"'))
}
