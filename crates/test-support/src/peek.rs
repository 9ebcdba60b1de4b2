//! A look into the table past the store, and accidents that no use case causes. None of it
//! counts as a call, and none of it goes wrong.

use std::sync::Arc;

use onsale_app::ports::{SCHEMA, keys};
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::mail::Mail;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_table::memory::MemoryTable;
use onsale_table::{Item, Key, Reads, Row, Table, Update};

/// The memory table answers at once, so nobody has to wait for it.
fn at_once<T>(answer: impl Future<Output = T>) -> T {
    let mut answer = std::pin::pin!(answer);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match answer.as_mut().poll(&mut context) {
        std::task::Poll::Ready(answer) => answer,
        std::task::Poll::Pending => panic!("the memory table waits for something"),
    }
}

/// The table of a world.
#[derive(Debug, Clone)]
pub struct Peek(pub Arc<MemoryTable>);

impl Default for Peek {
    fn default() -> Self {
        Self(Arc::new(MemoryTable::new(SCHEMA)))
    }
}

impl Peek {
    fn get(&self, key: &Key) -> Option<Item> {
        let item = at_once(self.0.get(key, Reads::Consistent));
        item.unwrap_or_else(|error| panic!("the memory table failed: {error}"))
    }

    /// Every row of a kind, in the order of the keys.
    pub fn rows(&self, kind: &str) -> Vec<Row> {
        let rows = at_once(self.0.scan(None, usize::MAX));
        let mut rows = rows.unwrap_or_else(|error| panic!("the memory table failed: {error}"));
        rows.retain(|row| row.key.pk.split('#').next() == Some(kind));
        rows
    }

    /// Every mail that is stored, in the order of the ids.
    pub fn all_mails(&self) -> Vec<Mail> {
        let read = |row: &Row| serde_json::from_str(row.item.text("doc").unwrap_or_default());
        let mails: Result<Vec<Mail>, _> = self.rows("MAIL").iter().map(read).collect();
        mails.unwrap_or_else(|error| panic!("a stored mail cannot be read: {error}"))
    }

    /// What is known of a pass.
    pub fn pass_use(&self, pass: PassId) -> Option<PassUse> {
        let item = self.get(&keys::pass(pass))?;
        Some(PassUse {
            account: item.text("acc").and_then(|account| account.parse().ok()),
            closed: item.has("x"),
        })
    }

    /// Closes a block, as cancelling a show does.
    pub fn close_block(&self, show: ShowId, block: BlockIndex) {
        let update = Update::always().set("x", 1u64);
        let closed = at_once(self.0.update(&keys::block(show, block), &update));
        assert!(closed.is_ok(), "the block was not closed");
    }

    /// Loses a ticket, as nothing but an accident does.
    pub fn lose_ticket(&self, id: TicketId) {
        let key = Key::new(format!("TKT#{}", id.simple()), "TKT");
        let lost = at_once(self.0.delete(&key));
        assert!(lost.is_ok(), "the ticket was not lost");
    }
}
