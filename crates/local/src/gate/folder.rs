//! The folder of a gate: its settings, what it knows, what it decided, what it reported.
//! Each file is replaced whole or only added to, so a process may die at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use onsale_domain::gate::{MAX_GATE_LEN, ShortId};
use onsale_domain::gate_book::{GateBook, Used};
use onsale_domain::ids::ShowId;
use onsale_domain::ticket_code::{TicketKeys, TicketPublicKey};
use onsale_domain::time::Millis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::journal::{Entry, Said};

const SETTINGS: &str = "gate.json";
const SNAPSHOT: &str = "snapshot.json";
const JOURNAL: &str = "scans.log";
const SYNCED: &str = "synced";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub url: String,
    pub show: ShowId,
    pub gate: String,
    /// Made at random once, so that two gates are never taken for one.
    pub device: String,
}

impl Settings {
    pub fn new(url: &str, show: ShowId, gate: &str) -> Result<Self, String> {
        let fits = (1..=MAX_GATE_LEN).contains(&gate.chars().count());
        if !fits || gate.chars().any(char::is_control) {
            return Err(format!("--gate: 1 to {MAX_GATE_LEN} characters"));
        }
        let mut device = [0u8; 8];
        getrandom::fill(&mut device).map_err(|e| e.to_string())?;
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            show,
            gate: gate.to_owned(),
            device: hex::encode(device),
        })
    }
}

/// What the platform said, as far as it was fetched.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Snapshot {
    pub title: String,
    /// Public keys, newest first.
    pub keys: Vec<String>,
    pub version: Option<Millis>,
    pub revoked: BTreeSet<ShortId>,
    pub used: BTreeMap<ShortId, (Millis, String)>,
    pub good_again: BTreeSet<ShortId>,
    /// So many of our own decisions were reported well before this was fetched: whether
    /// they still stand, it knows better.
    pub covers: usize,
}

impl Snapshot {
    /// What a gate decides by: what the platform said, and what it did itself since.
    pub fn book(&self, settings: &Settings, entries: &[Entry]) -> Result<GateBook, String> {
        let keys: Result<Vec<TicketPublicKey>, _> =
            self.keys.iter().map(|key| key.parse()).collect();
        let keys = keys.map_err(|e| e.to_string())?;
        let keys = TicketKeys::new(keys).map_err(|e| e.to_string())?;
        let mut book = GateBook::new(settings.show, keys.clone());
        for ticket in &self.revoked {
            book.revoke(*ticket);
        }
        for (ticket, (at, gate)) in &self.used {
            let (at, gate) = (*at, gate.clone());
            book.use_up(*ticket, Used { at, gate });
        }
        for (n, entry) in entries.iter().enumerate() {
            let Ok(claims) = keys.verify(&entry.code) else {
                continue;
            };
            let ticket = ShortId::of(claims.ticket);
            let undone = n < self.covers && self.good_again.contains(&ticket);
            if entry.said == Said::Admitted && !undone {
                let (at, gate) = (entry.at, settings.gate.clone());
                book.use_up(ticket, Used { at, gate });
            }
        }
        Ok(book)
    }
}

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    pub settings: Settings,
}

impl Folder {
    /// A new folder, or one of the same gate, whose device it stays.
    pub fn create(path: &Path, settings: Settings) -> Result<Self, String> {
        std::fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))?;
        if path.join(SETTINGS).exists() {
            let known = Self::open(path)?;
            let same =
                (known.settings.show, &known.settings.gate) == (settings.show, &settings.gate);
            if !same {
                return Err(format!(
                    "{} belongs to another show or gate; choose another folder with --data DIR",
                    path.display()
                ));
            }
            let settings = Settings {
                device: known.settings.device,
                ..settings
            };
            return Self::keep(path, settings);
        }
        let empty = path
            .read_dir()
            .is_ok_and(|mut files| files.next().is_none());
        match empty {
            true => Self::keep(path, settings),
            false => Err(format!(
                "{} holds other files; choose an empty folder with --data DIR",
                path.display()
            )),
        }
    }

    fn keep(path: &Path, settings: Settings) -> Result<Self, String> {
        let folder = Self {
            path: path.to_owned(),
            settings,
        };
        folder.store(SETTINGS, &folder.settings)?;
        Ok(folder)
    }

    pub fn open(path: &Path) -> Result<Self, String> {
        let settings = read(&path.join(SETTINGS))?.ok_or_else(|| {
            let path = path.display();
            format!("{path} is no folder of a gate: run `onsale gate download` first")
        })?;
        Ok(Self {
            path: path.to_owned(),
            settings,
        })
    }

    /// One process at a time does this; the lock ends with it.
    pub fn lock(&self, what: &str) -> Result<File, String> {
        let path = self.path.join(format!("{what}.lock"));
        let failed = |e: io::Error| format!("{}: {e}", path.display());
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(format!("another `onsale gate {what}` uses this folder"))
            }
            Err(std::fs::TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    pub fn snapshot(&self) -> Result<Snapshot, String> {
        read(&self.path.join(SNAPSHOT))?
            .ok_or_else(|| "nothing was downloaded: run `onsale gate download` first".to_owned())
    }

    pub fn snapshot_or_none(&self) -> Result<Option<Snapshot>, String> {
        read(&self.path.join(SNAPSHOT))
    }

    pub fn snapshot_stored(&self) -> Result<SystemTime, String> {
        let path = self.path.join(SNAPSHOT);
        let stored = path.metadata().and_then(|file| file.modified());
        stored.map_err(|_| "nothing was downloaded: run `onsale gate download` first".to_owned())
    }

    pub fn store_snapshot(&self, snapshot: &Snapshot) -> Result<(), String> {
        self.store(SNAPSHOT, snapshot)
    }

    /// How many lines of the journal were reported.
    pub fn synced(&self) -> Result<usize, String> {
        Ok(read(&self.path.join(SYNCED))?.unwrap_or(0))
    }

    pub fn store_synced(&self, lines: usize) -> Result<(), String> {
        self.store(SYNCED, &lines)
    }

    /// Replaces a file: a process that dies leaves the old one or the new one.
    fn store(&self, name: &str, value: &impl Serialize) -> Result<(), String> {
        let path = self.path.join(name);
        let failed = |e: io::Error| format!("{}: {e}", path.display());
        let text = serde_json::to_vec(value).map_err(|e| e.to_string())?;
        let draft = self.path.join(format!("{name}.new"));
        let mut file = File::create(&draft).map_err(failed)?;
        file.write_all(&text).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        std::fs::rename(&draft, &path).map_err(failed)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|e| format!("{}: {e}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::gate_book::Verdict;
    use onsale_domain::ids::TicketId;
    use onsale_domain::layout::PlaceIndex;
    use onsale_domain::ticket_code::{TicketClaims, TicketKey};

    const SHOW: ShowId = ShowId::from_bytes([2; 16]);

    /// An undone ticket is good again at the gate that used it, once it surely knows; and a
    /// later use of its own counts whatever the platform said of an earlier one.
    #[test]
    fn an_own_use_counts_until_the_platform_surely_knew_of_it_and_undid_it() {
        let key = TicketKey::from_bytes(&[7; 32]);
        let ticket = TicketId::from_bytes([1; 16]);
        let claims = TicketClaims {
            ticket,
            show: SHOW,
            place: PlaceIndex(1),
            serial: 0,
        };
        let code = key.sign(&claims);
        let entry = |at| Entry {
            at: Millis(at),
            said: Said::Admitted,
            code: code.clone(),
        };
        let settings = Settings::new("http://x", SHOW, "north").unwrap();
        let judged = |covers, entries: &[Entry]| {
            let snapshot = Snapshot {
                keys: vec![key.public().to_string()],
                good_again: BTreeSet::from([ShortId::of(ticket)]),
                covers,
                ..Snapshot::default()
            };
            snapshot.book(&settings, entries).unwrap().judge(&code)
        };
        assert_eq!(judged(1, &[entry(5)]), Verdict::Admit(ticket));
        assert!(matches!(judged(0, &[entry(5)]), Verdict::AlreadyUsed(..)));
        let again = judged(1, &[entry(5), entry(6)]);
        assert!(matches!(again, Verdict::AlreadyUsed(_, used) if used.at == Millis(6)));
    }

    #[test]
    fn a_folder_serves_one_gate_and_keeps_its_device() {
        let dir = tempfile::tempdir().unwrap();
        let settings = |gate| Settings::new("http://x/", SHOW, gate).unwrap();
        let first = Folder::create(dir.path(), settings("north")).unwrap();
        let again = Folder::create(dir.path(), settings("north")).unwrap();
        assert_eq!(first.settings, again.settings);
        assert!(Folder::create(dir.path(), settings("south")).is_err());
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("mine.txt"), "x").unwrap();
        assert!(Folder::create(other.path(), settings("north")).is_err());
        assert!(Settings::new("http://x", SHOW, "").is_err());
    }
}
