//! The bytes of an item in the file.
//!
//! A version, the number of attributes, and for each its name, its kind and its value. Lengths
//! and numbers are varints of seven bits a byte, the lowest first; numbers are folded so that
//! small negative ones stay short. Nothing here panics, whatever the file holds.

use std::collections::BTreeSet;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

use super::names::Names;
use crate::item::{Item, Value};

const VERSION: u8 = 1;
const TEXT: u8 = 1;
const NUMBER: u8 = 2;
const BYTES: u8 = 3;
const TEXTS: u8 = 4;
/// Attributes for which there is room at once, so that a damaged count allocates little.
const MOST_AT_ONCE: usize = 256;

/// Bytes that were not written by [`encode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an item in the file is damaged: {0}")]
pub(super) struct Damaged(&'static str);

/// An item in a column of a row.
pub(super) struct Body(pub(super) Item);

impl FromSql for Body {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let item = decode(value.as_blob()?);
        item.map(Self)
            .map_err(|damaged| FromSqlError::Other(Box::new(damaged)))
    }
}

pub(super) fn encode(item: &Item) -> Vec<u8> {
    // Most attributes of most items fit, so that most items cost one allocation.
    let mut out = Vec::with_capacity(16 + 40 * item.len());
    out.push(VERSION);
    put_length(&mut out, item.len());
    for (name, value) in item.iter() {
        put_bytes(&mut out, name.as_bytes());
        match value {
            Value::Text(text) => {
                out.push(TEXT);
                put_bytes(&mut out, text.as_bytes());
            }
            Value::Number(number) => {
                out.push(NUMBER);
                put_varint(&mut out, fold(*number));
            }
            Value::Bytes(bytes) => {
                out.push(BYTES);
                put_bytes(&mut out, bytes);
            }
            Value::Texts(texts) => {
                out.push(TEXTS);
                put_length(&mut out, texts.len());
                for text in texts {
                    put_bytes(&mut out, text.as_bytes());
                }
            }
        }
    }
    out
}

pub(super) fn decode(bytes: &[u8]) -> Result<Item, Damaged> {
    let mut rest = Reader(bytes);
    if rest.byte()? != VERSION {
        return Err(Damaged("an unknown version"));
    }
    let count = rest.length()?;
    let names = Names::known();
    let mut attributes = Vec::with_capacity(count.min(MOST_AT_ONCE));
    for _ in 0..count {
        attributes.push((names.name(rest.text()?), rest.value()?));
    }
    let item = Item::from_iter(attributes);
    if !rest.0.is_empty() || item.len() != count {
        return Err(Damaged("bytes after its end, or a name twice"));
    }
    names.learn(&item);
    Ok(item)
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    put_varint(out, length as u128);
}

fn put_varint(out: &mut Vec<u8>, mut value: u128) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// 0, -1, 1, -2 … become 0, 1, 2, 3 ….
fn fold(number: i128) -> u128 {
    ((number << 1) ^ (number >> 127)) as u128
}

fn unfold(folded: u128) -> i128 {
    (folded >> 1) as i128 ^ -((folded & 1) as i128)
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.0.split_first().ok_or(Damaged("it ends early"))?;
        self.0 = rest;
        Ok(*first)
    }

    fn varint(&mut self) -> Result<u128, Damaged> {
        let mut value = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            // The nineteenth byte has room for two bits.
            if (bits << shift) >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damaged("a number that is too long"))
    }

    /// A count of things that take at least a byte each: never more than there are bytes left,
    /// so that damaged lengths allocate nothing.
    fn length(&mut self) -> Result<usize, Damaged> {
        // Most lengths take one byte.
        let length = match self.0.first() {
            Some(0..=0x7f) => u128::from(self.byte()?),
            _ => self.varint()?,
        };
        match usize::try_from(length) {
            Ok(length) if length <= self.0.len() => Ok(length),
            _ => Err(Damaged("a length beyond its end")),
        }
    }

    fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.length()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged("a text that is no text"))
    }

    fn value(&mut self) -> Result<Value, Damaged> {
        Ok(match self.byte()? {
            TEXT => Value::Text(self.text()?.to_owned()),
            NUMBER => Value::Number(unfold(self.varint()?)),
            BYTES => Value::Bytes(self.bytes()?.to_vec()),
            TEXTS => {
                let texts = self.length()?;
                let texts = (0..texts).map(|_| self.text().map(str::to_owned));
                Value::Texts(texts.collect::<Result<BTreeSet<_>, _>>()?)
            }
            _ => return Err(Damaged("a value of an unknown kind")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Item {
        let mut item = Item::new()
            .with("text", "Zoë")
            .with("empty", "")
            .with("bytes", vec![0u8, 255, 7]);
        let texts = ["a", "b", ""].map(str::to_owned);
        item.set("texts", Value::Texts(texts.into()));
        let numbers = [0, 1, -1, 63, 64, -64, -65, i128::MAX, i128::MIN];
        for (n, number) in numbers.into_iter().enumerate() {
            item.set(format!("n{n}"), Value::Number(number));
        }
        item
    }

    #[test]
    fn an_item_is_the_same_after_it_was_written_and_read() {
        for item in [Item::new(), full()] {
            assert_eq!(decode(&encode(&item)), Ok(item));
        }
    }

    #[test]
    fn every_shortened_item_is_refused() {
        let bytes = encode(&full());
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn an_item_with_bytes_after_its_end_is_refused() {
        let mut bytes = encode(&full());
        bytes.push(0);
        assert!(decode(&bytes).is_err());
    }

    #[test]
    fn damaged_bytes_never_cause_a_panic() {
        let bytes = encode(&full());
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = decode(&damaged);
            }
        }
        let mut state = 1u64;
        for length in 0..2000 {
            let garbage: Vec<u8> = (0..length % 50)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            let _ = decode(&[&[VERSION], garbage.as_slice()].concat());
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused_before_anything_is_allocated() {
        let mut bytes = vec![VERSION];
        put_varint(&mut bytes, u128::MAX);
        assert!(decode(&bytes).is_err());
    }
}
