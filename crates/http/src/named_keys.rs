//! Ed25519 keys as they are configured: a name, and 32 bytes in base64url.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;

const MAX_KEY_ID_LEN: usize = 64;

/// Reads `kid:base64url(32 bytes)`. What is wrong is told without the text: it may be a
/// secret.
pub(crate) fn named_key(text: &str) -> Result<(String, [u8; 32]), String> {
    let (key_id, encoded) = text
        .trim()
        .split_once(':')
        .ok_or("a key has the form kid:base64url")?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if key_id.is_empty() || key_id.len() > MAX_KEY_ID_LEN || !key_id.bytes().all(plain) {
        return Err("a key id has 1 to 64 letters, digits, dashes, dots or underscores".to_owned());
    }
    let bytes = URL_SAFE_NO_PAD
        .decode(encoded.trim_end_matches('='))
        .ok()
        .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
        .ok_or_else(|| format!("the key {key_id} is not 32 bytes in base64url"))?;
    Ok((key_id.to_owned(), bytes))
}

/// Reads public keys, separated by commas.
pub(crate) fn public_keys(text: &str) -> Result<Vec<(String, VerifyingKey)>, String> {
    let mut keys: Vec<(String, VerifyingKey)> = Vec::new();
    for entry in text.split(',') {
        let (key_id, bytes) = named_key(entry)?;
        if keys.iter().any(|(known, _)| *known == key_id) {
            return Err(format!("the key id {key_id} occurs twice"));
        }
        let public = VerifyingKey::from_bytes(&bytes)
            .ok()
            .filter(|public| !public.is_weak())
            .ok_or_else(|| format!("the key {key_id} is not an Ed25519 public key"))?;
        keys.push((key_id, public));
    }
    Ok(keys)
}
