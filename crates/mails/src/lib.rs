//! What a mail looks like.
//!
//! A letter (`onsale_domain::letter`) has typed values; `texts` turns it into a page, in
//! each language; `page` sets the page as plain text and as HTML; `mime` makes the message
//! of both, with the tickets as PDF. The same letter gives the same bytes.

mod html;
pub mod links;
mod mime;
mod page;
mod plain;
mod texts;
mod writer;

pub use mime::{Attachment, Message, Sender, SenderError};
pub use texts::{Rendered, render};
pub use writer::{MailWriter, Settings};
