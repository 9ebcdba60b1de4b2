//! Imprint, terms, privacy and accessibility: texts of the operator, from settings.

use http::StatusCode;

use crate::answer::Answer;
use crate::edge::Edge;
use crate::shell::{LEGAL, Shell};
use crate::site::LegalText;
use crate::web::escaped;
use crate::words::Words;

fn found(path: &str) -> Option<&'static (&'static str, &'static str)> {
    let name = path.strip_prefix('/')?;
    LEGAL.iter().find(|(known, _)| *known == name)
}

pub(crate) fn is_at(path: &str) -> bool {
    found(path).is_some()
}

pub(crate) fn answer(edge: &Edge, words: Words, path: &str) -> Option<Answer> {
    let (name, title) = found(path)?;
    let title = words.t(title);
    let text = match edge.site.legal(name) {
        Some(LegalText::Text(text)) => paragraphs(text),
        Some(LegalText::At(address)) => format!(
            "<p><a class=\"button\" href=\"{}\" rel=\"noopener\">{}</a></p>",
            escaped(address),
            escaped(words.t("site.read_there"))
        ),
        None => format!("<p>{}</p>", escaped(words.t("site.not_provided"))),
    };
    let main = format!(
        "<h1 id=\"title\">{}</h1>\n<div class=\"text\">{text}</div>",
        escaped(title)
    );
    let shell = Shell {
        main: &main,
        ..Shell::new(words, name, title, path)
    };
    Some(shell.answer(StatusCode::OK))
}

/// Paragraphs are separated by empty lines; a line break within one stays.
pub(crate) fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let parts = text.split("\n\n").map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts
        .map(|part| format!("<p>{}</p>", escaped(part).replace('\n', "<br>")))
        .collect()
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;

    use super::*;
    use crate::site::Site;

    #[test]
    fn a_legal_page_has_the_text_of_the_operator_and_nothing_else_in_it_is_html() {
        let given = |name: &str| match name {
            "ONSALE_IMPRINT" => Some("A <b>house</b>\nA street\n\nA city".to_owned()),
            "ONSALE_TERMS" => Some("https://example.org/?a=1&b=2".to_owned()),
            _ => None,
        };
        let site = Site::read(given, |_| Err(String::new())).unwrap();
        let edge = Edge::for_tests(site);
        let text = |path: &str| {
            let page = answer(&edge, Words(Language::En), path).unwrap();
            String::from_utf8(page.into_body()).unwrap()
        };
        let imprint = text("/imprint");
        assert!(
            imprint.contains("<p>A &lt;b&gt;house&lt;/b&gt;<br>A street</p><p>A city</p>"),
            "{imprint}"
        );
        assert!(text("/terms").contains("href=\"https://example.org/?a=1&amp;b=2\""));
        assert!(text("/privacy").contains("has not provided this text yet"));
        assert!(answer(&edge, Words(Language::En), "/other").is_none());
    }
}
