//! What a power cut left, and whether everything is there that was answered before.

use std::path::{Path, PathBuf};

use onsale_table::sqlite::{Durability, SqliteFile, SqliteTable};
use onsale_table::{Key, Reads, Schema, Table};

pub const SCHEMA: Schema = Schema {
    indexes: &[],
    forget_at: "forget_at",
};
/// Counts all writes.
pub const COUNTER: &str = "counter";

pub fn key(name: &str) -> Key {
    Key::new("P", name.to_owned())
}

/// One power cut. Before it the child was answered that these items exist, in lines of a name
/// and the least value of its number.
pub struct Cut {
    pub folder: PathBuf,
    pub name: String,
    pub answered: Vec<String>,
}

impl Cut {
    /// Opens what the cut left; returns what was answered but is not there.
    pub async fn missing(&self, kind: &str) -> Vec<String> {
        let path = self.folder.join(format!("{}-{kind}", self.name));
        self.missing_in(&path).await
    }

    /// Opens this file; returns what was answered but is not there.
    pub async fn missing_in(&self, path: &Path) -> Vec<String> {
        let file = SqliteFile::open(path, Durability::ProcessDeath).unwrap();
        let table = SqliteTable::open(file, SCHEMA).await.unwrap();
        let mut missing = Vec::new();
        for line in &self.answered {
            let (name, least) = line.split_once(' ').unwrap();
            let item = table.get(&key(name), Reads::Consistent).await.unwrap();
            let number = item.and_then(|item| item.number("n")).unwrap_or(-1);
            if number < least.parse().unwrap() {
                missing.push(line.clone());
            }
        }
        missing
    }
}
