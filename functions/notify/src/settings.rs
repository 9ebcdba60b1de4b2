//! How mails look and where they lead, from the environment.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::ids::ResetId;
use onsale_mails::{ResetTokens, Settings};
use sha2::Sha256;

/// `MAIL_SENDER` (`Name <address>`), `PUBLIC_BASE_URL`, `MAIL_LANGUAGE` (en, unless said
/// otherwise) and `RESET_KEYS`, without which nobody gets a link that sets a password.
pub fn settings(value: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
    let set = |name: &str| value(name).filter(|text| !text.is_empty());
    let need = |name: &str| set(name).ok_or_else(|| format!("{name} is not set"));
    let sender = need("MAIL_SENDER")?;
    let base_url = need("PUBLIC_BASE_URL")?;
    if !base_url.starts_with("https://") && !base_url.starts_with("http://") {
        return Err("PUBLIC_BASE_URL: an http or https address".to_owned());
    }
    let language = set("MAIL_LANGUAGE").unwrap_or_else(|| "en".to_owned());
    Ok(Settings {
        sender: sender.parse().map_err(|e| format!("MAIL_SENDER: {e}"))?,
        base_url,
        language: language
            .parse()
            .map_err(|e| format!("MAIL_LANGUAGE: {e}"))?,
        reset_tokens: set("RESET_KEYS").map(|key| Arc::new(ResetKey::new(key)) as _),
    })
}

/// The secret that links of password resets are made with.
#[derive(Clone)]
pub struct ResetKey(Vec<u8>);

impl ResetKey {
    pub fn new(secret: impl Into<Vec<u8>>) -> Self {
        Self(secret.into())
    }
}

impl std::fmt::Debug for ResetKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResetKey(…)")
    }
}

impl ResetTokens for ResetKey {
    /// The one place where such a token is made for a mail.
    fn token(&self, reset: ResetId) -> String {
        // HMAC takes keys of any length.
        let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        let mac = mac.chain_update(reset.to_string());
        hex::encode(mac.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::language::Language;

    #[test]
    fn settings_come_from_the_environment_and_slips_are_named() {
        let all = |name: &str| {
            let value = match name {
                "MAIL_SENDER" => "Box Office <box@onsale.example>",
                "PUBLIC_BASE_URL" => "https://onsale.example",
                "MAIL_LANGUAGE" => "de",
                _ => "secret",
            };
            Some(value.to_owned())
        };
        assert_eq!(settings(all).unwrap().language, Language::De);
        assert!(settings(all).unwrap().reset_tokens.is_some());
        let without = settings(|n| all(n).filter(|_| n != "RESET_KEYS"));
        assert!(without.unwrap().reset_tokens.is_none());
        for name in ["MAIL_SENDER", "PUBLIC_BASE_URL"] {
            let error = settings(|n| all(n).filter(|_| n != name)).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        let odd = |n: &str| match n {
            "MAIL_LANGUAGE" => Some("fr".to_owned()),
            n => all(n),
        };
        assert!(settings(odd).unwrap_err().contains("MAIL_LANGUAGE"));
    }

    #[test]
    fn a_token_follows_from_the_reset_and_the_key() {
        let key = |text: &str| ResetKey::new(text.as_bytes().to_vec());
        let (one, two) = (ResetId::from_bytes([1; 16]), ResetId::from_bytes([2; 16]));
        assert_eq!(key("a").token(one), key("a").token(one));
        assert_ne!(key("a").token(one), key("b").token(one));
        assert_ne!(key("a").token(one), key("a").token(two));
    }
}
