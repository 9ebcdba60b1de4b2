//! What a gate decided, one line for each, only ever added to.
//!
//! A decision is on the disk before anybody hears it. A line that is cut off was never
//! said, and is dropped when the journal is opened.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use onsale_domain::time::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Admitted,
    AlreadyUsed,
    Revoked,
}

impl Said {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::AlreadyUsed => "already_used",
            Self::Revoked => "revoked",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Admitted, Self::AlreadyUsed, Self::Revoked]
            .into_iter()
            .find(|said| said.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: Millis,
    pub said: Said,
    pub code: String,
}

impl Entry {
    fn line(&self) -> String {
        format!("{} {} {}\n", self.at.0, self.said.as_str(), self.code)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(' ');
        let entry = Self {
            at: Millis(parts.next()?.parse().ok()?),
            said: Said::parse(parts.next()?)?,
            code: parts.next()?.to_owned(),
        };
        parts.next().is_none().then_some(entry)
    }
}

/// Whole lines, and how many bytes they are.
fn read(path: &Path, text: &str) -> Result<(Vec<Entry>, usize), String> {
    let whole = text.rfind('\n').map_or(0, |last| last + 1);
    let lines = text[..whole].lines().enumerate();
    let entry = |(n, line): (usize, &str)| {
        let n = n + 1;
        Entry::parse(line).ok_or_else(|| format!("{}: line {n} cannot be read", path.display()))
    };
    Ok((lines.map(entry).collect::<Result<_, _>>()?, whole))
}

/// What is in the journal now, for whoever only reads it.
pub fn entries(path: &Path) -> Result<Vec<Entry>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(read(path, &text)?.0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    entries: Vec<Entry>,
}

impl Journal {
    pub fn open(path: &Path) -> Result<Self, String> {
        let failed = |e: io::Error| format!("{}: {e}", path.display());
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let (entries, whole) = read(path, &text)?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            entries,
        })
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns once it is on the disk.
    pub fn append(&mut self, entry: Entry) -> Result<(), String> {
        let line = entry.line();
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|e| format!("{}: {e}", self.path.display()))?;
        self.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: u64) -> Entry {
        Entry {
            at: Millis(at),
            said: Said::Admitted,
            code: "ABC".into(),
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped_and_the_next_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scans.log");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(entry(1)).unwrap();
        journal.append(entry(2)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in whole.len() / 2 + 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(entries(&path).unwrap(), [entry(1)]);
            let mut journal = Journal::open(&path).unwrap();
            assert_eq!(journal.entries(), [entry(1)]);
            journal.append(entry(3)).unwrap();
            assert_eq!(entries(&path).unwrap(), [entry(1), entry(3)]);
        }
        std::fs::write(&path, "nonsense\n").unwrap();
        assert!(Journal::open(&path).is_err());
    }
}
