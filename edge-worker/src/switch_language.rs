//! `/language?to=de&back=/path`: a plain form in the header of every page. It sets a cookie
//! and leads back, to a page of ours and to nothing else.

use onsale_domain::language::Language;

use crate::answer::{Answer, Cookie, see_other, set_cookie};
use crate::edge::Incoming;
use crate::pages;
use crate::words::LANGUAGE_COOKIE;

pub(crate) const PATH: &str = "/language";
const A_YEAR_S: u64 = 365 * 24 * 3_600;
const MAX_BACK: usize = 2_048;

pub(crate) fn answer(request: &Incoming) -> Answer {
    let query = request.uri().query().unwrap_or("").as_bytes();
    let asked = |name: &str| {
        let mut fields = form_urlencoded::parse(query);
        let found = fields.find(|(given, _)| given == name);
        found.map(|(_, value)| value.into_owned())
    };
    let back = asked("back").filter(|back| is_ours(back));
    let mut answer = see_other(back.as_deref().unwrap_or("/"));
    if let Some(language) = asked("to").and_then(|tag| tag.parse::<Language>().ok()) {
        let cookie = Cookie {
            name: LANGUAGE_COOKIE,
            value: language.as_str(),
            path: "/",
            max_age_s: A_YEAR_S,
        };
        set_cookie(&mut answer, &cookie, request.uri());
    }
    answer
}

/// A path of a page of ours, with a query if need be. Browsers read some odd characters as
/// the beginning of another site's address, so there are none.
fn is_ours(back: &str) -> bool {
    let path = back.split_once('?').map_or(back, |(path, _)| path);
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#';
    back.len() <= MAX_BACK && back.bytes().all(is_plain) && pages::is_page(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> (String, Option<String>) {
        let request = http::Request::get(format!("http://here{PATH}?{query}"));
        let answer = answer(&request.body(vec![]).unwrap());
        assert_eq!(answer.status(), 303);
        let header = |name: &str| {
            let value = answer.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        (header("location").unwrap(), header("set-cookie"))
    }

    #[test]
    fn the_choice_is_kept_for_a_year_and_leads_back() {
        let (back, cookie) = asked("to=de&back=%2Fshows%2Fx%2Fseats");
        assert_eq!(back, "/shows/x/seats");
        let cookie = cookie.unwrap();
        assert!(cookie.starts_with("onsale_language=de; Path=/; Max-Age=31536000;"));
        assert!(cookie.contains("SameSite=Lax"), "{cookie}");
        assert_eq!(asked("to=en&back=/?query=a%26b").0, "/?query=a&b");
        assert_eq!(asked("to=en&back=/room/x/remind").0, "/room/x/remind");
    }

    #[test]
    fn nothing_but_a_page_of_ours_is_led_back_to() {
        for back in [
            "",
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example",
            "/%09/evil.example",
            "/orders%0d%0aset-cookie:a=b",
            "/api/v1/events",
            "/language?to=de",
            "/orders%23x",
            "orders",
        ] {
            assert_eq!(asked(&format!("to=de&back={back}")).0, "/", "{back}");
        }
        let long = format!("to=de&back=/reset/{}", "x".repeat(MAX_BACK));
        assert_eq!(asked(&long).0, "/");
    }

    #[test]
    fn no_language_but_ours_is_kept() {
        assert_eq!(asked("to=xx&back=/orders"), ("/orders".to_owned(), None));
        assert_eq!(asked("").1, None);
    }
}
