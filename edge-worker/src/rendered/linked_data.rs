//! What search engines and messengers read: Open Graph, and schema.org as JSON-LD.

use onsale_web::VERSION;
use serde_json::{Value, json};

use super::values::{Price, poster_url, text};
use crate::web::escaped;

/// Messengers show about as much.
const MAX_DESCRIPTION: usize = 200;

/// What the head of a page says about itself.
pub(super) struct About<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub event: &'a Value,
    pub origin: Option<&'a str>,
    /// The one address of this page, without the origin.
    pub path: &'a str,
    /// schema.org.
    pub data: Value,
}

impl About<'_> {
    pub fn head(&self) -> String {
        let description = cut(self.description);
        let mut head = String::new();
        let mut meta = |kind: &str, name: &str, content: &str| {
            if !content.is_empty() {
                let content = escaped(content);
                head += &format!("<meta {kind}=\"{name}\" content=\"{content}\">\n");
            }
        };
        meta("name", "description", &description);
        meta("property", "og:type", "website");
        meta("property", "og:site_name", "Onsale");
        meta("property", "og:title", self.title);
        meta("property", "og:description", &description);
        let ours = || Some(format!("{}/assets/{VERSION}/share.png", self.origin?));
        let picture = poster_url(self.event, self.origin).or_else(ours);
        meta("property", "og:image", &picture.unwrap_or_default());
        meta("name", "twitter:card", "summary_large_image");
        if let Some(origin) = self.origin {
            let url = format!("{origin}{}", self.path);
            meta("property", "og:url", &url);
            head += &format!("<link rel=\"canonical\" href=\"{}\">\n", escaped(&url));
        }
        head + &block("application/ld+json", &self.data)
    }
}

/// A block of data in a page: no script, whatever is in it.
fn block(kind: &str, data: &Value) -> String {
    let data = data.to_string().replace('<', "\\u003c");
    format!("<script type=\"{kind}\">{data}</script>\n")
}

/// The beginning of a text, in one line.
fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A place of schema.org.
pub(super) fn location(venue: &Value, name: &str) -> Value {
    let mut address = json!({"@type": "PostalAddress", "addressLocality": text(venue, "city")});
    if let Some(street) = venue["address"].as_str() {
        address["streetAddress"] = street.into();
    }
    json!({"@type": "Place", "name": name, "address": address})
}

/// A show of schema.org.
pub(super) struct Showing<'a> {
    pub name: &'a str,
    pub starts_at: &'a str,
    pub on_sale_at: Option<&'a str>,
    pub status: &'a str,
    pub prices: Option<(Price, Price)>,
    pub location: &'a Value,
    /// Its page, whole.
    pub url: String,
}

impl Showing<'_> {
    pub fn data(&self) -> Value {
        let status = if self.status == "cancelled" {
            "EventCancelled"
        } else {
            "EventScheduled"
        };
        let mut data = json!({
            "@type": "Event",
            "name": self.name,
            "startDate": self.starts_at,
            "eventStatus": format!("https://schema.org/{status}"),
            "eventAttendanceMode": "https://schema.org/OfflineEventAttendanceMode",
            "location": self.location,
            "url": self.url,
        });
        if let Some((low, high)) = self.prices {
            let availability = match (self.status, self.on_sale_at) {
                ("on_sale", None) => "InStock",
                ("on_sale", Some(_)) => "PreOrder",
                _ => "SoldOut",
            };
            data["offers"] = json!({
                "@type": "AggregateOffer",
                "lowPrice": low.plain(),
                "highPrice": high.plain(),
                "priceCurrency": low.currency.as_str(),
                "availability": format!("https://schema.org/{availability}"),
                "url": self.url,
            });
            if let Some(moment) = self.on_sale_at {
                data["offers"]["validFrom"] = moment.into();
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_an_organiser_ends_a_block_or_an_attribute() {
        let event = json!({"poster_url": "/p\"><script>"});
        let about = About {
            title: "\"><script>alert(1)</script>",
            description: "a\n  </script><b>",
            event: &event,
            origin: Some("https://a.example"),
            path: "/events/x",
            data: json!({"name": "</script><script>alert(1)</script>"}),
        };
        let head = about.head();
        assert_eq!(head.matches("<script").count(), 1, "{head}");
        assert_eq!(head.matches("</script>").count(), 1, "{head}");
        assert!(
            head.contains("content=\"a &lt;/script&gt;&lt;b&gt;\""),
            "{head}"
        );
        let canonical = "<link rel=\"canonical\" href=\"https://a.example/events/x\">";
        assert!(head.contains(canonical), "{head}");
    }

    #[test]
    fn a_long_description_is_cut_between_characters() {
        let long = "ü ".repeat(300);
        let cut = cut(&long);
        assert!(cut.ends_with("ü…"), "{cut}");
        assert!(cut.chars().count() <= MAX_DESCRIPTION + 1);
    }
}
