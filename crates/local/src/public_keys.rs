//! Where a check without a line gets its public keys: a saved copy of
//! `/.well-known/jwks.json`, or the data folder of a platform.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

#[derive(Debug, Clone, Args)]
pub struct KeySource {
    /// A saved copy of /.well-known/jwks.json
    #[arg(long, value_name = "FILE")]
    jwks: Option<PathBuf>,
    /// The data folder whose key to check with
    #[arg(long, default_value = ".onsale")]
    data: PathBuf,
}

/// An Ed25519 key of such a copy.
#[derive(Debug, Deserialize)]
pub struct Jwk {
    crv: String,
    pub kid: String,
    pub x: String,
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Jwk>,
}

impl KeySource {
    /// The keys of the file, as `listed` reads them, or else those of the folder, where
    /// `kept` finds them.
    pub fn keys<K>(
        &self,
        listed: impl Fn(Vec<Jwk>) -> Result<K, String>,
        kept: impl Fn(&Path) -> Option<Result<K, String>>,
    ) -> Result<K, String> {
        let Some(file) = &self.jwks else {
            return kept(&self.data).unwrap_or_else(|| Err(no_key_in(&self.data)));
        };
        let failed = |reason: String| format!("{}: {reason}", file.display());
        let text = std::fs::read_to_string(file).map_err(|e| failed(e.to_string()))?;
        let set: JwkSet = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
        let mut keys = set.keys;
        keys.retain(|key| key.crv == "Ed25519");
        listed(keys).map_err(failed)
    }
}

fn no_key_in(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "there is no such key in {folder}.\n\
         Name its folder with --data DIR, or save /.well-known/jwks.json and name it with --jwks FILE."
    )
}
