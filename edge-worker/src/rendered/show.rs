//! A show: when, where, what it costs, how it stands, and the next step.

use futures_util::future::join3;
use onsale_domain::ids::ShowId;
use serde_json::{Value, json};

use super::linked_data::{About, Showing, location};
use super::values::{
    Left, Length, Look, Price, left_in, moment_words, number, picture, place, range, text, time,
};
use super::{Reading, Rendered, Rendering};
use crate::catalogue::Told;
use crate::host::Host;
use crate::web::escaped;

/// Everything that is known of a show.
struct Known<'a> {
    id: &'a str,
    show: &'a Value,
    event: &'a Value,
    venue: &'a Value,
    is_numbered: bool,
    free: Option<&'a Value>,
}

impl Known<'_> {
    fn zone(&self) -> &str {
        self.venue["timezone"].as_str().unwrap_or("UTC")
    }

    fn venue_name(&self) -> &str {
        // The event's own answer has the name of its venue there.
        let name = self.venue["name"].as_str();
        name.unwrap_or_else(|| text(self.venue, "venue"))
    }

    fn prices(&self) -> Vec<(&str, Price)> {
        let prices = self.show["prices"].as_object().into_iter().flatten();
        prices
            .filter_map(|(section, price)| Some((section.as_str(), Price::read(price)?)))
            .collect()
    }
}

/// What a card of the page says and offers.
#[derive(Default)]
struct Card {
    kind: &'static str,
    badge: &'static str,
    headline: &'static str,
    /// HTML between the headline and the facts.
    before: String,
    /// HTML between the facts and the links.
    after: String,
    links: String,
    stub: String,
}

impl<H: Host> Reading<'_, H> {
    pub(super) async fn show(&self, id: &str) -> Rendering {
        if id.parse::<ShowId>().is_err() {
            return Rendering::Missing;
        }
        let (edge, host) = (self.edge, self.host);
        let places_path = format!("/api/v1/shows/{id}/availability");
        let (show, free, is_numbered) = join3(
            edge.told_show(host, id),
            edge.told(host, &places_path),
            edge.is_numbered(host, id),
        )
        .await;
        let show = match show {
            Told::Found(show) => show,
            Told::Missing => return self.missing(),
            Told::Silent => return Rendering::Left,
        };
        let event_path = format!("/api/v1/events/{}", text(&show, "event_id"));
        let asked = match show["event"].is_object() {
            true => None,
            false => match edge.told(host, &event_path).await {
                Told::Found(event) => Some(event),
                Told::Missing | Told::Silent => return Rendering::Left,
            },
        };
        let free = match &free {
            Told::Found(free) => Some(&**free),
            Told::Missing | Told::Silent => None,
        };
        let known = Known {
            id,
            show: &show,
            event: asked.as_deref().unwrap_or(&show["event"]),
            venue: asked.as_deref().unwrap_or(&show["venue"]),
            is_numbered,
            free,
        };
        Rendering::Done(self.rendered(&known))
    }

    /// Whether there is such a show, for pages whose module asks for everything else.
    pub(super) async fn of_show(&self, id: &str) -> Rendering {
        if id.parse::<ShowId>().is_err() {
            return Rendering::Missing;
        }
        match self.edge.told_show(self.host, id).await {
            Told::Missing => self.missing(),
            Told::Found(_) | Told::Silent => Rendering::Left,
        }
    }

    fn rendered(&self, known: &Known<'_>) -> Rendered {
        let title = text(known.event, "title");
        let card = self.summary(known);
        let is_over = ["bad", "over"].contains(&card.kind);
        let alt = self.poster_alt(known.event);
        let banner = Look {
            class: " banner",
            alt: &alt,
            ..Look::default()
        };
        let mut content = picture(known.event, banner).unwrap_or_default();
        let has_form = card.headline == "show.sold_out";
        content += &self.card_html(known, card);
        if has_form {
            // The script puts the form of the waitlist here. Styles keep its room until then.
            content += "<div class=\"stack\"></div>\n";
        }
        if !is_over {
            content += &self.prices(known);
        }
        let zone = known.zone();
        let starts_at = text(known.show, "starts_at");
        let description = text(known.event, "description");
        let when = moment_words(self.words, starts_at, zone, Length::Long);
        let summary = place(&[&when, known.venue_name(), text(known.venue, "city")]);
        let summary = match description.is_empty() {
            true => summary,
            false => format!("{summary}. {description}"),
        };
        let about = About {
            title,
            description: &summary,
            event: known.event,
            origin: self.origin.as_deref(),
            path: &format!("/shows/{}", known.id),
            data: self.show_data(known),
        };
        Rendered {
            title: title.to_owned(),
            head: about.head(),
            content,
        }
    }

    /// How the show stands, and what its reader does next.
    fn summary(&self, known: &Known<'_>) -> Card {
        let show = known.show;
        let (id, status) = (known.id, text(show, "status"));
        let event = text(show, "event_id");
        let event = if event.is_empty() {
            text(known.event, "event_id")
        } else {
            event
        };
        let to_event = self.link(&format!("/events/{event}"), "show.all_dates", " plain");
        if status == "cancelled" {
            let what = self.t("show.cancelled.what");
            return Card {
                kind: "bad",
                badge: "state.cancelled",
                headline: "show.cancelled",
                before: format!("<p>{what}</p>"),
                links: self.link("/orders", "show.my_tickets", " plain") + &to_event,
                ..Card::default()
            };
        }
        let description = known.event["description"].as_str();
        let told = description.map(|it| format!("<p class=\"told\">{}</p>", escaped(it)));
        let before = told.unwrap_or_default();
        if status == "completed" || self.is_past(text(show, "starts_at")) {
            return Card {
                kind: "over",
                badge: "state.completed",
                headline: "show.over",
                before,
                links: to_event,
                ..Card::default()
            };
        }
        if status == "sold_out" {
            return Card {
                badge: "state.sold_out",
                headline: "show.sold_out",
                before,
                after: format!(
                    "<noscript><p>{}</p></noscript>",
                    self.t("site.needs_script.what")
                ),
                links: to_event,
                ..Card::default()
            };
        }
        let mode = text(&show["room"], "mode");
        let has_room = !matches!(mode, "off" | "");
        let after = match has_room {
            true => format!("<p>{}</p>", self.t("show.room.what")),
            false => String::new(),
        };
        let to_room = self.link(&format!("/room/{id}"), "show.room", "");
        let on_sale = show["on_sale_at"].as_str().filter(|at| !self.is_past(at));
        if let Some(moment) = on_sale {
            let when = time(self.words, moment, known.zone(), Length::Short);
            let label = self.t("show.on_sale_from");
            return Card {
                badge: "show.soon",
                headline: "show.soon.headline",
                before,
                after,
                links: if has_room {
                    to_room + &to_event
                } else {
                    to_event
                },
                stub: format!("<p class=\"stub\"><span>{label}</span> <strong>{when}</strong></p>"),
                ..Card::default()
            };
        }
        if mode == "closed" {
            return Card {
                headline: "show.paused",
                before,
                after: format!("<p>{}</p>", self.t("show.paused.what")),
                links: to_event,
                ..Card::default()
            };
        }
        let seats = if known.is_numbered {
            "show.seats"
        } else {
            "show.tickets"
        };
        let next = match has_room {
            true => to_room,
            false => self.link(&format!("/shows/{id}/seats"), seats, ""),
        };
        Card {
            kind: "good",
            badge: "show.on_sale",
            headline: "show.on_sale.headline",
            before,
            after,
            links: next + &to_event,
            ..Card::default()
        }
    }

    fn card_html(&self, known: &Known<'_>, card: Card) -> String {
        let zone = known.zone();
        let names = [
            known.venue_name(),
            text(known.venue, "address"),
            text(known.venue, "city"),
        ];
        let on_sale = known.show["on_sale_at"].as_str();
        let on_sale = on_sale.filter(|at| !self.is_past(at)).map(|at| {
            let when = time(self.words, at, zone, Length::Long);
            format!("<dt>{}</dt><dd>{when}</dd>", self.t("show.on_sale_from"))
        });
        let kind = card.kind.replace("over", "");
        let badge = match card.badge {
            "" => String::new(),
            badge => format!("<p class=\"badge\">{}</p>", self.t(badge)),
        };
        format!(
            "<section class=\"ticket {kind}\"><div class=\"body\">{badge}<h2 tabindex=\"-1\">{}</h2>{}\
             <dl><dt>{}</dt><dd>{}</dd><dt>{}</dt><dd>{}</dd>{}</dl>{}<div class=\"row\">{}</div></div>{}</section>\n",
            self.t(card.headline),
            card.before,
            self.t("showing.when"),
            time(
                self.words,
                text(known.show, "starts_at"),
                zone,
                Length::Long
            ),
            self.t("showing.where"),
            escaped(&place(&names)),
            on_sale.unwrap_or_default(),
            card.after,
            card.links,
            card.stub,
        )
    }

    fn link(&self, path: &str, label: &'static str, kind: &str) -> String {
        let (path, label) = (escaped(path), self.t(label));
        format!("<a class=\"button{kind}\" href=\"{path}\">{label}</a>")
    }

    fn prices(&self, known: &Known<'_>) -> String {
        let line = |(section, price): &(&str, Price)| {
            let free = match left_in(known.free, section) {
                None => String::new(),
                Some(Left::SoldOut) => self.t("state.sold_out"),
                Some(Left::Free(n)) => number(self.words, n),
            };
            let (section, price) = (escaped(section), escaped(&price.words(self.words)));
            format!(
                "<tr><th scope=\"row\">{section}</th><td>{price}</td><td data-section=\"{section}\">{free}</td></tr>"
            )
        };
        let lines: String = known.prices().iter().map(line).collect();
        format!(
            "<section class=\"ticket\"><div class=\"body\"><h2>{}</h2><table><thead><tr><th scope=\"col\">{}</th>\
             <th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead><tbody>{lines}</tbody></table></div></section>",
            self.t("show.prices"),
            self.t("show.section"),
            self.t("show.price"),
            self.t("show.free"),
        )
    }

    fn show_data(&self, known: &Known<'_>) -> Value {
        let origin = self.origin.as_deref().unwrap_or("");
        let location = location(known.venue, known.venue_name());
        let prices = known.prices();
        let on_sale = known.show["on_sale_at"].as_str();
        let showing = Showing {
            name: text(known.event, "title"),
            starts_at: text(known.show, "starts_at"),
            on_sale_at: on_sale.filter(|at| !self.is_past(at)),
            status: text(known.show, "status"),
            prices: range(prices.into_iter().map(|(_, price)| price)),
            location: &location,
            url: format!("{origin}/shows/{}", known.id),
        };
        let mut data = showing.data();
        data["@context"] = "https://schema.org".into();
        if let Some(description) = known.event["description"].as_str() {
            data["description"] = description.into();
        }
        if let Some(image) = super::values::poster_url(known.event, self.origin.as_deref()) {
            data["image"] = json!([image]);
        }
        data
    }
}
