//! What a ticket looks like: the QR symbol of its code as SVG, and a page for each ticket
//! as PDF.
//!
//! Pure functions: the same tickets always give the same bytes. The pages are tagged
//! PDF/UA-1, so a screen reader finds the title, the seat and the code, and the fonts are
//! in the program, so nothing has to be installed.
//!
//! Text is shaped and falls back from font to font for Latin, Greek, Cyrillic, Chinese,
//! Japanese and Korean. There are no fonts for scripts that run from right to left, for
//! those of South and South-East Asia, or for emoji: their letters are printed as U+FFFD,
//! while a screen reader still gets them as they were written.

mod design;
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
