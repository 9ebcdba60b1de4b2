//! `onsale verify-quote`: checks a quote offline, and makes its prices again from the
//! figures in it.

use std::path::{Path, PathBuf};

use clap::Args;
use onsale_http::QuoteVerifier;
use serde::Deserialize;

use crate::data_folder;

#[derive(Debug, Clone, Args)]
pub struct VerifyQuoteArgs {
    /// The `quote` of a hold
    quote: String,
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
    kid: String,
    x: String,
}

pub fn run(args: &VerifyQuoteArgs) -> Result<(), String> {
    let keys = match &args.jwks {
        Some(file) => keys_in(file)?,
        None => keys_of(&args.data)?,
    };
    let quote = keys
        .verify(args.quote.trim())
        .ok_or("not a quote of this platform: the signature is not good")?;
    quote
        .check()
        .map_err(|why| format!("the signature is good, and the prices are not: {why}"))?;
    let point = &quote.point;
    println!("The signature is good, and every price follows from the figures.");
    println!("  hold    {}\n  show    {}", quote.sub, quote.aud);
    println!(
        "  prices  {} of {}: {} views in ten minutes, {} of {} places held",
        point.sequence, point.at, point.views, point.held, point.places
    );
    for section in &point.sections {
        let why = &section.reasons;
        println!(
            "  {}: {} × {} = {} ({} of {} sold {:+}, demand {:+}, time {:+}, bounds {:+})",
            section.section,
            section.base,
            section.multiplier,
            section.price,
            section.sold,
            section.places,
            why.occupancy,
            why.demand,
            why.time,
            why.bound
        );
    }
    for seat in &quote.seats {
        println!("  {}  {}", seat.seat, seat.price);
    }
    println!("  total   {}", quote.total);
    Ok(())
}

fn keys_in(file: &Path) -> Result<QuoteVerifier, String> {
    let failed = |reason: String| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
    let set: JwkSet = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
    let ed25519 = set.keys.iter().filter(|key| key.crv == "Ed25519");
    let keys: Vec<_> = ed25519
        .map(|key| format!("{}:{}", key.kid, key.x))
        .collect();
    QuoteVerifier::parse(&keys.join(",")).map_err(failed)
}

fn keys_of(folder: &Path) -> Result<QuoteVerifier, String> {
    data_folder::quote_keys(folder).ok_or_else(|| {
        let folder = folder.display();
        format!("there is no key of quotes in {folder}.\nName its folder with --data DIR, or save /.well-known/jwks.json and name it with --jwks FILE.")
    })?
}
