//! Accounts and the emails they own.

use onsale_domain::account::{Account, Email};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::language::Language;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;
use onsale_table::{Item, Update, Write};

use crate::attributes::{
    REQUEST, get_json, get_millis, get_parsed, get_request, get_text, if_present, json,
};
use crate::conditions::{EPOCH, GONE, belongs_to, is_alive, is_at_epoch};
use crate::documents::key_of;
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::sessions::{epoch_of, session_key};
use crate::store::Store;

/// When the address was first proven.
const PROVEN: &str = "proven";
/// The password, in the form in which it is kept.
const PASSWORD: &str = "pw";

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
    /// The epoch of the account's sessions: those of an earlier one have ended. A new password
    /// begins another.
    pub epoch: u32,
    pub request: Option<RequestHash>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    Registered,
    /// The email belongs to this account.
    EmailTaken(Box<Credentials>),
    /// The email is free, but the id belonged to an account that was deleted.
    IdTaken,
}

fn account_of(item: &Item) -> Stored<Account> {
    Ok(Account {
        id: get_parsed(item, "id")?,
        email: Email::parse(get_text(item, "email")?).ok_or_else(|| corrupt("email"))?,
        name: get_text(item, "full_name")?.to_owned(),
        role: get_json(item, "role")?,
        created: get_millis(item, "created")?,
        language: if_present(item, "lang", get_parsed)?,
        proven: if_present(item, PROVEN, get_millis)?,
    })
}

fn credentials_of(item: &Item) -> Stored<Credentials> {
    Ok(Credentials {
        account: account_of(item)?,
        password: PasswordHash(get_text(item, PASSWORD)?.to_owned()),
        epoch: epoch_of(item)?,
        request: get_request(item),
    })
}

/// A change of an account that is still at the epoch that was read, to the next one.
fn next_epoch(read: u32) -> Update {
    Update::when(is_at_epoch(read)).set(EPOCH, read + 1)
}

/// Ends all sessions of an account that are of an earlier epoch.
fn begin_epoch(account: AccountId, epoch: u32) -> Write {
    let update = Update::always().set(EPOCH, epoch);
    Write::Update(keys::session_epoch(account), update)
}

impl Store {
    /// The item of an account that was not deleted.
    async fn account_item(&self, id: AccountId) -> Stored<Option<Item>> {
        let item = self.get(&keys::account(id)).await?;
        Ok(item.filter(|item| !item.has(GONE)))
    }

    /// Creates the account and takes its email, both or neither; with staff, their shows as
    /// well.
    pub async fn register(&self, new: &Credentials, staff: Option<&Staff>) -> Stored<Registration> {
        let account = &new.account;
        let mut item = Item::new()
            .with("id", account.id.to_string())
            .with("email", account.email.as_str())
            .with("full_name", account.name.as_str())
            .with("role", json(&account.role)?)
            .with("created", account.created.0)
            .with(PASSWORD, new.password.0.as_str())
            .with(EPOCH, new.epoch);
        if let Some(request) = new.request {
            item.set(REQUEST, request.0);
        }
        let owns = Item::new().with("acc", account.id.to_string());
        let mut together = self.together();
        together
            .push(Write::PutNew(keys::email(&account.email), owns))
            .push(Write::PutNew(keys::account(account.id), item));
        if let Some(staff) = staff {
            together.create(staff)?;
        }
        if self.write(&together).await? {
            return Ok(Registration::Registered);
        }
        Ok(match self.credentials(&account.email).await? {
            Some(taken) => Registration::EmailTaken(Box::new(taken)),
            None => Registration::IdTaken,
        })
    }

    pub async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>> {
        let Some(owner) = self.get(&keys::email(email)).await? else {
            // As many reads as for a known email: the time must not tell them apart.
            self.get(&keys::account(AccountId::from_bytes([0; 16])))
                .await?;
            return Ok(None);
        };
        self.credentials_of(get_parsed(&owner, "acc")?).await
    }

    pub async fn credentials_of(&self, id: AccountId) -> Stored<Option<Credentials>> {
        let item = self.account_item(id).await?;
        item.as_ref().map(credentials_of).transpose()
    }

    /// `None` also for an account that was deleted.
    pub async fn account(&self, id: AccountId) -> Stored<Option<Account>> {
        let item = self.account_item(id).await?;
        item.as_ref().map(account_of).transpose()
    }

    async fn change_account(&self, id: AccountId, update: Update) -> Stored<bool> {
        self.update_if(&keys::account(id), &update).await
    }

    /// `false`: there is no such account.
    pub async fn rename(&self, id: AccountId, name: &str) -> Stored<bool> {
        let update = Update::when(is_alive()).set("full_name", name);
        self.change_account(id, update).await
    }

    /// `false`: there is no such account.
    pub async fn set_language(&self, id: AccountId, language: Language) -> Stored<bool> {
        let update = Update::when(is_alive()).set("lang", language.as_str());
        self.change_account(id, update).await
    }

    /// Notes that the address reaches its owner, since `now` unless it did before. `false`: there
    /// is no such account.
    pub async fn prove_address(&self, id: AccountId, now: Millis) -> Stored<bool> {
        let update = Update::when(is_alive()).set_if_missing(PROVEN, now.0);
        self.change_account(id, update).await
    }

    /// Sets the password if the account is still at this epoch, and begins the next one: every
    /// session ends in the same moment, except `keep`. `false`: the account has moved on, or is
    /// gone.
    pub async fn set_password(
        &self,
        id: AccountId,
        epoch: u32,
        password: &PasswordHash,
        keep: Option<SessionId>,
    ) -> Stored<bool> {
        let next = next_epoch(epoch).set(PASSWORD, password.0.as_str());
        let mut parts = vec![
            Write::Update(keys::account(id), next),
            begin_epoch(id, epoch + 1),
        ];
        if let Some(session) = keep {
            let update = Update::when(belongs_to(id)).set(EPOCH, epoch + 1);
            parts.push(Write::Update(session_key(session), update));
        }
        if self.transact(&parts).await?.is_ok() {
            return Ok(true);
        }
        // Every hash has its own salt: finding ours, an earlier try of this very write was done
        // and only its reply was lost.
        let item = self.account_item(id).await?;
        Ok(item.is_some_and(|item| item.text(PASSWORD) == Some(password.0.as_str())))
    }

    /// Proves the address for the owner of the mailbox, who perhaps does not own the account, if
    /// the account is still at this epoch: its password becomes `nobodys`, and every session ends
    /// in the same moment. Repeated with the same `now`, it is done. `false`: the account has
    /// moved on, or is gone.
    pub async fn claim_account(
        &self,
        id: AccountId,
        epoch: u32,
        nobodys: &PasswordHash,
        now: Millis,
    ) -> Stored<bool> {
        let next = next_epoch(epoch)
            .set(PASSWORD, nobodys.0.as_str())
            .set(PROVEN, now.0);
        let parts = [
            Write::Update(keys::account(id), next),
            begin_epoch(id, epoch + 1),
        ];
        if self.transact(&parts).await?.is_ok() {
            return Ok(true);
        }
        // An earlier try of this very write was done, and only its reply was lost.
        let Some(item) = self.account_item(id).await? else {
            return Ok(false);
        };
        let proven = if_present(&item, PROVEN, get_millis)?;
        Ok(proven == Some(now) && epoch_of(&item)? == epoch + 1)
    }

    /// Removes name, email and password from the account if it is still at this epoch, ends its
    /// sessions, frees its email and takes its place as staff; stores the deletion. All or
    /// nothing. `false`: the account has moved on, or is gone.
    pub async fn begin_deletion(&self, deletion: &Deletion, epoch: u32) -> Stored<bool> {
        let id = deletion.account;
        let email = deletion.email.as_ref().ok_or_else(|| corrupt("email"))?;
        let erased = ["email", "full_name", PASSWORD, REQUEST, "lang", PROVEN];
        let gone = erased
            .into_iter()
            .fold(next_epoch(epoch), Update::remove)
            .set(GONE, deletion.began.0);
        let mut together = self.together();
        together
            .push(Write::Update(keys::account(id), gone))
            .push(begin_epoch(id, epoch + 1))
            .push(Write::Delete(keys::email(email), Some(belongs_to(id))))
            .create(deletion)?;
        if deletion.staff.is_some() {
            together.push(Write::Delete(key_of::<Staff>(&id), None));
        }
        if self.write(&together).await? {
            return Ok(true);
        }
        // By this very write, whose reply was lost, or by another: it is gone either way.
        Ok(self.read::<Deletion>(id).await?.is_some())
    }
}
