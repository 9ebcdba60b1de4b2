//! The HTML of the waiting room: its page, and what it says and asks without a script.

use http::StatusCode;
use onsale_domain::ids::ShowId;
use onsale_domain::money::Money;
use onsale_domain::room::briefing::PriceRange;
use onsale_domain::room::status::State;
use onsale_web::templates::{
    NOSCRIPT_ENTER, NOSCRIPT_INSIDE, NOSCRIPT_JOIN, NOSCRIPT_SOLD_OUT, NOSCRIPT_WAIT, REMIND,
    REMIND_FORM, ROOM,
};

use super::status::WhileWaiting;
use crate::answer::Answer;
use crate::rendered::values::{Price, number};
use crate::shell::Shell;
use crate::site::{CAPTCHA_ORIGIN, Site};
use crate::web::escaped;
use crate::words::Words;

pub(super) fn page(
    site: &Site,
    words: Words,
    show: ShowId,
    title: &str,
    state: State,
    without_script: &str,
) -> Answer {
    let state = serde_json::to_value(state).unwrap_or_default();
    // The module shows the widget where a visitor is asked for it.
    let key = site.captcha_site_key.as_deref();
    let attribute = key.map(|key| format!(" data-captcha=\"{}\"", escaped(key)));
    let script = key.map(|_| {
        format!(
            "<script src=\"{CAPTCHA_ORIGIN}/turnstile/v0/api.js?render=explicit\" defer></script>\n"
        )
    });
    let main = words.fill(
        ROOM,
        &[
            ("captcha", &attribute.unwrap_or_default()),
            ("show", &show.to_string()),
            ("title", &escaped(title)),
            ("state", state.as_str().unwrap_or_default()),
            ("noscript", without_script),
        ],
    );
    let path = format!("/room/{show}");
    let shell = Shell {
        main: &main,
        head: &script.unwrap_or_default(),
        policy: site.room_policy(),
        ..Shell::new(words, "room", title, &path)
    };
    shell.answer(StatusCode::OK)
}

pub(super) fn join_form(words: Words, show: ShowId, payload: &str, seconds: u64) -> String {
    let seconds = seconds.to_string();
    let what = words.with("room.plain.join.what", &[("seconds", &seconds)]);
    words.fill(
        NOSCRIPT_JOIN,
        &[
            ("show", &show.to_string()),
            ("altcha", &escaped(payload)),
            ("what", &escaped(&what)),
        ],
    )
}

/// What those who wait are told besides their place, as HTML.
pub(super) fn facts(words: Words, waiting: Option<&WhileWaiting>) -> String {
    let Some(waiting) = waiting else {
        return String::new();
    };
    let total = Some(waiting.total_waiting).filter(|total| *total > 1);
    let sold_out = waiting.sold_out_sections.join(", ");
    let facts = [
        ("room.total", total.map(|total| number(words, total))),
        ("room.prices", waiting.prices.map(|it| prices(words, it))),
        (
            "state.sold_out",
            Some(sold_out).filter(|names| !names.is_empty()),
        ),
    ];
    let mut html = String::new();
    if let Some(message) = &waiting.message {
        html += &format!("<p class=\"notice\">{}</p>\n", escaped(message));
    }
    let told = facts.iter().filter_map(|(label, value)| {
        let (label, value) = (escaped(words.t(label)), escaped(value.as_deref()?));
        Some(format!("<dt>{label}</dt><dd>{value}</dd>"))
    });
    let told: String = told.collect();
    if !told.is_empty() {
        html += &format!("<dl>{told}</dl>\n");
    }
    html
}

fn prices(words: Words, PriceRange { from, to }: PriceRange) -> String {
    let price = |Money { amount, currency }| Price { amount, currency }.words(words);
    match from == to {
        true => price(from),
        false => format!("{} – {}", price(from), price(to)),
    }
}

pub(super) fn wait_notice(words: Words, said: &str, facts: &str, refresh_after_ms: u64) -> String {
    let (seconds, again) = refreshed(words, refresh_after_ms);
    words.fill(
        NOSCRIPT_WAIT,
        &[
            ("words", &escaped(said)),
            ("facts", facts),
            ("seconds", &seconds),
            ("again", &again),
        ],
    )
}

/// Leads to the page of the show, where one joins the waitlist.
pub(super) fn sold_out_notice(words: Words, show: ShowId, refresh_after_ms: u64) -> String {
    let (seconds, again) = refreshed(words, refresh_after_ms);
    words.fill(
        NOSCRIPT_SOLD_OUT,
        &[
            ("show", &show.to_string()),
            ("seconds", &seconds),
            ("again", &again),
        ],
    )
}

/// How many seconds a page without a script stands before it is loaded again, and the
/// sentence that says so.
fn refreshed(words: Words, refresh_after_ms: u64) -> (String, String) {
    let seconds = refresh_after_ms.div_ceil(1_000).max(5).to_string();
    let again = words.with("room.plain.again", &[("seconds", &seconds)]);
    (seconds, escaped(&again))
}

/// For visitors at the door, with a slot or without: the page goes in after so many seconds,
/// and at the press of a button. Nobody is told that it is their turn before they are in.
pub(super) fn enter_form(words: Words, show: ShowId, facts: &str, seconds: u64) -> String {
    words.fill(
        NOSCRIPT_ENTER,
        &[
            ("show", &show.to_string()),
            ("facts", facts),
            ("seconds", &seconds.to_string()),
        ],
    )
}

/// For visitors who are inside: how to go on, how to stay, and how to leave.
pub(super) fn inside_forms(words: Words, show: ShowId) -> String {
    words.fill(NOSCRIPT_INSIDE, &[("show", &show.to_string())])
}

/// What the page about reminders says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reminding {
    /// The visitor waits and may ask.
    Ask,
    Asked,
    /// There is nothing to wait for, or the visitor does not wait.
    NotWaiting,
}

/// A page that needs no script: it is looked at once.
pub(super) fn remind_page(words: Words, show: ShowId, title: &str, reminding: Reminding) -> Answer {
    let path = format!("/room/{show}/remind");
    let show = show.to_string();
    let (headline, said, form) = match reminding {
        Reminding::Ask => (
            "room.remind.ask",
            "room.remind.ask.what",
            words.fill(REMIND_FORM, &[("show", &show)]),
        ),
        Reminding::Asked => ("room.remind.asked", "room.remind.asked.what", String::new()),
        Reminding::NotWaiting => ("room.remind.not", "room.remind.not.what", String::new()),
    };
    let main = words.fill(
        REMIND,
        &[
            ("show", &show),
            ("title", &escaped(title)),
            ("headline", &escaped(words.t(headline))),
            ("words", &escaped(words.t(said))),
            ("form", &form),
        ],
    );
    let shell = Shell {
        main: &main,
        ..Shell::new(words, "remind", title, &path)
    };
    shell.answer(StatusCode::OK)
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;
    use onsale_domain::money::{Cents, Currency};

    use super::*;

    const SHOW: ShowId = ShowId::from_bytes([1; 16]);

    fn text(answer: Answer) -> String {
        String::from_utf8(answer.into_body()).unwrap()
    }

    fn waiting() -> WhileWaiting {
        let money = |amount| Money {
            amount: Cents(amount),
            currency: Currency::parse("EUR").unwrap(),
        };
        WhileWaiting {
            total_waiting: 18_234,
            prices: Some(PriceRange {
                from: money(4_501),
                to: money(8_900),
            }),
            sold_out_sections: vec!["Stalls".to_owned(), "Box <4>".to_owned()],
            message: Some("Doors & bags at seven.".to_owned()),
        }
    }

    #[test]
    fn those_who_wait_without_a_script_are_told_what_the_others_are_told() {
        let english = facts(Words(Language::En), Some(&waiting()));
        for told in [
            "<p class=\"notice\">Doors &amp; bags at seven.</p>",
            "<dt>Waiting now</dt><dd>18,234</dd>",
            "<dt>Prices</dt><dd>€45.01 – €89.00</dd>",
            "<dt>Sold out</dt><dd>Stalls, Box &lt;4&gt;</dd>",
        ] {
            assert!(english.contains(told), "{told}: {english}");
        }
        let german = facts(Words(Language::De), Some(&waiting()));
        assert!(german.contains("<dd>18.234</dd>"), "{german}");
        let nothing = WhileWaiting {
            total_waiting: 1,
            prices: None,
            sold_out_sections: vec![],
            message: None,
        };
        assert_eq!(facts(Words(Language::En), Some(&nothing)), "");
        assert_eq!(facts(Words(Language::En), None), "");
    }

    #[test]
    fn a_title_cannot_become_a_part_of_the_page() {
        let words = Words(Language::En);
        let site = Site::default();
        let page = page(&site, words, SHOW, "<script>{{show}}&\"", State::Join, "");
        let page = text(page);
        assert!(page.contains("&lt;script&gt;{{show}}&amp;&quot;"), "{page}");
        assert!(!page.contains("<script>{{"));
    }

    #[test]
    fn no_placeholder_is_left_over_in_any_language() {
        let site = Site::default();
        for words in Language::ALL.map(Words) {
            let join = join_form(words, SHOW, "payload", 20);
            for text in [
                text(page(&site, words, SHOW, "Title", State::Waiting, &join)),
                wait_notice(words, "words", &facts(words, Some(&waiting())), 1),
                sold_out_notice(words, SHOW, 1),
                enter_form(words, SHOW, "", 3),
                inside_forms(words, SHOW),
                text(remind_page(words, SHOW, "Title", Reminding::Ask)),
                text(remind_page(words, SHOW, "Title", Reminding::Asked)),
                text(remind_page(words, SHOW, "Title", Reminding::NotWaiting)),
            ] {
                assert!(!text.contains("{{"), "{text}");
                assert!(!text.contains("}}"), "{text}");
                assert!(!text.contains("room.plain"), "{text}");
                assert!(!text.contains("<h2></h2>"), "{text}");
            }
        }
    }

    #[test]
    fn the_widget_of_a_captcha_comes_with_its_exception_and_only_where_it_is_configured() {
        let words = Words(Language::En);
        let room = |site: &Site| {
            let page = page(site, words, SHOW, "Title", State::Join, "");
            let policy = page.headers()["content-security-policy"].to_str().unwrap();
            (policy.to_owned(), text(page))
        };
        let (policy, page) = room(&Site::default());
        assert!(!policy.contains("challenges"), "{policy}");
        assert!(!page.contains("captcha"), "{page}");
        let with_key = Site {
            captcha_site_key: Some("0x4".to_owned()),
            ..Site::default()
        };
        let (policy, page) = room(&with_key);
        assert!(policy.contains("script-src 'self' https://challenges.cloudflare.com;"));
        assert!(policy.contains("frame-src https://challenges.cloudflare.com"));
        assert!(page.contains(" data-captcha=\"0x4\">"), "{page}");
        assert!(
            page.contains("/turnstile/v0/api.js?render=explicit"),
            "{page}"
        );
    }
}
