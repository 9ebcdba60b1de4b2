//! New passwords: by somebody who knows the old one, or by a link that was mailed.
//!
//! A new password begins a new epoch of the account's sessions in the same write, so every
//! other session ends in the moment in which the password changes, and nothing is left to
//! do that a crash could prevent.

use onsale_domain::account::Email;
use onsale_domain::announcement::News;
use onsale_domain::ids::{AccountId, ResetId};
use onsale_domain::password_reset::{RESETS_PER_HOUR, Reset, ResetPurpose};

use crate::accounts::check_password;
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::passwords;
use crate::ports::{Drive, Written};

/// One text for links that were invented, used, replaced by a newer one or are too old.
const NO_SUCH_LINK: Error = Error::NotFound("link to set a password");

impl App {
    /// Changes the caller's password and ends every session but the caller's.
    pub async fn change_password(&self, caller: &Caller, current: &str, new: &str) -> Result<()> {
        check_password(new)?;
        let found = self.store.credentials_of(caller.account).await?;
        let found = found.ok_or(Error::Unauthenticated)?;
        if !passwords::verify(current, Some(&found.password)).await? {
            // The same request again, after an answer that was lost: it is done.
            return match passwords::verify(new, Some(&found.password)).await? {
                true => Ok(()),
                // The session is good: whoever mistyped stays logged in.
                false => Err(Error::Forbidden(
                    "the current password is wrong; nothing was changed",
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
        let found = self.store.credentials(email).await?;
        let account = found.as_ref().map(|found| found.account.id);
        let epoch = found.map_or(0, |found| found.epoch);
        self.ask_reset(email, account, epoch, ResetPurpose::Reset)
            .await
    }

    /// Stored first, then told by a message; a message that is lost is sent again by
    /// reconciling. Asking too often is answered like everything else.
    pub(crate) async fn ask_reset(
        &self,
        email: &Email,
        account: Option<AccountId>,
        epoch: u32,
        purpose: ResetPurpose,
    ) -> Result<()> {
        let now = self.now();
        for nth in 0..RESETS_PER_HOUR {
            let reset = Reset {
                id: ResetId::nth(email, account, purpose, now, nth),
                account,
                purpose,
                epoch,
                asked: now,
                announced: false,
            };
            match self.store.create_reset(&reset).await? {
                Written::Lost(before) if before.value.announced => {}
                // New, or on its way already.
                Written::Done(_) | Written::Lost(_) => {
                    self.wake_reset(reset.id).await;
                    return Ok(());
                }
            }
        }
        tracing::info!("an address asked for more links than an hour has");
        Ok(())
    }

    pub(crate) async fn wake_reset(&self, reset_id: ResetId) {
        let message = Drive::Reset { reset_id };
        if let Err(error) = self.saga_queue.send_drive(&message, 0).await {
            tracing::warn!(reset = %reset_id, %error, "a reset could not be woken");
        }
    }

    /// Tells whoever mails links, and remembers that they were told.
    pub(crate) async fn announce_reset(&self, id: ResetId) -> Result<()> {
        let Some(mut reset) = self.store.reset(id).await? else {
            return Ok(());
        };
        for _ in 0..ROUNDS {
            if reset.value.announced {
                return Ok(());
            }
            if let Some((account_id, _)) = reset.value.good_for(self.now()) {
                let news = News::PasswordResetAsked {
                    reset_id: id,
                    account_id,
                    purpose: reset.value.purpose,
                };
                let announcement = news.announce(&id.to_string(), reset.value.asked);
                self.bus.announce(&[announcement]).await?;
            }
            reset.value.announced = true;
            match self.store.replace_reset(&reset).await? {
                Written::Done(_) => return Ok(()),
                Written::Lost(current) => reset = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// Sets the password that a link was mailed for, once, and ends every session. The
    /// caller has checked that the link is one of ours. Whoever `repeats` a request is told
    /// that it is done while the password is the one that it set.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn use_reset(&self, id: ResetId, password: &str, repeats: bool) -> Result<()> {
        check_password(password)?;
        let reset = self.store.reset(id).await?;
        let good = reset.and_then(|reset| reset.value.good_for(self.now()));
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
        match self.store.set_password(account, epoch, &hash, None).await? {
            true => Ok(()),
            false => Err(NO_SUCH_LINK),
        }
    }
}
