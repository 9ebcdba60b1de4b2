//! `onsale new-keys`: the keys that a deployment begins with, as JSON. Edge and functions share
//! some of them, so they are made together: what the stack takes as parameters, what belongs into
//! Secrets Manager under the name that a parameter tells, and the secrets of the worker.

use onsale_domain::ticket_code::TicketKey;
use onsale_http::SessionSigner;
use serde_json::{Map, Value, json};

use crate::data_folder::{random, random_text, text};
use crate::edge_bindings;

pub fn print() -> Result<(), String> {
    println!("{:#}", fresh()?);
    Ok(())
}

fn fresh() -> Result<Value, String> {
    let session = format!("1:{}", random_text()?);
    let quotes = format!("1:{}", random_text()?);
    let tickets = random()?;
    let edge = edge_bindings::fresh(random)?;
    let read = edge_bindings::secrets(&edge)?;
    let bindings: Map<String, Value> = edge
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    // Keys of sessions and of quotes are written alike.
    let public = |key: &str| SessionSigner::parse(key).map(|key| key.public_key());
    Ok(json!({
        "parameters": {
            "SessionPublicKeys": public(&session)?,
            "QuotePublicKeys": public(&quotes)?,
            "TicketPublicKeys": TicketKey::from_bytes(&tickets).public().jwk().x,
            "PassPublicKeys": read.passes.public_key(),
        },
        "secrets": {
            "SessionSecretName": {"signing_key": session},
            "QuoteSecretName": {"signing_key": quotes},
            "TicketSecretName": {"signing_key": text(tickets)},
            "InternalSecretName": {"internal_keys": bindings["INTERNAL_KEYS"]},
            "FanSecretName": {"fan_keys": bindings["FAN_KEYS"]},
            "WorkSecretName": {"work_keys": bindings["WORK_KEYS"]},
            "ResetSecretName": {"reset_keys": format!("1:{}", hex::encode(random()?))},
        },
        "bindings": bindings,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::ticket_code::TicketKeys;
    use onsale_http::{PassVerifier, QuoteSigner, QuoteVerifier, SessionVerifier};

    #[test]
    fn new_keys_fit_each_other_and_whoever_reads_them() {
        let (keys, others) = (fresh().unwrap(), fresh().unwrap());
        let parameter = |name: &str| keys["parameters"][name].as_str().unwrap();
        let secret = |name: &str| keys["secrets"][name]["signing_key"].as_str().unwrap();
        SessionVerifier::parse(parameter("SessionPublicKeys")).unwrap();
        PassVerifier::parse(parameter("PassPublicKeys")).unwrap();
        let quotes = QuoteVerifier::parse(parameter("QuotePublicKeys")).unwrap();
        let signer = QuoteSigner::parse(secret("QuoteSecretName")).unwrap();
        assert_eq!(signer.verifier().jwks(), quotes.jwks());
        let session = SessionSigner::parse(secret("SessionSecretName")).unwrap();
        assert_eq!(session.public_key(), parameter("SessionPublicKeys"));
        let tickets: TicketKeys = parameter("TicketPublicKeys").parse().unwrap();
        let key: TicketKey = secret("TicketSecretName").parse().unwrap();
        assert_eq!(tickets.jwks(), [key.public().jwk()]);
        for part in ["parameters", "secrets", "bindings"] {
            for (name, value) in keys[part].as_object().unwrap() {
                assert_ne!(*value, others[part][name], "{name}");
            }
        }
    }
}
