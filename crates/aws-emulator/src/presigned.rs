//! Checks the signature of a link to an object (AWS Signature Version 4 in the query), as S3 does.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The longest time that S3 lets a link live.
const LONGEST_S: u64 = 7 * 24 * 3_600;
const SIGNATURE: &str = "X-Amz-Signature";

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("this link was not made here, or was changed")]
    Refused,
    #[error("the time of this link is over")]
    Expired,
    #[error("there is no such object any more")]
    NoSuchObject,
}

/// `target` is the path and the query, exactly as they were signed.
pub(crate) fn check(target: &str, host: &str, secret: &str, now_ms: u64) -> Result<(), LinkError> {
    let (path, query) = target.split_once('?').ok_or(LinkError::Refused)?;
    let mut pairs: Vec<(&str, &str)> = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    let value = |wanted: &str| {
        let found = pairs.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| *value).ok_or(LinkError::Refused)
    };
    let (signature, at) = (value(SIGNATURE)?, value("X-Amz-Date")?);
    let lives_s: u64 = value("X-Amz-Expires")?
        .parse()
        .map_err(|_| LinkError::Refused)?;
    if value("X-Amz-Algorithm")? != "AWS4-HMAC-SHA256" || value("X-Amz-SignedHeaders")? != "host" {
        return Err(LinkError::Refused);
    }
    let credential = value("X-Amz-Credential")?.replace("%2F", "/");
    let (_, scope) = credential.split_once('/').ok_or(LinkError::Refused)?;
    let parts: Vec<&str> = scope.split('/').collect();
    let [day, region, service, end] = parts[..] else {
        return Err(LinkError::Refused);
    };

    pairs.retain(|(name, _)| *name != SIGNATURE);
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let canonical = format!(
        "GET\n{path}\n{}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD",
        pairs.join("&")
    );
    let digest = hex::encode(Sha256::digest(canonical.as_bytes()));
    let to_sign = format!("AWS4-HMAC-SHA256\n{at}\n{scope}\n{digest}");
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in [day, region, service, end, &to_sign] {
        key = keyed(&key, part)?;
    }
    let expected = hex::encode(key);
    if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
        return Err(LinkError::Refused);
    }
    let ends_s = signed_at_s(at)? + lives_s.min(LONGEST_S);
    match now_ms / 1_000 <= ends_s {
        true => Ok(()),
        false => Err(LinkError::Expired),
    }
}

fn keyed(key: &[u8], text: &str) -> Result<Vec<u8>, LinkError> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| LinkError::Refused)?;
    mac.update(text.as_bytes());
    Ok(mac.finalize().into_bytes().to_vec())
}

fn signed_at_s(text: &str) -> Result<u64, LinkError> {
    // 20270301T090000Z
    let part = |from, to| text.get(from..to).ok_or(LinkError::Refused);
    let (date, time) = text.split_once('T').ok_or(LinkError::Refused)?;
    if (date.len(), time.len()) != (8, 7) {
        return Err(LinkError::Refused);
    }
    let spelt = format!(
        "{}-{}-{}T{}:{}:{}",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 16)?
    );
    let at = OffsetDateTime::parse(&spelt, &Rfc3339).map_err(|_| LinkError::Refused)?;
    u64::try_from(at.unix_timestamp()).map_err(|_| LinkError::Refused)
}
