//! What the operator of a site says about it, beside its secrets: legal texts, and keys
//! that are public.

use crate::shell::LEGAL;

/// Turnstile, whose protocol the edge speaks with the service.
pub(crate) const CAPTCHA_ORIGIN: &str = "https://challenges.cloudflare.com";
/// Longer texts have a page of their own somewhere.
const MAX_TEXT: usize = 200_000;

/// A legal text of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegalText {
    /// Paragraphs are separated by empty lines.
    Text(String),
    /// It is read there.
    At(String),
}

#[derive(Debug, Clone, Default)]
pub struct Site {
    /// By its address: `imprint`, `terms`, `privacy`, `accessibility`.
    pub(crate) legal: Vec<(&'static str, LegalText)>,
    /// The key that Stripe's script in the browser is started with. With it the checkout
    /// page may load that script.
    pub stripe_publishable_key: Option<String>,
    /// The key that the CAPTCHA's widget is started with.
    pub captcha_site_key: Option<String>,
}

impl Site {
    /// `given` knows the settings by name: `ONSALE_IMPRINT` and the other three, as text, as
    /// an address, or as `file:` and a path, which `file` reads;
    /// `ONSALE_STRIPE_PUBLISHABLE_KEY`, or `STRIPE_PUBLISHABLE_KEY` as the functions have it;
    /// `ONSALE_CAPTCHA_SITE_KEY`.
    pub fn read(
        given: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let given = |name: &str| given(name).filter(|text| !text.trim().is_empty());
        let mut legal = Vec::new();
        for (path, _) in LEGAL {
            let name = format!("ONSALE_{}", path.to_ascii_uppercase());
            let Some(text) = given(&name) else { continue };
            let text = text.trim();
            let text = if let Some(path) = text.strip_prefix("file:") {
                LegalText::Text(file(path).map_err(|why| format!("{name}: {why}"))?)
            } else if text.starts_with("https://") && !text.contains(char::is_whitespace) {
                LegalText::At(text.to_owned())
            } else {
                LegalText::Text(text.to_owned())
            };
            if matches!(&text, LegalText::Text(text) if text.len() > MAX_TEXT) {
                return Err(format!("{name} has more than {MAX_TEXT} bytes"));
            }
            legal.push((*path, text));
        }
        let key = |name: &str| match given(name) {
            Some(key) if !is_key(&key) => Err(format!("{name} is not a key")),
            other => Ok(other),
        };
        Ok(Self {
            legal,
            stripe_publishable_key: key("ONSALE_STRIPE_PUBLISHABLE_KEY")?
                .or(key("STRIPE_PUBLISHABLE_KEY")?),
            captcha_site_key: key("ONSALE_CAPTCHA_SITE_KEY")?,
        })
    }

    /// As the environment of this process says it.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn from_env() -> Result<Self, String> {
        let file = |path: &str| {
            std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))
        };
        Self::read(|name| std::env::var(name).ok(), file)
    }

    /// The policy of the checkout page: Stripe's card form comes from Stripe, so that no card
    /// number is ever ours. The origins are those of <https://docs.stripe.com/security/guide>.
    /// `None`: the usual policy will do.
    pub(crate) fn checkout_policy(&self) -> Option<String> {
        self.stripe_publishable_key.as_ref()?;
        let policy = onsale_web::POLICY
            .replace(
                "script-src 'self'",
                "script-src 'self' https://js.stripe.com https://*.js.stripe.com",
            )
            .replace(
                "connect-src 'self'",
                "connect-src 'self' https://api.stripe.com",
            );
        let frames = "https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com";
        Some(format!("{policy}; frame-src {frames}"))
    }

    /// The policy of the waiting room: where a CAPTCHA is configured, its widget comes from
    /// its service. `None`: the usual policy will do.
    pub(crate) fn room_policy(&self) -> Option<String> {
        self.captcha_site_key.as_ref()?;
        let script = format!("script-src 'self' {CAPTCHA_ORIGIN}");
        let policy = onsale_web::POLICY.replace("script-src 'self'", &script);
        Some(format!("{policy}; frame-src {CAPTCHA_ORIGIN}"))
    }

    pub(crate) fn legal(&self, path: &str) -> Option<&LegalText> {
        let found = self.legal.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| text)
    }
}

fn is_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    text.len() <= 200 && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Site, String> {
        let given = |name: &str| {
            let found = settings.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Site::read(given, |path| match path {
            "known" => Ok("from a file".to_owned()),
            _ => Err("not there".to_owned()),
        })
    }

    #[test]
    fn a_legal_text_is_a_text_or_a_file_or_an_address() {
        let site = read(&[
            ("ONSALE_IMPRINT", "A street & a house"),
            ("ONSALE_TERMS", "file:known"),
            ("ONSALE_PRIVACY", "https://example.org/privacy"),
            ("ONSALE_ACCESSIBILITY", " "),
        ])
        .unwrap();
        let text = |text: &str| Some(LegalText::Text(text.to_owned()));
        assert_eq!(site.legal("imprint").cloned(), text("A street & a house"));
        assert_eq!(site.legal("terms").cloned(), text("from a file"));
        let at = LegalText::At("https://example.org/privacy".to_owned());
        assert_eq!(site.legal("privacy"), Some(&at));
        assert_eq!(site.legal("accessibility"), None);
        assert!(read(&[("ONSALE_TERMS", "file:unknown")]).is_err());
        assert!(read(&[("ONSALE_IMPRINT", &"x".repeat(MAX_TEXT + 1))]).is_err());
    }

    #[test]
    fn a_key_cannot_change_a_header_or_a_page() {
        for name in ["ONSALE_STRIPE_PUBLISHABLE_KEY", "STRIPE_PUBLISHABLE_KEY"] {
            let key = read(&[(name, "pk_test_1")]).unwrap().stripe_publishable_key;
            assert_eq!(key.as_deref(), Some("pk_test_1"));
        }
        assert!(read(&[("ONSALE_STRIPE_PUBLISHABLE_KEY", "pk; script-src *")]).is_err());
        assert!(read(&[("ONSALE_CAPTCHA_SITE_KEY", "\"><script>")]).is_err());
    }
}
