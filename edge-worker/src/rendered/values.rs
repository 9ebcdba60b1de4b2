//! Values of the API as people read them: money, moments, places, posters.

use onsale_domain::money::{Cents, Currency};
use onsale_domain::time::Millis;
use serde_json::Value;

use crate::local_time::LocalTime;
use crate::web::escaped;
use crate::words::Words;

/// A text field.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("")
}

/// An amount and its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    pub amount: Cents,
    pub currency: Currency,
}

impl Price {
    pub fn read(value: &Value) -> Option<Self> {
        Some(Self {
            amount: Cents(value["amount"].as_u64()?),
            currency: Currency::parse(value["currency"].as_str()?)?,
        })
    }

    /// `45.00`, as machines read it.
    pub fn plain(self) -> String {
        let decimals = self.currency.decimals() as usize;
        let unit = 10u64.pow(self.currency.decimals());
        let (whole, rest) = (self.amount.0 / unit, self.amount.0 % unit);
        match decimals {
            0 => whole.to_string(),
            _ => format!("{whole}.{rest:0decimals$}"),
        }
    }

    /// `€1,045.00`, `1.045,00 €`: as people of this language read it.
    pub fn words(self, words: Words) -> String {
        let plain = self.plain();
        let (whole, rest) = plain.split_once('.').unwrap_or((&plain, ""));
        let (group, point) = match words.0.as_str() {
            "en" => (",", "."),
            "fr" => ("\u{202f}", ","),
            _ => (".", ","),
        };
        let mut number = grouped(whole, group);
        if !rest.is_empty() {
            number = format!("{number}{point}{rest}");
        }
        let symbol = match self.currency.as_str() {
            "EUR" => "€",
            "USD" => "$",
            "GBP" => "£",
            other => other,
        };
        if words.0.as_str() != "en" {
            format!("{number}\u{a0}{symbol}")
        } else if symbol.len() == 3 && symbol.is_ascii() {
            format!("{symbol}\u{a0}{number}")
        } else {
            format!("{symbol}{number}")
        }
    }
}

fn grouped(digits: &str, separator: &str) -> String {
    let mut all = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            all.push_str(separator);
        }
        all.push(digit);
    }
    all
}

/// A number of places.
pub(crate) fn number(words: Words, n: u64) -> String {
    let separator = match words.0.as_str() {
        "en" => ",",
        "fr" => "\u{202f}",
        _ => ".",
    };
    grouped(&n.to_string(), separator)
}

/// What is left of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// None is free, and none is reserved and may come back.
    SoldOut,
    Free(u64),
}

/// What is left of this section, if that is known.
pub(crate) fn left_in(places: Option<&Value>, section: &str) -> Option<Left> {
    let sections = places?["sections"].as_array()?;
    let found = sections.iter().find(|it| text(it, "name") == section)?;
    let free = found["free"].as_u64()?;
    let is_sold_out = free == 0 && found["held"].as_u64().unwrap_or(0) == 0;
    Some(if is_sold_out {
        Left::SoldOut
    } else {
        Left::Free(free)
    })
}

/// The lowest and the highest of some prices.
pub(crate) fn range(prices: impl Iterator<Item = Price>) -> Option<(Price, Price)> {
    prices.fold(None, |known, price| {
        let (lowest, highest) = known.unwrap_or((price, price));
        let lower = price.amount < lowest.amount;
        let higher = price.amount >= highest.amount;
        Some((
            if lower { price } else { lowest },
            if higher { price } else { highest },
        ))
    })
}

/// How much of a moment is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Long,
    Short,
}

/// A moment at the venue, as an element.
pub(crate) fn time(words: Words, moment: &str, zone: &str, length: Length) -> String {
    let at = moment_words(words, moment, zone, length);
    format!(
        "<time datetime=\"{}\">{}</time>",
        escaped(moment),
        escaped(&at)
    )
}

/// A moment at the venue: `Thursday 17 December 2026, 20:00`.
pub(crate) fn moment_words(words: Words, moment: &str, zone: &str, length: Length) -> String {
    let Some(at) = Millis::parse_rfc3339(moment) else {
        return moment.to_owned();
    };
    let at = LocalTime::at(at, zone);
    let (form, weekdays, months) = match length {
        Length::Long => ("date.long", "date.weekdays", "date.months"),
        Length::Short => ("date.short", "date.weekdays.short", "date.months.short"),
    };
    let nth = |key, index: usize| words.t(key).split(',').nth(index).unwrap_or("");
    words.with(
        form,
        &[
            ("weekday", nth(weekdays, at.weekday())),
            ("day", &at.day.to_string()),
            ("month", nth(months, usize::from(at.month) - 1)),
            ("year", &at.year.to_string()),
            ("time", &format!("{:02}:{:02}", at.hour, at.minute)),
        ],
    )
}

/// Names that say the same are said once.
pub(crate) fn place(names: &[&str]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        if !all.contains(name) {
            all.push(name);
        }
    }
    all.join(", ")
}

/// How a page shows the picture of a poster. Its box has its size before the picture is
/// there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look<'a> {
    /// A class besides, after a space.
    pub class: &'a str,
    /// Empty where the title stands beside it.
    pub alt: &'a str,
    pub is_lazy: bool,
}

/// The poster that was uploaded, if there is one.
pub(crate) fn picture(event: &Value, look: Look<'_>) -> Option<String> {
    let Look { class, alt, .. } = look;
    let lazy = if look.is_lazy {
        " loading=\"lazy\""
    } else {
        ""
    };
    Some(format!(
        "<img class=\"poster{class}\" src=\"{}\" alt=\"{}\" width=\"600\" height=\"400\"{lazy}>",
        escaped(own_path(event)?),
        escaped(alt)
    ))
}

/// The poster that was uploaded, or one made of the title.
pub(crate) fn poster(event: &Value, look: Look<'_>) -> String {
    let title = text(event, "title");
    if let Some(picture) = picture(event, look) {
        return picture;
    }
    let look = title.encode_utf16().map(u32::from).sum::<u32>() % 6;
    format!(
        "<span class=\"poster look-{look}\" aria-hidden=\"true\"><span>{}</span></span>",
        escaped(title)
    )
}

/// The whole address of the poster that was uploaded, for those who read elsewhere.
pub(crate) fn poster_url(event: &Value, origin: Option<&str>) -> Option<String> {
    Some(format!("{}{}", origin?, own_path(event)?))
}

/// Pages load pictures of their own origin only, so a poster elsewhere does not count.
fn own_path(event: &Value) -> Option<&str> {
    let url = event["poster_url"].as_str()?;
    (url.starts_with('/') && !url.starts_with("//")).then_some(url)
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;
    use serde_json::json;

    use super::*;

    #[test]
    fn money_is_written_as_the_reader_writes_it() {
        let price = |amount: u64, currency: &str| {
            Price::read(&json!({"amount": amount, "currency": currency})).unwrap()
        };
        let (en, de) = (Words(Language::En), Words(Language::De));
        assert_eq!(price(4_500, "EUR").words(en), "€45.00");
        assert_eq!(price(123_456_789, "EUR").words(de), "1.234.567,89\u{a0}€");
        assert_eq!(price(4_500, "CHF").words(en), "CHF\u{a0}45.00");
        assert_eq!(price(4_500, "JPY").words(de), "4.500\u{a0}JPY");
        assert_eq!(price(5, "USD").plain(), "0.05");
        assert!(Price::read(&json!({"amount": -1, "currency": "EUR"})).is_none());
        assert!(Price::read(&json!(null)).is_none());
    }

    #[test]
    fn a_range_goes_from_the_lowest_price_to_the_highest() {
        let price =
            |amount: u64| Price::read(&json!({"amount": amount, "currency": "EUR"})).unwrap();
        let of = |amounts: &[u64]| range(amounts.iter().map(|amount| price(*amount)));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[20]), Some((price(20), price(20))));
        assert_eq!(of(&[20, 10, 30, 10]), Some((price(10), price(30))));
    }

    #[test]
    fn a_moment_is_told_in_the_language_of_the_reader_and_the_time_of_the_venue() {
        let at = |language, length| {
            let words = Words(language);
            moment_words(words, "2026-12-17T19:00:00Z", "Europe/Berlin", length)
        };
        assert_eq!(
            at(Language::En, Length::Long),
            "Thursday 17 December 2026, 20:00"
        );
        assert_eq!(
            at(Language::De, Length::Long),
            "Donnerstag, 17. Dezember 2026, 20:00 Uhr"
        );
        assert_eq!(at(Language::En, Length::Short), "Thu, 17 Dec 2026, 20:00");
    }

    #[test]
    fn a_poster_is_the_organisers_or_made_of_the_title() {
        let event = |url: &str| json!({"title": "A<b", "poster_url": url});
        let look = Look {
            alt: "A<b",
            is_lazy: true,
            ..Look::default()
        };
        let of = |url: &str| poster(&event(url), look);
        assert_eq!(
            of("/\"x"),
            "<img class=\"poster\" src=\"/&quot;x\" alt=\"A&lt;b\" width=\"600\" height=\"400\" loading=\"lazy\">"
        );
        let origin = Some("https://a.example");
        let whole = poster_url(&event("/x"), origin);
        assert_eq!(whole.as_deref(), Some("https://a.example/x"));
        assert_eq!(poster_url(&event("/x"), None), None);
        for other in [
            "javascript:alert(1)",
            "https://b.example/x",
            "//b.example/x",
        ] {
            assert_eq!(poster_url(&event(other), origin), None, "{other}");
            // 65 + 60 + 98 = 223, and 223 mod 6 is 1.
            assert_eq!(
                of(other),
                "<span class=\"poster look-1\" aria-hidden=\"true\"><span>A&lt;b</span></span>"
            );
        }
    }

    #[test]
    fn a_section_is_sold_out_only_if_no_place_is_free_or_reserved() {
        let places = json!({"sections": [
            {"name": "A", "free": 0, "held": 0, "sold": 9},
            {"name": "B", "free": 0, "held": 2, "sold": 7},
            {"name": "C", "free": 3, "held": 0, "sold": 0},
        ]});
        let left = |section| left_in(Some(&places), section);
        assert_eq!(left("A"), Some(Left::SoldOut));
        assert_eq!(left("B"), Some(Left::Free(0)));
        assert_eq!(left("C"), Some(Left::Free(3)));
        assert_eq!(left("D"), None);
        assert_eq!(left_in(None, "A"), None);
    }

    #[test]
    fn a_place_does_not_repeat_itself() {
        assert_eq!(place(&["Hall", "", "Bern", "Bern"]), "Hall, Bern");
    }
}
