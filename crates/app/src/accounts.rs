//! Accounts: register, log in and out, and what people see of themselves.

use onsale_domain::account::{Account, Email, MAX_NAME_CHARS, PASSWORD_CHARS, Role, is_line};
use onsale_domain::ids::{AccountId, SessionId, VisitorId};
use onsale_domain::language::Language;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::passwords;
use crate::ports::{Credentials, Registration, Session};

/// How long a log-in lasts.
const SESSION_MS: u64 = 12 * 3_600 * 1_000;

/// What became of a new account.
pub(crate) enum NewAccount {
    Made(Credentials),
    /// Its address has an account: an older one, or this very one, made by a request whose
    /// answer was lost.
    Taken {
        taken: Box<Credentials>,
        new: Credentials,
    },
}

impl App {
    /// Creates an account. `request` is the hash of the request without its password: a
    /// plain hash of a password is not something to keep. On a retry the password is
    /// compared with the stored Argon2 hash instead.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn register(
        &self,
        email: &str,
        password: &str,
        name: &str,
        role: Role,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<Account> {
        check_password(password)?;
        if role == Role::Staff {
            return Err(Error::Invalid(
                "an account is a buyer's or an organiser's".into(),
            ));
        }
        let mut new = self.new_account(email, name, role, key, request)?;
        new.password = passwords::hash(password, &self.entropy).await?;
        match self.store_account(new).await? {
            NewAccount::Made(new) => Ok(new.account),
            NewAccount::Taken { taken, new } => registered_before(&taken, new, password).await,
        }
    }

    /// The account that a request asks for, without a password, and not stored yet.
    pub(crate) fn new_account(
        &self,
        email: &str,
        name: &str,
        role: Role,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<Credentials> {
        let email = parse_email(email)?;
        check_reachable(&email)?;
        check_name(name)?;
        let now = self.now();
        let id = match key {
            Some(key) => AccountId::derived(&[
                b"account",
                email.as_str().as_bytes(),
                key.as_str().as_bytes(),
            ]),
            None => AccountId::new(now, self.id_entropy()),
        };
        Ok(Credentials {
            account: Account {
                id,
                email,
                name: name.to_owned(),
                role,
                created: now,
                language: None,
                proven: None,
            },
            password: passwords::nobodys(),
            epoch: 0,
            request: key.map(|_| request),
        })
    }

    /// Stores a new account, unless somebody has its address.
    pub(crate) async fn store_account(&self, mut new: Credentials) -> Result<NewAccount> {
        match self.store.register(&new, None).await? {
            Registration::Registered => return Ok(NewAccount::Made(new)),
            Registration::EmailTaken(taken) => return Ok(NewAccount::Taken { taken, new }),
            // Somebody registered with this key, left, and comes back with the same one.
            Registration::IdTaken => {}
        }
        new.account.id = AccountId::new(self.now(), self.id_entropy());
        match self.store.register(&new, None).await? {
            Registration::Registered => Ok(NewAccount::Made(new)),
            _ => Err(Error::EmailTaken),
        }
    }

    /// Opens a session. With a key, a retry gets the session that the first try opened.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn log_in(
        &self,
        email: &str,
        password: &str,
        key: Option<&IdempotencyKey>,
        device: Option<VisitorId>,
    ) -> Result<(Session, Account)> {
        let email = parse_email(email)?;
        let found = self.store.credentials(&email).await?;
        let stored = found.as_ref().map(|found| &found.password);
        let matches = passwords::verify(password, stored).await?;
        let (account, epoch) = match found {
            Some(found) if matches => (found.account, found.epoch),
            _ => return Err(Error::WrongCredentials),
        };
        if let Some(key) = key {
            let parts: [&[u8]; 3] = [b"session", account.id.as_bytes(), key.as_str().as_bytes()];
            let id = SessionId::derived(&parts);
            if let Some(session) = self.open_session(id, account.id, epoch, device).await? {
                return Ok((session, account));
            }
        }
        let id = SessionId::new(self.now(), self.id_entropy());
        let session = self.open_session(id, account.id, epoch, device).await?;
        Ok((session.ok_or(Error::Unavailable)?, account))
    }

    /// Opens the session of this id, or returns it as it was opened before. `None`: it has
    /// ended. A closed session comes back with `expires` 0: closing marks it and keeps it, so
    /// that its id cannot bring its token back to life.
    pub(crate) async fn open_session(
        &self,
        id: SessionId,
        account: AccountId,
        epoch: u32,
        device: Option<VisitorId>,
    ) -> Result<Option<Session>> {
        let now = self.now();
        let session = Session {
            id,
            account,
            opened: now,
            // Whole seconds, because that is what a token can say.
            expires: Millis((now + SESSION_MS).0 / 1_000 * 1_000),
            // If the password changes meanwhile, it ends before it begins.
            epoch,
            device,
        };
        let session = self.store.open_session(&session).await?;
        let open = now < session.expires && session.epoch == epoch;
        Ok(open.then_some(session))
    }

    /// Ends the session; its token stops working at once, everywhere.
    pub async fn log_out(&self, caller: &Caller) -> Result<()> {
        Ok(self.store.close_session(caller.session).await?)
    }

    pub async fn me(&self, caller: &Caller) -> Result<Account> {
        self.store
            .account(caller.account)
            .await?
            .ok_or(Error::Unauthenticated)
    }

    pub async fn rename(&self, caller: &Caller, name: &str) -> Result<Account> {
        check_name(name)?;
        if !self.store.rename(caller.account, name).await? {
            return Err(Error::Unauthenticated);
        }
        self.me(caller).await
    }

    /// In which language to write to somebody from now on.
    pub async fn set_language(&self, caller: &Caller, language: Language) -> Result<Account> {
        if !self.store.set_language(caller.account, language).await? {
            return Err(Error::Unauthenticated);
        }
        self.me(caller).await
    }

    /// The same for a new account. It is a wish: failing it fails nothing else.
    pub async fn note_language(&self, account: &mut Account, language: Language) {
        match self.store.set_language(account.id, language).await {
            Ok(_) => account.language = Some(language),
            Err(error) => tracing::warn!(%error, "the language of an account was not stored"),
        }
    }
}

/// The email has an account. If its id is the one we were about to use, it is our own:
/// the same request came before, or its first write arrived although its answer did not.
async fn registered_before(
    taken: &Credentials,
    new: Credentials,
    password: &str,
) -> Result<Account> {
    if taken.account.id != new.account.id {
        return Err(Error::EmailTaken);
    }
    let same_password = taken.password == new.password
        || passwords::verify(password, Some(&taken.password)).await?;
    if taken.request != new.request || !same_password {
        return Err(Error::IdempotencyMismatch);
    }
    // The first answer again, even if the name has changed since.
    Ok(Account {
        created: taken.account.created,
        ..new.account
    })
}

fn parse_email(email: &str) -> Result<Email> {
    Email::parse(email).ok_or_else(|| Error::Invalid("the email is not an email address".into()))
}

/// Whoever is written to has to be reached.
pub(crate) fn check_reachable(email: &Email) -> Result<()> {
    match email.is_reachable() {
        true => Ok(()),
        false => Err(Error::Invalid(
            "mail reaches addresses of plain letters, digits and signs (ASCII) only; write \
             a domain with others in its xn-- form"
                .into(),
        )),
    }
}

pub(crate) fn check_password(password: &str) -> Result<()> {
    if PASSWORD_CHARS.contains(&password.chars().count()) {
        return Ok(());
    }
    let (min, max) = (PASSWORD_CHARS.start(), PASSWORD_CHARS.end());
    Err(Error::Invalid(format!(
        "a password has {min} to {max} characters"
    )))
}

pub(crate) fn check_name(name: &str) -> Result<()> {
    if is_line(name, MAX_NAME_CHARS) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "a name is one line of 1 to {MAX_NAME_CHARS} characters, not blank"
    )))
}
