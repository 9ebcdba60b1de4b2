//! Which layout stored bytes have: the name they are stored under says so. What another
//! version of this code wrote is refused in words, never read as something else.

use crate::host::{Storage, Told, Trouble};

/// A name and the format of what is stored under it. The number is raised when a layout
/// changes.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    pub name: &'static str,
    pub version: u8,
}

impl Format {
    /// The name under which it is stored now.
    pub fn current(self) -> String {
        format!("{}/{}", self.name, self.version)
    }

    /// What is stored in a layout that this code knows.
    pub async fn find<S: Storage>(
        self,
        storage: &S,
        stored: &[(String, Vec<u8>)],
    ) -> Told<Option<Vec<u8>>> {
        let (name, wanted) = (self.name, self.current());
        let bytes_of = |name: &str| {
            let found = stored.iter().find(|(known, _)| known == name);
            found.map(|(_, bytes)| bytes.clone())
        };
        if let Some(bytes) = bytes_of(&wanted) {
            return Ok(Some(bytes));
        }
        // Before names said it there was one layout, the first.
        if let Some(bytes) = bytes_of(name).filter(|_| self.version == 1) {
            let renamed = vec![(wanted, Some(bytes.clone())), (name.to_owned(), None)];
            storage.store(renamed).await?;
            return Ok(Some(bytes));
        }
        let prefix = format!("{name}/");
        let is_other = |known: &str| known == name || known.starts_with(&prefix);
        match stored.iter().find(|(known, _)| is_other(known)) {
            Some((other, _)) => Err(Trouble(format!(
                "it is stored as {other}, in a format of another version of this software, and \
                 this one reads {wanted}; run the version that wrote it"
            ))),
            None => Ok(None),
        }
    }
}
