//! Accounts and sessions, what ends them, and staff.

use async_trait::async_trait;
use onsale_app::ports::{
    Accounts, Credentials, Deletions, Page, PasswordHash, Registration, Resets, Session, Sessions,
    StaffLists, Stored, Versioned, Written,
};
use onsale_domain::account::{Account, Email};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ResetId, SessionId};
use onsale_domain::language::Language;
use onsale_domain::password_reset::Reset;
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;

use crate::orders::{create, page, replace};
use crate::{Items, MemoryStore, Step};

impl Items {
    /// An account that was deleted has no credentials any more, but keeps its epoch.
    fn is_at(&self, id: AccountId, epoch: u32) -> bool {
        let account = self.accounts.get(&id);
        account.is_some_and(|found| found.epoch == epoch)
    }
}

#[async_trait]
impl Accounts for MemoryStore {
    async fn register(&self, new: &Credentials, staff: Option<&Staff>) -> Stored<Registration> {
        let register = async {
            let mut items = self.items();
            if let Some(owner) = items.emails.get(&new.account.email).copied()
                && let Some(taken) = items.accounts.get(&owner)
            {
                return Ok(Registration::EmailTaken(Box::new(taken.clone())));
            }
            let id = new.account.id;
            if items.accounts.contains_key(&id) || items.deletions.contains_key(&id) {
                return Ok(Registration::IdTaken);
            }
            items.emails.insert(new.account.email.clone(), id);
            items.accounts.insert(id, new.clone());
            if let Some(staff) = staff {
                create(&mut items.staff, id, staff);
            }
            Ok(Registration::Registered)
        };
        self.pass("register", register).await
    }

    async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>> {
        let read = async {
            let items = self.items();
            let id = items.emails.get(email);
            Ok(id.and_then(|id| items.accounts.get(id)).cloned())
        };
        self.pass("credentials", read).await
    }

    async fn credentials_of(&self, id: AccountId) -> Stored<Option<Credentials>> {
        let read = async { Ok(self.items().accounts.get(&id).cloned()) };
        self.pass("credentials_of", read).await
    }

    async fn account(&self, id: AccountId) -> Stored<Option<Account>> {
        let read = async { Ok(self.items().accounts.get(&id).map(|c| c.account.clone())) };
        self.pass("account", read).await
    }

    async fn rename(&self, id: AccountId, name: &str) -> Stored<bool> {
        let mut items = self.items();
        let found = items.accounts.get_mut(&id);
        Ok(found.map(|c| c.account.name = name.to_owned()).is_some())
    }

    async fn set_language(&self, id: AccountId, language: Language) -> Stored<bool> {
        let mut items = self.items();
        let found = items.accounts.get_mut(&id);
        Ok(found.map(|c| c.account.language = Some(language)).is_some())
    }

    async fn set_password(
        &self,
        id: AccountId,
        epoch: u32,
        password: &PasswordHash,
        keep: Option<SessionId>,
    ) -> Stored<bool> {
        let set = async {
            let mut items = self.items();
            if !items.is_at(id, epoch) {
                return Ok(false);
            }
            if let Some(found) = items.accounts.get_mut(&id) {
                found.password = password.clone();
                found.epoch = epoch + 1;
            }
            items.epochs.insert(id, epoch + 1);
            let kept = keep.and_then(|keep| items.sessions.get_mut(&keep));
            if let Some(session) = kept.filter(|session| session.account == id) {
                session.epoch = epoch + 1;
            }
            Ok(true)
        };
        self.pass("set_password", set).await
    }

    async fn prove_address(&self, id: AccountId, now: Millis) -> Stored<bool> {
        let prove = async {
            let mut items = self.items();
            let found = items.accounts.get_mut(&id);
            let proven = found.map(|found| found.account.proven.get_or_insert(now));
            Ok(proven.is_some())
        };
        self.pass("prove_address", prove).await
    }

    async fn claim_account(
        &self,
        id: AccountId,
        epoch: u32,
        nobodys: &PasswordHash,
        now: Millis,
    ) -> Stored<bool> {
        self.reach(Step::ClaimAccount).await;
        let claim = async {
            let mut items = self.items();
            let Some(found) = items.accounts.get_mut(&id) else {
                return Ok(false);
            };
            if found.epoch != epoch {
                // An earlier try of this very write may have been done.
                return Ok(found.epoch == epoch + 1 && found.account.proven == Some(now));
            }
            found.password = nobodys.clone();
            found.account.proven = Some(now);
            found.epoch = epoch + 1;
            items.epochs.insert(id, epoch + 1);
            Ok(true)
        };
        self.pass("claim_account", claim).await
    }

    async fn begin_deletion(&self, deletion: &Deletion, epoch: u32) -> Stored<bool> {
        let begin = async {
            let mut items = self.items();
            let id = deletion.account;
            if items.deletions.contains_key(&id) {
                return Ok(true);
            }
            if !items.is_at(id, epoch) {
                return Ok(false);
            }
            if let Some(gone) = items.accounts.remove(&id) {
                items.emails.remove(&gone.account.email);
            }
            items.epochs.insert(id, epoch + 1);
            items.staff.remove(&id);
            create(&mut items.deletions, id, deletion);
            Ok(true)
        };
        self.pass("begin_deletion", begin).await
    }
}

#[async_trait]
impl Deletions for MemoryStore {
    async fn deletion(&self, account: AccountId) -> Stored<Option<Versioned<Deletion>>> {
        Ok(self.items().deletions.get(&account).cloned())
    }

    async fn replace_deletion(&self, next: &Versioned<Deletion>) -> Stored<Written<Deletion>> {
        self.pass("replace_deletion", async {
            replace(&mut self.items().deletions, next.value.account, next)
        })
        .await
    }

    async fn open_deletions(&self) -> Stored<Vec<AccountId>> {
        let items = self.items();
        let open = items.deletions.values().filter(|d| d.value.is_open());
        Ok(open.map(|d| d.value.account).collect())
    }
}

#[async_trait]
impl Resets for MemoryStore {
    async fn create_reset(&self, new: &Reset) -> Stored<Written<Reset>> {
        self.pass("create_reset", async {
            Ok(create(&mut self.items().resets, new.id, new))
        })
        .await
    }

    async fn reset(&self, id: ResetId) -> Stored<Option<Versioned<Reset>>> {
        let read = async { Ok(self.items().resets.get(&id).cloned()) };
        self.pass("reset", read).await
    }

    async fn replace_reset(&self, next: &Versioned<Reset>) -> Stored<Written<Reset>> {
        self.pass("replace_reset", async {
            replace(&mut self.items().resets, next.value.id, next)
        })
        .await
    }

    async fn open_resets(&self) -> Stored<Vec<ResetId>> {
        let items = self.items();
        let open = items.resets.values().filter(|r| !r.value.announced);
        let mut open: Vec<_> = open.map(|r| (r.value.asked, r.value.id)).collect();
        open.sort();
        Ok(open.into_iter().map(|(_, id)| id).collect())
    }
}

#[async_trait]
impl StaffLists for MemoryStore {
    async fn staff(&self, account: AccountId) -> Stored<Option<Versioned<Staff>>> {
        self.pass("staff", async {
            Ok(self.items().staff.get(&account).cloned())
        })
        .await
    }

    async fn replace_staff(&self, next: &Versioned<Staff>) -> Stored<Written<Staff>> {
        self.pass("replace_staff", async {
            replace(&mut self.items().staff, next.value.account, next)
        })
        .await
    }

    async fn staff_of(
        &self,
        organiser: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Staff>> {
        let items = self.items();
        let own = items.staff.values().map(|staff| &staff.value);
        let own = own.filter(|staff| staff.organiser == organiser);
        let key = |staff: &Staff| format!("{:015}#{}", staff.added.0, staff.account);
        let mut sorted: Vec<_> = own.map(|staff| (key(staff), staff.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(page(sorted, after, limit))
    }
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn open(&self, session: &Session) -> Stored<Session> {
        let open = async {
            let mut items = self.items();
            let known = items.sessions.entry(session.id);
            Ok(known.or_insert_with(|| session.clone()).clone())
        };
        self.pass("open", open).await
    }

    async fn session(&self, id: SessionId, account: AccountId) -> Stored<Option<Session>> {
        let items = self.items();
        let epoch = items.epochs.get(&account).copied().unwrap_or_default();
        let session = items.sessions.get(&id);
        let open = session.filter(|s| s.expires > Millis(0) && s.epoch >= epoch);
        Ok(open.cloned())
    }

    async fn close(&self, id: SessionId) -> Stored<()> {
        // A tombstone: its key must not open it again.
        if let Some(session) = self.items().sessions.get_mut(&id) {
            session.expires = Millis(0);
        }
        Ok(())
    }

    async fn sessions_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Session>> {
        let items = self.items();
        let own = items.sessions.values().filter(|s| s.account == account);
        // Newest first: the key counts down.
        let key = |s: &Session| format!("{:020}#{}", u64::MAX - s.opened.0, s.id);
        let mut sorted: Vec<_> = own.map(|s| (key(s), s.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(page(sorted, after, limit))
    }
}
