//! Links that are mailed: to set a password without knowing the old one, to log in without
//! one, and to prove that an address is one's own.
//!
//! The token in the link follows from the id of the reset and a key of the server, so
//! whoever mails it needs no secret from the store or from the bus. What it is good for
//! follows from the account: a reset remembers under which epoch of sessions it was asked
//! for, and every new password begins another. So a link that sets a password works once and
//! an older one dies with it. A link that logs in ends no other session, so its use is noted
//! (`ResetUse`); proving an address twice changes nothing.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use crate::account::{Account, Email};
use crate::ids::{AccountId, ResetId};
use crate::request_hash::RequestHash;
use crate::room::keyed_hash::{Key, keyed_hash};
use crate::time::Millis;

/// Keeps these tokens apart from anything else signed under the same key.
const PURPOSE: &[u8] = b"onsale password reset\0";
const DEVICE_PURPOSE: &[u8] = b"onsale known device\0";
const MAX_KEYS: usize = 8;
/// Ours have 84 to 86 characters.
const MAX_TOKEN_LEN: usize = 128;
const HOUR_MS: u64 = 3_600_000;
/// How long a link to set a password or to log in works.
const LINK_MS: u64 = HOUR_MS / 2;
/// Mails of one purpose that an address gets within a window of the clock, whoever asks for
/// them.
pub const LINKS_PER_WINDOW: u8 = 3;
/// No longer than a link works. So a stranger who uses the quota of an address up keeps
/// nobody out: the links that they had mailed work until the quota begins anew.
pub const LINK_WINDOW_MS: u64 = LINK_MS;

/// The window of the clock whose quota counts now.
pub fn link_window(now: Millis) -> u64 {
    now.0 / LINK_WINDOW_MS
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetPurpose {
    /// Somebody forgot their password.
    Reset,
    /// An organiser made an account for somebody, who chooses its first password.
    Invitation,
    /// Somebody logs in without a password.
    LogIn,
    /// Somebody shows that mail to their address reaches them.
    ProveAddress,
}

impl ResetPurpose {
    /// How long the link works.
    pub fn lasts_ms(self) -> u64 {
        match self {
            Self::Reset | Self::LogIn => LINK_MS,
            Self::Invitation => 7 * 24 * HOUR_MS,
            Self::ProveAddress => HOUR_MS,
        }
    }

    /// Whether the link lets its reader choose a password.
    pub fn sets_password(self) -> bool {
        matches!(self, Self::Reset | Self::Invitation)
    }

    /// Keeps the ids of one purpose apart from those of another.
    fn mark(self) -> [u8; 8] {
        match self {
            Self::Reset | Self::Invitation => self.lasts_ms().to_be_bytes(),
            Self::LogIn => *b"log in\0\0",
            Self::ProveAddress => *b"prove\0\0\0",
        }
    }
}

/// A link to log in was followed. It is stored before the session is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetUse {
    pub at: Millis,
    /// The key of the request, which gets the same answer when it is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<RequestHash>,
    /// Whether nobody had proven the address before. Then the account begins anew: who
    /// registered it may have been somebody else.
    pub claims: bool,
    /// The epoch that a claim ends, where it is not the one in which the link was asked for:
    /// whoever registered the address may have changed the password meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
}

/// Somebody asked for a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    pub id: ResetId,
    /// `None`: nobody has this address. It is stored all the same, so that asking takes as
    /// long for an address that nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    pub purpose: ResetPurpose,
    /// The epoch of the account's sessions when it was asked for.
    pub epoch: u32,
    pub asked: Millis,
    /// Whether whoever mails links was told.
    pub announced: bool,
    /// Only of a link to log in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ResetUse>,
}

impl Reset {
    pub fn expires(&self) -> Millis {
        self.asked + self.purpose.lasts_ms()
    }

    /// Whose account it is for, if it is good now, and under which epoch. A clock that runs
    /// ahead ends it early and never late.
    pub fn good_for(&self, now: Millis) -> Option<(AccountId, u32)> {
        let account = self.account?;
        (now < self.expires()).then_some((account, self.epoch))
    }

    /// The link is followed to log in. `None`: it is for something else, too old, of another
    /// epoch, or was used by another request. A use that is on record comes back as it is.
    ///
    /// While the address is unproven the link is good in every epoch, because it is the proof:
    /// otherwise a stranger who registered the address could end its owner's links by changing
    /// the password again and again.
    pub fn log_in(
        &self,
        account: &Account,
        epoch: u32,
        by: Option<RequestHash>,
        now: Millis,
    ) -> Option<ResetUse> {
        let (id, asked_at) = self.good_for(now)?;
        if self.purpose != ResetPurpose::LogIn || id != account.id {
            return None;
        }
        match &self.used {
            Some(used) if by.is_some() && used.by == by => Some(used.clone()),
            Some(_) => None,
            None if account.proven.is_none() => Some(ResetUse {
                at: now,
                by,
                claims: true,
                epoch: (epoch != asked_at).then_some(epoch),
            }),
            None if epoch != asked_at => None,
            None => Some(ResetUse {
                at: now,
                by,
                claims: false,
                epoch: None,
            }),
        }
    }

    /// The epoch in which this use finds the account.
    pub fn epoch_of(&self, used: &ResetUse) -> u32 {
        used.epoch.unwrap_or(self.epoch)
    }

    /// The epoch that a session of this use belongs to.
    pub fn epoch_after(&self, used: &ResetUse) -> u32 {
        self.epoch_of(used) + u32::from(used.claims)
    }
}

impl ResetId {
    /// The reset that is asked for as the `nth` of this window. So the limit per address
    /// holds whichever processes are asked, and needs no counter. Which account has the address
    /// does not count: a stranger could register it, leave, and register it again, and have
    /// three more mails sent there each time. Only an address that nobody has is counted apart,
    /// because nothing is mailed to it.
    pub fn nth(
        email: &Email,
        has_account: bool,
        purpose: ResetPurpose,
        now: Millis,
        nth: u8,
    ) -> Self {
        Self::derived(&[
            email.as_str().as_bytes(),
            &[u8::from(has_account)],
            &purpose.mark(),
            &link_window(now).to_be_bytes(),
            &[nth],
        ])
    }
}

/// Which key made a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResetKeyId(pub u8);

/// What the link carries. Whoever has it can set the password, so it is not for logs.
#[derive(Clone, PartialEq, Eq)]
pub struct ResetToken(String);

impl fmt::Debug for ResetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResetToken(…)")
    }
}

/// For the link, and for nothing else.
impl fmt::Display for ResetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ResetToken {
    /// The token of a reset under one key.
    pub fn of(reset: ResetId, key_id: ResetKeyId, key: &Key) -> Self {
        let proof = keyed_hash(key, &[PURPOSE, &[key_id.0], reset.as_bytes()]);
        let proof = URL_SAFE_NO_PAD.encode(proof);
        Self(format!("{reset}.{}.{proof}", key_id.0))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResetKeysError {
    #[error("a reset key is a number from 0 to 255, a colon and 64 hexadecimal digits")]
    Text,
    #[error("a ring of reset keys has 1 to {MAX_KEYS} keys")]
    Count,
    #[error("two reset keys share an id")]
    Twice,
}

/// The keys whose tokens count. The first one makes new tokens; the others stay for as
/// long as a link of theirs may be followed, a week.
#[derive(Clone)]
pub struct ResetKeys {
    keys: Vec<(ResetKeyId, Key)>,
}

impl fmt::Debug for ResetKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u8> = self.keys.iter().map(|(id, _)| id.0).collect();
        write!(f, "ResetKeys{ids:?}")
    }
}

impl ResetKeys {
    /// Key ids with their secrets, the one that makes new tokens first.
    pub fn new(keys: Vec<(ResetKeyId, Key)>) -> Result<Self, ResetKeysError> {
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return Err(ResetKeysError::Count);
        }
        let twice = |(i, key): (usize, &(ResetKeyId, Key))| keys[..i].iter().any(|k| k.0 == key.0);
        if keys.iter().enumerate().any(twice) {
            return Err(ResetKeysError::Twice);
        }
        Ok(Self { keys })
    }

    /// The key that makes new tokens.
    pub fn newest(&self) -> ResetKeyId {
        self.keys[0].0
    }

    /// The token that a key made for a reset, if it is one of ours still.
    pub fn token_by(&self, key_id: ResetKeyId, reset: ResetId) -> Option<ResetToken> {
        let (_, key) = self.keys.iter().find(|(known, _)| *known == key_id)?;
        Some(ResetToken::of(reset, key_id, key))
    }

    /// The token that is mailed for a reset.
    pub fn token(&self, reset: ResetId) -> ResetToken {
        let (id, key) = &self.keys[0];
        ResetToken::of(reset, *id, key)
    }

    /// The reset that a token is for, if one of our keys made it.
    pub fn verify(&self, text: &str) -> Option<ResetId> {
        if text.len() > MAX_TOKEN_LEN {
            return None;
        }
        let mut parts = text.split('.');
        let reset: ResetId = parts.next()?.parse().ok()?;
        let key_id = ResetKeyId(parts.next()?.parse().ok()?);
        let (_, key) = self.keys.iter().find(|(known, _)| *known == key_id)?;
        let expected = ResetToken::of(reset, key_id, key);
        // The whole text: a token has one spelling. It takes the same time wherever the
        // first difference is.
        let same = expected.0.as_bytes().ct_eq(text.as_bytes());
        bool::from(same).then_some(reset)
    }
}

impl ResetKeys {
    /// What a browser is given when somebody logs in on it: proof that they did once. It
    /// lets nobody in; its log-ins are only counted apart from those of strangers, who could
    /// otherwise use up what the address may try.
    pub fn known_device(&self, email: &Email) -> String {
        let (id, key) = &self.keys[0];
        device_proof(email, *id, key)
    }

    /// Whether this browser has logged in with this address before.
    pub fn knows_device(&self, email: &Email, text: &str) -> bool {
        let id = text.split_once('.').and_then(|(id, _)| id.parse().ok());
        let known = self.keys.iter().find(|(known, _)| Some(known.0) == id);
        known.is_some_and(|(id, key)| {
            let expected = device_proof(email, *id, key);
            bool::from(expected.as_bytes().ct_eq(text.as_bytes()))
        })
    }
}

fn device_proof(email: &Email, id: ResetKeyId, key: &Key) -> String {
    let proof = keyed_hash(key, &[DEVICE_PURPOSE, &[id.0], email.as_str().as_bytes()]);
    format!("{}.{}", id.0, URL_SAFE_NO_PAD.encode(proof))
}

/// `1:<64 hexadecimal digits>`, several with commas between them, the one that makes new
/// tokens first. What is wrong is told without the text: it is a secret.
impl FromStr for ResetKeys {
    type Err = ResetKeysError;

    fn from_str(text: &str) -> Result<Self, ResetKeysError> {
        let key = |entry: &str| {
            let (id, digits) = entry.trim().split_once(':')?;
            let mut secret = Key::default();
            hex::decode_to_slice(digits, &mut secret).ok()?;
            Some((ResetKeyId(id.parse().ok()?), secret))
        };
        let keys: Option<Vec<_>> = text.split(',').map(key).collect();
        Self::new(keys.ok_or(ResetKeysError::Text)?)
    }
}

#[cfg(test)]
#[path = "password_reset_tests.rs"]
mod tests;
