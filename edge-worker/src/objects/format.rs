//! Which layout stored bytes have: the name they are stored under says so. What another
//! version of this code wrote is refused in words, never read as something else.

use crate::host::{Storage, Told, Trouble};

/// Raised when a layout changes; what is stored under the old name is then read as such.
const FORMAT: u8 = 1;

/// The name under which something is stored now.
pub fn current(name: &str) -> String {
    format!("{name}/{FORMAT}")
}

/// What is stored under this name in a layout that this code knows.
pub async fn find<S: Storage>(
    storage: &S,
    stored: &[(String, Vec<u8>)],
    name: &str,
) -> Told<Option<Vec<u8>>> {
    let wanted = current(name);
    let bytes_of = |name: &str| {
        let found = stored.iter().find(|(known, _)| known == name);
        found.map(|(_, bytes)| bytes.clone())
    };
    if let Some(bytes) = bytes_of(&wanted) {
        return Ok(Some(bytes));
    }
    // Before names said it there was one layout, the first.
    if let Some(bytes) = bytes_of(name) {
        let renamed = vec![(wanted, Some(bytes.clone())), (name.to_owned(), None)];
        storage.store(renamed).await?;
        return Ok(Some(bytes));
    }
    let prefix = format!("{name}/");
    match stored.iter().find(|(known, _)| known.starts_with(&prefix)) {
        Some((other, _)) => Err(Trouble(format!(
            "it is stored as {other}, in a format of another version of this software, and \
             this one reads {wanted}; run the version that wrote it"
        ))),
        None => Ok(None),
    }
}
