//! Somebody has looked at mails that nobody sends any more, and lets them go again.

use onsale_domain::mail::{Mail, MailId};

use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{Page, Versioned, Written};

const PAGE: usize = 100;

impl App {
    /// The mails that are parked, oldest first.
    pub async fn parked_mails(&self, after: Option<&str>, limit: usize) -> Result<Page<Mail>> {
        let page = self.store.parked_mails(after, limit).await?;
        Ok(Page {
            items: page.items.into_iter().map(|mail| mail.value).collect(),
            next: page.next,
        })
    }

    /// Lets a parked mail be sent after all. `false`: it was not parked.
    pub async fn resend_mail(&self, id: &MailId) -> Result<bool> {
        let mail = self.store.read::<Mail>(id).await?;
        self.unpark(mail.ok_or(Error::NotFound("mail"))?).await
    }

    /// The same for all that are parked by now, and how many they were. One that is parked
    /// again meanwhile waits for the next time.
    pub async fn resend_parked(&self) -> Result<u64> {
        let began = self.now();
        let (mut sent, mut after) = (0, None::<String>);
        loop {
            let page = self.store.parked_mails(after.as_deref(), PAGE).await?;
            for mail in page.items {
                let parked = mail.value.parked_since();
                if parked.is_some_and(|at| at <= began) && self.unpark(mail).await? {
                    sent += 1;
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(sent),
            }
        }
    }

    /// Whoever stores it as due is the only one: a second one finds it on its way.
    async fn unpark(&self, mail: Versioned<Mail>) -> Result<bool> {
        let Some(value) = mail.value.resend(self.now()) else {
            return Ok(false);
        };
        let next = Versioned {
            version: mail.version,
            value,
        };
        match self.store.replace(&next).await? {
            Written::Done(_) => {
                tracing::info!(mail = %next.value.id, "a parked mail is sent again");
                self.wake_mail(next.value.id, 0).await;
                Ok(true)
            }
            Written::Lost(_) => Ok(false),
        }
    }
}
