//! The number of an order that people read out, at a box office or on the telephone.
//!
//! It follows from the id, so nothing is stored and nobody has to hand numbers out: nine
//! characters of 24 that no eye takes for another, without vowels so that they spell no
//! word, drawn by a hash. It names an order to people and is no key. Among the 100,000
//! orders of a large show the chance that any two have one number is 1 in 500 (n² / 2 · 24⁹);
//! who searches by number is shown both.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::ids::OrderId;

/// Left out are 0 O, 1 I L, 5 S, 8 B, 2 Z and U V, of each of which one is enough, and A E.
const CHARACTERS: &[u8; 24] = b"23456789CDFGHJKMNPQRTWXY";
const LENGTH: usize = 9;
/// Where the hyphen stands: two short groups are easier to say than one long one.
const FIRST_GROUP: usize = 4;

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OrderNumber(String);

impl OrderNumber {
    pub fn of(order: OrderId) -> Self {
        let digest = Sha256::new()
            .chain_update(b"order number")
            .chain_update(order.as_bytes())
            .finalize();
        let mut bits = [0u8; 8];
        bits.copy_from_slice(&digest[..8]);
        // 2⁶⁴ is seven million times 24⁹: no character is likelier than another.
        let mut rest = u64::from_be_bytes(bits);
        let mut text = String::with_capacity(LENGTH + 1);
        for place in 0..LENGTH {
            if place == FIRST_GROUP {
                text.push('-');
            }
            let count = CHARACTERS.len() as u64;
            text.push(char::from(CHARACTERS[(rest % count) as usize]));
            rest /= count;
        }
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn number(n: u32) -> OrderNumber {
        OrderNumber::of(OrderId::derived(&[&n.to_be_bytes()]))
    }

    #[test]
    fn a_number_is_short_and_has_no_characters_that_look_alike() {
        for n in 0..1_000 {
            let text = number(n).to_string();
            assert_eq!(text.len(), 10, "{text}");
            assert_eq!(text.find('-'), Some(4), "{text}");
            assert!(!text.contains(['0', 'O', '1', 'I', 'L', 'S', 'B', 'Z', 'U', 'V']));
        }
    }

    #[test]
    fn an_order_keeps_its_number_and_shares_it_with_no_other() {
        let numbers: HashSet<_> = (0..20_000).map(number).collect();
        assert_eq!(numbers.len(), 20_000);
        assert_eq!(
            OrderNumber::of(OrderId::from_bytes([7; 16])).as_str(),
            "PR4W-Q2NYM"
        );
    }
}
