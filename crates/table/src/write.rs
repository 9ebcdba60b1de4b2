//! Writes as parts: of a transaction, or of writes in order.

use std::collections::HashSet;

use crate::condition::Condition;
use crate::item::{Item, Key};
use crate::message::Message;
use crate::table::{TRANSACTION_PARTS, TableError};
use crate::update::Update;

/// One write among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Stores the item if its key is new.
    PutNew(Key, Item),
    Update(Key, Update),
    /// Deletes the item if the condition holds. Deleting nothing is no refusal unless the
    /// condition makes it one.
    Delete(Key, Option<Condition>),
    /// Enqueues a message: the last of several writes in order, never part of a transaction.
    Send(Message),
}

impl Write {
    /// The item that is written; `None` for a message.
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::PutNew(key, _) | Self::Update(key, _) | Self::Delete(key, _) => Some(key),
            Self::Send(_) => None,
        }
    }

    /// What the item becomes if the condition holds (`None`: nothing is left of it); an error
    /// if it does not, or if the update does not fit the item.
    pub fn judge(&self, stored: Option<&Item>) -> Result<Option<Item>, Judged> {
        match self {
            Self::PutNew(_, item) => match stored {
                None => Ok(Some(item.clone())),
                Some(_) => Err(Judged::Refused),
            },
            Self::Update(_, update) => {
                if !holds(update.condition.as_ref(), stored) {
                    return Err(Judged::Refused);
                }
                update.apply(stored).map(Some).map_err(Judged::Misfit)
            }
            Self::Delete(_, condition) => {
                if !holds(condition.as_ref(), stored) {
                    return Err(Judged::Refused);
                }
                Ok(None)
            }
            Self::Send(_) => Ok(None),
        }
    }
}

/// Why a write cannot take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    Refused,
    /// The update does not fit the item: the caller's mistake.
    Misfit(String),
}

fn holds(condition: Option<&Condition>, stored: Option<&Item>) -> bool {
    condition.is_none_or(|condition| condition.holds(stored))
}

/// Refuses what no engine takes as one transaction.
pub fn check_transaction(parts: &[Write]) -> Result<(), TableError> {
    if parts.is_empty() || parts.len() > TRANSACTION_PARTS {
        let many = parts.len();
        return Err(TableError::Invalid(format!(
            "a transaction has 1 to {TRANSACTION_PARTS} parts, not {many}"
        )));
    }
    let mut keys = HashSet::with_capacity(parts.len());
    for part in parts {
        let Some(key) = part.key() else {
            return Err(TableError::Invalid("a message in a transaction".to_owned()));
        };
        if matches!(part, Write::Update(_, update) if update.actions.is_empty()) {
            return Err(TableError::Invalid(
                "an update of nothing in a transaction".to_owned(),
            ));
        }
        if !keys.insert(key) {
            return Err(TableError::Invalid(
                "two parts of a transaction on one item".to_owned(),
            ));
        }
    }
    Ok(())
}
