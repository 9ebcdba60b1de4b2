//! The data folder: whose it is, who uses it now, and the keys that live in it.
//!
//! A folder with other people's files in it is left alone, and two processes never
//! share one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use onsale_domain::password_reset::{ResetKeys, ResetKeysError};
use onsale_domain::ticket_code::{KeyError, TicketKey, TicketPublicKey};
use onsale_edge::Secrets;
use onsale_http::{QuoteSigner, QuoteVerifier, SessionSigner};

use crate::edge_bindings;

const MARKER: &str = "onsale.lock";
const SESSION_KEY: &str = "session.key";
const QUOTE_KEY: &str = "quote.key";
const TICKET_KEY: &str = "ticket.key";
const RESET_KEYS: &str = "reset.keys";
const EDGE_BINDINGS: &str = "edge.bindings";
const OPERATOR: &str = "operator";
const PROVIDER: &str = "payments.provider";

#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    #[error("cannot use the data folder {}: {reason}\nChoose another with --data DIR.", path.display())]
    Unusable { path: PathBuf, reason: io::Error },
    #[error(
        "{} holds files that are not Onsale's, so nothing in it was touched.\n\
         Choose an empty or a new folder with --data DIR.",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "another onsale process uses the data folder {}.\n\
         Stop it, or choose another folder with --data DIR.",
        path.display()
    )]
    InUse { path: PathBuf },
    #[error("the key in {} cannot be read: {reason}", path.display())]
    Key { path: PathBuf, reason: String },
}

/// A data folder that this process owns until it ends.
#[derive(Debug)]
pub struct DataFolder {
    pub path: PathBuf,
    /// Dropping the file gives the folder free; so does the end of the process.
    _lock: File,
}

impl DataFolder {
    pub fn open(path: &Path) -> Result<Self, DataFolderError> {
        let unusable = |reason| DataFolderError::Unusable {
            path: path.to_owned(),
            reason,
        };
        std::fs::create_dir_all(path).map_err(unusable)?;
        let marker = path.join(MARKER);
        let is_ours = marker.exists();
        let is_empty = path.read_dir().map_err(unusable)?.next().is_none();
        if !is_ours && !is_empty {
            return Err(DataFolderError::Foreign {
                path: path.to_owned(),
            });
        }
        let options = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .clone();
        let lock = options.open(&marker).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                _lock: lock,
            }),
            Err(std::fs::TryLockError::WouldBlock) => Err(DataFolderError::InUse {
                path: path.to_owned(),
            }),
            Err(std::fs::TryLockError::Error(reason)) => Err(unusable(reason)),
        }
    }

    /// The key that signs sessions: made once, kept, readable by its owner only.
    pub fn session_signer(&self) -> Result<SessionSigner, DataFolderError> {
        let fresh = |secret: &str| format!("local:{secret}");
        self.key(SESSION_KEY, fresh, SessionSigner::parse)
    }

    /// The key that signs quotes, kept the same way.
    pub fn quote_signer(&self) -> Result<QuoteSigner, DataFolderError> {
        let fresh = |secret: &str| format!("quotes:{secret}");
        self.key(QUOTE_KEY, fresh, QuoteSigner::parse)
    }

    /// The key that signs tickets, kept the same way.
    pub fn ticket_key(&self) -> Result<TicketKey, DataFolderError> {
        self.key(TICKET_KEY, str::to_owned, |text| {
            text.parse().map_err(|e: KeyError| e.to_string())
        })
    }

    /// The keys that links to set a password follow from, kept the same way.
    pub fn reset_keys(&self) -> Result<ResetKeys, DataFolderError> {
        let fresh = || Ok(format!("1:{}", hex::encode(random()?)));
        self.kept(RESET_KEYS, fresh, |text| {
            text.trim()
                .parse()
                .map_err(|e: ResetKeysError| e.to_string())
        })
    }

    /// What only the edge knows.
    pub fn edge_secrets(&self) -> Result<Secrets, DataFolderError> {
        let fresh = || edge_bindings::fresh(random);
        self.kept(EDGE_BINDINGS, fresh, edge_bindings::secrets)
    }

    fn key<K>(
        &self,
        name: &str,
        fresh: impl Fn(&str) -> String,
        parse: impl Fn(&str) -> Result<K, String>,
    ) -> Result<K, DataFolderError> {
        self.kept(name, || Ok(fresh(&random_text()?)), parse)
    }

    /// What the file says; made first, if there is none.
    fn kept<K>(
        &self,
        name: &str,
        fresh: impl Fn() -> Result<String, String>,
        parse: impl Fn(&str) -> Result<K, String>,
    ) -> Result<K, DataFolderError> {
        let path = self.path.join(name);
        let failed = |reason: String| DataFolderError::Key {
            path: path.clone(),
            reason,
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => parse(text.trim()).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = fresh().map_err(failed)?;
                write_secret(&path, &text).map_err(|e| failed(e.to_string()))?;
                parse(&text).map_err(failed)
            }
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// The folder remembers who takes the money: starting without the keys of Stripe must
    /// not quietly sell for nothing. `PAYMENT_PROVIDER` changes it on purpose.
    pub fn check_provider(&self, name: &str) -> Result<(), String> {
        let path = self.path.join(PROVIDER);
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        let known = known.trim();
        if known == name {
            return Ok(());
        }
        if !known.is_empty() && std::env::var_os("PAYMENT_PROVIDER").is_none() {
            return Err(format!(
                "the payments of {} were taken by {known}, and now {name} would take them.\n\
                 Set the keys of {known} again, or PAYMENT_PROVIDER={name} if you mean it.",
                self.path.display()
            ));
        }
        write_secret(&path, name).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Leaves word of how an operator on this machine reaches the running platform.
    pub fn announce_operator(&self, text: &str) -> io::Result<()> {
        write_secret(&self.path.join(OPERATOR), text)
    }
}

/// The public key of a folder's tickets, which another process may be using.
pub fn ticket_public_key(folder: &Path) -> Option<Result<TicketPublicKey, KeyError>> {
    let text = std::fs::read_to_string(folder.join(TICKET_KEY)).ok()?;
    Some(text.trim().parse::<TicketKey>().map(|key| key.public()))
}

/// The public key of a folder's quotes, which another process may be using.
pub fn quote_keys(folder: &Path) -> Option<Result<QuoteVerifier, String>> {
    let text = std::fs::read_to_string(folder.join(QUOTE_KEY)).ok()?;
    Some(QuoteSigner::parse(text.trim()).map(|signer| signer.verifier()))
}

/// The bindings of the edge of a folder, which another process may be using.
pub fn edge_bindings(folder: &Path) -> io::Result<String> {
    std::fs::read_to_string(folder.join(EDGE_BINDINGS))
}

/// What the platform that uses this folder announced.
pub fn operator(folder: &Path) -> io::Result<String> {
    std::fs::read_to_string(folder.join(OPERATOR))
}

pub fn random() -> Result<[u8; 32], String> {
    let mut secret = [0u8; 32];
    getrandom::fill(&mut secret).map_err(|e| e.to_string())?;
    Ok(secret)
}

/// 32 random bytes as text.
pub fn random_text() -> Result<String, String> {
    random().map(text)
}

/// A secret as files and settings have it.
pub fn text(secret: [u8; 32]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(secret)
}

/// Writes beside and renames, so that a crash leaves the whole key or none.
fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::ids::ResetId;

    #[test]
    fn a_folder_with_other_files_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("thesis.txt"), "years of work").unwrap();
        assert!(matches!(
            DataFolder::open(dir.path()),
            Err(DataFolderError::Foreign { .. })
        ));
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_folder_serves_one_process_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataFolder::open(dir.path()).unwrap();
        assert!(matches!(
            DataFolder::open(dir.path()),
            Err(DataFolderError::InUse { .. })
        ));
        drop(first);
        assert!(DataFolder::open(dir.path()).is_ok());
    }

    #[test]
    fn a_folder_remembers_who_takes_the_money() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        folder.check_provider("stripe").unwrap();
        folder.check_provider("stripe").unwrap();
        let refused = folder.check_provider("sandbox").unwrap_err();
        assert!(refused.contains("taken by stripe"), "{refused}");
        folder.check_provider("stripe").unwrap();
    }

    #[test]
    fn every_key_outlives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        let keys = || {
            let secrets = folder.edge_secrets().unwrap();
            (
                folder.session_signer().unwrap().public_key(),
                secrets.passes.public_key(),
                edge_bindings(dir.path()).unwrap(),
                folder
                    .reset_keys()
                    .unwrap()
                    .token(ResetId::from_bytes([1; 16])),
            )
        };
        assert_eq!(keys(), keys());
    }

    #[cfg(unix)]
    #[test]
    fn every_key_is_its_owners_to_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        folder.session_signer().unwrap();
        folder.quote_signer().unwrap();
        folder.ticket_key().unwrap();
        folder.edge_secrets().unwrap();
        folder.reset_keys().unwrap();
        for name in [
            SESSION_KEY,
            QUOTE_KEY,
            TICKET_KEY,
            RESET_KEYS,
            EDGE_BINDINGS,
        ] {
            let file = dir.path().join(name).metadata().unwrap();
            assert_eq!(file.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }
}
