//! Somebody leaves. The account is gone with the first write; the rest is tidied up in the
//! background, as `onsale_domain::deletion` says.

use onsale_domain::account::Role;
use onsale_domain::audit::AuditAction;
use onsale_domain::buyer::EntryState;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::deletion::{Deletion, DeletionStep};
use onsale_domain::event::ShowSummary;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::mail::{Mail, Recipient};
use onsale_domain::order::Order;
use onsale_domain::show::{CALLED_OFF_AFTER_START_MS, StoredStatus};
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;
use onsale_domain::transfer::Transfer;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::passwords;
use crate::ports::{Credentials, Drive, Versioned, Written};

/// Items of a list that one step works through.
const PAGE: usize = 100;
/// Steps that one message does before it is sent again: as many as a function has time for.
const STEPS_A_MESSAGE: usize = 50;
/// An index lags behind its table, and a request under way may still begin an order, or join
/// a waitlist: they are looked for until this long after the account was gone.
const ALL_APPEAR_MS: u64 = 60_000;

impl App {
    /// Deletes the caller's account. Tickets stay valid; nothing else can be undone. So a
    /// session alone is enough only for an account that has no password.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn delete_account(&self, caller: &Caller, password: Option<&str>) -> Result<()> {
        let found = self.store.credentials_of(caller.account).await?;
        let found = found.ok_or(Error::Unauthenticated)?;
        let is_theirs = match password {
            Some(password) => passwords::verify(password, Some(&found.password)).await?,
            None => passwords::is_nobodys(&found.password),
        };
        if !is_theirs {
            return Err(Error::Forbidden(
                "the password is missing or wrong; nothing was deleted",
            ));
        }
        if found.account.role == Role::Organiser {
            self.check_shows_are_over(caller.account).await?;
        }
        let staff = match found.account.role {
            Role::Staff => self.store.read::<Staff>(caller.account).await?,
            Role::Buyer | Role::Organiser => None,
        };
        match self.begin_deletion(found, staff.map(|s| s.value)).await? {
            true => Ok(()),
            false => Err(Error::Conflict(
                "the account was changed at the same time; try again",
            )),
        }
    }

    /// Drafts are no reason to stay: nobody has bought anything. A show that has just begun
    /// is one, since nobody else can call it off; so is a cancelled one as long as some of
    /// its buyers wait for their money.
    async fn check_shows_are_over(&self, organiser: AccountId) -> Result<()> {
        let now = self.now().saturating_sub(CALLED_OFF_AFTER_START_MS);
        let mut after: Option<String> = None;
        loop {
            let page = self
                .store
                .events_of(organiser, after.as_deref(), PAGE)
                .await?;
            let shows = || page.items.iter().flat_map(|event| &event.value.shows);
            if shows().any(|show| show.is_coming(now)) {
                return Err(Error::Conflict(
                    "you have shows that are not over: their buyers need an organiser; \
                     cancel them, or delete the account after the last one",
                ));
            }
            let cancelled = shows().filter(|show| show.status == StoredStatus::Cancelled);
            let cancelled: Vec<ShowId> = cancelled.map(|show| show.id).collect();
            for show in cancelled {
                let stored = self.store.read::<Cancellation>(show).await?;
                if stored.is_some_and(|stored| stored.value.is_open()) {
                    return Err(Error::Conflict(
                        "the refunds of a show that you cancelled are under way; \
                         delete the account when they are done",
                    ));
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// `false`: the account has moved on since it was read.
    pub(crate) async fn begin_deletion(
        &self,
        found: Credentials,
        staff: Option<Staff>,
    ) -> Result<bool> {
        let id = found.account.id;
        let deletion = Deletion::begin(&found.account, staff, self.now());
        let begun = self.store.begin_deletion(&deletion, found.epoch).await?;
        if begun {
            tracing::info!(account = %id, "account deleted");
            self.wake_deletion(id).await;
        }
        Ok(begun)
    }

    /// A message that is lost is sent again by reconciling.
    pub(crate) async fn wake_deletion(&self, account_id: AccountId) {
        let message = Drive::Deletion { account_id };
        if let Err(error) = self.saga_queue.send_drive(&message, 0).await {
            tracing::warn!(account = %account_id, %error, "a deletion could not be woken");
        }
    }

    pub(crate) async fn drive_deletion(&self, account: AccountId) -> Result<()> {
        let Some(mut deletion) = self.store.read::<Deletion>(account).await? else {
            return Ok(());
        };
        for _ in 0..STEPS_A_MESSAGE {
            let now = self.now();
            let next = match deletion.value.step {
                DeletionStep::Staff => {
                    self.end_staff(&deletion.value).await?;
                    deletion.value.step_done(now)
                }
                DeletionStep::Holds => self.release_some_holds(&deletion.value, now).await?,
                DeletionStep::Waitlist => match self.leave_waitlists(&deletion.value, now).await? {
                    Some(next) => next,
                    // Reconciling comes again, here as below.
                    None => return Ok(()),
                },
                DeletionStep::Orders => {
                    match self.anonymise_some_orders(&deletion.value, now).await? {
                        Some(next) => next,
                        None => return Ok(()),
                    }
                }
                DeletionStep::Transfers => match self.forget_transfers(&deletion.value).await? {
                    true => deletion.value.step_done(now),
                    false => return Ok(()),
                },
                DeletionStep::Mails => match self.forget_mails(&deletion.value).await? {
                    true => deletion.value.step_done(now),
                    false => return Ok(()),
                },
                DeletionStep::Fans => {
                    self.forget_fan(&deletion.value).await?;
                    deletion.value.step_done(now)
                }
                DeletionStep::Done => return Ok(()),
            };
            let next = Versioned {
                version: deletion.version,
                value: next,
            };
            deletion = match self.store.replace(&next).await? {
                Written::Done(version) => Versioned { version, ..next },
                Written::Lost(current) => current,
            };
        }
        self.wake_deletion(account).await;
        Ok(())
    }

    /// The trail of each show says that somebody is staff no more; the staff of an
    /// organiser who leaves goes with them.
    async fn end_staff(&self, deletion: &Deletion) -> Result<()> {
        if let Some(staff) = &deletion.staff {
            let action = AuditAction::StaffRemoved;
            self.note_staff(action, staff.organiser, staff, &staff.shows)
                .await?;
        }
        let mut after: Option<String> = None;
        loop {
            let page = self
                .store
                .staff_of(deletion.account, after.as_deref(), PAGE)
                .await?;
            for staff in page.items {
                if let Some(found) = self.store.credentials_of(staff.account).await? {
                    self.begin_deletion(found, Some(staff)).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Nothing lists the shows in which somebody holds places, because a hold would have to
    /// pay for it. So the shows on sale are walked, a page of events at a time, until every
    /// hold of before would have lapsed by itself.
    async fn release_some_holds(&self, deletion: &Deletion, now: Millis) -> Result<Deletion> {
        if !deletion.may_hold(now) {
            return Ok(deletion.step_done(now));
        }
        let after = deletion.cursor.as_deref();
        let page = self.store.public_events(after, PAGE).await?;
        let shows = page.items.iter().flat_map(|event| &event.value.shows);
        let coming = shows.filter(|show: &&ShowSummary| show.is_coming(now));
        let coming: Vec<ShowId> = coming.map(|show| show.id).collect();
        for (show, buyer) in self.store.buyers(deletion.account, &coming).await? {
            // One that was released may have been cut off before its cells were free.
            let may_hold = |state| matches!(state, EntryState::Held | EntryState::Released);
            let entries = buyer.entries.iter().filter(|entry| may_hold(entry.state));
            let holds: Vec<_> = entries.map(|entry| entry.hold).collect();
            for hold in holds {
                let released = self.release_of(deletion.account, show, hold, buyer.clone());
                match released.await {
                    // Being paid by now: it is an order's.
                    Ok(()) | Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(match page.next {
            Some(cursor) => deletion.at(Some(cursor), now),
            None => deletion.step_done(now),
        })
    }

    /// `None`: one of the offers is being paid, or more entries may yet appear.
    async fn leave_waitlists(&self, deletion: &Deletion, now: Millis) -> Result<Option<Deletion>> {
        let mut after: Option<String> = None;
        let mut all_done = true;
        loop {
            let page = self
                .store
                .waitlist_entries_of(deletion.account, after.as_deref(), PAGE)
                .await?;
            for entry in page.items {
                if entry.value.outcome().is_some() {
                    continue;
                }
                all_done &= match self.end_entry(&entry).await {
                    Ok(written) => matches!(written, Written::Done(_)),
                    // Its order ends first, and the entry with it.
                    Err(Error::Conflict(_)) => false,
                    Err(error) => return Err(error),
                };
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok((all_done && has_all(deletion, now)).then(|| deletion.step_done(now)))
    }

    /// `None`: some of the orders are still under way, or may yet appear.
    async fn anonymise_some_orders(
        &self,
        deletion: &Deletion,
        now: Millis,
    ) -> Result<Option<Deletion>> {
        let mut after: Option<String> = None;
        let mut all_done = true;
        loop {
            let page = self
                .store
                .orders_of(deletion.account, after.as_deref(), PAGE)
                .await?;
            let ids: Vec<_> = page.items.iter().map(|order| order.id).collect();
            for mut order in self.store.read_many::<Order>(&ids).await? {
                if order.value.is_open() {
                    all_done = false;
                } else if let Some(value) = order.value.anonymised(now) {
                    order.value = value;
                    let written = self.store.replace(&order).await?;
                    all_done &= matches!(written, Written::Done(_));
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok((all_done && has_all(deletion, now)).then(|| deletion.step_done(now)))
    }

    /// Whether all of it is done. The letter that names who offered goes first: without the
    /// address nobody would find it. Whoever accepted has shown that the letter came to them.
    async fn forget_transfers(&self, deletion: &Deletion) -> Result<bool> {
        let Some(email) = &deletion.email else {
            return Ok(true);
        };
        let account = deletion.account;
        let mut after: Option<String> = None;
        let mut all_done = true;
        loop {
            let page = self
                .store
                .transfers_of(account, email, after.as_deref(), PAGE)
                .await?;
            for listed in page.items {
                if (listed.from == account || listed.is_accepted_by(account))
                    && let Some(letter) = listed.letter()
                    && let Some(mail) = self.store.read::<Mail>(&letter).await?
                    && !self.forget_mail(mail).await?
                {
                    all_done = false;
                    continue;
                }
                let Some(transfer) = self.store.read::<Transfer>(listed.id).await? else {
                    continue;
                };
                let forgotten = transfer.value.forgotten(deletion, self.now());
                if let Some(value) = forgotten {
                    let version = transfer.version;
                    let next = Versioned { version, value };
                    let written = self.store.replace(&next).await?;
                    all_done &= matches!(written, Written::Done(_));
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(all_done);
            }
        }
    }

    /// Mails to the account, and to its address as long as it was theirs: from what happened
    /// to the mail about it, which may be written much later.
    async fn forget_mails(&self, deletion: &Deletion) -> Result<bool> {
        let account = Recipient::Account(deletion.account);
        let address = deletion.email.clone().map(Recipient::Address);
        let mut all_done = true;
        for to in [Some(account), address].into_iter().flatten() {
            let mut after: Option<String> = None;
            loop {
                let page = self.store.mails_to(&to, after.as_deref(), PAGE).await?;
                for mail in page.items {
                    let is_theirs = match to {
                        Recipient::Account(_) | Recipient::Nobody => true,
                        Recipient::Address(_) => [mail.value.at, mail.value.created]
                            .into_iter()
                            .all(|moment| deletion.had_address_at(moment)),
                    };
                    if is_theirs {
                        all_done &= self.forget_mail(mail).await?;
                    }
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(all_done)
    }

    /// `false`: somebody was quicker, and it has to be looked at again.
    async fn forget_mail(&self, mail: Versioned<Mail>) -> Result<bool> {
        let Some(value) = mail.value.forgotten(self.now()) else {
            return Ok(true);
        };
        let version = mail.version;
        let written = self.store.replace(&Versioned { version, value }).await?;
        Ok(matches!(written, Written::Done(_)))
    }

    /// Whoever registered before they had the account, or registers anew after they left, is
    /// somebody else to us, and stays.
    async fn forget_fan(&self, deletion: &Deletion) -> Result<()> {
        let Some(email) = &deletion.email else {
            return Ok(());
        };
        let mut after: Option<String> = None;
        loop {
            let page = self.store.fan_of(email, after.as_deref(), PAGE).await?;
            let theirs = |registered| deletion.had_address_at(registered);
            for (show, _) in page.items.iter().filter(|(_, fan)| theirs(fan.registered)) {
                self.store.remove_fan(*show, email).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Whether everything that somebody began before they left is in the lists by now.
fn has_all(deletion: &Deletion, now: Millis) -> bool {
    now >= deletion.began + ALL_APPEAR_MS
}
