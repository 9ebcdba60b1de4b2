//! What a ticket looks like: the QR symbol of its code as SVG, and a page for each ticket
//! as PDF; and how times, amounts and places are written in each language.
//!
//! Pure functions: the same tickets always give the same bytes. The pages are tagged
//! PDF/UA-1, so a screen reader finds the title, the seat and the code, and the fonts are
//! in the program, so nothing has to be installed.
//!
//! Text is shaped and falls back from font to font; what runs from right to left is put in
//! the order in which it is seen, and stays in the order in which it is read for whoever
//! copies it. The README beside the fonts says which scripts they have. Letters of other
//! scripts and emoji are printed as U+FFFD, while a screen reader still gets them as they
//! were written.

mod amount;
mod calendar;
mod design;
mod faces;
mod fonts;
mod lines;
pub mod look;
mod page;
mod pdf;
mod pen;
mod places;
mod qr;
mod receipt;
mod receipt_words;
mod text;
mod when;
mod words;

pub use amount::amount;
pub use calendar::{CalendarEntry, calendar};
pub use page::TicketPage;
pub use pdf::{MAX_PAGES, PdfError, pdf};
pub use places::{place_of, places};
pub use qr::{QUIET_ZONE, QrError, svg};
pub use receipt::{Receipt, receipt};
pub use when::{local_time, local_time_and_zone};
