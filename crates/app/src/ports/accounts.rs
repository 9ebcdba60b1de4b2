//! Accounts, their sessions, and what ends both.

use async_trait::async_trait;
use onsale_domain::account::{Account, Email};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ResetId, SessionId, VisitorId};
use onsale_domain::language::Language;
use onsale_domain::password_reset::Reset;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use super::{Page, Stored, Versioned, Written};

/// A password in the form in which it is kept (PHC string, Argon2id).
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub account: Account,
    pub password: PasswordHash,
    /// The epoch of the account's sessions: those of an earlier one have ended. A new
    /// password begins another.
    pub epoch: u32,
    pub request: Option<RequestHash>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    Registered,
    /// The email belongs to this account.
    EmailTaken(Box<Credentials>),
    /// The email is free, but the id was somebody's who left.
    IdTaken,
}

#[async_trait]
pub trait Accounts: Send + Sync {
    /// Creates the account and takes its email, both or neither; with staff, their shows as
    /// well.
    async fn register(&self, new: &Credentials, staff: Option<&Staff>) -> Stored<Registration>;
    async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>>;
    async fn credentials_of(&self, id: AccountId) -> Stored<Option<Credentials>>;
    /// `None` also for an account that was deleted.
    async fn account(&self, id: AccountId) -> Stored<Option<Account>>;
    /// `false`: there is no such account.
    async fn rename(&self, id: AccountId, name: &str) -> Stored<bool>;
    /// `false`: there is no such account.
    async fn set_language(&self, id: AccountId, language: Language) -> Stored<bool>;
    /// Sets the password if the account is still at this epoch, and begins the next one:
    /// every session ends in the same moment, except `keep`. `false`: the account has moved
    /// on, or is gone.
    async fn set_password(
        &self,
        id: AccountId,
        epoch: u32,
        password: &PasswordHash,
        keep: Option<SessionId>,
    ) -> Stored<bool>;
    /// Notes that the address reaches its owner, since `now` unless it did before. `false`:
    /// there is no such account.
    async fn prove_address(&self, id: AccountId, now: Millis) -> Stored<bool>;
    /// The same for whoever has the mailbox and perhaps not the account, if it is still at
    /// this epoch: its password becomes `nobodys`, and every session ends in the same moment.
    /// Repeated with the same `now`, it is done. `false`: the account has moved on, or is gone.
    async fn claim_account(
        &self,
        id: AccountId,
        epoch: u32,
        nobodys: &PasswordHash,
        now: Millis,
    ) -> Stored<bool>;
    /// Removes name, email and password from the account if it is still at this epoch, ends
    /// its sessions, frees its email and takes its place as staff; stores the deletion. All
    /// or nothing. `false`: the account has moved on, or is gone.
    async fn begin_deletion(&self, deletion: &Deletion, epoch: u32) -> Stored<bool>;
}

#[async_trait]
pub trait Deletions: Send + Sync {
    async fn deletion(&self, account: AccountId) -> Stored<Option<Versioned<Deletion>>>;
    async fn replace_deletion(&self, next: &Versioned<Deletion>) -> Stored<Written<Deletion>>;
    /// Deletions that have not ended (`Deletion::is_open`), oldest first.
    async fn open_deletions(&self) -> Stored<Vec<AccountId>>;
}

#[async_trait]
pub trait Resets: Send + Sync {
    /// Stores a new reset under version 1; `Lost`: there is one already.
    async fn create_reset(&self, new: &Reset) -> Stored<Written<Reset>>;
    async fn reset(&self, id: ResetId) -> Stored<Option<Versioned<Reset>>>;
    async fn replace_reset(&self, next: &Versioned<Reset>) -> Stored<Written<Reset>>;
    /// Resets that were not announced, oldest first.
    async fn open_resets(&self) -> Stored<Vec<ResetId>>;
}

#[async_trait]
pub trait StaffLists: Send + Sync {
    async fn staff(&self, account: AccountId) -> Stored<Option<Versioned<Staff>>>;
    async fn replace_staff(&self, next: &Versioned<Staff>) -> Stored<Written<Staff>>;
    /// The staff of an organiser, oldest first.
    async fn staff_of(
        &self,
        organiser: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Staff>>;
}

/// A log-in that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub account: AccountId,
    pub opened: Millis,
    pub expires: Millis,
    /// The epoch of the account when it was opened.
    #[serde(default)]
    pub epoch: u32,
    /// Where it was opened, as far as a cookie says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<VisitorId>,
}

#[async_trait]
pub trait Sessions: Send + Sync {
    /// Opens the session, or returns the one that is open under its id.
    async fn open(&self, session: &Session) -> Stored<Session>;
    /// A consistent read: a session that was closed, or whose account has begun another
    /// epoch, is gone at once.
    async fn session(&self, id: SessionId, account: AccountId) -> Stored<Option<Session>>;
    async fn close(&self, id: SessionId) -> Stored<()>;
    /// The sessions of an account that are not forgotten yet, newest first; those that
    /// ended are among them.
    async fn sessions_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Session>>;
}
