//! The HTML of the plain pages. No page of them has a script, and each has a way on.

use http::StatusCode;
use onsale_web::VERSION;
use serde_json::Value;

use super::Asked;
use crate::answer::Answer;
use crate::host::Host;
use crate::rendered::values::{Length, Price, place, text, time};
use crate::shell::Shell;
use crate::web::escaped;
use crate::words::Words;

/// A page before it is written.
#[derive(Default)]
pub(super) struct Plain<'a> {
    /// Text, not HTML.
    pub title: &'a str,
    /// HTML of the main part.
    pub main: String,
    /// The page with a script, where the choice of a language leads back to.
    pub path: &'a str,
    /// After how many seconds it is loaded again.
    pub again_s: Option<u8>,
}

impl Plain<'_> {
    pub fn answer(self, words: Words, status: StatusCode) -> Answer {
        let style = |file| format!("<link rel=\"stylesheet\" href=\"/assets/{VERSION}/{file}\">\n");
        let mut head = style("checkout.css") + &style("ticket-card.css");
        if let Some(seconds) = self.again_s {
            head += &format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n");
        }
        let main = format!(
            "<h1 id=\"title\">{}</h1>\n{}",
            escaped(self.title),
            self.main
        );
        // Not secret: a browser that tells nobody where it is sends forms that say nothing of
        // their origin, and those are refused. Other sites are told nothing either way.
        let shell = Shell {
            main: &main,
            head: &head,
            ..Shell::new(words, "plain", self.title, self.path)
        };
        shell.answer(status)
    }
}

/// A card of a page. All but `badge` and `headline` is HTML.
#[derive(Default)]
pub(super) struct Card<'a> {
    pub kind: &'static str,
    pub badge: &'a str,
    pub headline: &'a str,
    pub body: String,
}

impl Card<'_> {
    pub fn html(&self) -> String {
        let badge = match self.badge.is_empty() {
            true => String::new(),
            false => format!("<p class=\"badge\">{}</p>", escaped(self.badge)),
        };
        format!(
            "<section class=\"ticket {}\"><div class=\"body\">{badge}<h2>{}</h2>{}</div></section>\n",
            self.kind,
            escaped(self.headline),
            self.body,
        )
    }
}

pub(super) fn paragraph(words: &str) -> String {
    format!("<p>{}</p>", escaped(words))
}

pub(super) fn link(path: &str, label: &str, kind: &str) -> String {
    let (path, label) = (escaped(path), escaped(label));
    format!("<a class=\"button{kind}\" href=\"{path}\">{label}</a>")
}

pub(super) fn row(links: &str) -> String {
    format!("<div class=\"row\">{links}</div>")
}

pub(super) fn hidden(name: &str, value: &str) -> String {
    format!(
        "<input type=\"hidden\" name=\"{name}\" value=\"{}\">",
        escaped(value)
    )
}

pub(super) fn form(action: &str, fields: &str, button: &str) -> String {
    format!(
        "<form method=\"post\" action=\"{}\">{fields}<button class=\"button buy\">{}</button></form>",
        escaped(action),
        escaped(button),
    )
}

/// One of several to choose from. `hint` is text and may be empty.
pub(super) fn choice(name: &str, value: &str, label: &str, hint: &str, is_chosen: bool) -> String {
    let id = format!("{name}-{value}");
    let checked = if is_chosen { " checked" } else { "" };
    let (described, hint) = match hint.is_empty() {
        true => (String::new(), String::new()),
        false => (
            format!(" aria-describedby=\"{id}-hint\""),
            format!(
                "<span class=\"hint\" id=\"{id}-hint\">{}</span>",
                escaped(hint)
            ),
        ),
    };
    format!(
        "<div class=\"choice\"><input type=\"radio\" name=\"{name}\" id=\"{id}\" value=\"{value}\"{described}{checked}>\
         <label for=\"{id}\">{}</label>{hint}</div>",
        escaped(label),
    )
}

pub(super) fn choices(legend: &str, choices: &str) -> String {
    let legend = escaped(legend);
    format!("<fieldset class=\"cards\"><legend>{legend}</legend>{choices}</fieldset>")
}

/// `A-12-7` as people say it.
pub(super) fn place_words(words: Words, seat: &str) -> String {
    let mut parts = seat.splitn(3, '-');
    let mut part = || parts.next().unwrap_or("");
    let (section, row, seat) = (part(), part(), part());
    match row {
        "GA" => words.with("place.general", &[("section", section)]),
        _ => words.with(
            "place.seat",
            &[("section", section), ("row", row), ("seat", seat)],
        ),
    }
}

/// What money of an answer says; nothing where it is none.
pub(super) fn money(words: Words, value: &Value) -> String {
    Price::read(value).map_or(String::new(), |price| price.words(words))
}

impl<H: Host> Asked<'_, H> {
    pub(super) fn t(&self, key: &'static str) -> &'static str {
        self.words.t(key)
    }

    /// When and where a show is, and what else there is to say: labels and HTML.
    pub(super) fn facts(&self, show: &Value, more: &[(&str, String)]) -> String {
        let (words, venue) = (self.words, &show["venue"]);
        let starts_at = text(show, "starts_at");
        let names = [
            text(venue, "name"),
            text(venue, "address"),
            text(venue, "city"),
        ];
        let own = [
            (
                words.t("showing.when"),
                time(words, starts_at, zone(show), Length::Long),
            ),
            (words.t("showing.where"), escaped(&place(&names))),
        ];
        let fact =
            |(label, html): &(&str, String)| format!("<dt>{}</dt><dd>{html}</dd>", escaped(label));
        let facts: String = own.iter().chain(more).map(fact).collect();
        format!("<dl>{facts}</dl>")
    }

    /// The places of a hold or an order, with what each costs and all of them together.
    pub(super) fn costs(&self, of: &Value) -> String {
        let words = self.words;
        let line = |seat: &Value| {
            let place = place_words(words, text(seat, "seat"));
            let (place, price) = (escaped(&place), escaped(&money(words, &seat["price"])));
            format!("<tr><th scope=\"row\">{place}</th><td>{price}</td></tr>")
        };
        let lines: String = of["seats"]
            .as_array()
            .into_iter()
            .flatten()
            .map(line)
            .collect();
        format!(
            "<table class=\"costs\"><caption class=\"unseen\">{}</caption><tbody>{lines}</tbody><tfoot><tr>\
             <th scope=\"row\">{}<small>{}</small></th><td>{}</td></tr></tfoot></table>",
            escaped(self.t("checkout.costs")),
            escaped(self.t("checkout.total")),
            escaped(self.t("checkout.all_in")),
            escaped(&money(words, &of["total"])),
        )
    }

    /// Offers a form, which is HTML, once more: it has the same key.
    pub(super) fn busy(&self, status: StatusCode, title: &str, path: &str, again: &str) -> Answer {
        let card = Card {
            headline: self.t("plain.busy"),
            body: paragraph(self.t("plain.busy.what")) + again,
            ..Card::default()
        };
        let page = Plain {
            title,
            main: card.html(),
            path,
            ..Plain::default()
        };
        page.answer(self.words, status)
    }

    /// Says why something did not go on, and leads on.
    pub(super) fn notice(
        &self,
        status: StatusCode,
        headline: &str,
        said: &str,
        links: &str,
    ) -> Answer {
        let card = Card {
            headline,
            body: paragraph(said) + &row(links),
            ..Card::default()
        };
        let page = Plain {
            title: self.t("title.checkout"),
            main: card.html(),
            path: "/",
            ..Plain::default()
        };
        page.answer(self.words, status)
    }
}

/// The time zone of the venue.
pub(super) fn zone(show: &Value) -> &str {
    show["venue"]["timezone"].as_str().unwrap_or("UTC")
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;

    use super::*;

    #[test]
    fn a_place_is_said_as_people_say_it() {
        let en = Words(Language::En);
        assert_eq!(place_words(en, "A-12-7"), "A, row 12, seat 7");
        assert_eq!(
            place_words(en, "Floor-GA-31"),
            "Floor, free choice of place"
        );
    }

    #[test]
    fn nothing_that_strangers_wrote_becomes_a_part_of_the_page() {
        let wild = "<b>\"'&";
        let card = Card {
            badge: wild,
            headline: wild,
            ..Card::default()
        };
        let made = [
            card.html(),
            paragraph(wild),
            link(wild, wild, ""),
            hidden("key", wild),
            form(wild, "", wild),
            choice("card", "a", wild, wild, true),
            choices(wild, ""),
        ];
        for html in made {
            assert!(html.contains("&lt;b&gt;&quot;&#39;&amp;"), "{html}");
            assert!(!html.contains("<b>"), "{html}");
        }
    }
}
