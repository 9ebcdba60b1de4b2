//! A refusal as a page for people: what happened in their language, and a way on.

use http::StatusCode;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, VARY,
};
use serde_json::Value;

use crate::answer::{Answer, Problem};
use crate::shell::Shell;
use crate::web::escaped;
use crate::words::Words;

/// A page instead of a problem. `again` is an address to try again, or to go back to.
pub(crate) fn refusal(words: Words, problem: Problem, again: Option<&str>) -> Answer {
    let detail = problem.detail().to_owned();
    let refused = problem.answer();
    let mut page = page(words, refused.status(), &detail, again);
    for name in [RETRY_AFTER, ALLOW] {
        if let Some(value) = refused.headers().get(&name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

/// An answer as a browser's reader can read it: a page in place of a problem.
pub(crate) fn for_people(words: Words, answer: Answer, again: Option<&str>) -> Answer {
    let kind = answer.headers().get(CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page || !(answer.status().is_client_error() || answer.status().is_server_error()) {
        return answer;
    }
    let problem: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
    let detail = problem["detail"].as_str().unwrap_or_default();
    let mut page = page(words, answer.status(), detail, again);
    // Cookies and waiting times hold for a page as well; what describes the body does not.
    for (name, value) in answer.headers() {
        let describes = [
            CONTENT_TYPE,
            CONTENT_LENGTH,
            CONTENT_ENCODING,
            CACHE_CONTROL,
            VARY,
        ];
        if !describes.contains(name) {
            page.headers_mut().append(name, value.clone());
        }
    }
    page
}

/// `detail` is English; it is shown where no general word says enough.
pub(crate) fn page(words: Words, status: StatusCode, detail: &str, again: Option<&str>) -> Answer {
    let (title, what) = match status.as_u16() {
        404 => ("error.lost", "error.lost.what"),
        410 => ("error.gone", "error.gone.what"),
        429 => ("error.too_often", "error.too_often.what"),
        502..=504 => ("error.busy", "error.busy.what"),
        500..=599 => ("error.ours", "error.ours.what"),
        _ => ("error.refused", "error.refused.what"),
    };
    let is_special = title == "error.refused" && !detail.is_empty();
    let detail = match is_special {
        true => format!("<p lang=\"en\">{}</p>\n", escaped(detail)),
        false => String::new(),
    };
    let label = match status.as_u16() {
        429 | 500..=599 => "error.again",
        _ => "error.back",
    };
    let link = |path: &str, label: &'static str, kind: &str| {
        let (path, label) = (escaped(path), escaped(words.t(label)));
        format!("<a class=\"button{kind}\" href=\"{path}\">{label}</a>")
    };
    let again = again.filter(|_| status != StatusCode::NOT_FOUND);
    let links = match again {
        Some(path) => link(path, label, "") + &link("/", "error.home", " plain"),
        None => link("/", "error.home", ""),
    };
    let title = words.t(title);
    let main = format!(
        "<h1 id=\"title\">{}</h1>\n<section class=\"ticket\"><div class=\"body\">\n<p>{}</p>\n{detail}\
         <div class=\"row\">{links}</div>\n</div></section>",
        escaped(title),
        escaped(words.t(what)),
    );
    let shell = Shell {
        main: &main,
        ..Shell::new(words, "error", title, again.unwrap_or("/"))
    };
    shell.answer(status)
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;

    use super::*;

    const EN: Words = Words(Language::En);
    const AGAIN: &str = "<a class=\"button\" href=\"/shows/x\">Try again</a>";
    const BACK: &str = "<a class=\"button\" href=\"/shows/x\">Back</a>";
    const HOME: &str = "<a class=\"button\" href=\"/\">See what is on</a>";

    /// A refusal of a function to somebody who looks at `/shows/x`.
    fn refused(status: u16) -> Answer {
        let mut answer = Problem::rate_limited(7).answer();
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        answer
    }

    fn text(answer: Answer) -> String {
        String::from_utf8(answer.into_body()).unwrap()
    }

    #[test]
    fn a_refusal_has_a_title_a_way_on_and_the_time_to_wait() {
        for (status, title, way) in [
            (404, "There is nothing here", HOME),
            (410, "This is over", BACK),
            (429, "One moment, please", AGAIN),
            (500, "Something went wrong on our side", AGAIN),
            (503, "We cannot answer right now", AGAIN),
        ] {
            let page = for_people(EN, refused(status), Some("/shows/x"));
            assert_eq!(page.status(), status);
            assert_eq!(page.headers()[RETRY_AFTER], "7");
            let kinds: Vec<_> = page.headers().get_all(CONTENT_TYPE).iter().collect();
            assert_eq!(kinds, ["text/html; charset=utf-8"]);
            let page = text(page);
            let title = format!("<h1 id=\"title\">{title}</h1>");
            assert!(page.contains(&title), "{status}: {page}");
            assert!(page.contains(way), "{status}: {page}");
        }
    }

    #[test]
    fn a_refusal_at_an_address_that_is_no_page_leads_home() {
        for status in [404, 410, 429, 500, 503] {
            let page = text(for_people(EN, refused(status), None));
            assert!(page.contains(HOME), "{status}: {page}");
        }
    }

    #[test]
    fn a_problem_of_the_edge_becomes_a_page_that_says_when_to_try_again() {
        let page = refusal(EN, Problem::unavailable().retry_after(3), Some("/shows/x"));
        assert_eq!(page.status(), 503);
        assert_eq!(page.headers()[RETRY_AFTER], "3");
        let page = text(page);
        assert!(page.contains(AGAIN), "{page}");
    }

    #[test]
    fn pages_and_answers_that_are_no_refusals_stay_as_they_are() {
        let mut done = refused(200);
        *done.body_mut() = b"{}".to_vec();
        assert_eq!(for_people(EN, done, None).body(), b"{}");
        let page = page(EN, StatusCode::NOT_FOUND, "", None);
        let before = page.body().clone();
        assert_eq!(for_people(EN, page, None).body(), &before);
    }
}
