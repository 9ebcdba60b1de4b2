//! Accounts and the emails they own.

use async_trait::async_trait;
use onsale_app::ports::{Accounts, Credentials, PasswordHash, Registration, Stored};
use onsale_domain::account::{Account, Email};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::language::Language;
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;

use crate::attributes::{
    Item, bytes, get_json, get_number, get_request, get_text, json, number, text,
};
use crate::conditions::{BELONGS_TO, Change, IS_AT_EPOCH, IS_AT_FIRST_EPOCH, IS_SOMEBODYS};
use crate::errors::corrupt;
use crate::keys::Key;
use crate::sessions::{EPOCH, epoch_of};
use crate::table::DynamoStore;

/// Marks an account that was deleted. Its item stays, so that its id is nobody else's.
const GONE: &str = "gone";
/// When the address was first proven.
const PROVEN: &str = "proven";

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
        proven: match item.contains_key(PROVEN) {
            true => Some(Millis(get_number(item, PROVEN)?)),
            false => None,
        },
    })
}

fn credentials_of(item: &Item) -> Stored<Credentials> {
    Ok(Credentials {
        account: account_of(item)?,
        password: PasswordHash(get_text(item, "pw")?.to_owned()),
        epoch: epoch_of(item)?,
        request: get_request(item),
    })
}

/// A change of an account that is still at the epoch that was read, to the next one.
fn next_epoch(read: u32, update: &str, mut values: Item) -> Change {
    let condition = match read {
        0 => IS_AT_FIRST_EPOCH,
        _ => IS_AT_EPOCH,
    };
    values.insert(":read_epoch".to_owned(), number(read.into()));
    values.insert(":epoch".to_owned(), number(u64::from(read) + 1));
    Change {
        update: update.to_owned(),
        condition: Some(condition.to_owned()),
        values,
    }
}

/// Sets the epoch of a session, or that of all sessions of an account.
fn set_epoch(epoch: u32, condition: Option<&str>, mut values: Item) -> Change {
    values.insert(":epoch".to_owned(), number(epoch.into()));
    Change {
        update: format!("SET {EPOCH} = :epoch"),
        condition: condition.map(str::to_owned),
        values,
    }
}

fn of_account(id: AccountId) -> Item {
    Item::from([(":acc".to_owned(), text(id.to_string()))])
}

impl DynamoStore {
    /// The item of an account that was not deleted.
    async fn account_item(&self, id: AccountId) -> Stored<Option<Item>> {
        let item = self.get(&Key::account(id)).await?;
        Ok(item.filter(|item| !item.contains_key(GONE)))
    }
}

#[async_trait]
impl Accounts for DynamoStore {
    async fn register(&self, new: &Credentials, staff: Option<&Staff>) -> Stored<Registration> {
        let account = &new.account;
        let mut item = Item::from([
            ("id".to_owned(), text(account.id.to_string())),
            ("email".to_owned(), text(account.email.as_str())),
            ("full_name".to_owned(), text(&account.name)),
            ("role".to_owned(), json(&account.role)?),
            ("created".to_owned(), number(account.created.0)),
            ("pw".to_owned(), text(&new.password.0)),
            (EPOCH.to_owned(), number(new.epoch.into())),
        ]);
        if let Some(request) = new.request {
            item.insert("req".to_owned(), bytes(request.0));
        }
        let owns = Item::from([("acc".to_owned(), text(account.id.to_string()))]);
        let mut parts = vec![
            self.put_new_part(&Key::email(&account.email), owns)?,
            self.put_new_part(&Key::account(account.id), item)?,
        ];
        parts.extend(staff.map(|s| self.new_document_part(s)).transpose()?);
        if self.transact(parts).await?.is_ok() {
            return Ok(Registration::Registered);
        }
        Ok(match self.credentials(&account.email).await? {
            Some(taken) => Registration::EmailTaken(Box::new(taken)),
            None => Registration::IdTaken,
        })
    }

    async fn credentials(&self, email: &Email) -> Stored<Option<Credentials>> {
        let Some(owner) = self.get(&Key::email(email)).await? else {
            // As many reads as for a known email: the time must not tell them apart.
            self.get(&Key::account(AccountId::from_bytes([0; 16])))
                .await?;
            return Ok(None);
        };
        let id: AccountId = get_text(&owner, "acc")?.parse().map_err(corrupt)?;
        self.credentials_of(id).await
    }

    async fn credentials_of(&self, id: AccountId) -> Stored<Option<Credentials>> {
        let item = self.account_item(id).await?;
        item.as_ref().map(credentials_of).transpose()
    }

    async fn account(&self, id: AccountId) -> Stored<Option<Account>> {
        let item = self.account_item(id).await?;
        item.as_ref().map(account_of).transpose()
    }

    async fn rename(&self, id: AccountId, name: &str) -> Stored<bool> {
        let change = Change {
            update: "SET full_name = :name".to_owned(),
            condition: Some(IS_SOMEBODYS.to_owned()),
            values: Item::from([(":name".to_owned(), text(name))]),
        };
        self.update_if(&Key::account(id), change).await
    }

    async fn set_language(&self, id: AccountId, language: Language) -> Stored<bool> {
        let change = Change {
            update: "SET lang = :language".to_owned(),
            condition: Some(IS_SOMEBODYS.to_owned()),
            values: Item::from([(":language".to_owned(), text(language.as_str()))]),
        };
        self.update_if(&Key::account(id), change).await
    }

    async fn set_password(
        &self,
        id: AccountId,
        epoch: u32,
        password: &PasswordHash,
        keep: Option<SessionId>,
    ) -> Stored<bool> {
        let values = Item::from([(":pw".to_owned(), text(&password.0))]);
        let update = format!("SET pw = :pw, {EPOCH} = :epoch");
        let next = epoch + 1;
        let mut parts = vec![
            self.update_part(&Key::account(id), next_epoch(epoch, &update, values))?,
            self.update_part(&Key::session_epoch(id), set_epoch(next, None, Item::new()))?,
        ];
        if let Some(session) = keep {
            let change = set_epoch(next, Some(BELONGS_TO), of_account(id));
            parts.push(self.update_part(&Key::session(session), change)?);
        }
        if self.transact(parts).await?.is_ok() {
            return Ok(true);
        }
        // Every hash has its own salt: finding ours, an earlier try of this very write was
        // done and only its answer was lost.
        let item = self.account_item(id).await?;
        Ok(item.is_some_and(|item| get_text(&item, "pw") == Ok(password.0.as_str())))
    }

    async fn prove_address(&self, id: AccountId, now: Millis) -> Stored<bool> {
        let change = Change {
            update: format!("SET {PROVEN} = if_not_exists({PROVEN}, :now)"),
            condition: Some(IS_SOMEBODYS.to_owned()),
            values: Item::from([(":now".to_owned(), number(now.0))]),
        };
        self.update_if(&Key::account(id), change).await
    }

    async fn claim_account(
        &self,
        id: AccountId,
        epoch: u32,
        nobodys: &PasswordHash,
        now: Millis,
    ) -> Stored<bool> {
        let values = Item::from([
            (":pw".to_owned(), text(&nobodys.0)),
            (":now".to_owned(), number(now.0)),
        ]);
        let update = format!("SET pw = :pw, {PROVEN} = :now, {EPOCH} = :epoch");
        let next = set_epoch(epoch + 1, None, Item::new());
        let parts = vec![
            self.update_part(&Key::account(id), next_epoch(epoch, &update, values))?,
            self.update_part(&Key::session_epoch(id), next)?,
        ];
        if self.transact(parts).await?.is_ok() {
            return Ok(true);
        }
        // An earlier try of this very write was done, and only its answer was lost.
        let item = self.account_item(id).await?;
        let done = |item: &Item| -> Stored<bool> {
            let claimed = item.contains_key(PROVEN) && get_number(item, PROVEN)? == now.0;
            Ok(claimed && epoch_of(item)? == epoch + 1)
        };
        item.as_ref().map_or(Ok(false), done)
    }

    async fn begin_deletion(&self, deletion: &Deletion, epoch: u32) -> Stored<bool> {
        let id = deletion.account;
        let email = deletion.email.as_ref().ok_or_else(|| corrupt("email"))?;
        let update = format!(
            "SET {GONE} = :gone, {EPOCH} = :epoch REMOVE email, full_name, pw, req, lang, {PROVEN}"
        );
        let values = Item::from([(":gone".to_owned(), number(deletion.began.0))]);
        let next = set_epoch(epoch + 1, None, Item::new());
        let mut parts = vec![
            self.update_part(&Key::account(id), next_epoch(epoch, &update, values))?,
            self.update_part(&Key::session_epoch(id), next)?,
            self.delete_part(&Key::email(email), Some((BELONGS_TO, of_account(id))))?,
            self.new_document_part(deletion)?,
        ];
        if deletion.staff.is_some() {
            parts.push(self.delete_part(&Key::staff(id), None)?);
        }
        if self.transact(parts).await?.is_ok() {
            return Ok(true);
        }
        // By this very write, whose answer was lost, or by another: it is gone either way.
        let stored = self.get(&Key::deletion(id)).await?;
        Ok(stored.is_some())
    }
}
