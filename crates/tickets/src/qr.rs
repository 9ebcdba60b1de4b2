//! The QR symbol of a code, and its picture as SVG.

use qrcodegen::{QrCode, QrCodeEcc, QrSegment, Version};
use std::fmt::Write as _;

/// White modules around the symbol, as ISO/IEC 18004 asks for.
pub const QUIET_ZONE: u32 = 4;

/// A gate reads a symbol of 45 by 45 modules from a phone at arm's length. A larger one
/// would be finer than many scanners like.
const LARGEST_VERSION: u8 = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QrError {
    #[error("a code has only the characters of the alphanumeric mode, and at least one")]
    Alphabet,
    #[error("a code of {0} characters does not fit a version 7-M symbol")]
    TooLong(usize),
}

/// Black and white squares.
pub(crate) struct Symbol(QrCode);

impl Symbol {
    pub(crate) fn of(code: &str) -> Result<Self, QrError> {
        if code.is_empty() || !QrSegment::is_alphanumeric(code) {
            return Err(QrError::Alphabet);
        }
        // Longer than any symbol of this size can hold: not worth encoding.
        if code.len() > 178 {
            return Err(QrError::TooLong(code.len()));
        }
        let segments = [QrSegment::make_alphanumeric(code)];
        QrCode::encode_segments_advanced(
            &segments,
            QrCodeEcc::Medium,
            Version::MIN,
            Version::new(LARGEST_VERSION),
            None,
            false,
        )
        .map(Self)
        .map_err(|_| QrError::TooLong(code.len()))
    }

    /// Modules on a side, without the quiet zone.
    pub(crate) fn size(&self) -> u32 {
        self.0.size().unsigned_abs()
    }

    /// The dark modules as horizontal bars: column, row and length.
    pub(crate) fn bars(&self) -> Vec<(u32, u32, u32)> {
        let mut bars = Vec::new();
        for row in 0..self.0.size() {
            let mut column = 0;
            while column < self.0.size() {
                let dark = (column..self.0.size()).take_while(|x| self.0.get_module(*x, row));
                let length = dark.count() as u32;
                if length > 0 {
                    bars.push((column.unsigned_abs(), row.unsigned_abs(), length));
                }
                column += length as i32 + 1;
            }
        }
        bars
    }
}

/// The QR symbol of a code as SVG: one path, one unit per module, the quiet zone included.
/// It is white behind the modules, because a scanner needs that on a dark page too.
pub fn svg(code: &str) -> Result<String, QrError> {
    let symbol = Symbol::of(code)?;
    let side = symbol.size() + 2 * QUIET_ZONE;
    let mut path = String::new();
    for (x, y, length) in symbol.bars() {
        // Writing to a String cannot fail.
        let _ = write!(
            path,
            "M{} {}h{length}v1h-{length}z",
            x + QUIET_ZONE,
            y + QUIET_ZONE
        );
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" \
         shape-rendering=\"crispEdges\" role=\"img\"><title>QR code of the ticket</title>\
         <rect width=\"{side}\" height=\"{side}\" fill=\"#fff\"/><path d=\"{path}\"/></svg>"
    ))
}
