//! What every engine refuses before it looks at an item.

use std::collections::HashSet;

use crate::item::{Item, Key};
use crate::table::{BATCH_KEYS, TableError};
use crate::units::check_item;
use crate::update::Update;
use crate::write::Write;

/// Refuses a key that no item can have.
pub fn check_key(key: &Key) -> Result<(), TableError> {
    check_item(key, &Item::new())
}

/// Refuses more keys than one request reads, and a key that is named twice.
pub fn check_batch(keys: &[Key]) -> Result<(), TableError> {
    if keys.len() > BATCH_KEYS {
        let many = keys.len();
        return Err(TableError::Invalid(format!(
            "a batch has up to {BATCH_KEYS} keys, not {many}"
        )));
    }
    let mut seen = HashSet::with_capacity(keys.len());
    for key in keys {
        check_key(key)?;
        if !seen.insert(key) {
            return Err(TableError::Invalid("a key twice in a batch".to_owned()));
        }
    }
    Ok(())
}

/// Refuses an update that names an attribute twice.
pub(crate) fn check_names(update: &Update) -> Result<(), TableError> {
    let mut names: Vec<&str> = update.actions.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(TableError::Invalid(format!(
            "an update that names {} twice",
            pair[0]
        ))),
    }
}

/// Refuses writes in order of which another than the last is a message.
pub fn check_order(writes: &[Write]) -> Result<(), TableError> {
    let is_message = |write: &Write| matches!(write, Write::Send(_));
    if writes.iter().rev().skip(1).any(is_message) {
        return Err(TableError::Invalid("a write after a message".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_each_key_once_and_not_too_many() {
        let keys: Vec<_> = (0..=BATCH_KEYS)
            .map(|n| Key::new(format!("ORD#{n}"), "ORD"))
            .collect();
        assert_eq!(check_batch(&keys[..BATCH_KEYS]), Ok(()));
        assert!(check_batch(&keys).is_err());
        assert!(check_batch(&[keys[0].clone(), keys[0].clone()]).is_err());
    }
}
