//! The proof of work by hand: issues, solves and verifies challenges.
//!
//!   work key-id    SECRETS
//!   work challenge SECRETS SHOW VISITOR COST EXPIRES_MS ENTROPY_HEX   prints a challenge
//!   work solve                          reads a challenge, prints a payload
//!   work verify    SECRETS SHOW VISITOR NOW_MS   reads a payload, prints what was signed
//!
//! Time and randomness are arguments here too. It is no part of the platform: a secret in
//! a command line is for everybody to see. `tests/interop/altcha.mjs` drives it.

use std::error::Error;
use std::io::Read as _;

use onsale_domain::ids::VisitorId;
use onsale_domain::time::Millis;
use onsale_domain::work::{
    Challenge, Cost, TRIES, Terms, WorkEntropy, WorkKeys, issue, payload, verify,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["key-id", secrets] => {
            println!("{}", secrets.parse::<WorkKeys>()?.current().id());
        }
        ["challenge", secrets, show, visitor, cost, expires, entropy] => {
            let keys: WorkKeys = secrets.parse()?;
            let terms = Terms {
                show: show.parse()?,
                visitor: visitor.parse()?,
                expires: Millis(expires.parse()?),
            };
            let mut bytes: WorkEntropy = [0; 34];
            hex::decode_to_slice(entropy, &mut bytes)?;
            let cost = Cost::try_from(cost.parse::<u32>()?)?;
            println!("{}", issue(&terms, cost, &bytes, &keys).to_json());
        }
        ["solve"] => {
            let challenge = Challenge::from_json(&input()?).ok_or("this is not a challenge")?;
            let solution = challenge.solve(0..TRIES).ok_or("nothing solves it")?;
            println!("{}", payload(&challenge, &solution));
        }
        ["verify", secrets, show, visitor, now] => {
            let keys: WorkKeys = secrets.parse()?;
            let now = Millis(now.parse()?);
            let solved = verify(
                &input()?,
                show.parse()?,
                visitor.parse::<VisitorId>()?,
                now,
                &keys,
            )?;
            println!("{}", String::from_utf8_lossy(solved.signed_bytes()));
        }
        _ => return Err("usage: work key-id | challenge | solve | verify".into()),
    }
    Ok(())
}

fn input() -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}
