//! Admission passes: what one says, when it counts, and for whom.

use serde::{Deserialize, Serialize};

use super::gate::GateIndex;
use super::opaque::PassId;
use crate::ids::{AccountId, ShowId};
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
    #[error("the pass is used by another account")]
    AnotherAccount,
    #[error("the pass has ended")]
    Closed,
}

impl PassClaims {
    /// Whether the pass counts here and now. An expired pass counts for the skew longer; the
    /// gate keeps its slot for twice the skew, so clocks that disagree cannot exceed the cap.
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

/// What the cloud has stored about a pass: the account that used it first, and whether it
/// was closed, by its holder or by a confirmed order. A closed pass never opens again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassUse {
    pub account: Option<AccountId>,
    pub closed: bool,
}

impl PassUse {
    pub fn check(&self, account: AccountId) -> Result<(), PassError> {
        if self.closed {
            Err(PassError::Closed)
        } else if self.account.is_some_and(|owner| owner != account) {
            Err(PassError::AnotherAccount)
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
    fn a_pass_serves_one_account_until_it_is_closed() {
        let (me, other) = (
            AccountId::from_bytes([1; 16]),
            AccountId::from_bytes([2; 16]),
        );
        let used = |account, closed| PassUse { account, closed };
        for (stored, expected) in [
            (used(Some(me), false), Ok(())),
            (used(None, false), Ok(())),
            (used(Some(other), false), Err(PassError::AnotherAccount)),
            (used(Some(me), true), Err(PassError::Closed)),
            (used(None, true), Err(PassError::Closed)),
        ] {
            assert_eq!(stored.check(me), expected, "{stored:?}");
        }
    }

    #[test]
    fn a_pass_knows_its_gate() {
        for gate in GateIndex::all() {
            assert_eq!(PassId::at_gate(gate, [0xff; 16]).gate(), gate);
        }
    }
}
