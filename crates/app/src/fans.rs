//! Verified fans: codes for the organiser to give away, and people who register before
//! the sale. A code is made from its serial whenever it is needed and stored nowhere.

use onsale_domain::account::Email;
use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::ids::ShowId;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::room::fan_code::{FanCode, FanKeys, FanSerial};
use onsale_domain::room::fans::{
    CODES_AT_ONCE, Fan, FanBatch, MAX_CODES, MAX_REGISTERED, RegistrationClosed, check_registration,
};
use onsale_domain::room::opaque::FanBatchId;
use onsale_domain::show::NotOnSale;

use crate::accounts::check_reachable;
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::not_on_sale;
use crate::ports::Page;

/// Fans that one read of their list returns.
const FANS_A_PAGE: usize = 1_000;

impl App {
    /// New codes of a show of the caller, or those that this key gave before.
    pub async fn make_fan_codes(
        &self,
        caller: &Caller,
        show: ShowId,
        count: u32,
        key: Option<&IdempotencyKey>,
        keys: &FanKeys,
    ) -> Result<Vec<FanCode>> {
        self.own_show(caller, show).await?;
        if !CODES_AT_ONCE.contains(&count) {
            let (min, max) = (CODES_AT_ONCE.start(), CODES_AT_ONCE.end());
            return Err(Error::Invalid(format!("count: {min} to {max} codes")));
        }
        let batch = match key.map(FanBatchId::for_key) {
            None => self.new_batch(show, count, keys).await?,
            Some(id) => match self.store.fan_batch(show, id).await? {
                Some(before) => before,
                None => {
                    let new = self.new_batch(show, count, keys).await?;
                    // Another request with this key may have been first: then its
                    // serials count, and ours are never used.
                    self.store.keep_fan_batch(show, id, &new).await?
                }
            },
        };
        if batch.count != count {
            return Err(Error::IdempotencyMismatch);
        }
        // Before anybody has the codes: none is used that the trail does not know of. The
        // same batch again is the same entry.
        self.note_fan_codes(caller, show, &batch).await?;
        let codes = batch
            .serials()
            .map(|serial| keys.code(show, batch.key, serial));
        codes.collect::<Option<_>>().ok_or(KEY_IS_GONE)
    }

    async fn note_fan_codes(&self, caller: &Caller, show: ShowId, batch: &FanBatch) -> Result<()> {
        let made = format!("{} from number {}", batch.count, batch.first.0);
        let change = AuditChange::new("fan_codes", None, Some(made));
        let entry = AuditEntry::new(
            show,
            caller.account,
            AuditAction::FanCodesMade,
            &batch.first.0.to_be_bytes(),
            vec![change],
            self.now(),
        );
        Ok(self.store.note(&entry).await?)
    }

    async fn new_batch(&self, show: ShowId, count: u32, keys: &FanKeys) -> Result<FanBatch> {
        Ok(FanBatch {
            key: keys.signing(),
            first: self.take_fan_serials(show, count, MAX_CODES).await?,
            count,
        })
    }

    async fn take_fan_serials(&self, show: ShowId, count: u32, most: u32) -> Result<FanSerial> {
        let first = self.store.take_serials(show, count, most).await?;
        first.ok_or(Error::LimitExceeded {
            limit: u64::from(most),
            of: "fan codes for a show",
        })
    }

    /// Registers an address. Whether it was registered before makes no difference to
    /// anybody: not to the answer, and not to its code.
    pub async fn register_fan(&self, show: ShowId, email: Email, keys: &FanKeys) -> Result<()> {
        let settings = self.recent_show(show).await?;
        let now = self.now();
        check_registration(&settings, now).map_err(closed)?;
        check_reachable(&email)?;
        // Read first: whoever registers again and again must not use the serials up.
        if self.store.fan(show, &email).await?.is_some() {
            return Ok(());
        }
        let fan = Fan {
            email,
            key: keys.signing(),
            serial: self.take_fan_serials(show, 1, MAX_REGISTERED).await?,
            registered: now,
        };
        self.store.add_fan(show, &fan).await?;
        Ok(())
    }

    /// The caller begins to read the fans of a show of theirs. Addresses leave the
    /// platform: who took them is known afterwards.
    pub async fn begin_fan_list(&self, caller: &Caller, show: ShowId) -> Result<FanList> {
        self.own_show(caller, show).await?;
        let now = self.now();
        let entry = AuditEntry::new(
            show,
            caller.account,
            AuditAction::FansListed,
            &now.0.to_be_bytes(),
            Vec::new(),
            now,
        );
        self.store.note(&entry).await?;
        Ok(FanList { show })
    }

    /// A page of the fans, with their codes.
    pub async fn fans_with_codes(
        &self,
        list: &FanList,
        after: Option<&str>,
        keys: &FanKeys,
    ) -> Result<Page<(Email, FanCode)>> {
        let show = list.show;
        let page = self.store.fans(show, after, FANS_A_PAGE).await?;
        let with_code = |fan: Fan| {
            let code = keys.code(show, fan.key, fan.serial).ok_or(KEY_IS_GONE)?;
            Ok((fan.email, code))
        };
        Ok(Page {
            items: page
                .items
                .into_iter()
                .map(with_code)
                .collect::<Result<_>>()?,
            next: page.next,
        })
    }
}

/// The fans of one show, for somebody who may read them and is on the trail.
#[derive(Debug)]
pub struct FanList {
    show: ShowId,
}

/// Signing anew would make a second lot of the same serial.
const KEY_IS_GONE: Error = Error::Conflict(
    "codes of this show were signed with a key that is no longer configured: add it again",
);

fn closed(why: RegistrationClosed) -> Error {
    match why {
        // A draft does not exist for anybody else.
        RegistrationClosed::NotOnSale(NotOnSale::Draft) => Error::NotFound("show"),
        RegistrationClosed::NotOnSale(_) => not_on_sale("the show is cancelled"),
        RegistrationClosed::TooLate => {
            Error::Conflict("fans registered until the room opened: join it like everybody else")
        }
        RegistrationClosed::NoOpening => {
            Error::Conflict("this show has no opening that fans could register for")
        }
    }
}
