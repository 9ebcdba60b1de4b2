//! An event: what it is, where, and its shows.

use onsale_domain::ids::EventId;
use serde_json::{Value, json};

use super::linked_data::{About, Showing, location};
use super::values::{Length, Look, Price, moment_words, place, poster, text, time};
use super::{Reading, Rendered, Rendering};
use crate::catalogue::Told;
use crate::host::Host;
use crate::web::escaped;

/// A page with more is what its module is for.
const SHOWS: usize = 100;

impl<H: Host> Reading<'_, H> {
    pub(super) async fn event(&self, id: &str) -> Rendering {
        if id.parse::<EventId>().is_err() {
            return Rendering::Missing;
        }
        let path = format!("/api/v1/events/{id}");
        let event = match self.edge.told(self.host, &path).await {
            Told::Found(event) => event,
            Told::Missing => return self.missing(),
            Told::Silent => return Rendering::Left,
        };
        let shows = event["shows"].as_array().map_or(&[][..], Vec::as_slice);
        let dates: String = shows
            .iter()
            .take(SHOWS)
            .map(|show| self.entry(&event, show))
            .collect();
        let headline = match shows.len() {
            0 => format!("<p class=\"notice\">{}</p>", self.t("event.none")),
            n => format!(
                "<h2>{}</h2>",
                escaped(&self.words.counted("event.shows", n as u64))
            ),
        };
        let content = format!(
            "{}\n{headline}\n<ul class=\"list\">{dates}</ul>\n\
             <div class=\"row\"><a class=\"button plain\" href=\"/\">{}</a></div>",
            self.about(&event),
            self.t("event.all"),
        );
        let about = About {
            title: text(&event, "title"),
            description: text(&event, "description"),
            event: &event,
            origin: self.origin.as_deref(),
            path: &format!("/events/{id}"),
            data: self.event_data(&event, shows, id),
        };
        Rendering::Done(Rendered {
            title: text(&event, "title").to_owned(),
            head: about.head(),
            content,
        })
    }

    fn about(&self, event: &Value) -> String {
        let description = event["description"].as_str();
        let description = description.map(|it| format!("<p class=\"told\">{}</p>", escaped(it)));
        let names = [
            text(event, "venue"),
            text(event, "address"),
            text(event, "city"),
        ];
        let alt = self.poster_alt(event);
        let look = Look {
            alt: &alt,
            ..Look::default()
        };
        format!(
            "<section class=\"ticket event-about\">{}<div class=\"body\"><p class=\"badge\">{}</p>{}\
             <dl><dt>{}</dt><dd>{}</dd></dl></div></section>",
            poster(event, look),
            escaped(text(event, "category")),
            description.unwrap_or_default(),
            self.t("showing.where"),
            escaped(&place(&names)),
        )
    }

    pub(super) fn poster_alt(&self, event: &Value) -> String {
        let title = [("title", text(event, "title"))];
        self.words.with("poster.alt", &title)
    }

    fn entry(&self, event: &Value, show: &Value) -> String {
        let zone = event["timezone"].as_str().unwrap_or("UTC");
        let starts_at = text(show, "starts_at");
        let status = if self.is_past(starts_at) && text(show, "status") == "on_sale" {
            "completed"
        } else {
            text(show, "status")
        };
        let on_sale = show["on_sale_at"].as_str().filter(|at| !self.is_past(at));
        let said = match (status, on_sale) {
            ("sold_out", _) => self.t("state.sold_out"),
            ("completed", _) => self.t("state.completed"),
            ("cancelled", _) => self.t("state.cancelled"),
            (_, Some(at)) => {
                let when = moment_words(self.words, at, zone, Length::Short);
                escaped(&self.words.with("event.on_sale_from", &[("when", &when)]))
            }
            _ => Price::read(&show["from_price"]).map_or(String::new(), |it| self.from(it)),
        };
        format!(
            "<li><a href=\"/shows/{}\"><strong>{}</strong><span>{said}</span></a></li>",
            escaped(text(show, "show_id")),
            time(self.words, starts_at, zone, Length::Long),
        )
    }

    pub(super) fn is_past(&self, moment: &str) -> bool {
        let moment = onsale_domain::time::Millis::parse_rfc3339(moment);
        moment.is_some_and(|moment| moment <= self.host.now())
    }

    fn event_data(&self, event: &Value, shows: &[Value], id: &str) -> Value {
        let origin = self.origin.as_deref().unwrap_or("");
        let location = location(event, text(event, "venue"));
        let showings = shows.iter().take(SHOWS).map(|show| {
            let price = Price::read(&show["from_price"]);
            let showing = Showing {
                name: text(event, "title"),
                starts_at: text(show, "starts_at"),
                on_sale_at: show["on_sale_at"].as_str().filter(|at| !self.is_past(at)),
                status: text(show, "status"),
                prices: price.map(|price| (price, price)),
                location: &location,
                url: format!("{origin}/shows/{}", text(show, "show_id")),
            };
            showing.data()
        });
        let mut data = json!({
            "@context": "https://schema.org",
            "@type": "Event",
            "name": text(event, "title"),
            "location": location,
            "url": format!("{origin}/events/{id}"),
            "subEvent": showings.collect::<Vec<_>>(),
        });
        let starts = event["next_show_at"]
            .as_str()
            .or(shows.first().and_then(|show| show["starts_at"].as_str()));
        for (name, value) in [
            ("startDate", starts),
            ("description", event["description"].as_str()),
        ] {
            if let Some(value) = value {
                data[name] = value.into();
            }
        }
        if let Some(image) = super::values::poster_url(event, self.origin.as_deref()) {
            data["image"] = json!([image]);
        }
        data
    }
}
