//! The place of a piece of work in its trace, as W3C Trace Context writes it.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: u128,
    pub span: u64,
    /// Whether its spans are collected.
    pub sampled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotATraceParent;

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

impl FromStr for TraceParent {
    type Err = NotATraceParent;

    /// Versions to come may add fields at the end; the first four stay what they are.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut fields = text.split('-');
        let mut field = |length: usize| {
            let plain = |text: &&str| {
                text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            };
            fields.next().filter(plain).ok_or(NotATraceParent)
        };
        let version = field(2)?;
        let trace = u128::from_str_radix(field(32)?, 16).map_err(|_| NotATraceParent)?;
        let span = u64::from_str_radix(field(16)?, 16).map_err(|_| NotATraceParent)?;
        let flags = u8::from_str_radix(field(2)?, 16).map_err(|_| NotATraceParent)?;
        let more = fields.next().is_some();
        if trace == 0 || span == 0 || version == "ff" || (version == "00" && more) {
            return Err(NotATraceParent);
        }
        Ok(Self {
            trace,
            span,
            sampled: flags & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_and_nonsense_cannot() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read: TraceParent = text.parse().unwrap();
        assert!(read.sampled);
        assert_eq!(read.to_string(), text);
        assert!(
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later"
                .parse::<TraceParent>()
                .is_ok()
        );
        for wrong in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(
                wrong.parse::<TraceParent>(),
                Err(NotATraceParent),
                "{wrong}"
            );
        }
    }
}
