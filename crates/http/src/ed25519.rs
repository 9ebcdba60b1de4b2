//! The one signature of all tokens, as `jsonwebtoken` asks for it. Every other
//! algorithm is refused here once more, so that no header can ask for one.

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory,
    verifier_factory,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes this the provider of the process. Only the first call counts, and all of them
/// install the same one.
pub(crate) fn install() {
    let _ = PROVIDER.install_default();
}

fn signer_factory(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let secret = key
        .as_bytes()
        .try_into()
        .map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(TokenSigner(SigningKey::from_bytes(secret))))
}

fn verifier_factory(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let bytes = key.try_get_as_bytes()?;
    let public = bytes.try_into().map_err(|_| ErrorKind::InvalidEddsaKey)?;
    let public = VerifyingKey::from_bytes(public).map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(TokenVerifier(public)))
}

struct TokenSigner(SigningKey);

impl Signer<Vec<u8>> for TokenSigner {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.0.sign(message).to_bytes().to_vec())
    }
}

impl JwtSigner for TokenSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

struct TokenVerifier(VerifyingKey);

impl Verifier<Vec<u8>> for TokenVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let signature = Signature::from_slice(signature).map_err(|_| Error::new())?;
        self.0
            .verify_strict(message, &signature)
            .map_err(|_| Error::new())
    }
}

impl JwtVerifier for TokenVerifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}
