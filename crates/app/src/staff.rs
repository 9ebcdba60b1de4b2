//! Staff accounts: made by an organiser, for the gates of some of their shows.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::password_reset::ResetPurpose;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::Show;
use onsale_domain::staff::{MAX_SHOWS, SHOWS_AT_ONCE, Staff};

use crate::accounts::{check_name, check_reachable};
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::passwords;
use crate::ports::{Credentials, Page, Registration};
use crate::update::Next;
use crate::venues::require_organiser;

const READS_AT_ONCE: usize = 8;

impl App {
    /// Makes an account for the gates of these shows, or adds them to one that the caller
    /// made before. Repeating it changes nothing. A key is kept with the account that it
    /// made.
    pub async fn add_staff(
        &self,
        caller: &Caller,
        email: Email,
        name: &str,
        show_ids: &[ShowId],
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<(Account, Staff)> {
        require_organiser(caller)?;
        check_reachable(&email)?;
        check_name(name)?;
        if !SHOWS_AT_ONCE.contains(&show_ids.len()) {
            let (min, max) = (SHOWS_AT_ONCE.start(), SHOWS_AT_ONCE.end());
            return Err(Error::Invalid(format!("show_ids: {min} to {max} shows")));
        }
        let owned: Vec<_> = show_ids
            .iter()
            .map(|id| self.own_show(caller, *id))
            .collect();
        stream::iter(owned)
            .buffered(READS_AT_ONCE)
            .try_for_each(|_: Show| async { Ok(()) })
            .await?;
        let now = self.now();
        let id = match key {
            Some(key) => {
                AccountId::derived(&[b"staff", caller.account.as_bytes(), key.as_str().as_bytes()])
            }
            None => AccountId::new(now, self.id_entropy()),
        };
        let new = Credentials {
            account: Account {
                id,
                email,
                name: name.to_owned(),
                role: Role::Staff,
                created: now,
                language: None,
                proven: None,
            },
            // The first one is chosen by whoever follows the invitation.
            password: passwords::nobodys(),
            epoch: 0,
            request: key.map(|_| request),
        };
        let staff = Staff {
            account: id,
            organiser: caller.account,
            shows: show_ids.iter().copied().collect(),
            added: now,
        };
        let (known, staff) = match self.store.register(&new, Some(&staff)).await? {
            Registration::Registered => (new, staff),
            // Our own write, whose answer was lost.
            Registration::EmailTaken(taken) if taken.account.id == id => {
                if taken.request != new.request {
                    return Err(Error::IdempotencyMismatch);
                }
                let epoch = taken.epoch;
                (Credentials { epoch, ..new }, staff)
            }
            Registration::EmailTaken(taken) => {
                let staff = self.more_shows(caller, &taken, show_ids).await?;
                (*taken, staff)
            }
            // The key made an account for another address.
            Registration::IdTaken if key.is_some() => return Err(Error::IdempotencyMismatch),
            Registration::IdTaken => return Err(Error::Unavailable),
        };
        self.note_staff(AuditAction::StaffAdded, caller.account, &staff, show_ids)
            .await?;
        if known.epoch == 0 {
            let Account { id, email, .. } = &known.account;
            self.ask_reset(email, Some(*id), 0, ResetPurpose::Invitation)
                .await?;
        }
        Ok((known.account, staff))
    }

    /// Only the caller's own staff: anybody else's account is left as it is.
    async fn more_shows(
        &self,
        caller: &Caller,
        taken: &Credentials,
        show_ids: &[ShowId],
    ) -> Result<Staff> {
        if taken.account.role != Role::Staff {
            return Err(Error::EmailTaken);
        }
        let stored = self.store.read::<Staff>(taken.account.id).await?;
        let stored = stored.ok_or(Error::EmailTaken)?;
        let staff = self.update(stored, |staff, _| {
            if staff.organiser != caller.account {
                return Err(Error::EmailTaken);
            }
            let more = staff.with_shows(show_ids);
            let more = more.map_err(|_| Error::LimitExceeded {
                limit: MAX_SHOWS as u64,
                of: "shows for one staff account",
            })?;
            Ok(match more {
                Some(more) => Next::Store(more.clone(), more),
                None => Next::Leave(staff.clone()),
            })
        });
        staff.await
    }

    /// An account is staff of a show once, and never again after it was removed: the
    /// account names the entry.
    pub(crate) async fn note_staff(
        &self,
        action: AuditAction,
        organiser: AccountId,
        staff: &Staff,
        shows: impl IntoIterator<Item = &ShowId>,
    ) -> Result<()> {
        let shows: BTreeSet<_> = shows.into_iter().collect();
        for show in shows {
            let who = Some(staff.account.to_string());
            let change = match action {
                AuditAction::StaffRemoved => AuditChange::new("staff", who, None),
                _ => AuditChange::new("staff", None, who),
            };
            let subject = staff.account.as_bytes();
            let at = self.now();
            let entry = AuditEntry::new(*show, organiser, action, subject, vec![change], at);
            self.store.note(&entry).await?;
        }
        Ok(())
    }

    pub async fn list_staff(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<(Account, Staff)>> {
        require_organiser(caller)?;
        let page = self.store.staff_of(caller.account, after, limit).await?;
        let accounts = page
            .items
            .iter()
            .map(|staff| self.store.account(staff.account));
        let accounts = join_all(accounts).await;
        let mut items = Vec::with_capacity(page.items.len());
        for (staff, account) in page.items.into_iter().zip(accounts) {
            // Somebody who is just leaving is not listed any more.
            items.extend(account?.map(|account| (account, staff)));
        }
        Ok(Page {
            items,
            next: page.next,
        })
    }

    /// Ends a staff account of the caller: its sessions end at once.
    pub async fn remove_staff(&self, caller: &Caller, account: AccountId) -> Result<()> {
        require_organiser(caller)?;
        let is_ours = |staff: &Staff| staff.organiser == caller.account;
        for _ in 0..ROUNDS {
            let staff = self
                .store
                .read::<Staff>(account)
                .await?
                .map(|staff| staff.value);
            let found = self.store.credentials_of(account).await?;
            match (staff.filter(is_ours), found) {
                (Some(staff), Some(found)) => {
                    if self.begin_deletion(found, Some(staff)).await? {
                        return Ok(());
                    }
                }
                // Removed before, perhaps by a request whose answer was lost.
                _ => {
                    let deletion = self.store.read::<Deletion>(account).await?;
                    let staff = deletion.and_then(|deletion| deletion.value.staff);
                    return match staff.filter(is_ours) {
                        Some(_) => Ok(()),
                        None => Err(Error::NotFound("staff account")),
                    };
                }
            }
        }
        Err(Error::Unavailable)
    }

    /// Whether the caller may stand at a gate of this show: its organiser, without reading
    /// anything more, or staff that the organiser put there.
    pub(crate) async fn check_at_gate(&self, caller: &Caller, show: &Show) -> Result<()> {
        if show.owner == caller.account {
            return Ok(());
        }
        if caller.role == Role::Staff {
            let staff = self.store.read::<Staff>(caller.account).await?;
            let here = |staff: &Staff| staff.organiser == show.owner && staff.may_scan(show.id);
            if staff.is_some_and(|staff| here(&staff.value)) {
                return Ok(());
            }
            return Err(Error::Forbidden("you are not staff of this show"));
        }
        Err(Error::Forbidden("this show belongs to another organiser"))
    }
}
