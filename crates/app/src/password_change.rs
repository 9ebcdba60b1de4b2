//! New passwords: by somebody who knows the old one, or by a link that was mailed.
//!
//! A new password begins a new epoch of the account's sessions in the same write, so every
//! other session ends in the moment in which the password changes, and nothing is left to
//! do that a crash could prevent.

use onsale_domain::account::Email;
use onsale_domain::ids::ResetId;
use onsale_domain::password_reset::ResetPurpose;

use crate::accounts::check_password;
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::passwords;

/// One text for links that were invented, used, replaced by a newer one or are too old.
const NO_SUCH_LINK: Error = Error::NotFound("link to set a password");

impl App {
    /// Changes the caller's password and ends every session but the caller's. An account
    /// without a password gets its first one by its session alone.
    pub async fn change_password(
        &self,
        caller: &Caller,
        current: Option<&str>,
        new: &str,
    ) -> Result<()> {
        check_password(new)?;
        let found = self.store.credentials_of(caller.account).await?;
        let found = found.ok_or(Error::Unauthenticated)?;
        let is_first = current.is_none() && passwords::is_nobodys(&found.password);
        let known = current.unwrap_or_default();
        if !is_first && !passwords::verify(known, Some(&found.password)).await? {
            // The same request again, after an answer that was lost: it is done.
            return match passwords::verify(new, Some(&found.password)).await? {
                true => Ok(()),
                // The session is good: whoever mistyped stays logged in.
                false => Err(Error::Forbidden(
                    "the current password is missing or wrong; nothing was changed",
                )),
            };
        }
        let hash = passwords::hash(new, &self.entropy).await?;
        let keep = Some(caller.session);
        let set = self
            .store
            .set_password(caller.account, found.epoch, &hash, keep)
            .await?;
        match set {
            true => Ok(()),
            // Somebody else was first, and has ended this session.
            false => Err(Error::Unauthenticated),
        }
    }

    /// Asks for a link to an address, whoever has it. Known or not, the same is read,
    /// stored and sent, so the time does not tell.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn ask_password_reset(&self, email: &Email) -> Result<()> {
        self.ask_link(email, ResetPurpose::Reset).await
    }

    /// Sets the password that a link was mailed for, once, and ends every session. The
    /// caller has checked that the link is one of ours. Whoever `repeats` a request is told
    /// that it is done while the password is the one that it set.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn use_reset(&self, id: ResetId, password: &str, repeats: bool) -> Result<()> {
        check_password(password)?;
        let good = self.good_link(id, ResetPurpose::sets_password).await?;
        let (account, epoch) = good.ok_or(NO_SUCH_LINK)?;
        let found = self.store.credentials_of(account).await?;
        let found = found.ok_or(NO_SUCH_LINK)?;
        if found.epoch != epoch {
            // The next epoch began with the password that this link set, or another one.
            let may_be_done = repeats && found.epoch == epoch + 1;
            return match may_be_done && passwords::verify(password, Some(&found.password)).await? {
                true => Ok(()),
                false => Err(NO_SUCH_LINK),
            };
        }
        let hash = passwords::hash(password, &self.entropy).await?;
        if !self.store.set_password(account, epoch, &hash, None).await? {
            return Err(NO_SUCH_LINK);
        }
        // The link was mailed, so the address is proven. If this fails, the next link proves it.
        if let Err(error) = self.store.prove_address(account, self.now()).await {
            tracing::warn!(%error, "an address that was proven was not noted");
        }
        Ok(())
    }
}
