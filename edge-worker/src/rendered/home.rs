//! The front page: a form that searches, and the events that were found.

use form_urlencoded::{Serializer, parse};
use onsale_domain::time::Millis;
use serde_json::Value;

use super::values::{Length, Look, Price, place, poster, text, time};
use super::{Reading, Rendered, Rendering};
use crate::catalogue::Told;
use crate::host::Host;
use crate::web::escaped;

const MAX_TEXT: usize = 200;
const LIMIT: &str = "24";
/// Cards that most screens show at once; the pictures of the others are loaded later.
const CARDS_IN_SIGHT: usize = 4;
const MINUTE_MS: u64 = 60_000;

impl<H: Host> Reading<'_, H> {
    pub(super) async fn home(&self, query: &str) -> Rendering {
        let wanted = Wanted::read(query);
        let path = wanted.path(self.host.now());
        let found = match self.edge.told(self.host, &path).await {
            Told::Found(found) => Some(found),
            // Its module asks again, and says what is wrong.
            Told::Missing | Told::Silent => None,
        };
        let items = found.as_ref().and_then(|found| found["items"].as_array());
        let list: String = items
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(index, item)| format!("<li>{}</li>", self.card(item, index)))
            .collect();
        let said = match items {
            Some(items) if items.is_empty() => self.nothing(&wanted),
            Some(_) => String::new(),
            None => format!(
                "<noscript><p class=\"notice\">{}</p></noscript>",
                self.t("error.busy.what")
            ),
        };
        let content = format!(
            "<form class=\"search\" role=\"search\" action=\"/\" method=\"get\">\
             <label class=\"unseen\" for=\"query\">{label}</label>\
             <input id=\"query\" name=\"query\" type=\"search\" maxlength=\"200\" value=\"{value}\" placeholder=\"{label}\" autocomplete=\"off\">\
             <button class=\"button\">{search}</button></form>\n\
             <div class=\"filters\" id=\"filters\"></div>\n<p class=\"quiet\" id=\"found\"></p>\n\
             <ul class=\"posters\" id=\"events\">{list}</ul>\n{said}",
            label = self.t("home.query"),
            search = self.t("home.search"),
            value = escaped(wanted.query()),
        );
        let title = self.words.t("title.home").to_owned();
        let canonical = self
            .origin
            .as_deref()
            .map(|origin| format!("<link rel=\"canonical\" href=\"{}/\">\n", escaped(origin)));
        Rendering::Done(Rendered {
            head: canonical.unwrap_or_default(),
            title,
            content,
        })
    }

    fn card(&self, event: &Value, index: usize) -> String {
        let look = Look {
            is_lazy: index >= CARDS_IN_SIGHT,
            ..Look::default()
        };
        let zone = event["timezone"].as_str();
        let when = event["next_show_at"].as_str().map(|at| {
            let when = time(self.words, at, zone.unwrap_or("UTC"), Length::Short);
            // Without the clock of the venue it says which one it is.
            zone.map_or_else(|| format!("<span>{when} UTC</span>"), |_| when.clone())
        });
        let shows = event["shows"].as_u64().unwrap_or(0);
        let shows = (shows > 1).then(|| {
            let shows = self.words.counted("home.shows", shows);
            format!("<span>{}</span>", escaped(&shows))
        });
        let state = match text(event, "status") {
            "sold_out" => Some(self.t("state.sold_out")),
            "completed" => Some(self.t("state.completed")),
            "cancelled" => Some(self.t("state.cancelled")),
            _ => None,
        };
        let price = match (state, Price::read(&event["from_price"])) {
            (Some(state), _) => format!("<span class=\"price sold\">{state}</span>"),
            (None, Some(price)) => format!("<span class=\"price\">{}</span>", self.from(price)),
            (None, None) => String::new(),
        };
        format!(
            "<a class=\"event\" href=\"/events/{}\">{}<span class=\"about\"><strong>{}</strong>{}<span>{}</span>{}{price}</span></a>",
            escaped(text(event, "event_id")),
            poster(event, look),
            escaped(text(event, "title")),
            when.unwrap_or_default(),
            escaped(&place(&[text(event, "venue"), text(event, "city")])),
            shows.unwrap_or_default(),
        )
    }

    /// `from €45.00`.
    pub(super) fn from(&self, price: Price) -> String {
        let price = price.words(self.words);
        escaped(&self.words.with("from_price", &[("price", &price)]))
    }

    fn nothing(&self, wanted: &Wanted) -> String {
        let (headline, what) = if wanted.0.is_empty() {
            ("home.empty", "home.empty.what")
        } else {
            ("home.none", "home.none.what")
        };
        format!(
            "<noscript><section class=\"ticket\"><div class=\"body\"><h2>{}</h2><p>{}</p></div></section></noscript>",
            self.t(headline),
            self.t(what)
        )
    }
}

/// What a reader looks for, by the parameters of the address that are in order.
struct Wanted(Vec<(&'static str, String)>);

impl Wanted {
    fn read(query: &str) -> Self {
        let mut wanted = Vec::new();
        for name in ["query", "city", "category", "from", "to", "max_price"] {
            let mut given = parse(query.as_bytes());
            let value = given.find(|(known, _)| known == name);
            let value = value.map(|(_, value)| value.trim().to_owned());
            let value = value.filter(|value| is_in_order(name, value));
            wanted.extend(value.map(|value| (name, value)));
        }
        Self(wanted)
    }

    fn query(&self) -> &str {
        let query = self.0.iter().find(|(name, _)| *name == "query");
        query.map_or("", |(_, value)| value)
    }

    /// The question to the catalogue. What is over is not on; the moment is that of the
    /// last whole minute, so that all readers ask the same.
    fn path(&self, now: Millis) -> String {
        let mut asked = Serializer::new(String::new());
        for (name, value) in &self.0 {
            match *name {
                // Without a script nobody knows the reader's clock.
                "from" => asked.append_pair("from", &format!("{value}T00:00:00Z")),
                "to" => asked.append_pair("to", &format!("{value}T23:59:59Z")),
                name => asked.append_pair(name, value),
            };
        }
        if !self.0.iter().any(|(name, _)| *name == "from") {
            let minute = Millis(now.0 / MINUTE_MS * MINUTE_MS);
            asked.append_pair("from", &minute.to_string());
        }
        if self.query().is_empty() {
            asked.append_pair("sort", "date");
        }
        asked.append_pair("limit", LIMIT);
        format!("/api/v1/events?{}", asked.finish())
    }
}

fn is_in_order(name: &str, value: &str) -> bool {
    let len = value.chars().count();
    match name {
        "from" | "to" => {
            let shape = value
                .bytes()
                .map(|b| if b.is_ascii_digit() { b'0' } else { b });
            shape.eq(*b"0000-00-00")
        }
        "max_price" => (1..=9).contains(&len) && value.bytes().all(|b| b.is_ascii_digit()),
        _ => (1..=MAX_TEXT).contains(&len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_address_asks_for_is_what_the_catalogue_is_asked() {
        let now = Millis::parse_rfc3339("2026-12-17T19:00:41Z").unwrap();
        let path = |query| Wanted::read(query).path(now);
        assert_eq!(
            path(""),
            "/api/v1/events?from=2026-12-17T19%3A00%3A00Z&sort=date&limit=24"
        );
        assert_eq!(
            path("query=a%26b&city=Bern&max_price=50&from=2027-01-02&to=x&limit=9&mine=true"),
            "/api/v1/events?query=a%26b&city=Bern&from=2027-01-02T00%3A00%3A00Z&max_price=50&limit=24"
        );
        let long = format!("query={}", "x".repeat(MAX_TEXT + 1));
        assert_eq!(path(&long), path(""));
    }
}
