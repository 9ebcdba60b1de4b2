//! The one secret of all rooms, and what follows from it for each show. Nothing has to be
//! stored before a sale, and every machine at the edge knows the same.

use std::fmt;
use subtle::ConstantTimeEq;

use super::difficulty::Suspicion;
use super::draw::{Seed, Seeds};
use super::keyed_hash::{Key, keyed_hash};
use crate::ids::{ShowId, VisitorId};

/// It must not change while a sale is under way: seeds that were committed to would.
#[derive(Clone)]
pub struct RoomSecret(pub Key);

impl fmt::Debug for RoomSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoomSecret(…)")
    }
}

impl RoomSecret {
    pub fn seeds(&self, show: ShowId) -> Seeds {
        Seeds {
            opening: Seed(self.derive(b"onsale opening seed\0", show.as_bytes())),
            later: Seed(self.derive(b"onsale later seed\0", show.as_bytes())),
        }
    }

    /// What lots of this show are made with.
    pub fn lot_key(&self, show: ShowId) -> Key {
        self.derive(b"onsale lot key\0", show.as_bytes())
    }

    /// How a visitor is named in a cookie: with what is known against them, so that nobody
    /// can lower it without becoming somebody else.
    pub fn visitor_text(&self, visitor: VisitorId, suspicion: Suspicion) -> String {
        let level = match suspicion {
            Suspicion::Nothing => 0,
            Suspicion::Unusual => 1,
            Suspicion::Automated => 2,
        };
        let named = format!("{visitor}.{level}");
        let tag = self.visitor_tag(&named);
        format!("{named}.{}", hex::encode(tag))
    }

    pub fn read_visitor(&self, text: &str) -> Option<(VisitorId, Suspicion)> {
        let (named, tag) = text.rsplit_once('.')?;
        // A visitor has one text: the decoder of hexadecimal digits takes capitals too.
        if tag.bytes().any(|b| b.is_ascii_uppercase()) {
            return None;
        }
        let mut given = [0; 8];
        hex::decode_to_slice(tag, &mut given).ok()?;
        if !bool::from(self.visitor_tag(named).ct_eq(&given)) {
            return None;
        }
        let (visitor, level) = named.split_once('.')?;
        let suspicion = match level {
            "0" => Suspicion::Nothing,
            "1" => Suspicion::Unusual,
            _ => Suspicion::Automated,
        };
        Some((visitor.parse().ok()?, suspicion))
    }

    fn visitor_tag(&self, named: &str) -> [u8; 8] {
        let hash = self.derive(b"onsale visitor\0", named.as_bytes());
        let mut tag = [0; 8];
        tag.copy_from_slice(&hash[..8]);
        tag
    }

    fn derive(&self, purpose: &[u8], of: &[u8]) -> Key {
        keyed_hash(&self.0, &[purpose, of])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: RoomSecret = RoomSecret([1; 32]);
    const SHOW: ShowId = ShowId::from_bytes([2; 16]);

    #[test]
    fn everything_derived_is_different() {
        let seeds = SECRET.seeds(SHOW);
        let other = SECRET.seeds(ShowId::from_bytes([3; 16]));
        assert_ne!(seeds.opening, seeds.later);
        assert_ne!(seeds.opening, other.opening);
        assert_ne!(SECRET.lot_key(SHOW), seeds.opening.0);
        assert_ne!(RoomSecret([9; 32]).seeds(SHOW), seeds);
        assert_eq!(format!("{SECRET:?}"), "RoomSecret(…)");
    }

    #[test]
    fn a_visitor_cannot_lower_what_is_known_against_them() {
        let visitor = VisitorId::from_bytes([7; 16]);
        for suspicion in [Suspicion::Nothing, Suspicion::Unusual, Suspicion::Automated] {
            let text = SECRET.visitor_text(visitor, suspicion);
            assert_eq!(SECRET.read_visitor(&text), Some((visitor, suspicion)));
            assert_eq!(RoomSecret([9; 32]).read_visitor(&text), None);
        }
        let text = SECRET.visitor_text(visitor, Suspicion::Automated);
        for wrong in [
            text.replace(".2.", ".0."),
            text.replace(".2.", "."),
            text.to_uppercase().replace("VIS", "vis"),
            format!("{}.{}", &text[..38], text[39..].to_uppercase()),
            String::new(),
        ] {
            assert_eq!(SECRET.read_visitor(&wrong), None, "{wrong}");
        }
    }
}
