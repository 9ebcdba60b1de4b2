//! Accounts, the emails they own, and sessions.

use async_trait::async_trait;
use onsale_app::ports::{
    Accounts, Credentials, PasswordHash, Registration, Session, Sessions, StoreError, Stored,
};
use onsale_domain::account::{Account, Email};
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::language::Language;
use onsale_domain::time::Millis;

use crate::attributes::{
    Item, bytes, get_json, get_number, get_request, get_text, json, number, seconds, text,
};
use crate::conditions::{Change, EXISTS};
use crate::keys::Key;
use crate::table::DynamoStore;

fn corrupt<E: std::fmt::Display>(error: E) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

fn account_of(item: &Item) -> Stored<Account> {
    Ok(Account {
        id: get_text(item, "id")?.parse().map_err(corrupt)?,
        email: Email::parse(get_text(item, "email")?).ok_or_else(|| corrupt("email"))?,
        name: get_text(item, "full_name")?.to_owned(),
        role: get_json(item, "role")?,
        created: Millis(get_number(item, "created")?),
        language: match item.contains_key("lang") {
            true => Some(get_text(item, "lang")?.parse().map_err(corrupt)?),
            false => None,
        },
    })
}

fn credentials_of(item: &Item) -> Stored<Credentials> {
    Ok(Credentials {
        account: account_of(item)?,
        password: PasswordHash(get_text(item, "pw")?.to_owned()),
        request: get_request(item),
    })
}

pub(crate) fn session_of(item: &Item) -> Stored<Session> {
    Ok(Session {
        id: get_text(item, "id")?.parse().map_err(corrupt)?,
        account: get_text(item, "acc")?.parse().map_err(corrupt)?,
        opened: Millis(get_number(item, "opened")?),
        expires: Millis(get_number(item, "expires")?),
    })
}

#[async_trait]
impl Accounts for DynamoStore {
    async fn register(&self, new: &Credentials) -> Stored<Registration> {
        let account = &new.account;
        let mut item = Item::from([
            ("id".to_owned(), text(account.id.to_string())),
            ("email".to_owned(), text(account.email.as_str())),
            ("full_name".to_owned(), text(&account.name)),
            ("role".to_owned(), json(&account.role)?),
            ("created".to_owned(), number(account.created.0)),
            ("pw".to_owned(), text(&new.password.0)),
        ]);
        if let Some(request) = new.request {
            item.insert("req".to_owned(), bytes(request.0));
        }
        let owns = Item::from([("acc".to_owned(), text(account.id.to_string()))]);
        let parts = vec![
            self.put_new_part(&Key::email(&account.email), owns)?,
            self.put_new_part(&Key::account(account.id), item)?,
        ];
        if self.transact(parts).await?.is_ok() {
            return Ok(Registration::Registered);
        }
        match self.credentials(&account.email).await? {
            Some(taken) => Ok(Registration::EmailTaken(Box::new(taken))),
            None => Err(StoreError::Unavailable(
                "the account was there and is gone".into(),
            )),
        }
    }

    async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>> {
        let Some(owner) = self.get(&Key::email(email)).await? else {
            // As many reads as for a known email: the time must not tell them apart.
            self.get(&Key::account(AccountId::from_bytes([0; 16])))
                .await?;
            return Ok(None);
        };
        let id: AccountId = get_text(&owner, "acc")?.parse().map_err(corrupt)?;
        self.get(&Key::account(id))
            .await?
            .as_ref()
            .map(credentials_of)
            .transpose()
    }

    async fn account(&self, id: AccountId) -> Stored<Option<Account>> {
        self.get(&Key::account(id))
            .await?
            .as_ref()
            .map(account_of)
            .transpose()
    }

    async fn rename(&self, id: AccountId, name: &str) -> Stored<bool> {
        let change = Change {
            update: "SET full_name = :name".to_owned(),
            condition: Some(EXISTS.to_owned()),
            values: Item::from([(":name".to_owned(), text(name))]),
        };
        self.update_if(&Key::account(id), change).await
    }

    async fn set_language(&self, id: AccountId, language: Language) -> Stored<bool> {
        let change = Change {
            update: "SET lang = :language".to_owned(),
            condition: Some(EXISTS.to_owned()),
            values: Item::from([(":language".to_owned(), text(language.as_str()))]),
        };
        self.update_if(&Key::account(id), change).await
    }
}

#[async_trait]
impl Sessions for DynamoStore {
    async fn open(&self, session: &Session) -> Stored<Session> {
        let item = Item::from([
            ("id".to_owned(), text(session.id.to_string())),
            ("acc".to_owned(), text(session.account.to_string())),
            ("opened".to_owned(), number(session.opened.0)),
            ("expires".to_owned(), number(session.expires.0)),
            ("forget_at".to_owned(), seconds(session.expires)),
        ]);
        match self.put_new(&Key::session(session.id), item).await? {
            None => Ok(session.clone()),
            Some(open) => session_of(&open),
        }
    }

    async fn session(&self, id: SessionId) -> Stored<Option<Session>> {
        let item = self.get(&Key::session(id)).await?;
        let session = item.as_ref().map(session_of).transpose()?;
        Ok(session.filter(|s| s.expires > Millis(0)))
    }

    async fn close(&self, id: SessionId) -> Stored<()> {
        // A tombstone rather than a deletion: its key must not open it again.
        let change = Change {
            update: "SET expires = :never".to_owned(),
            condition: Some(EXISTS.to_owned()),
            values: Item::from([(":never".to_owned(), number(0))]),
        };
        self.update_if(&Key::session(id), change).await.map(|_| ())
    }
}
