//! The pages: which address has which. A page is a shell and a module that asks the API on
//! behalf of its reader. It says nothing about a token or an id that is a secret, and it is the
//! same whether there is such a thing or not. What everybody may read is rendered into it, and
//! is not found where there is none.

use http::{HeaderValue, Method, StatusCode};
use std::sync::Arc;

use crate::answer::{Answer, Problem};
use crate::edge::{Edge, Incoming, wrong_method};
use crate::forward::Segment;
use crate::host::Host;
use crate::rendered::{self, Rendered, Rendering};
use crate::shell::Shell;
use crate::web::escaped;
use crate::words::Words;
use crate::{legal, plain, switch_language};

pub(crate) struct Page {
    pub path: &'static [Segment],
    /// Its module and its `data-page`.
    pub name: &'static str,
    /// The word that is its title.
    pub title: &'static str,
}

const fn page(path: &'static [Segment], name: &'static str, title: &'static str) -> Page {
    Page { path, name, title }
}

/// All pages but the waiting room, its reminders and the legal ones.
const PAGES: &[Page] = &[
    page(&[Some("")], "home", "title.home"),
    page(&[Some("events"), None], "event", "title.event"),
    page(&[Some("shows"), None], "show", "title.show"),
    page(
        &[Some("shows"), None, Some("seats")],
        "seats",
        "title.seats",
    ),
    page(
        &[Some("shows"), None, Some("holds"), None],
        "checkout",
        "title.checkout",
    ),
    page(
        &[Some("shows"), None, Some("waitlist"), None],
        "waitlist",
        "title.waitlist",
    ),
    page(&[Some("orders")], "orders", "title.orders"),
    page(&[Some("orders"), None], "order", "title.order"),
    page(&[Some("tickets"), None], "ticket", "title.ticket"),
    page(&[Some("transfers"), None], "transfer", "title.transfer"),
    page(&[Some("account")], "account", "title.account"),
    page(&[Some("reset"), None], "password", "title.reset"),
    page(&[Some("invitation"), None], "password", "title.invitation"),
    page(&[Some("log-in"), None], "link", "title.log_in"),
    page(&[Some("prove"), None], "link", "title.prove"),
    page(&[Some("fairness"), None], "fairness", "title.fairness"),
];

/// The page at this address, if there is one.
pub(crate) async fn answer<H: Host>(
    edge: &Arc<Edge>,
    host: &H,
    request: &Incoming,
    address: &str,
) -> Option<Result<Answer, Problem>> {
    let path = request.uri().path();
    let found = page_at(path);
    if found.is_none() && path != switch_language::PATH && !legal::is_at(path) {
        return None;
    }
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        return Some(Err(wrong_method("GET, HEAD")));
    }
    let words = Words::of(request.headers());
    let key = plain::new_key(host);
    match found {
        Some(page) if plain::has_page(page.name) && plain::is_wanted(request) => {
            if let Err(problem) = edge.limits.address(address, host.now()) {
                return Some(Err(problem));
            }
            Some(plain::page(edge, host, request).await)
        }
        Some(page) if page.is_rendered() || page.is_of_show() => {
            // The functions are asked for it, as by a call of the API.
            if let Err(problem) = edge.limits.address(address, host.now()) {
                return Some(Err(problem));
            }
            Some(
                match rendered::render(edge, host, page.name, request).await {
                    Rendering::Done(rendered) => {
                        Ok(page.answer(edge, words, path, &key, Some(&rendered)))
                    }
                    Rendering::Left => Ok(page.answer(edge, words, path, &key, None)),
                    Rendering::Missing => {
                        Err(Problem::missing("There is nothing at this address."))
                    }
                },
            )
        }
        Some(page) => Some(Ok(page.answer(edge, words, path, &key, None))),
        None if path == switch_language::PATH => Some(Ok(switch_language::answer(request))),
        None => legal::answer(edge, words, path).map(Ok),
    }
}

/// Whether a browser finds a page of ours at this path.
pub(crate) fn is_page(path: &str) -> bool {
    let of_room = path.strip_prefix("/room/");
    let of_room = of_room.map(|rest| rest.strip_suffix("/remind").unwrap_or(rest));
    page_at(path).is_some()
        || legal::is_at(path)
        || of_room.is_some_and(|show| !show.is_empty() && !show.contains('/'))
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

impl Page {
    /// Whether its content can be read without a script, by everybody and by machines.
    fn is_rendered(&self) -> bool {
        matches!(self.name, "home" | "event" | "show")
    }

    /// Whether it is a page of a show that everybody may read.
    fn is_of_show(&self) -> bool {
        matches!(self.name, "seats" | "fairness")
    }

    /// `key` is for the form that the page may have without a script.
    fn answer(
        &self,
        edge: &Edge,
        words: Words,
        path: &str,
        key: &str,
        read: Option<&Rendered>,
    ) -> Answer {
        let title = read.map_or(words.t(self.title), |read| &read.title);
        let main = self.main(words, title, path, key, read);
        let is_checkout = self.name == "checkout";
        let policy = is_checkout.then(|| edge.site.checkout_policy()).flatten();
        let asks_in_windows = policy.is_some();
        let shell = Shell {
            main: &main,
            head: read.map_or("", |read| &read.head),
            is_public: self.is_rendered(),
            is_secret: true,
            policy,
            ..Shell::new(words, self.name, title, path)
        };
        let mut answer = shell.answer(StatusCode::OK);
        if asks_in_windows {
            // A bank or a wallet may ask in a window of its own, which answers this page.
            let value = HeaderValue::from_static("same-origin-allow-popups");
            answer
                .headers_mut()
                .insert("cross-origin-opener-policy", value);
        }
        answer
    }

    /// What a browser without scripts shows: the way to the page that needs none, or the
    /// sentence that it needs one.
    fn without_script(&self, words: Words, path: &str, key: &str) -> String {
        let t = |key| escaped(words.t(key));
        let said = if plain::has_page(self.name) {
            format!(
                "<meta http-equiv=\"refresh\" content=\"0; url=?plain\"><div class=\"row\">\
                 <a class=\"button\" href=\"?plain\">{}</a></div>",
                t("plain.go_on"),
            )
        } else if let Some(token) = path.strip_prefix("/log-in/") {
            // A browser that tells nobody where it is sends forms that are refused.
            format!(
                "<meta name=\"referrer\" content=\"same-origin\"><form method=\"post\" \
                 action=\"/api/v1/session-links/{}\"><input type=\"hidden\" name=\"key\" value=\"{key}\">\
                 <button class=\"button\">{}</button></form>",
                escaped(token),
                t("title.log_in"),
            )
        } else {
            format!(
                "<h2>{}</h2><p>{}</p>",
                t("site.needs_script"),
                t("site.needs_script.what")
            )
        };
        format!(
            "<noscript><section class=\"ticket\"><div class=\"body\">{said}</div></section></noscript>\n"
        )
    }

    fn main(
        &self,
        words: Words,
        title: &str,
        path: &str,
        key: &str,
        read: Option<&Rendered>,
    ) -> String {
        let without_script = match read {
            Some(_) => String::new(),
            None => self.without_script(words, path, key),
        };
        format!(
            "<h1 id=\"title\">{}</h1>\n{without_script}\
             <div id=\"content\">{}</div>\n\
             <p class=\"unseen\" id=\"said\" role=\"status\"></p>\n",
            escaped(title),
            read.map_or("", |read| &read.content),
        )
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT_LANGUAGE;
    use onsale_web::VERSION;

    use super::*;
    use crate::site::Site;

    fn asked(method: Method, path: &str, accepted: &str) -> Option<Answer> {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header(ACCEPT_LANGUAGE, accepted).body(vec![]);
        answered(&Edge::for_tests(Site::default()), &request.unwrap())
    }

    /// What has to be asked of functions is left to the tests with a host.
    fn answered(edge: &Edge, request: &Incoming) -> Option<Answer> {
        let path = request.uri().path();
        let words = Words::of(request.headers());
        match page_at(path) {
            Some(page) => Some(page.answer(edge, words, path, "k", None)),
            None => legal::answer(edge, words, path),
        }
    }

    fn text(path: &str, accepted: &str) -> String {
        let answer = asked(Method::GET, path, accepted).unwrap();
        String::from_utf8(answer.into_body()).unwrap()
    }

    #[test]
    fn a_page_is_in_the_language_of_its_reader() {
        let english = text("/reset/token", "xx,en;q=0.5");
        assert!(english.contains("<html lang=\"en\">"), "{english}");
        assert!(english.contains("<h1 id=\"title\">A new password</h1>"));
        assert!(english.contains("<option value=\"en\" lang=\"en\" selected>"));
        let german = text("/reset/token", "de-AT,en;q=0.5");
        assert!(german.contains("<html lang=\"de\">"), "{german}");
        assert!(german.contains("<h1 id=\"title\">Ein neues Passwort</h1>"));
        assert!(german.contains("<a href=\"/imprint\">Impressum</a>"));
    }

    #[test]
    fn a_page_tells_nobody_its_address_and_is_not_kept() {
        let page = asked(Method::GET, "/reset/secret-token", "en").unwrap();
        let header = |name: &str| page.headers()[name].to_str().unwrap();
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
        let body = String::from_utf8(page.into_body()).unwrap();
        // The choice of a language leads back here.
        assert_eq!(body.matches("secret-token").count(), 1);
    }

    #[test]
    fn every_page_names_itself_and_files_of_this_version() {
        for page in PAGES {
            let path: Vec<&str> = page.path.iter().map(|it| it.unwrap_or("x")).collect();
            let text = text(&format!("/{}", path.join("/")), "en");
            assert!(!text.contains("{{"), "{text}");
            assert!(text.contains(&format!("<body data-page=\"{}\">", page.name)));
            assert!(!text.contains("title."), "{text}");
            for file in text.split("/assets/").skip(1) {
                assert!(file.starts_with(&format!("{VERSION}/")), "{file}");
            }
            let listed = matches!(page.name, "home" | "event" | "show");
            assert_eq!(text.contains("noindex"), !listed, "{}", page.name);
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
            "/imprint/",
        ] {
            assert!(asked(Method::GET, path, "en").is_none(), "{path}");
        }
    }

    #[test]
    fn only_the_checkout_of_a_site_with_stripe_may_load_its_script() {
        let key = Some("pk_test_1".to_owned());
        let with_key = Edge::for_tests(Site {
            stripe_publishable_key: key,
            ..Site::default()
        });
        let without = Edge::for_tests(Site::default());
        let policy = |edge: &Edge, path: &str| {
            let request = http::Request::get(path).body(vec![]).unwrap();
            let page = answered(edge, &request).unwrap();
            let header = |name: &str| page.headers()[name].to_str().unwrap().to_owned();
            let opener = header("cross-origin-opener-policy");
            header("content-security-policy") + "; opener " + &opener
        };
        let wide = policy(&with_key, "/shows/x/holds/y");
        for rule in [
            "script-src 'self' https://js.stripe.com https://*.js.stripe.com;",
            "connect-src 'self' https://api.stripe.com;",
            "frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com;",
            "opener same-origin-allow-popups",
        ] {
            assert!(wide.contains(rule), "{wide}");
        }
        for (edge, path) in [(&with_key, "/shows/x"), (&without, "/shows/x/holds/y")] {
            let usual = policy(edge, path);
            assert!(!usual.contains("stripe"), "{usual}");
            assert!(usual.ends_with("opener same-origin"), "{usual}");
        }
    }
}
