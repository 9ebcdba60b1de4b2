//! `onsale verify-quote`: checks a quote offline, and makes its prices again from the
//! figures in it.

use clap::Args;
use onsale_http::QuoteVerifier;

use crate::data_folder;
use crate::public_keys::{Jwk, KeySource};

#[derive(Debug, Clone, Args)]
pub struct VerifyQuoteArgs {
    /// The `quote` of a hold
    quote: String,
    #[command(flatten)]
    keys: KeySource,
}

pub fn run(args: &VerifyQuoteArgs) -> Result<(), String> {
    let keys = args.keys.keys(listed, data_folder::quote_keys)?;
    let quote = keys
        .verify(args.quote.trim())
        .ok_or("not a quote of this platform: the signature is not good")?;
    quote
        .check()
        .map_err(|why| format!("the signature is good, and the prices are not: {why}"))?;
    let point = &quote.point;
    let resold = quote.seats.iter().any(|seat| seat.face_value.is_some());
    let or_else = match resold {
        true => ", or is what was paid for a place that somebody put back",
        false => "",
    };
    println!("The signature is good, and every price follows from the figures{or_else}.");
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
        let why = match seat.face_value {
            Some(_) => " (put back: what was paid for it)",
            None => "",
        };
        println!("  {}  {}{why}", seat.seat, seat.price);
    }
    println!("  total   {}", quote.total);
    Ok(())
}

fn listed(keys: Vec<Jwk>) -> Result<QuoteVerifier, String> {
    let keys: Vec<_> = keys
        .iter()
        .map(|key| format!("{}:{}", key.kid, key.x))
        .collect();
    QuoteVerifier::parse(&keys.join(","))
}
