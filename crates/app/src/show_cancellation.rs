//! An organiser calls a show off: everyone is refunded, in the background, and anyone
//! can see how far it is.
//!
//! The decision is stored first, then the blocks are closed, then every order that owns
//! a cell is undone. All of it can be done again from any point: closing is idempotent,
//! an order is called off once, and what is left to do is read from the cells.

use std::collections::BTreeSet;

use futures_util::{StreamExt, TryStreamExt, stream};

use onsale_domain::announcement::{Announcement, News};
use onsale_domain::audit::AuditEntry;
use onsale_domain::block::{BlockIndex, BlockState, Cell, MAX_BLOCK_PLACES, Slot};
use onsale_domain::cancellation::{Cancellation, Phase};
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{OrderId, ShowId};
use onsale_domain::order::{Order, Why};
use onsale_domain::show::{Show, StoredStatus};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::events::WRITE_ATTEMPTS;
use crate::holds::ROUNDS;
use crate::ports::{Drive, Reads, ShowNotes, Versioned, Written};
use crate::reconcile::is_idle;
use crate::update::Next;

/// Blocks that one message works through: 100 of them have at most 3,200 orders, and
/// reading them is one request.
const BLOCKS_AT_ONCE: u32 = 100;
/// How long to wait before looking again at orders that are not done. After two minutes
/// reconciling does that, once a minute.
const LOOK_AGAIN_S: u32 = 5;
/// How long after its message was sent an order has been called off, as a rule.
const WAKES_AFTER_S: u32 = 2;
/// Orders that are called off at once.
const AT_ONCE: usize = 16;

/// How far a cancellation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub refunds_due: u64,
    pub refunds_done: u64,
}

impl App {
    /// Cancels a show of the caller; how many refunds are due.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn cancel_show(&self, caller: &Caller, id: ShowId) -> Result<u64> {
        self.check_session(caller).await?;
        let show = self.own_show(caller, id).await?;
        if !show.may_be_called_off(self.now()) {
            return Err(Error::Conflict("the show began more than a day ago"));
        }
        let new = Cancellation::begin(id, self.now());
        self.store.create(&new).await?;
        self.mark_cancelled(id).await?;
        // From here on it goes through even if this process dies.
        self.wake_cancellation(id, 0, 0).await;
        let cancellation = self.close_show(id).await?;
        Ok(cancellation.value.refunds_due)
    }

    pub async fn cancellation_progress(&self, caller: &Caller, id: ShowId) -> Result<Progress> {
        self.check_session(caller).await?;
        self.own_show(caller, id).await?;
        let stored = self.store.read::<Cancellation>(id).await?;
        let cancellation = stored.ok_or(Error::NotFound("cancellation"))?.value;
        let left = match cancellation.phase {
            Phase::Done => 0,
            Phase::Closing | Phase::Refunding => self.sold_orders(id).await?,
        };
        let refunds_due = cancellation.refunds_due.max(left);
        Ok(Progress {
            refunds_due,
            refunds_done: refunds_due - left,
        })
    }

    pub(crate) async fn own_show(&self, caller: &Caller, id: ShowId) -> Result<Show> {
        let show = self
            .store
            .read::<Show>(id)
            .await?
            .ok_or(Error::NotFound("show"))?;
        match show.value.owner == caller.account {
            true => Ok(show.value),
            false => Err(Error::Forbidden("this show belongs to another organiser")),
        }
    }

    async fn mark_cancelled(&self, id: ShowId) -> Result<()> {
        for _ in 0..WRITE_ATTEMPTS {
            let mut show = self
                .store
                .read::<Show>(id)
                .await?
                .ok_or(Error::NotFound("show"))?;
            if show.value.status == StoredStatus::Cancelled {
                return Ok(());
            }
            let before = show.value.clone();
            show.value.status = StoredStatus::Cancelled;
            // Only its owner can have called it off, whoever goes on with it.
            let (owner, version, now) = (before.owner, show.version + 1, self.now());
            let entry = AuditEntry::show_changed(&before, &show.value, version, owner, now);
            let event = self.store.read::<Event>(show.value.event_id).await?;
            let mut event = event.ok_or(Error::Corrupt)?;
            event.value.put_show(ShowSummary::of(&show.value));
            let notes = ShowNotes {
                entry: entry.as_ref(),
                ..ShowNotes::default()
            };
            let replaced = self.store.replace_show(&show, &event, notes).await?;
            self.forget_show(id);
            if replaced {
                self.announce_change(&event).await;
                tracing::info!(show = %id, "show cancelled");
                return Ok(());
            }
        }
        Err(Error::Unavailable)
    }

    /// Closes every block, then counts what is due. What is sold now is all there will
    /// ever be.
    async fn close_show(&self, id: ShowId) -> Result<Versioned<Cancellation>> {
        let stored = self.store.read::<Cancellation>(id).await?;
        let mut cancellation = stored.ok_or(Error::Corrupt)?;
        if cancellation.value.phase != Phase::Closing {
            return Ok(cancellation);
        }
        let blocks = self.all_blocks(id).await?;
        self.store.close_blocks(id, &blocks).await?;
        let refunds_due = self.sold_orders(id).await?;
        tracing::info!(show = %id, blocks = blocks.len(), refunds_due, "blocks closed");
        cancellation.value = cancellation.value.closed(refunds_due, self.now());
        let announcement = announcement(&cancellation.value);
        self.bus.announce(&[announcement]).await?;
        match self.store.replace(&cancellation).await? {
            Written::Done(version) => Ok(Versioned {
                version,
                ..cancellation
            }),
            Written::Lost(current) => Ok(current),
        }
    }

    async fn all_blocks(&self, id: ShowId) -> Result<Vec<BlockIndex>> {
        let show = self.recent_show(id).await?;
        let layout = self.layout_of(&show).await?;
        Ok((0..layout.blocks().len() as u32).map(BlockIndex).collect())
    }

    /// Orders that own at least one sold cell.
    async fn sold_orders(&self, id: ShowId) -> Result<u64> {
        let blocks = self.all_blocks(id).await?;
        let read = self
            .store
            .read_blocks(id, &blocks, Reads::Consistent)
            .await?;
        Ok(owners(&read, Cell::is_sold).len() as u64)
    }

    /// One message's share of a cancellation.
    pub(crate) async fn drive_cancellation(&self, id: ShowId, from_block: u32) -> Result<()> {
        let Some(cancellation) = self.store.read::<Cancellation>(id).await? else {
            return Ok(());
        };
        let cancellation = match cancellation.value.phase {
            Phase::Closing => {
                self.mark_cancelled(id).await?;
                self.close_show(id).await?
            }
            Phase::Refunding | Phase::Done => cancellation,
        };
        if cancellation.value.phase == Phase::Done {
            return Ok(());
        }
        let blocks = self.all_blocks(id).await?;
        let mine: Vec<_> = blocks
            .iter()
            .copied()
            .filter(|block| (from_block..from_block + BLOCKS_AT_ONCE).contains(&block.0))
            .collect();
        let read = self.store.read_blocks(id, &mine, Reads::Consistent).await?;
        let called_off = self
            .call_off_all(&cancellation.value, owners(&read, |_| true))
            .await?;
        if called_off > 0 {
            tracing::info!(show = %id, called_off, from_block, of = blocks.len(), "orders called off");
        }
        let next = from_block + BLOCKS_AT_ONCE;
        if (next as usize) < blocks.len() {
            return self.send_cancellation(id, next, 0).await;
        }
        self.finish_or_look_again(id).await
    }

    async fn finish_or_look_again(&self, id: ShowId) -> Result<()> {
        for _ in 0..ROUNDS {
            let stored = self.store.read::<Cancellation>(id).await?;
            let mut cancellation = stored.ok_or(Error::Corrupt)?;
            if !cancellation.value.is_open() {
                return Ok(());
            }
            let now = self.now();
            if self.sold_orders(id).await? > 0 {
                // Once reconciling looks after it, another message would only multiply.
                return match is_idle(cancellation.value.changed, now) {
                    true => Ok(()),
                    false => self.send_cancellation(id, 0, LOOK_AGAIN_S).await,
                };
            }
            cancellation.value = cancellation.value.done(now);
            if let Written::Done(_) = self.store.replace(&cancellation).await? {
                tracing::info!(show = %id, refunds = cancellation.value.refunds_due, "everyone is refunded");
                return Ok(());
            }
        }
        Err(Error::Unavailable)
    }

    /// Calls off those of the orders that are not undone yet. Holds without an order
    /// lapse by themselves: their blocks are closed.
    async fn call_off_all(&self, why: &Cancellation, ids: BTreeSet<OrderId>) -> Result<usize> {
        let ids: Vec<_> = ids.into_iter().collect();
        let orders = self.store.read_many::<Order>(&ids).await?;
        self.tell_of_cancellation(&announcement(why), why.show_id, &orders)
            .await?;
        let calls = orders
            .into_iter()
            .map(|order| self.call_off_for_show(order));
        let called: Vec<bool> = stream::iter(calls)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(called.into_iter().filter(|called| *called).count())
    }

    /// The message that undoes an order is sent before it is called off: whoever dies
    /// between the two loses nothing.
    async fn call_off_for_show(&self, order: Versioned<Order>) -> Result<bool> {
        if order.value.undo.is_some() {
            return Ok(false);
        }
        let id = order.value.id;
        let wakes_at = self.now() + u64::from(WAKES_AFTER_S) * 1_000;
        let is_sent = self.wake_order_after(id, WAKES_AFTER_S).await;
        let called_off = self.update(order, |order, now| {
            Ok(match order.call_off(Why::ShowCancelled, 100, now) {
                Ok(next) => Next::Store(next, true),
                // It is undone already.
                Err(_) => Next::Leave(false),
            })
        });
        if !called_off.await? {
            return Ok(false);
        }
        let came_too_early = self.now() >= wakes_at;
        if !is_sent || came_too_early {
            self.wake_order(id).await;
        }
        Ok(true)
    }

    async fn send_cancellation(
        &self,
        show_id: ShowId,
        from_block: u32,
        delay_s: u32,
    ) -> Result<()> {
        let message = Drive::Cancellation {
            show_id,
            from_block,
        };
        Ok(self.saga_queue.send_drive(&message, delay_s).await?)
    }

    /// Sets a cancellation going. A lost message is sent again by reconciling.
    pub(crate) async fn wake_cancellation(&self, id: ShowId, from_block: u32, delay_s: u32) {
        if let Err(error) = self.send_cancellation(id, from_block, delay_s).await {
            tracing::warn!(show = %id, %error, "the cancellation could not be woken");
        }
    }
}

fn announcement(cancellation: &Cancellation) -> Announcement {
    let news = News::ShowCancelled {
        show_id: cancellation.show_id,
        refunds_due: cancellation.refunds_due,
    };
    news.announce(&cancellation.show_id.to_string(), cancellation.began)
}

/// The orders that own a cell of this kind.
pub(crate) fn owners(
    blocks: &[(BlockIndex, BlockState)],
    kind: impl Fn(&Cell) -> bool,
) -> BTreeSet<OrderId> {
    let slots = || (0..MAX_BLOCK_PLACES as u8).map(Slot);
    let cells = blocks
        .iter()
        .flat_map(|(_, block)| slots().filter_map(|slot| block.cell(slot)));
    cells
        .filter(kind)
        .map(|cell| OrderId::of(cell.hold))
        .collect()
}
