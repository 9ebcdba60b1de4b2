//! What every page has: head, header with the choice of language, main part and footer.
//!
//! Classes: `skip`, `site` (header and footer), `home`, `languages`, `unseen`.

use http::header::{CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY};
use http::{HeaderValue, StatusCode};
use onsale_domain::language::Language;
use onsale_web::templates::PAGE;
use onsale_web::{Page, VERSION};

use crate::answer::Answer;
use crate::web::{self, escaped};
use crate::words::Words;

/// The address of each legal page, and its word.
pub(crate) const LEGAL: &[(&str, &str)] = &[
    ("imprint", "site.imprint"),
    ("terms", "site.terms"),
    ("privacy", "site.privacy"),
    ("accessibility", "site.accessibility"),
];

/// A page before it is written.
#[derive(Debug)]
pub(crate) struct Shell<'a> {
    pub words: Words,
    /// `data-page` of its body.
    pub name: &'a str,
    /// Its files, where it has some of its own.
    pub files: Option<&'static Page>,
    /// Text, not HTML.
    pub title: &'a str,
    /// Where the choice of another language leads back to.
    pub path: &'a str,
    /// HTML of the head, beside the files.
    pub head: &'a str,
    /// HTML of the main part.
    pub main: &'a str,
    /// Whether search engines may list it.
    pub is_public: bool,
    /// Whether its address may be a secret, which no other address is told.
    pub is_secret: bool,
    /// In place of the usual content security policy.
    pub policy: Option<String>,
}

impl<'a> Shell<'a> {
    pub fn new(words: Words, name: &'a str, title: &'a str, path: &'a str) -> Self {
        Self {
            words,
            name,
            files: onsale_web::page(name),
            title,
            path,
            head: "",
            main: "",
            is_public: false,
            is_secret: false,
            policy: None,
        }
    }

    pub fn answer(&self, status: StatusCode) -> Answer {
        let mut answer = web::html(status, self.html());
        let language = self.words.0.as_str();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language));
        headers.insert(VARY, HeaderValue::from_static("Accept-Language, Cookie"));
        if self.is_secret {
            // The address of a page may be a secret, which is nobody's business: not even
            // the files and the API are told where they are asked from.
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        let policy = self.policy.as_deref();
        if let Some(policy) = policy.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(CONTENT_SECURITY_POLICY, policy);
        }
        answer
    }

    fn html(&self) -> String {
        let t = |key| escaped(self.words.t(key));
        self.words.fill(
            PAGE,
            &[
                ("lang", self.words.0.as_str()),
                ("title", &escaped(self.title)),
                ("head", &self.head()),
                ("page", self.name),
                ("skip", &t("site.skip")),
                ("menu", &t("site.main")),
                ("my_tickets", &t("site.my_tickets")),
                ("path", &escaped(self.path)),
                ("language", &t("site.language")),
                ("languages", &self.languages()),
                ("change", &t("site.change")),
                ("main", self.main),
                ("legal", &t("site.legal")),
                ("legal_links", &self.legal_links()),
            ],
        )
    }

    fn head(&self) -> String {
        let mut head = self.head.to_owned();
        if !self.is_public {
            head += "<meta name=\"robots\" content=\"noindex\">\n";
        }
        head += &format!("<link rel=\"icon\" href=\"/assets/{VERSION}/icon.svg\">\n");
        let styles = self.files.map_or(PLAIN_STYLES, |files| files.styles);
        for style in styles {
            head += &format!("<link rel=\"stylesheet\" href=\"/assets/{VERSION}/{style}\">\n");
        }
        let Some(files) = self.files else {
            return head;
        };
        for import in files.imports {
            head += &format!("<link rel=\"modulepreload\" href=\"/assets/{VERSION}/{import}\">\n");
        }
        let script = |path: &str| {
            format!("<script type=\"module\" src=\"/assets/{VERSION}/{path}\"></script>\n")
        };
        if files.has_words {
            head += &script(&format!("words/{}.{}.js", files.name, self.words.0));
        }
        head + &script(files.module)
    }

    /// Each language in its own words.
    fn languages(&self) -> String {
        let option = |language: Language| {
            let tag = language.as_str();
            let chosen = if language == self.words.0 {
                " selected"
            } else {
                ""
            };
            let name = match tag {
                "de" => "Deutsch",
                "fr" => "Français",
                "es" => "Español",
                _ => "English",
            };
            format!("<option value=\"{tag}\" lang=\"{tag}\"{chosen}>{name}</option>")
        };
        Language::ALL.into_iter().map(option).collect()
    }

    fn legal_links(&self) -> String {
        let link = |(path, word): &(&str, &'static str)| {
            format!("<a href=\"/{path}\">{}</a>", escaped(self.words.t(word)))
        };
        LEGAL.iter().map(link).collect()
    }
}

/// Of pages that have no module.
const PLAIN_STYLES: &[&str] = &["tokens.css", "page.css"];
