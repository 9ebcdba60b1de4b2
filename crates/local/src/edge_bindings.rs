//! The secrets of the edge, as the bindings of the worker are called: one file in the data
//! folder, one line each, made once and kept. The edge in this process reads it, and
//! `onsale edge-bindings` prints it for a worker that stands before this process.

use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use clap::Args;
use onsale_edge::Secrets;

use crate::data_folder;

#[derive(Debug, Args)]
pub struct BindingsArgs {
    /// The data folder of the platform
    #[arg(long, default_value = ".onsale")]
    data: PathBuf,
}

/// How a binding is written, of 32 random bytes.
type Written = fn([u8; 32]) -> String;

/// The bindings. They could be changed one by one, so
/// each has its own.
const BINDINGS: &[(&str, Written)] = &[
    ("ROOM_SECRET", |bytes| digits(&bytes)),
    ("TICKET_KEYS", |bytes| format!("1:{}", digits(&bytes))),
    ("WORK_KEYS", |bytes| digits(&bytes)),
    ("PASS_SIGNING_KEY", |bytes| {
        format!("local:{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
    }),
    ("INTERNAL_KEYS", |bytes| format!("local:{}", digits(&bytes))),
    ("FAN_KEYS", |bytes| format!("1:{}", digits(&bytes))),
];

fn digits(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// New bindings as the text of their file.
pub fn fresh(random: impl Fn() -> Result<[u8; 32], String>) -> Result<String, String> {
    let line = |(name, written): &(&str, Written)| Ok(format!("{name}={}\n", written(random()?)));
    BINDINGS.iter().map(line).collect()
}

/// What the file says.
pub fn secrets(text: &str) -> Result<Secrets, String> {
    Secrets::read(|name| {
        let mut lines = text.lines().filter_map(|line| line.split_once('='));
        let (_, value) = lines.find(|(known, _)| *known == name)?;
        Some(value.trim().to_owned())
    })
}

pub fn print(args: &BindingsArgs) -> Result<(), String> {
    let text = data_folder::edge_bindings(&args.data).map_err(|error| {
        format!(
            "there are no bindings in {}: {error}\nStart `onsale serve` there once.",
            args.data.display()
        )
    })?;
    print!("{text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_bindings_are_read_and_a_lost_one_is_named() {
        let text = fresh(|| Ok([7; 32])).unwrap();
        let read = secrets(&text).unwrap();
        assert!(!format!("{read:?}").contains("0707"));
        for (name, _) in BINDINGS.iter().filter(|(name, _)| *name != "FAN_KEYS") {
            let lost = text.replace(&format!("{name}="), "LOST=");
            assert!(secrets(&lost).unwrap_err().contains(name));
            let broken = text.replace(&format!("{name}="), &format!("{name}=!"));
            let why = secrets(&broken).map(|_| ());
            // A work key may begin with anything.
            if *name != "WORK_KEYS" {
                let why = why.unwrap_err();
                assert!(why.contains(name) && !why.contains("0707"), "{why}");
            }
        }
    }
}
