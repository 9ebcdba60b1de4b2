//! Recording a claim on the buyer item, under its version.

use onsale_domain::block::Cell;
use onsale_domain::buyer::{Buyer, Entry, EntryState, Refusal};
use onsale_domain::layout::PlaceIndex;

use super::ROUNDS;
use super::place::Attempt;
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::Replaced;

pub(super) enum Recorded {
    /// This request recorded it.
    New(Entry),
    /// A twin of this request had recorded it.
    Before(Entry),
    /// The cells were given back; claim anew against this buyer.
    GivenBack(Buyer),
}

impl App {
    pub(super) async fn record(
        &self,
        attempt: &Attempt<'_>,
        mut buyer: Buyer,
        cell: Cell,
        places: &[PlaceIndex],
    ) -> Result<Recorded> {
        let mut tried = false;
        for _ in 0..ROUNDS {
            let now = self.now();
            if !cell.is_live(now) {
                // So slow that the hold is over before it is recorded: promise nothing.
                return Err(Error::Unavailable);
            }
            let entry = attempt.entry(cell, places, now);
            let next = match buyer.record(entry.clone(), attempt.cap(), now) {
                Ok(next) => next.under_pass(attempt.pass.map(|claims| claims.pass)),
                Err(Refusal::AlreadyRecorded(recorded)) => {
                    self.free_unrecorded(attempt, &recorded, cell, places)
                        .await?;
                    // A write of ours whose reply was lost is found as ours.
                    let ours = tried && recorded.expiry == cell.expiry;
                    return Ok(if ours {
                        Recorded::New(*recorded)
                    } else {
                        Recorded::Before(*recorded)
                    });
                }
                Err(Refusal::OtherRequest) => {
                    if let Some(recorded) = buyer.entry(attempt.hold) {
                        self.free_unrecorded(attempt, recorded, cell, places)
                            .await?;
                    }
                    return Err(Error::IdempotencyMismatch);
                }
                Err(Refusal::GivenBack) => {
                    // Cells listed as given back are nobody's to record, so freeing them
                    // is safe whoever listed them, and needed when that one died.
                    self.free_cells(attempt.show.id, &attempt.layout, places, cell)
                        .await?;
                    return Ok(Recorded::GivenBack(buyer));
                }
                Err(refusal) => {
                    match self.give_back(attempt, &buyer, cell, places).await? {
                        Replaced::Done => return Err(self.refused(attempt, refusal)),
                        Replaced::Lost(current) => buyer = current,
                    }
                    continue;
                }
            };
            tried = true;
            match self.replace(attempt, &next).await? {
                Replaced::Done => return Ok(Recorded::New(entry)),
                Replaced::Lost(current) => buyer = current,
            }
        }
        Err(Error::Unavailable)
    }

    async fn replace(&self, attempt: &Attempt<'_>, next: &Buyer) -> Result<Replaced> {
        let replaced = self
            .store
            .replace_buyer(attempt.show.id, attempt.account, next)
            .await?;
        Ok(replaced)
    }

    /// Lists the cells as given back first, then frees them: a twin that adopted them
    /// can no longer record what is about to be free.
    async fn give_back(
        &self,
        attempt: &Attempt<'_>,
        buyer: &Buyer,
        cell: Cell,
        places: &[PlaceIndex],
    ) -> Result<Replaced> {
        let listed = buyer.give_back(attempt.hold, cell.expiry, self.now());
        let replaced = self.replace(attempt, &listed).await?;
        if replaced == Replaced::Done {
            self.free_cells(attempt.show.id, &attempt.layout, places, cell)
                .await?;
        }
        Ok(replaced)
    }

    /// Frees what this request claimed and the record does not have.
    async fn free_unrecorded(
        &self,
        attempt: &Attempt<'_>,
        recorded: &Entry,
        cell: Cell,
        places: &[PlaceIndex],
    ) -> Result<()> {
        // While an entry is locked its cells may still carry the expiry from before:
        // the entry moves first. They belong to it all the same, and still do when the
        // attempt to pay was refused.
        let keeps = match recorded.state {
            EntryState::Held if recorded.attempt > 0 => true,
            EntryState::Held => recorded.expiry == cell.expiry,
            EntryState::Paying | EntryState::Sold => true,
            EntryState::Released | EntryState::Expired | EntryState::Undone => false,
        };
        let other: Vec<_> = places
            .iter()
            .copied()
            .filter(|place| !(keeps && recorded.places.contains(place)))
            .collect();
        self.free_cells(attempt.show.id, &attempt.layout, &other, cell)
            .await
    }
}
