//! Links that are mailed, whatever they are for: asked for, told to whoever mails them, and
//! looked at when they are followed.

use onsale_domain::account::Email;
use onsale_domain::announcement::News;
use onsale_domain::ids::{AccountId, ResetId};
use onsale_domain::password_reset::{LINKS_PER_WINDOW, Reset, ResetPurpose};

use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Drive, Written};

impl App {
    /// Asks for a link to the account that has an address, if there is one.
    pub(crate) async fn ask_link(&self, email: &Email, purpose: ResetPurpose) -> Result<()> {
        let found = self.store.credentials(email).await?;
        let account = found.as_ref().map(|found| found.account.id);
        let epoch = found.map_or(0, |found| found.epoch);
        self.ask_reset(email, account, epoch, purpose).await
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
        for nth in 0..LINKS_PER_WINDOW {
            let reset = Reset {
                id: ResetId::nth(email, account.is_some(), purpose, now, nth),
                account,
                purpose,
                epoch,
                asked: now,
                announced: false,
                used: None,
            };
            match self.store.create(&reset).await? {
                // Mailed, or meant for an account that had this address before.
                Written::Lost(before)
                    if before.value.announced || before.value.account != account => {}
                // New, or on its way already.
                Written::Done(_) | Written::Lost(_) => {
                    self.wake_reset(reset.id).await;
                    return Ok(());
                }
            }
        }
        tracing::info!("an address asked for more links than its quota has");
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
        let Some(mut reset) = self.store.read::<Reset>(id).await? else {
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
            match self.store.replace(&reset).await? {
                Written::Done(_) => return Ok(()),
                Written::Lost(current) => reset = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// The account that a link is good for now, and under which epoch. `None`: it was
    /// invented, is too old, or is for another purpose.
    pub(crate) async fn good_link(
        &self,
        id: ResetId,
        is_meant: impl Fn(ResetPurpose) -> bool,
    ) -> Result<Option<(AccountId, u32)>> {
        let link = self.store.read::<Reset>(id).await?.map(|link| link.value);
        let link = link.filter(|link| is_meant(link.purpose));
        Ok(link.and_then(|link| link.good_for(self.now())))
    }
}
