//! The languages in which we write to people.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    #[default]
    En,
    De,
    Fr,
    Es,
}

/// Nobody reads more languages than this.
const MAX_RANGES: usize = 20;

impl Language {
    pub const ALL: [Self; 4] = [Self::En, Self::De, Self::Fr, Self::Es];

    /// Its tag, as in `Content-Language`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
        }
    }

    /// The one of ours that somebody reads best, by an `Accept-Language`: `de-AT,en;q=0.5`.
    pub fn preferred(accepted: &str) -> Option<Self> {
        let mut best: Option<(u16, Self)> = None;
        for range in accepted.split(',').take(MAX_RANGES) {
            let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
            let primary = tag.trim().split('-').next().unwrap_or("");
            let known = Self::ALL.into_iter();
            let known = known.filter(|known| primary.eq_ignore_ascii_case(known.as_str()));
            let weight = match weight.trim().strip_prefix("q=") {
                Some(weight) => permille(weight),
                None => 1_000,
            };
            for language in known {
                // The first of equals.
                if weight > best.map_or(0, |(known, _)| known) {
                    best = Some((weight, language));
                }
            }
        }
        best.map(|(_, language)| language)
    }
}

/// A weight between 0 and 1 with up to three digits that count. Parsing it as a floating
/// point number would cost the worker ten kilobytes of tables.
fn permille(weight: &str) -> u16 {
    let (whole, rest) = weight.split_once('.').unwrap_or((weight, ""));
    let mut digits = whole.bytes().chain(rest.bytes());
    if !digits.all(|digit| digit.is_ascii_digit()) {
        return 0;
    }
    if whole.bytes().any(|digit| digit != b'0') {
        return 1_000;
    }
    let digits = rest.bytes().chain(*b"000").take(3);
    digits.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'))
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a language is one of: en, de, fr, es")]
pub struct UnknownLanguage;

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == text);
        known.ok_or(UnknownLanguage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_written_as_it_is_read() {
        for language in Language::ALL {
            assert_eq!(language.as_str().parse(), Ok(language));
            let json = serde_json::to_string(&language).unwrap();
            assert_eq!(json, format!("\"{language}\""));
        }
        assert_eq!("EN".parse::<Language>(), Err(UnknownLanguage));
    }

    #[test]
    fn a_browser_says_what_somebody_reads_best() {
        for (accepted, preferred) in [
            ("de", Some(Language::De)),
            ("de-AT,de;q=0.9,en;q=0.5", Some(Language::De)),
            ("it-CH, EN;q=0.8, de;q=0.7", Some(Language::En)),
            ("fr-CH, de;q=0.9", Some(Language::Fr)),
            ("es-419,es;q=0.9,en;q=0.8", Some(Language::Es)),
            ("de;q=0.5,en", Some(Language::En)),
            ("de;q=0.05,en;q=0.5", Some(Language::En)),
            ("de;q=0.999,en;q=1.000", Some(Language::En)),
            ("de;q=.5,en;q=0.501", Some(Language::En)),
            ("en;q=0", None),
            ("en;q=0.000,de;q=-1", None),
            ("it, *", None),
            ("de;q=x", None),
            ("", None),
        ] {
            assert_eq!(Language::preferred(accepted), preferred, "{accepted}");
        }
    }
}
