//! Links to objects. A link lets its holder download one object under one file name for a while.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::percent::{percent_decoded, percent_encoded};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("this link was not made here, or was changed")]
    Refused,
    #[error("the time of this link is over")]
    Expired,
    #[error("there is no such object any more")]
    NoSuchObject,
}

/// Where links point, and what they are signed with. Links are good as long as the secret is.
#[derive(Clone)]
pub struct Links {
    base: String,
    secret: Vec<u8>,
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

/// What a link was signed for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) key: String,
    pub(crate) file_name: String,
}

impl Links {
    /// `base` is the address before the key of an object, without a slash at its end.
    pub fn new(base: impl Into<String>, secret: impl Into<Vec<u8>>) -> Self {
        let (base, secret) = (base.into(), secret.into());
        Self { base, secret }
    }

    /// A link that is good up to the second `until_s`.
    pub(crate) fn link(
        &self,
        key: &str,
        file_name: &str,
        until_s: u64,
    ) -> Result<String, LinkError> {
        // A quotation mark would end the name early in the header of the download.
        let allowed = |c: &char| *c != '"' && !c.is_control();
        let name: String = file_name.chars().filter(allowed).collect();
        let signature = hex::encode(self.mac(key, &name, until_s)?.finalize().into_bytes());
        let (base, key) = (&self.base, percent_encoded(key, b"/"));
        let name = percent_encoded(&name, b"");
        Ok(format!(
            "{base}/{key}?name={name}&until={until_s}&signature={signature}"
        ))
    }

    /// Checks a link by what follows its base: the path and the query as they came.
    pub(crate) fn check(&self, target: &str, now_s: u64) -> Result<Signed, LinkError> {
        let (path, query) = target.split_once('?').ok_or(LinkError::Refused)?;
        let value = |wanted: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(name, _)| *name == wanted)?;
            percent_decoded(value)
        };
        let read = || {
            let key = percent_decoded(path.strip_prefix('/')?)?;
            let until_s: u64 = value("until")?.parse().ok()?;
            let signature = hex::decode(value("signature")?).ok()?;
            Some((key, value("name")?, until_s, signature))
        };
        let (key, file_name, until_s, signature) = read().ok_or(LinkError::Refused)?;
        let mac = self.mac(&key, &file_name, until_s)?;
        // Compares in constant time.
        mac.verify_slice(&signature)
            .map_err(|_| LinkError::Refused)?;
        if now_s > until_s {
            return Err(LinkError::Expired);
        }
        Ok(Signed { key, file_name })
    }

    /// Neither keys nor names have line breaks when they are signed, so no two links have the
    /// same text.
    fn mac(&self, key: &str, file_name: &str, until_s: u64) -> Result<Hmac<Sha256>, LinkError> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.secret);
        let mut mac = mac.map_err(|_| LinkError::Refused)?;
        mac.update(format!("{key}\n{file_name}\n{until_s}").as_bytes());
        Ok(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "http://127.0.0.1:8787/objects";

    fn links() -> Links {
        Links::new(BASE, "secret")
    }

    fn target() -> String {
        let link = links().link("exports/a b.csv", "orders \"1\"\n.csv", 60);
        link.unwrap().strip_prefix(BASE).unwrap().to_owned()
    }

    #[test]
    fn a_link_names_its_object_and_file_until_its_time_is_over() {
        let signed = Signed {
            key: "exports/a b.csv".to_owned(),
            file_name: "orders 1.csv".to_owned(),
        };
        assert_eq!(links().check(&target(), 60), Ok(signed));
        assert_eq!(links().check(&target(), 61), Err(LinkError::Expired));
    }

    #[test]
    fn a_link_that_was_changed_or_signed_by_others_is_refused() {
        let target = target();
        let (path, _) = target.split_once('?').unwrap();
        for changed in [
            target.replace("a%20b", "a%20c"),
            target.replace("until=60", "until=6000"),
            target.replace("orders", "others"),
            target.replace("signature=", "signature=00"),
            target.replace("signature=", "sign="),
            path.to_owned(),
            "/x?name=%&until=1&signature=".to_owned(),
            format!("{target}ä"),
        ] {
            let refused = links().check(&changed, 0);
            assert_eq!(refused, Err(LinkError::Refused), "{changed}");
        }
        let others = Links::new(BASE, "guess");
        assert_eq!(others.check(&target, 0), Err(LinkError::Refused));
    }
}
