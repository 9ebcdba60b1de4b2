//! Who came in, by which gate, and how gates that had no line to us add to it later.
//!
//! The admissions of a ticket are a set that only grows. Joining two such sets is
//! commutative, associative and idempotent, so whatever order gates report in, and however
//! often, everybody ends with the same set, and with the same answer to who came first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, TicketId};
use crate::time::Millis;

/// The longest name of a gate, and of a device at one.
pub const MAX_GATE_LEN: usize = 64;
/// A ticket with this many admissions takes no more. Joining itself knows no limit: a set
/// from which something was dropped would depend on who reported first.
pub const MAX_ADMISSIONS: usize = 64;

/// Somebody was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// Names the scan: told again, it is the same one.
    pub scan: String,
    pub at: Millis,
    pub gate: String,
    /// Who stood at the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AccountId>,
    /// Which device let them in while it was offline; none for a scan that asked us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// It was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<Undone>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Undone {
    pub at: Millis,
    pub by: AccountId,
}

impl Admission {
    /// Two reports of one scan. A device that measures the time anew with each report is
    /// believed where it says the earliest.
    fn join(self, other: Self) -> Self {
        let undone = match (&self.undone, &other.undone) {
            (Some(one), Some(two)) => Some(one.min(two).clone()),
            (one, two) => one.clone().or_else(|| two.clone()),
        };
        let said = |a: &Self| (a.at, a.gate.clone(), a.by, a.device.clone());
        let mut first = if said(&other) < said(&self) {
            other
        } else {
            self
        };
        first.undone = undone;
        first
    }

    fn order(&self) -> (Millis, &str) {
        (self.at, &self.scan)
    }
}

/// The admissions of one ticket, earliest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Admissions(Vec<Admission>);

impl From<Admission> for Admissions {
    fn from(admission: Admission) -> Self {
        Self(vec![admission])
    }
}

impl Admissions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is room for more: so many are a copied ticket, and everybody knows.
    pub fn has_room(&self) -> bool {
        self.0.len() < MAX_ADMISSIONS
    }

    /// All of them, also those that were undone.
    pub fn iter(&self) -> impl Iterator<Item = &Admission> {
        self.0.iter()
    }

    /// Those that stand.
    pub fn standing(&self) -> impl Iterator<Item = &Admission> {
        self.0.iter().filter(|admission| admission.undone.is_none())
    }

    /// The admission: the earliest that stands. Of two in the same millisecond, the name of
    /// the scan decides, so that everybody decides alike.
    pub fn first(&self) -> Option<&Admission> {
        self.standing().next()
    }

    pub fn of_scan(&self, scan: &str) -> Option<&Admission> {
        self.0.iter().find(|admission| admission.scan == scan)
    }

    /// Both sets in one.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let mut by_scan: BTreeMap<&str, Admission> = BTreeMap::new();
        for admission in self.0.iter().chain(&other.0) {
            let joined = match by_scan.remove(admission.scan.as_str()) {
                Some(known) => known.join(admission.clone()),
                None => admission.clone(),
            };
            by_scan.insert(&admission.scan, joined);
        }
        let mut all: Vec<_> = by_scan.into_values().collect();
        all.sort_by(|one, other| one.order().cmp(&other.order()));
        Self(all)
    }

    /// The same without any that stands.
    #[must_use]
    pub fn undone(&self, by: AccountId, at: Millis) -> Self {
        let mut next = self.clone();
        for admission in &mut next.0 {
            admission.undone.get_or_insert(Undone { at, by });
        }
        next
    }

    fn heads(&self) -> BTreeMap<&str, i64> {
        let mut heads = BTreeMap::new();
        for admission in self.standing() {
            *heads.entry(admission.gate.as_str()).or_default() += 1;
        }
        heads
    }

    /// By how much the count of each gate changes when this becomes that.
    pub fn count_changes(&self, next: &Self) -> Vec<(String, i64)> {
        let (before, after) = (self.heads(), next.heads());
        let gates = before.keys().chain(after.keys()).copied();
        let mut gates: Vec<_> = gates.collect();
        gates.sort_unstable();
        gates.dedup();
        let heads = |count: &BTreeMap<&str, i64>, gate| count.get(gate).copied().unwrap_or(0);
        gates
            .into_iter()
            .map(|gate| (gate.to_owned(), heads(&after, gate) - heads(&before, gate)))
            .filter(|(_, change)| *change != 0)
            .collect()
    }
}

/// When a device scanned, by our clock. Only how long ago it was is taken from the device:
/// its clock may be wrong by any amount, and nothing was ever scanned in the future.
pub fn scanned_at(device_at: Millis, device_now: Millis, now: Millis) -> Millis {
    now.saturating_sub(device_now - device_at)
}

/// What somebody has to look at, because more people came in than tickets allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// Two or more came in on one ticket.
    Double,
    /// Somebody is in on a ticket that was revoked.
    Revoked,
}

/// The first half of a ticket id. The ids are hashes, so among the tickets of a show no two
/// share it; a list of a hundred thousand is half as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortId(u64);

impl ShortId {
    pub fn of(ticket: TicketId) -> Self {
        let half = ticket.as_bytes().first_chunk().copied();
        Self(u64::from_be_bytes(half.unwrap_or_default()))
    }
}

impl std::fmt::Display for ShortId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for ShortId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let value = u64::from_str_radix(text, 16).ok();
        value
            .filter(|_| digits && text.len() == 16)
            .map(Self)
            .ok_or("not 16 hexadecimal digits")
    }
}

impl Serialize for ShortId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ShortId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
