//! Reading one cookie of a request, as RFC 6265 writes them: `name=value` pairs with `;`
//! between them.

use http::HeaderMap;
use http::header::COOKIE;

/// The value of a cookie that was sent.
///
/// - Other cookies beside it may be no text at all.
/// - Of two with the same name the first counts: browsers send the longest path first.
/// - One pair of quotes around a value is no part of it. A `;` within quotes ends the value.
/// - Only space and tab around a pair are left out. A browser lets any site of the domain set
///   `\u{2000}__Host-onsale_session`, so other white space is a part of the name.
/// - Names are case-sensitive.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter();
    let mut pairs = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| std::str::from_utf8(pair).ok())
        .filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='));
    let (_, value) = pairs.find(|(given, _)| *given == name)?;
    Some(unquoted(value))
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(lines: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_bytes(line).unwrap());
        }
        headers
    }

    fn read(line: &str) -> Option<String> {
        cookie(&headers(&[line.as_bytes()]), "a").map(str::to_owned)
    }

    #[test]
    fn a_cookie_of_another_alphabet_hides_none_of_the_others() {
        let sent = headers(&[
            "name=Zoë; onsale_ticket=t".as_bytes(),
            b"onsale_visitor=v",
            b"old=\xe9; last=l",
        ]);
        for (name, value) in [
            ("onsale_ticket", "t"),
            ("onsale_visitor", "v"),
            ("last", "l"),
            ("name", "Zoë"),
        ] {
            assert_eq!(cookie(&sent, name), Some(value));
        }
        assert_eq!(cookie(&sent, "old"), None);
    }

    #[test]
    fn one_pair_of_quotes_is_no_part_of_the_value() {
        for (line, value) in [
            ("a=\"v\"", "v"),
            ("a=\"\"", ""),
            ("a=\"\"v\"\"", "\"v\""),
            ("a=\"", "\""),
            ("a=\"v", "\"v"),
            ("a=v\"", "v\""),
            ("a=\"x; b=y\"", "\"x"),
            ("b=\"x; a=v\"", "v\""),
        ] {
            assert_eq!(read(line).as_deref(), Some(value), "{line}");
        }
    }

    #[test]
    fn the_first_of_two_counts_on_one_line_and_on_two() {
        assert_eq!(read("a=1; a=2").as_deref(), Some("1"));
        assert_eq!(read("a=; a=2").as_deref(), Some(""));
        assert_eq!(cookie(&headers(&[b"b=0", b"a=1", b"a=2"]), "a"), Some("1"));
    }

    #[test]
    fn space_and_tab_around_a_pair_are_left_out_and_nothing_else_is() {
        for line in ["a=v", "  a=v\t", "\ta=v ;b=w", "b=w;a=v", ";; a=v;"] {
            assert_eq!(read(line).as_deref(), Some("v"), "{line}");
        }
        assert_eq!(read("a= v=w").as_deref(), Some(" v=w"));
        for line in ["a =v", "A=v", "a", "=a=v", "aa=v", ""] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn white_space_that_browsers_keep_makes_another_name() {
        for space in ['\u{85}', '\u{a0}', '\u{2000}', '\u{2028}', '\u{3000}'] {
            assert!(space.is_whitespace());
            assert_eq!(read(&format!("{space}a=v")), None);
            assert_eq!(read(&format!("a{space}=v")), None);
        }
    }
}
