//! The secrets of the edge: one file, one line each, made once and kept. All of them could
//! be changed one by one, so each is random by itself.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// 32 random bytes. They are written as text, because some of their users take text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the host of the edge takes them")
)]
impl Secret {
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 43 printable characters.
    pub fn text(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0)
    }
}

macro_rules! edge_secrets {
    ($($(#[$doc:meta])* $field:ident as $name:literal,)*) => {
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct EdgeSecrets { $($(#[$doc])* pub $field: Secret,)* }

        impl EdgeSecrets {
            const NAMES: &[&str] = &[$($name,)*];
        }

        impl FromStr for EdgeSecrets {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Ok(Self { $($field: read(text, $name)?,)* })
            }
        }
    };
}

edge_secrets! {
    /// Signs the challenges that ask visitors for work.
    work_key as "work",
    /// Signs queue tickets.
    ticket_key as "ticket",
    /// From it follow the seeds of every draw.
    seed_secret as "seed",
    /// Signs the codes of fans.
    fan_key as "fan",
    /// Signs the cookie by which a visitor is known.
    visitor_key as "visitor",
}

impl EdgeSecrets {
    /// New secrets as the text of their file.
    pub fn fresh_text(random: impl Fn() -> Result<String, String>) -> Result<String, String> {
        let line = |name: &&str| Ok(format!("{name}:{}\n", random()?));
        Self::NAMES.iter().map(line).collect()
    }
}

fn read(text: &str, name: &str) -> Result<Secret, String> {
    let named = |line: &'_ str| -> Option<String> {
        let (known, encoded) = line.trim().split_once(':')?;
        (known == name).then(|| encoded.to_owned())
    };
    let encoded = text.lines().find_map(named);
    let encoded = encoded.ok_or_else(|| format!("there is no secret named {name}"))?;
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(encoded).ok();
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes
        .map(Secret)
        .ok_or_else(|| format!("the secret {name} is not 32 bytes in base64url"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(byte: u8) -> String {
        let random = || Ok(BASE64_URL_SAFE_NO_PAD.encode([byte; 32]));
        EdgeSecrets::fresh_text(random).unwrap()
    }

    #[test]
    fn secrets_are_read_as_they_were_written_and_never_printed() {
        let secrets: EdgeSecrets = text(7).parse().unwrap();
        assert_eq!(secrets.seed_secret.bytes(), &[7; 32]);
        assert_eq!(secrets.work_key.text().len(), 43);
        assert!(!format!("{secrets:?}").contains(&secrets.work_key.text()));
        assert_eq!(text(7).lines().count(), EdgeSecrets::NAMES.len());
    }

    #[test]
    fn a_file_that_lost_a_secret_is_told_by_its_name() {
        for name in EdgeSecrets::NAMES {
            let lost: String = text(7)
                .lines()
                .filter(|line| !line.starts_with(&format!("{name}:")))
                .map(|line| format!("{line}\n"))
                .collect();
            let why = lost.parse::<EdgeSecrets>().unwrap_err();
            assert!(why.ends_with(name), "{why}");
            let broken = text(7).replace(&format!("{name}:"), &format!("{name}:!"));
            let why = broken.parse::<EdgeSecrets>().unwrap_err();
            assert!(why.contains(name) && !why.contains("Bwc"), "{why}");
        }
    }
}
