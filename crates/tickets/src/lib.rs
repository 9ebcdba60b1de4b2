//! What a ticket looks like: the QR symbol of its code as SVG, and a page for each ticket
//! as PDF.
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

mod design;
mod faces;
mod fonts;
mod lines;
mod page;
mod pdf;
mod pen;
mod qr;
mod text;
mod words;

pub use page::TicketPage;
pub use pdf::{MAX_PAGES, PdfError, pdf};
pub use qr::{QUIET_ZONE, QrError, svg};
pub use words::{local_time, place_of};
