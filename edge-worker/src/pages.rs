//! The pages: what is on, and where mails lead to. A page is a few lines of HTML and a module that asks the
//! API on behalf of whoever reads it: nothing in it is anybody's, so it says nothing about
//! an id or a token, and it is the same whether there is such a thing or not.

use http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE, REFERRER_POLICY};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use onsale_domain::language::Language;

use crate::answer::Answer;
use crate::edge::{Incoming, wrong_method};
use crate::forward::Segment;
use crate::web::{self, VERSION, fill};

struct Page {
    path: &'static [Segment],
    /// The module that it runs.
    script: &'static str,
    english: &'static str,
    german: &'static str,
}

/// What is on, and every page of `onsale_mails::links` but the waiting room's.
const PAGES: &[Page] = &[
    Page {
        path: &[Some("")],
        script: "events",
        english: "What is on",
        german: "Was läuft",
    },
    Page {
        path: &[Some("events"), None],
        script: "events",
        english: "An event",
        german: "Eine Veranstaltung",
    },
    Page {
        path: &[Some("orders")],
        script: "orders",
        english: "Your orders",
        german: "Ihre Bestellungen",
    },
    Page {
        path: &[Some("orders"), None],
        script: "orders",
        english: "Your order",
        german: "Ihre Bestellung",
    },
    Page {
        path: &[Some("shows"), None],
        script: "show",
        english: "A show",
        german: "Eine Vorstellung",
    },
    Page {
        path: &[Some("shows"), None, Some("holds"), None],
        script: "offer",
        english: "Places for you",
        german: "Plätze für Sie",
    },
    Page {
        path: &[Some("shows"), None, Some("waitlist"), None],
        script: "offer",
        english: "The waitlist",
        german: "Die Warteliste",
    },
    Page {
        path: &[Some("transfers"), None],
        script: "transfer",
        english: "A ticket for you",
        german: "Ein Ticket für Sie",
    },
    Page {
        path: &[Some("reset"), None],
        script: "password",
        english: "A new password",
        german: "Ein neues Passwort",
    },
    Page {
        path: &[Some("invitation"), None],
        script: "password",
        english: "Your staff account",
        german: "Ihr Mitarbeiterkonto",
    },
];

const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

macro_rules! files {
    ($($media_type:literal: $($name:literal)*;)*) => {
        &[$($((
            $name,
            concat!($media_type, "; charset=utf-8"),
            include_str!(concat!(env!("OUT_DIR"), "/", $name)),
        ),)*)*]
    };
}

/// The name of each file, its media type and its text.
const FILES: &[(&str, &str, &str)] = files! {
    "text/css": "page.css";
    "text/javascript": "page.js" "session.js" "showing.js" "password.js" "transfer.js"
        "orders.js" "show.js" "offer.js" "events.js";
};

/// The page at this address, if there is one.
pub fn answer(request: &Incoming) -> Option<Answer> {
    let page = page_at(request.uri().path())?;
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        return Some(wrong_method("GET, HEAD").answer());
    }
    let language = language_of(request.headers());
    let mut answer = web::html(StatusCode::OK, page.text(language));
    let headers = answer.headers_mut();
    // The address of a page may be a secret, which is nobody's business: not even the
    // files and the API are told where they are asked from.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        CONTENT_LANGUAGE,
        HeaderValue::from_static(language.as_str()),
    );
    Some(answer)
}

/// A file of the pages: its media type and its text, in which every file that it imports
/// has its version, so that all of them may be kept for ever.
pub(crate) fn file(name: &str) -> Option<(&'static str, String)> {
    let (_, media_type, text) = FILES.iter().find(|(known, _, _)| *known == name)?;
    Some((media_type, fill(text, &[("version", VERSION)])))
}

fn page_at(path: &str) -> Option<&'static Page> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let is_at = |page: &&Page| {
        page.path.len() == segments.len()
            && page
                .path
                .iter()
                .zip(&segments)
                .all(|(known, given)| match known {
                    Some(word) => word == given,
                    None => !given.is_empty(),
                })
    };
    PAGES.iter().find(is_at)
}

fn language_of(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    accepted.and_then(Language::preferred).unwrap_or_default()
}

impl Page {
    fn text(&self, language: Language) -> String {
        let (title, noscript, noscript_what) = match language {
            Language::En => (
                self.english,
                "This page needs JavaScript",
                "Allow it for this site, or open the link in another browser. \
                 Nothing here comes from other sites.",
            ),
            Language::De => (
                self.german,
                "Diese Seite braucht JavaScript",
                "Erlauben Sie es für diese Seite, oder öffnen Sie den Link in einem anderen \
                 Browser. Nichts hier kommt von anderen Seiten.",
            ),
        };
        fill(
            TEMPLATE,
            &[
                ("lang", language.as_str()),
                ("version", VERSION),
                ("title", title),
                ("script", self.script),
                ("noscript", noscript),
                ("noscript_what", noscript_what),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: Method, path: &str, accepted: &str) -> Option<Answer> {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header(ACCEPT_LANGUAGE, accepted).body(vec![]);
        answer(&request.unwrap())
    }

    fn text(path: &str, accepted: &str) -> String {
        let answer = asked(Method::GET, path, accepted).unwrap();
        String::from_utf8(answer.into_body()).unwrap()
    }

    #[test]
    fn a_page_is_in_the_language_of_its_reader() {
        let english = text("/reset/token", "fr,en;q=0.5");
        assert!(english.contains("<html lang=\"en\">"), "{english}");
        assert!(english.contains("<h1 id=\"title\">A new password</h1>"));
        let german = text("/reset/token", "de-AT,en;q=0.5");
        assert!(german.contains("<html lang=\"de\">"), "{german}");
        assert!(german.contains("<h1 id=\"title\">Ein neues Passwort</h1>"));
    }

    #[test]
    fn a_page_tells_nothing_of_its_address_and_is_not_kept() {
        let page = asked(Method::GET, "/reset/secret-token", "en").unwrap();
        let header = |name: &str| page.headers()[name].to_str().unwrap();
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
        let body = String::from_utf8(page.into_body()).unwrap();
        assert!(!body.contains("secret-token"));
    }

    #[test]
    fn no_placeholder_is_left_over_and_every_file_that_is_named_is_served() {
        let pages = ["/", "/events/x", "/orders", "/shows/x", "/shows/x/holds/y"];
        let pages = pages.iter().map(|path| text(path, "en"));
        let scripts = PAGES.iter().map(|page| format!("{}.js", page.script));
        let named = FILES.iter().map(|(name, _, _)| (*name).to_owned());
        let files = scripts.chain(named).map(|name| file(&name).unwrap().1);
        for text in pages.chain(files) {
            assert!(!text.contains("{{"), "{text}");
            for named in text.split("from './").skip(1) {
                let (name, rest) = named.split_once('?').unwrap();
                assert!(file(name).is_some(), "{name}");
                assert!(rest.starts_with(&format!("v={VERSION}'")), "{rest}");
            }
        }
    }

    #[test]
    fn only_whole_addresses_are_pages() {
        for path in [
            "/events/",
            "/order",
            "/orders/",
            "/orders/a/b",
            "/reset",
            "/shows/x/holds",
        ] {
            assert!(asked(Method::GET, path, "en").is_none(), "{path}");
        }
        let refused = asked(Method::POST, "/orders", "en").unwrap();
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn a_page_and_its_files_have_less_than_forty_kilobytes() {
        let size = |name: &str| file(name).unwrap().1.len();
        let shared: usize = ["page.css", "page.js", "session.js", "showing.js"]
            .map(size)
            .iter()
            .sum();
        for page in PAGES {
            let own = page.text(Language::De).len() + size(&format!("{}.js", page.script));
            assert!(shared + own < 40_000, "{}: {}", page.script, shared + own);
        }
    }
}
