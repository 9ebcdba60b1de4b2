//! `onsale verify`: checks the code of a ticket offline.
//!
//! It needs the public keys only: those of a data folder, or a saved copy of
//! `/.well-known/jwks.json`. Whether a ticket was used or revoked is what a gate asks
//! online.

use std::path::{Path, PathBuf};

use clap::Args;
use onsale_domain::ticket_code::{TicketKeys, TicketPublicKey};
use serde::Deserialize;

use crate::data_folder;

#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// What the QR says
    code: String,
    /// A saved copy of /.well-known/jwks.json
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,
    /// The data folder whose key to check with
    #[arg(long, default_value = ".onsale")]
    data: PathBuf,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Jwk>,
}

#[derive(Deserialize)]
struct Jwk {
    crv: String,
    x: String,
}

pub fn run(args: &VerifyArgs) -> Result<(), String> {
    let keys = match &args.jwks {
        Some(file) => keys_in(file)?,
        None => keys_of(&args.data)?,
    };
    let claims = keys
        .verify(args.code.trim())
        .map_err(|refusal| format!("not a ticket: {refusal}"))?;
    println!(
        "The signature is good.\n  ticket  {}\n  show    {}\n  place   {}\n  serial  {}\n\
         Whether it was used or revoked is known at the gate only.",
        claims.ticket, claims.show, claims.place.0, claims.serial
    );
    Ok(())
}

fn keys_in(file: &Path) -> Result<TicketKeys, String> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    let set: JwkSet = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
    let ed25519 = set.keys.iter().filter(|key| key.crv == "Ed25519");
    let keys: Result<Vec<TicketPublicKey>, _> = ed25519.map(|key| key.x.parse()).collect();
    let keys = keys.map_err(|e| failed(e.to_string()))?;
    TicketKeys::new(keys).map_err(|e| failed(e.to_string()))
}

fn keys_of(folder: &Path) -> Result<TicketKeys, String> {
    let key = data_folder::ticket_public_key(folder).ok_or_else(|| {
        let folder = folder.display();
        format!("there is no ticket key in {folder}.\nName its folder with --data DIR, or save /.well-known/jwks.json and name it with --jwks FILE.")
    })?;
    let key = key.map_err(|e| e.to_string())?;
    TicketKeys::new(vec![key]).map_err(|e| e.to_string())
}
