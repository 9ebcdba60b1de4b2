//! Admission passes: what one says and when it counts. The token around it, and its
//! signature, belong to whoever speaks HTTP.

use serde::{Deserialize, Serialize};

use super::gate::GateIndex;
use super::opaque::PassId;
use crate::ids::ShowId;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// A pass is renewed while its holder shops, but never beyond this after its start.
pub const MAX_PASS_MS: u64 = 15 * 60_000;

impl PassId {
    /// A pass names its gate in its last bits, so that whoever closes it knows where to go.
    pub fn at_gate(gate: GateIndex, mut entropy: [u8; 16]) -> Self {
        entropy[15] = entropy[15] & !7 | gate.number();
        Self(entropy)
    }

    pub fn gate(&self) -> GateIndex {
        GateIndex::of_bits(self.0[15])
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassClaims {
    pub pass: PassId,
    pub show: ShowId,
    pub issued: Millis,
    pub expires: Millis,
    pub key_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    #[error("the pass is for another show")]
    AnotherShow,
    #[error("the pass is from the future")]
    NotYet,
    #[error("the pass has expired")]
    Expired,
    #[error("no pass lasts that long")]
    TooLong,
}

impl PassClaims {
    /// Whether the pass counts here and now. An expired pass counts for five more seconds,
    /// which its slot outlasts, so clocks that disagree cannot exceed the cap.
    pub fn check(&self, show: ShowId, now: Millis) -> Result<(), PassError> {
        if self.show != show {
            Err(PassError::AnotherShow)
        } else if self.expires - self.issued > MAX_PASS_MS {
            Err(PassError::TooLong)
        } else if self.issued > now + CLOCK_SKEW_MS {
            Err(PassError::NotYet)
        } else if self.expires + CLOCK_SKEW_MS <= now {
            Err(PassError::Expired)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOW: ShowId = ShowId::from_bytes([1; 16]);
    const NOW: Millis = Millis(1_800_000_000_000);

    fn pass() -> PassClaims {
        PassClaims {
            pass: PassId([2; 16]),
            show: SHOW,
            issued: NOW,
            expires: NOW + 300_000,
            key_id: "k1".into(),
        }
    }

    #[test]
    fn a_pass_counts_from_issue_to_expiry_give_or_take_five_seconds() {
        assert_eq!(pass().check(SHOW, NOW), Ok(()));
        assert_eq!(pass().check(SHOW, NOW.saturating_sub(5_000)), Ok(()));
        assert_eq!(
            pass().check(SHOW, NOW.saturating_sub(5_001)),
            Err(PassError::NotYet)
        );
        assert_eq!(pass().check(SHOW, NOW + 304_999), Ok(()));
        assert_eq!(pass().check(SHOW, NOW + 305_000), Err(PassError::Expired));
    }

    #[test]
    fn a_pass_counts_for_its_show_and_fifteen_minutes_at_most() {
        let other = ShowId::from_bytes([9; 16]);
        assert_eq!(pass().check(other, NOW), Err(PassError::AnotherShow));
        let longest = PassClaims {
            expires: NOW + MAX_PASS_MS,
            ..pass()
        };
        assert_eq!(longest.check(SHOW, NOW), Ok(()));
        let longer = PassClaims {
            expires: NOW + MAX_PASS_MS + 1,
            ..pass()
        };
        assert_eq!(longer.check(SHOW, NOW), Err(PassError::TooLong));
    }

    #[test]
    fn a_pass_knows_its_gate() {
        for gate in GateIndex::all() {
            assert_eq!(PassId::at_gate(gate, [0xff; 16]).gate(), gate);
        }
    }
}
