//! `onsale verify`: checks the code of a ticket offline.
//!
//! It needs the public keys only: those of a data folder, or a saved copy of
//! `/.well-known/jwks.json`. Whether a ticket was used or revoked is what a gate asks
//! online.

use clap::Args;
use onsale_domain::ticket_code::{TicketKeys, TicketPublicKey};

use crate::data_folder;
use crate::public_keys::{Jwk, KeySource};

#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// What the QR says
    code: String,
    #[command(flatten)]
    keys: KeySource,
}

pub fn run(args: &VerifyArgs) -> Result<(), String> {
    let keys = args.keys.keys(listed, |folder| {
        let key = data_folder::ticket_public_key(folder)?;
        Some(
            key.map_err(|e| e.to_string())
                .and_then(|key| trusted(vec![key])),
        )
    })?;
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

fn listed(keys: Vec<Jwk>) -> Result<TicketKeys, String> {
    let keys: Result<Vec<TicketPublicKey>, _> = keys.iter().map(|key| key.x.parse()).collect();
    trusted(keys.map_err(|e| e.to_string())?)
}

fn trusted(keys: Vec<TicketPublicKey>) -> Result<TicketKeys, String> {
    TicketKeys::new(keys).map_err(|e| e.to_string())
}
