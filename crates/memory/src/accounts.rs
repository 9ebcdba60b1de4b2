//! Accounts and sessions.

use async_trait::async_trait;
use onsale_app::ports::{Accounts, Credentials, Registration, Session, Sessions, Stored};
use onsale_domain::account::{Account, Email};
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::language::Language;
use onsale_domain::time::Millis;

use crate::MemoryStore;

#[async_trait]
impl Accounts for MemoryStore {
    async fn register(&self, new: &Credentials) -> Stored<Registration> {
        let mut items = self.items();
        if let Some(owner) = items.emails.get(&new.account.email).copied()
            && let Some(taken) = items.accounts.get(&owner)
        {
            return Ok(Registration::EmailTaken(Box::new(taken.clone())));
        }
        items
            .emails
            .insert(new.account.email.clone(), new.account.id);
        items.accounts.insert(new.account.id, new.clone());
        Ok(Registration::Registered)
    }

    async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>> {
        let items = self.items();
        Ok(items
            .emails
            .get(email)
            .and_then(|id| items.accounts.get(id))
            .cloned())
    }

    async fn account(&self, id: AccountId) -> Stored<Option<Account>> {
        Ok(self.items().accounts.get(&id).map(|c| c.account.clone()))
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
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn open(&self, session: &Session) -> Stored<Session> {
        Ok(self
            .items()
            .sessions
            .entry(session.id)
            .or_insert_with(|| session.clone())
            .clone())
    }

    async fn session(&self, id: SessionId) -> Stored<Option<Session>> {
        Ok(self
            .items()
            .sessions
            .get(&id)
            .filter(|s| s.expires > Millis(0))
            .cloned())
    }

    async fn close(&self, id: SessionId) -> Stored<()> {
        // A tombstone: its key must not open it again.
        if let Some(session) = self.items().sessions.get_mut(&id) {
            session.expires = Millis(0);
        }
        Ok(())
    }
}
