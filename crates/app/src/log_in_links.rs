//! Accounts without a password: registering opens a session at once, later ones are opened by
//! a mailed link; and the proof that an address is the caller's.
//!
//! Registering proves no address. The first link that is followed to log in proves it: it ends
//! every earlier session and removes a password that was set before. Otherwise a stranger could
//! register an address and wait inside until its owner comes to buy.

use onsale_domain::account::{Account, Email, Role};
use onsale_domain::ids::{AccountId, ResetId, SessionId, VisitorId};
use onsale_domain::password_reset::{Reset, ResetPurpose, ResetUse};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};

use crate::accounts::NewAccount;
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::passwords;
use crate::ports::{Credentials, Session, Versioned, Written};

/// One text for links that were invented, used, or are too old.
const NO_SUCH_LINK: Error = Error::NotFound("link to log in");
const NO_SUCH_PROOF: Error = Error::NotFound("link to prove an address");
/// For how long a request that registers without a password may be repeated under its key:
/// the answer is a session, and a key is no secret that is worth one for a day.
const REPEATED_MS: u64 = 10 * 60_000;

/// A link, and its use that is on record.
struct Noted {
    reset: Versioned<Reset>,
    used: ResetUse,
}

impl App {
    /// Makes an account for a buyer who has no password, with a session at once. If its
    /// address is taken, `may_mail` is asked whether a link to log in is mailed there.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn register_guest(
        &self,
        email: &str,
        name: &str,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
        device: Option<VisitorId>,
        may_mail: impl FnOnce() -> bool + Send,
    ) -> Result<(Session, Account)> {
        let new = self.new_account(email, name, Role::Buyer, key, request)?;
        let account = match self.store_account(new).await? {
            NewAccount::Made(new) => new.account,
            NewAccount::Taken { taken, new } => {
                if taken.account.id == new.account.id && taken.request != new.request {
                    return Err(Error::IdempotencyMismatch);
                }
                if !self.is_repeated(&taken, &new) {
                    if may_mail() {
                        self.ask_log_in_link(&new.account.email).await?;
                    }
                    return Err(Error::EmailTaken);
                }
                new.account
            }
        };
        let id = match key {
            Some(key) => {
                let parts: [&[u8]; 3] = [b"guest", account.id.as_bytes(), key.as_str().as_bytes()];
                SessionId::derived(&parts)
            }
            None => SessionId::new(self.now(), self.id_entropy()),
        };
        let session = self.open_session(id, account.id, 0, device).await?;
        Ok((session.ok_or(Error::EmailTaken)?, account))
    }

    /// Whether this very request made the account, a moment ago, and nothing has happened to
    /// it since.
    fn is_repeated(&self, taken: &Credentials, new: &Credentials) -> bool {
        taken.account.id == new.account.id
            && taken.account.proven.is_none()
            && taken.epoch == 0
            && passwords::is_nobodys(&taken.password)
            && self.now() < taken.account.created + REPEATED_MS
    }

    /// Asks for a link to log in, for an address that anybody may have. Known or not, the same
    /// is read, stored and sent, so the time does not tell.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn ask_log_in_link(&self, email: &Email) -> Result<()> {
        self.ask_link(email, ResetPurpose::LogIn).await
    }

    /// Opens the session that a link was mailed for, once. The caller has checked that the
    /// link is one of ours. A request that is repeated under its key gets its session again.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn use_log_in_link(
        &self,
        id: ResetId,
        key: Option<&IdempotencyKey>,
        device: Option<VisitorId>,
    ) -> Result<(Session, Account)> {
        let by = key.map(|key| RequestHash::of(key.as_str().as_bytes()));
        let reset = self.store.read::<Reset>(id).await?.ok_or(NO_SUCH_LINK)?;
        let account = reset.value.account.ok_or(NO_SUCH_LINK)?;
        let found = self.store.credentials_of(account).await?;
        let found = found.ok_or(NO_SUCH_LINK)?;
        let used = reset
            .value
            .log_in(&found.account, found.epoch, by, self.now());
        let used = used.ok_or(NO_SUCH_LINK)?;
        let mut noted = self.note_use(reset, used, None).await?;
        let mut account = found.account;
        if noted.used.claims {
            noted = self.claim_by_link(account.id, noted).await?;
            account.proven = Some(noted.used.at);
        } else if found.epoch != noted.reset.value.epoch {
            return Err(NO_SUCH_LINK);
        }
        let session = SessionId::derived(&[b"link", id.as_bytes()]);
        let epoch = noted.reset.value.epoch_after(&noted.used);
        let session = self.open_session(session, account.id, epoch, device);
        Ok((session.await?.ok_or(NO_SUCH_LINK)?, account))
    }

    /// Gives the account to the reader of its mails, as a use on record says. Repeated, it is
    /// done. If the password was changed in between, whoever changed it is inside: then the
    /// claim is made in the epoch that they began, which sends them out. The epoch is noted
    /// first, so that a request that is repeated never opens a session in one that it did not
    /// begin.
    async fn claim_by_link(&self, account: AccountId, mut noted: Noted) -> Result<Noted> {
        let nobodys = passwords::nobodys();
        for _ in 0..ROUNDS {
            let (epoch, at) = (noted.reset.value.epoch_of(&noted.used), noted.used.at);
            let claim = self.store.claim_account(account, epoch, &nobodys, at);
            if claim.await? {
                return Ok(noted);
            }
            let found = self.store.credentials_of(account).await?;
            let found = found.filter(|found| found.account.proven.is_none());
            let epoch = found.ok_or(NO_SUCH_LINK)?.epoch;
            let before = noted.used;
            let next = ResetUse {
                epoch: Some(epoch),
                ..before.clone()
            };
            noted = self.note_use(noted.reset, next, Some(before)).await?;
        }
        Err(Error::Unavailable)
    }

    /// Stores that a link was used, before it lets anybody in. `before`: what this request has
    /// stored of it already.
    async fn note_use(
        &self,
        mut reset: Versioned<Reset>,
        used: ResetUse,
        before: Option<ResetUse>,
    ) -> Result<Noted> {
        for _ in 0..ROUNDS {
            match &reset.value.used {
                // Our own request, or its twin.
                Some(known)
                    if Some(known) != before.as_ref()
                        && known.by.is_some()
                        && known.by == used.by =>
                {
                    let used = known.clone();
                    return Ok(Noted { reset, used });
                }
                known if *known == before => reset.value.used = Some(used.clone()),
                _ => return Err(NO_SUCH_LINK),
            }
            match self.store.replace(&reset).await? {
                Written::Done(version) => {
                    reset.version = version;
                    return Ok(Noted { reset, used });
                }
                // It was announced in this moment, or used by somebody else.
                Written::Lost(found) => reset = found,
            }
        }
        Err(Error::Unavailable)
    }

    /// Asks for a link that proves the caller's address.
    pub async fn ask_address_proof(&self, caller: &Caller) -> Result<()> {
        let account = self.me(caller).await?;
        if account.proven.is_some() {
            return Ok(());
        }
        self.ask_link(&account.email, ResetPurpose::ProveAddress)
            .await
    }

    /// The caller followed a link that was mailed to their address. It is no use to anybody
    /// else: who has only the mailbox logs in by it.
    pub async fn prove_address(&self, caller: &Caller, id: ResetId) -> Result<()> {
        let is_proof = |purpose| purpose == ResetPurpose::ProveAddress;
        let good = self.good_link(id, is_proof).await?;
        if good.is_none_or(|(account, _)| account != caller.account) {
            return Err(NO_SUCH_PROOF);
        }
        if self.store.prove_address(caller.account, self.now()).await? {
            return Ok(());
        }
        Err(Error::Unauthenticated)
    }
}
