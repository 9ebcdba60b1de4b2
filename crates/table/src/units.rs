//! What a request costs on DynamoDB, so that every engine can count it.

use crate::item::{Item, Key, Value};
use crate::table::{Limits, TableError};

const READ_UNIT_BYTES: usize = 4096;
const WRITE_UNIT_BYTES: usize = 1024;

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Texts(set) => set.iter().map(String::len).sum(),
        Value::Number(number) => number_bytes(*number),
    }
}

/// One byte for two significant digits, one for the exponent, one for a sign. Zeros at the end
/// are no significant digits.
fn number_bytes(number: i128) -> usize {
    let mut magnitude = number.unsigned_abs();
    if magnitude == 0 {
        return 1;
    }
    while magnitude.is_multiple_of(100) {
        magnitude /= 100;
    }
    let digits = magnitude.ilog10() as usize + 1;
    digits.div_ceil(2) + 1 + usize::from(number < 0)
}

/// Bytes of an item as DynamoDB counts them: names and values, those of the key included.
pub fn item_bytes(key: &Key, item: &Item) -> usize {
    let attributes: usize = item
        .iter()
        .map(|(name, value)| name.len() + value_bytes(value))
        .sum();
    "pk".len() + key.pk.len() + "sk".len() + key.sk.len() + attributes
}

/// Twice the read units of one item, so that half units stay whole numbers.
pub fn read_half_units(bytes: usize, consistent: bool) -> u64 {
    let units = bytes.div_ceil(READ_UNIT_BYTES).max(1) as u64;
    if consistent { units * 2 } else { units }
}

/// Write units of an item that was and becomes this many bytes; 0: it is not there.
pub fn write_units(before: usize, after: usize) -> u64 {
    before.max(after).div_ceil(WRITE_UNIT_BYTES).max(1) as u64
}

/// Refuses an item that is larger than any engine stores.
pub fn check_item(key: &Key, item: &Item) -> Result<(), TableError> {
    let too_large = |what: &str, bytes: usize, most: usize| {
        Err(TableError::Invalid(format!(
            "{what} of {bytes} bytes, where {most} are the most"
        )))
    };
    let bytes = item_bytes(key, item);
    if bytes > Limits::ITEM_BYTES {
        return too_large("an item", bytes, Limits::ITEM_BYTES);
    }
    if key.pk.is_empty() || key.pk.len() > Limits::PK_BYTES {
        return too_large("a partition key", key.pk.len(), Limits::PK_BYTES);
    }
    if key.sk.is_empty() || key.sk.len() > Limits::SK_BYTES {
        return too_large("a sort key", key.sk.len(), Limits::SK_BYTES);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_block_costs_one_unit() {
        let key = Key::new(format!("BLK#{}#{}", "0".repeat(32), 3124), "BLK");
        let mut block = Item::new();
        for slot in 0..32 {
            block.set(format!("c{slot:02}"), vec![0xff; 24]);
        }
        assert_eq!(write_units(0, item_bytes(&key, &block)), 1);
    }

    #[test]
    fn numbers_grow_with_their_significant_digits() {
        for (number, bytes) in [(0, 1), (7, 2), (99, 2), (100, 2), (101, 3), (-7, 3)] {
            assert_eq!(number_bytes(number), bytes, "{number}");
        }
    }
}
