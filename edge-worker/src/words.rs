//! The words of the pages that the edge renders, from the catalogues in `web/words`.

use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use onsale_domain::language::Language;

use crate::answer::cookie;
use crate::web::escaped;

/// Set by the language choice in the header of every page.
pub(crate) const LANGUAGE_COOKIE: &str = "onsale_language";

/// The catalogue of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(pub Language);

impl Words {
    /// The language that a reader chose, or else the one that their browser asks for.
    pub fn of(headers: &HeaderMap) -> Self {
        let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(|tag| tag.parse().ok());
        let accepted = headers.get(ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok());
        let preferred = || accepted.and_then(Language::preferred);
        Self(chosen.or_else(preferred).unwrap_or_default())
    }

    /// The word for this key. The key itself, should there be none: a test keeps that from
    /// happening.
    pub fn t(self, key: &'static str) -> &'static str {
        self.find(key).unwrap_or(key)
    }

    pub fn find(self, key: &str) -> Option<&'static str> {
        let tag = self.0.as_str();
        let index = onsale_web::LANGUAGES.iter().position(|it| *it == tag)?;
        onsale_web::words(key).map(|texts| texts[index])
    }

    /// The word with `{name}` replaced by the value of that name.
    pub fn with(self, key: &'static str, values: &[(&str, &str)]) -> String {
        let mut text = String::new();
        let mut rest = self.t(key);
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            let value = values.iter().find(|(known, _)| *known == name);
            text.push_str(value.map_or(name, |(_, value)| value));
            rest = tail;
        }
        text.push_str(rest);
        text
    }

    /// The word for this many: `key.one`, `key.other`. `{n}` is the number.
    pub fn counted(self, key: &str, n: u64) -> String {
        // French counts nothing as one.
        let is_one = n == 1 || (n == 0 && self.0.as_str() == "fr");
        let form = if is_one { "one" } else { "other" };
        let text = self.find(&format!("{key}.{form}")).unwrap_or_default();
        text.replace("{n}", &n.to_string())
    }

    /// One pass over a template. A placeholder is one of the values, which are HTML, or
    /// names a word; so a value that looks like a placeholder stays text.
    pub fn fill(self, template: &str, values: &[(&str, &str)]) -> String {
        let mut filled = String::with_capacity(template.len() + 1_024);
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((name, tail)) = after.split_once("}}") else {
                filled.push_str("{{");
                rest = after;
                continue;
            };
            if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
                filled.push_str(value);
            } else if let Some(word) = self.find(name) {
                filled.push_str(&escaped(word));
            }
            rest = tail;
        }
        filled.push_str(rest);
        filled
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_the_reader_chose_counts_more_than_what_the_browser_asks_for() {
        let mut headers = HeaderMap::new();
        assert_eq!(Words::of(&headers).0, Language::En);
        headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("de-AT,en;q=0.5"));
        assert_eq!(Words::of(&headers).0, Language::De);
        let chosen = HeaderValue::from_static("a=b; onsale_language=en");
        headers.insert(http::header::COOKIE, chosen);
        assert_eq!(Words::of(&headers).0, Language::En);
        let unknown = HeaderValue::from_static("onsale_language=xx");
        headers.insert(http::header::COOKIE, unknown);
        assert_eq!(Words::of(&headers).0, Language::De);
    }

    #[test]
    fn values_stand_where_the_word_names_them() {
        let words = Words(Language::De);
        assert_eq!(
            words.with("room.plain.number", &[("n", "{n}")]),
            "Sie sind Nummer {n} in der Schlange."
        );
    }

    #[test]
    fn a_template_says_its_words_and_no_value_becomes_a_placeholder() {
        let words = Words(Language::En);
        assert_eq!(
            words.fill("{{a}} {{site.my_tickets}}{{b}}{{", &[("a", "{{b}}")]),
            "{{b}} My tickets{{"
        );
    }
}
