//! Checkout: from a hold to tickets, and back.
//!
//! The rules and the order of the steps are in `onsale_domain::checkout_saga` and
//! `refund_saga`. Here is the hand that does them: `start` writes the order and locks
//! the hold while the buyer waits, one message later `drive` performs one step after
//! the other, and each result is stored before the next step begins. Nothing here
//! remembers anything: a worker that dies anywhere is replaced by the next message.

mod cancel;
mod cells;
mod charge_back;
mod drive;
mod read;
mod receipt;
mod rejections;
mod resale;
mod resume;
mod start;
mod steps;
mod undo;

pub use cancel::{Cancelled, Cancelling};
pub use drive::{MAX_TRIES, Trouble};
pub use read::OrderDetails;
pub use receipt::Receipted;
