//! Reading one cookie of a request.

use axum::http::{HeaderMap, header};

/// The value of a cookie, if the request has it. Others beside it may be no text at all.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(header::COOKIE).iter();
    let mut pairs = values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| std::str::from_utf8(pair).ok())
        .filter_map(|pair| pair.trim().split_once('='));
    let found = pairs.find(|(known, _)| *known == name);
    found.map(|(_, text)| text.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_cookie_of_another_alphabet_hides_none_of_the_others() {
        for other in ["name=Zoë".as_bytes(), b"name=\xe9"] {
            let line = [other, b"; onsale_session=s"].concat();
            let line = HeaderValue::from_bytes(&line).unwrap();
            let headers = HeaderMap::from_iter([(header::COOKIE, line)]);
            assert_eq!(cookie(&headers, "onsale_session"), Some("s"));
        }
    }
}
