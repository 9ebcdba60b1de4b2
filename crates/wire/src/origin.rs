//! The Origin rule. A browser sends cookies along with requests that other sites make. It
//! also says, in a header that no page can change, which site made them.

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue};

/// The site whose page made a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The request has no Origin header: a program made it, or a browser read something.
    Unnamed,
    Ours,
    /// Another site, a page without one (`null`), or a text that names none.
    Foreign,
}

/// `hosts` are the names, each with its port, under which the browser may know us.
pub fn origin<'a>(headers: &HeaderMap, hosts: impl IntoIterator<Item = &'a str>) -> Origin {
    let mut named = headers.get_all(ORIGIN).iter();
    let Some(first) = named.next() else {
        return Origin::Unnamed;
    };
    let is_ours = |site: &str| {
        let mut hosts = hosts.into_iter();
        hosts.any(|host| !host.is_empty() && host.eq_ignore_ascii_case(site))
    };
    let only = site(first).filter(|_| named.next().is_none());
    if only.is_some_and(is_ours) {
        Origin::Ours
    } else {
        Origin::Foreign
    }
}

/// Host and port of an origin.
fn site(origin: &HeaderValue) -> Option<&str> {
    let origin = origin.to_str().ok()?;
    let https = origin.strip_prefix("https://");
    https.or_else(|| origin.strip_prefix("http://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(origins: &[&[u8]], hosts: &[&str]) -> Origin {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(ORIGIN, HeaderValue::from_bytes(origin).unwrap());
        }
        super::origin(&headers, hosts.iter().copied())
    }

    #[test]
    fn an_origin_is_ours_if_it_names_one_of_our_hosts_with_its_port() {
        let hosts = ["abc.on.aws", "tickets.example", "127.0.0.1:8787"];
        for ours in [
            "https://tickets.example",
            "http://tickets.example",
            "https://Tickets.EXAMPLE",
            "http://127.0.0.1:8787",
            "https://abc.on.aws",
        ] {
            assert_eq!(of(&[ours.as_bytes()], &hosts), Origin::Ours, "{ours}");
        }
        for foreign in [
            "https://evil.example",
            "https://tickets.example.evil.example",
            "https://eviltickets.example",
            "https://tickets.example:8443",
            "https://127.0.0.1",
            "https://tickets.example/",
            "https://evil@tickets.example",
            "ftp://tickets.example",
            "chrome-extension://tickets.example",
            "HTTPS://tickets.example",
            "tickets.example",
            "null",
            "https://",
            "",
        ] {
            let told = of(&[foreign.as_bytes()], &hosts);
            assert_eq!(told, Origin::Foreign, "{foreign}");
        }
    }

    #[test]
    fn a_request_without_the_header_names_no_origin() {
        assert_eq!(of(&[], &["tickets.example"]), Origin::Unnamed);
    }

    #[test]
    fn a_header_that_cannot_be_read_is_not_a_missing_one() {
        let hosts = ["tickets.example"];
        assert_eq!(of(&[b"https://\xe9"], &hosts), Origin::Foreign);
        let twice: [&[u8]; 2] = [b"https://tickets.example", b"https://evil.example"];
        assert_eq!(of(&twice, &hosts), Origin::Foreign);
    }

    #[test]
    fn without_a_host_no_origin_is_ours() {
        assert_eq!(of(&[b"https://"], &[""]), Origin::Foreign);
        assert_eq!(of(&[b"https://tickets.example"], &[]), Origin::Foreign);
    }
}
