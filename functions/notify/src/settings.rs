//! How mails look and where they lead, from the environment.

use std::sync::Arc;

use onsale_domain::password_reset::{ResetKeys, ResetKeysError};
use onsale_mails::Settings;

/// `MAIL_SENDER` (`Name <address>`), `PUBLIC_BASE_URL`, `MAIL_LANGUAGE` (en, unless said
/// otherwise) and `RESET_KEYS`, without which no link sets a password.
pub fn settings(value: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
    let set = |name: &str| value(name).filter(|text| !text.is_empty());
    let need = |name: &str| set(name).ok_or_else(|| format!("{name} is not set"));
    let sender = need("MAIL_SENDER")?;
    let base_url = need("PUBLIC_BASE_URL")?;
    if !base_url.starts_with("https://") && !base_url.starts_with("http://") {
        return Err("PUBLIC_BASE_URL: an http or https address".to_owned());
    }
    let language = set("MAIL_LANGUAGE").unwrap_or_else(|| "en".to_owned());
    let parsed = set("RESET_KEYS").map(|text| text.parse::<ResetKeys>());
    let reset_keys = parsed
        .transpose()
        .map_err(|why: ResetKeysError| format!("RESET_KEYS: {why}"))?;
    Ok(Settings {
        sender: sender.parse().map_err(|e| format!("MAIL_SENDER: {e}"))?,
        base_url,
        language: language
            .parse()
            .map_err(|e| format!("MAIL_LANGUAGE: {e}"))?,
        reset_keys: reset_keys.map(Arc::new),
    })
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
                _ => return None,
            };
            Some(value.to_owned())
        };
        assert_eq!(settings(all).unwrap().language, Language::De);
        for name in ["MAIL_SENDER", "PUBLIC_BASE_URL"] {
            let error = settings(|n| all(n).filter(|_| n != name)).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        let odd = |n: &str| match n {
            "MAIL_LANGUAGE" => Some("it".to_owned()),
            n => all(n),
        };
        assert!(settings(odd).unwrap_err().contains("MAIL_LANGUAGE"));
        let keys = |text: &'static str| {
            settings(move |n| match n {
                "RESET_KEYS" => Some(text.to_owned()),
                n => all(n),
            })
        };
        let error = keys("secret").unwrap_err();
        assert!(
            error.contains("RESET_KEYS") && !error.contains("secret"),
            "{error}"
        );
        let key = "1:0101010101010101010101010101010101010101010101010101010101010101";
        assert!(keys(key).unwrap().reset_keys.is_some());
    }
}
