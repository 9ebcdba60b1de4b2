//! Who may begin a hold while the show has a waiting room: whoever has a pass, which
//! serves one account until it is closed.

use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::{PassClaims, PassUse};
use onsale_domain::show::{RoomMode, Show};
use onsale_domain::time::Millis;

use super::place::Attempt;
use crate::app::App;
use crate::error::{Error, Result};

/// Whether new holds of this show need a pass. Paying never does.
pub(crate) fn needs_pass(show: &Show) -> bool {
    match show.room.mode {
        RoomMode::Off => false,
        RoomMode::Queue | RoomMode::QueueAll | RoomMode::Closed => true,
    }
}

/// The pass as far as it matters to this show: without a room it is left alone.
pub(super) fn wanted<'a>(show: &Show, offered: Option<&'a PassClaims>) -> Option<&'a PassClaims> {
    offered.filter(|_| needs_pass(show))
}

impl App {
    /// Lets a hold begin. The first hold under a pass makes it the caller's, before any
    /// place is claimed; `used` is what was read of it, and is kept for the next round.
    /// `last` is the pass that the account used before.
    pub(super) async fn check_pass(
        &self,
        attempt: &Attempt<'_>,
        used: &mut Option<PassUse>,
        last: Option<PassId>,
        now: Millis,
    ) -> Result<()> {
        if !needs_pass(&attempt.show) {
            return Ok(());
        }
        let claims = attempt.pass.ok_or(Error::PassRequired(None))?;
        let (show, account) = (attempt.show.id, attempt.account);
        let refused = |why| Error::PassRequired(Some(why));
        claims.check(show, now).map_err(refused)?;
        let known = match *used {
            Some(known) => known,
            None => {
                let taken = self.store.take_pass(claims.pass, account, now).await;
                *used.insert(taken?)
            }
        };
        known.check(account).map_err(refused)?;
        // One account, one pass: the one it shops under now. The slot of the other is for
        // whoever waits.
        if let Some(other) = last.filter(|last| *last != claims.pass) {
            self.store.close_pass(other, show, now).await?;
        }
        Ok(())
    }
}
