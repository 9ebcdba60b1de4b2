//! Why something could not be stored or read.

use onsale_table::TableError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No answer, or "try again". A write may or may not have happened.
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// What is stored is not what was ever written, or cannot be written at all.
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
}

impl From<TableError> for StoreError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Unavailable(why) => Self::Unavailable(why),
            TableError::Conflict => Self::Unavailable("transactions are in the way".to_owned()),
            TableError::Invalid(what) => Self::Corrupt(what),
        }
    }
}

pub type Stored<T> = Result<T, StoreError>;

pub(crate) fn corrupt(what: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(what.to_string())
}
