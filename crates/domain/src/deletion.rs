//! Somebody leaves: what is done, in which order, once their account is gone.
//!
//! The account itself goes first and in one write: its name, email and password are
//! removed, its sessions end, and the email is free for others. What is left to do refers
//! to it only by its id, which names nobody any more, and is done step by step. Every step
//! can be done again, so a process may die between any two.
//!
//! Orders and tickets stay: what was sold and paid must be accounted for, a refund must
//! find its payment, and a ticket lets in whoever carries it.

use serde::{Deserialize, Serialize};

use crate::account::{Account, Email};
use crate::buyer::PAY_MS;
use crate::ids::AccountId;
use crate::show::HOLD_SECONDS;
use crate::staff::Staff;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// The longest a hold lasts, with the time to pay for it: after that nothing is left to
/// release.
pub const HOLDS_LAST_MS: u64 = *HOLD_SECONDS.end() as u64 * 1_000 + PAY_MS + CLOCK_SKEW_MS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionStep {
    /// The audit trail says that somebody is staff no more.
    Staff,
    /// Open holds are released.
    Holds,
    /// Entries in waitlists end.
    Waitlist,
    /// What orders still say of the person is removed, once their sagas have ended.
    Orders,
    /// Offers of tickets end, and the addresses in them are removed.
    Transfers,
    /// What mails said, and to whom, is removed.
    Mails,
    /// Registrations as a fan are removed.
    Fans,
    Done,
}

impl DeletionStep {
    fn next(self) -> Self {
        match self {
            Self::Staff => Self::Holds,
            Self::Holds => Self::Waitlist,
            Self::Waitlist => Self::Orders,
            Self::Orders => Self::Transfers,
            Self::Transfers => Self::Mails,
            Self::Mails => Self::Fans,
            Self::Fans | Self::Done => Self::Done,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deletion {
    pub account: AccountId,
    /// Kept until everything found by it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// Since when they had the address. A deletion that does not say so is about all of the
    /// time before it.
    #[serde(default)]
    pub since: Millis,
    /// Whose staff they were, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staff: Option<Staff>,
    pub step: DeletionStep,
    /// How far the step is, where it goes through a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    pub began: Millis,
    pub changed: Millis,
}

impl Deletion {
    pub fn begin(account: &Account, staff: Option<Staff>, now: Millis) -> Self {
        Self {
            account: account.id,
            email: Some(account.email.clone()),
            since: account.created,
            staff,
            step: DeletionStep::Staff,
            cursor: None,
            began: now,
            changed: now,
        }
    }

    pub fn is_open(&self) -> bool {
        self.step != DeletionStep::Done
    }

    /// Whether what came to the address at this moment was theirs. Before and after, the
    /// address is somebody else's to us.
    pub fn had_address_at(&self, moment: Millis) -> bool {
        self.since <= moment + CLOCK_SKEW_MS && moment <= self.began + CLOCK_SKEW_MS
    }

    /// Whether there may still be a hold to release.
    pub fn may_hold(&self, now: Millis) -> bool {
        now < self.began + HOLDS_LAST_MS
    }

    /// The step is done. With the last one the address is forgotten.
    pub fn step_done(&self, now: Millis) -> Self {
        let step = self.step.next();
        Self {
            step,
            cursor: None,
            email: self.email.clone().filter(|_| step != DeletionStep::Done),
            changed: now,
            ..self.clone()
        }
    }

    /// The step is done up to here.
    pub fn at(&self, cursor: Option<String>, now: Millis) -> Self {
        Self {
            cursor,
            changed: now,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Role;

    fn ana(created: Millis) -> Account {
        Account {
            id: AccountId::from_bytes([1; 16]),
            email: Email::parse("ana@example.org").unwrap(),
            name: "Ana".into(),
            role: Role::Buyer,
            created,
            language: None,
            proven: None,
        }
    }

    #[test]
    fn the_address_was_theirs_from_the_account_to_its_end() {
        let (made, left) = (Millis(1_000_000), Millis(2_000_000));
        let deletion = Deletion::begin(&ana(made), None, left);
        let first = made.saturating_sub(CLOCK_SKEW_MS);
        let last = left + CLOCK_SKEW_MS;
        for theirs in [first, made, left, last] {
            assert!(deletion.had_address_at(theirs), "{theirs:?}");
        }
        for others in [Millis(0), first.saturating_sub(1), last + 1] {
            assert!(!deletion.had_address_at(others), "{others:?}");
        }
        assert!(ana(made).had_address_at(first));
        assert!(!ana(made).had_address_at(first.saturating_sub(1)));
    }

    #[test]
    fn a_deletion_that_does_not_say_since_when_is_about_all_the_time_before_it() {
        let deletion = Deletion::begin(&ana(Millis(1_000_000)), None, Millis(2_000_000));
        let mut stored = serde_json::to_value(&deletion).unwrap();
        let read: Deletion = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(read, deletion);
        stored.as_object_mut().unwrap().remove("since").unwrap();
        let read: Deletion = serde_json::from_value(stored).unwrap();
        assert!(read.had_address_at(Millis(0)));
        assert!(!read.had_address_at(Millis(2_000_001) + CLOCK_SKEW_MS));
    }

    #[test]
    fn the_address_is_kept_until_the_last_step_and_no_longer() {
        let mut deletion = Deletion::begin(&ana(Millis(0)), None, Millis(1));
        let mut steps = vec![deletion.step];
        while deletion.is_open() {
            assert!(deletion.email.is_some());
            let part = deletion.at(Some("there".into()), Millis(2));
            assert_eq!(part.step, deletion.step);
            deletion = part.step_done(Millis(3));
            assert_eq!(deletion.cursor, None);
            steps.push(deletion.step);
        }
        use DeletionStep::*;
        assert_eq!(
            steps,
            [Staff, Holds, Waitlist, Orders, Transfers, Mails, Fans, Done]
        );
        assert_eq!(deletion.email, None);
        assert!(deletion.may_hold(Millis(1) + (HOLDS_LAST_MS - 1)));
        assert!(!deletion.may_hold(Millis(1) + HOLDS_LAST_MS));
    }
}
