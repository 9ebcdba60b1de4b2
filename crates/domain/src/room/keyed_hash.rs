//! HMAC-SHA256 under a key of 32 bytes, and keys that are derived from it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub type Key = [u8; 32];

pub fn keyed_hash(key: &Key, parts: &[&[u8]]) -> [u8; 32] {
    // HMAC fills a short key with zeros up to the block; doing so here leaves no error case.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hmac_everybody_else_computes() {
        // Python: hmac.new(bytes(range(32)), b"what do ya want", "sha256")
        let key: Key = std::array::from_fn(|i| i as u8);
        assert_eq!(keyed_hash(&key, &[b"what do ", b"ya want"])[..8], EXPECTED);
    }

    const EXPECTED: [u8; 8] = [0x6f, 0x21, 0xa7, 0xe9, 0x69, 0xd2, 0x5d, 0x6c];
}
