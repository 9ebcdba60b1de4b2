//! The loop in which a document is changed.

use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Document, Versioned, Written};

/// What becomes of a document, and the answer once it is so.
pub(crate) enum Next<T, R> {
    Store(T, R),
    /// It stays as it is.
    Leave(R),
}

impl App {
    /// Lets `decide` look at a document and say what becomes of it, until one write wins. After a
    /// lost write it looks at what another process made of the document.
    pub(crate) async fn update<T: Document, R>(
        &self,
        mut stored: Versioned<T>,
        decide: impl Fn(&T, Millis) -> Result<Next<T, R>>,
    ) -> Result<R> {
        for _ in 0..ROUNDS {
            let (value, answer) = match decide(&stored.value, self.now())? {
                Next::Store(value, answer) => (value, answer),
                Next::Leave(answer) => return Ok(answer),
            };
            let version = stored.version;
            match self.store.replace(&Versioned { version, value }).await? {
                Written::Done(_) => return Ok(answer),
                Written::Lost(current) => stored = current,
            }
        }
        Err(Error::Unavailable)
    }
}
