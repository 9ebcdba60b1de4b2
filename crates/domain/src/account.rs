//! Accounts: who somebody is and what they may do.

use serde::{Deserialize, Serialize};

use crate::ids::AccountId;
use crate::language::Language;
use crate::time::{CLOCK_SKEW_MS, Millis};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Buyer,
    Organiser,
    Staff,
}

/// An address in the form we compare by: trimmed and in lower case. It is what a person is to
/// us: one address has one account, and the limit of tickets counts by account. Whether two
/// addresses of other letters reach one mailbox only its provider knows, so they are two.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Email(String);

impl Email {
    /// Accepts what mail systems deliver to and refuses obvious slips; whether the
    /// mailbox exists only a message can tell.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let (local, host) = text.rsplit_once('@')?;
        let plain = |s: &str| {
            !s.chars()
                .any(|c| c.is_whitespace() || c.is_control() || "<>()[],;:\\\"".contains(c))
        };
        let labels_fit = host
            .split('.')
            .all(|label| !label.is_empty() && label.len() <= 63);
        let fits = !local.is_empty() && local.len() <= 64 && text.len() <= 254;
        (fits
            && plain(local)
            && plain(host)
            && !local.contains('@')
            && host.contains('.')
            && labels_fit)
            .then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether mail reaches it on the way that ours goes, which is one of ASCII. Addresses
    /// from before this was asked are kept as they are.
    pub fn is_reachable(&self) -> bool {
        self.0.is_ascii()
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an email address"))
    }
}

/// A new password has 8–128 characters; longer ones only cost us hashing.
pub const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 8..=128;
pub const MAX_NAME_CHARS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    pub email: Email,
    pub name: String,
    pub role: Role,
    pub created: Millis,
    /// In which language to write to them, if they ever said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Since when we know that mail to the address reaches whoever has the account: they
    /// followed a link that was mailed there. Registering proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<Millis>,
}

impl Account {
    /// Whether what came to its address at this moment may be for this account. Registering
    /// proves no address, so what came before belongs to whoever has the mailbox.
    pub fn had_address_at(&self, moment: Millis) -> bool {
        self.created <= moment + CLOCK_SKEW_MS
    }
}

/// A line of text a person may write: not blank, not too long, nothing invisible
/// that would break a page, a mail header or a log line.
pub fn is_line(text: &str, max_chars: usize) -> bool {
    let length = text.chars().count();
    !text.trim().is_empty() && length <= max_chars && !text.chars().any(is_unprintable)
}

/// Text of several lines.
pub fn is_text(text: &str, max_chars: usize) -> bool {
    text.chars().count() <= max_chars
        && !text
            .chars()
            .any(|c| c != '\n' && c != '\t' && is_unprintable(c))
}

fn is_unprintable(c: char) -> bool {
    // Controls, and the marks that turn the direction of the text around them.
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_in_one_form() {
        assert_eq!(
            Email::parse(" Ana@Example.ORG "),
            Email::parse("ana@example.org")
        );
        for wrong in [
            "",
            "ana",
            "@example.org",
            "ana@",
            "ana@example",
            "a b@example.org",
            "ana@ex..org",
            "a@b@example.org",
            "ana@example.org\nBcc: x@y.z",
            "<ana@example.org>",
        ] {
            assert_eq!(Email::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            Email::parse(&format!("{}@example.org", "a".repeat(65))),
            None
        );
    }

    #[test]
    fn a_line_holds_any_script_and_nothing_invisible() {
        assert!(is_line("Zażółć 東京 🎟", 100));
        for wrong in ["", "  ", "a\nb", "a\u{0}b", "a\u{202e}b", "aaaaa"] {
            assert!(!is_line(wrong, 4), "{wrong:?}");
        }
    }
}
