//! A gate of a show: gives passes to lots, and takes them back.

use futures_util::lock::Mutex;
use http::{Request, StatusCode};
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{
    Books, Enter, Entered, Entry, Gate, GateIndex, Knock, Knocked, NotEntered, Reservation,
};
use onsale_domain::room::opaque::{Lot, PassId};
use serde_json::json;
use std::collections::BTreeMap;

use crate::host::{Links, Storage, Told, Trouble};
use crate::internal::signed_request;
use crate::objects::format::Format;
use crate::objects::wire::{GateRequest, ObjectAnswer};

/// The format of the books is that of the entries too.
const BOOKS: Format = Format {
    name: "books",
    version: 1,
};
const LOT: &str = "lot/";
const RESERVED: &str = "reserved/";

#[derive(Debug)]
pub struct GateObject<S, L> {
    show: ShowId,
    index: GateIndex,
    storage: S,
    links: L,
    keys: InternalKeys,
    /// `None` until loaded, and again after a failed write.
    gate: Mutex<Option<Gate>>,
}

impl<S: Storage, L: Links> GateObject<S, L> {
    pub fn new(show: ShowId, index: GateIndex, storage: S, links: L, keys: InternalKeys) -> Self {
        Self {
            show,
            index,
            storage,
            links,
            keys,
            gate: Mutex::new(None),
        }
    }

    pub async fn answer(&self, request: GateRequest) -> Told<ObjectAnswer> {
        Ok(match request {
            GateRequest::Enter(wanted) => ObjectAnswer::Entered(self.enter(&wanted).await?),
            GateRequest::Knock(knock) => ObjectAnswer::Knocked(self.knock(&knock).await?),
            GateRequest::Leave(lot) => ObjectAnswer::Left(self.leave(lot).await?),
            GateRequest::Grant(grant) => ObjectAnswer::Report(self.grant(&grant).await?),
            GateRequest::Forget => {
                self.forget().await?;
                ObjectAnswer::Done
            }
        })
    }

    pub async fn enter(&self, wanted: &Enter) -> Told<Result<Entered, NotEntered>> {
        let mut entropy = [0; 16];
        self.links.fill(&mut entropy);
        let mut slot = self.gate.lock().await;
        let mut gate = self.loaded(&mut slot).await?;
        // The time at which it is decided, and not that at which they came.
        let now = self.links.now();
        let entered = gate.enter(wanted, now, entropy);
        // A refusal changes nothing that has to be kept.
        match entered {
            Ok(_) => self.keep(gate, &[wanted.lot], &mut slot).await?,
            Err(_) => *slot = Some(gate),
        }
        Ok(entered)
    }

    /// What somebody at the door is told. A promise is stored before.
    pub async fn knock(&self, knock: &Knock) -> Told<Knocked> {
        let mut slot = self.gate.lock().await;
        let mut gate = self.loaded(&mut slot).await?;
        let now = self.links.now();
        let knocked = gate.knock(knock, now);
        match knocked {
            Knocked::Admitted => self.keep(gate, &[knock.lot], &mut slot).await?,
            _ => *slot = Some(gate),
        }
        Ok(knocked)
    }

    /// Ends the pass of a lot: in the cloud first, or its holder could go on with it
    /// beside whoever gets the slot. A slot that was only promised is given back as well.
    pub async fn leave(&self, lot: Lot) -> Told<bool> {
        let entry = {
            let mut slot = self.gate.lock().await;
            let gate = self.loaded(&mut slot).await?;
            let entry = gate.entry(lot).copied();
            if entry.is_none() {
                return self.decline(gate, lot, &mut slot).await;
            }
            *slot = Some(gate);
            entry
        };
        let Some(entry) = entry else { return Ok(false) };
        if !entry.closed {
            self.close_in_cloud(entry.pass).await?;
        }
        let now = self.links.now();
        let mut slot = self.gate.lock().await;
        let mut gate = self.loaded(&mut slot).await?;
        gate.leave(lot, now);
        self.keep(gate, &[lot], &mut slot).await?;
        Ok(true)
    }

    /// The promise is taken and ended in one: nobody ever holds a pass for it.
    async fn decline(&self, mut gate: Gate, lot: Lot, slot: &mut Option<Gate>) -> Told<bool> {
        let mut entropy = [0; 16];
        self.links.fill(&mut entropy);
        let promised = Enter {
            lot,
            place: Place::LAST,
            pass_seconds: 0,
            may_begin: false,
        };
        let now = self.links.now();
        if gate.enter(&promised, now, entropy).is_err() {
            gate.leave(lot, now);
            *slot = Some(gate);
            return Ok(false);
        }
        gate.leave(lot, now);
        self.keep(gate, &[lot], slot).await?;
        Ok(true)
    }

    /// Takes over what the controller granted, and answers how things are.
    pub async fn grant(&self, grant: &Grant) -> Told<Report> {
        let now = self.links.now();
        let mut slot = self.gate.lock().await;
        let mut gate = self.loaded(&mut slot).await?;
        let changed = gate.apply(grant, now);
        let report = gate.report(now);
        self.keep(gate, &changed, &mut slot).await?;
        Ok(report)
    }

    /// Forgets everybody: the show is long over.
    pub async fn forget(&self) -> Told<()> {
        let mut slot = self.gate.lock().await;
        *slot = None;
        self.storage.clear().await
    }

    /// Takes the gate out of its slot. Whoever puts it back vouches that it is stored.
    async fn loaded(&self, slot: &mut Option<Gate>) -> Told<Gate> {
        if let Some(gate) = slot.take() {
            return Ok(gate);
        }
        let stored = self.storage.load().await?;
        let books = BOOKS.find(&self.storage, &stored).await?;
        let mut entries = BTreeMap::new();
        let mut reserved = BTreeMap::new();
        for (name, value) in &stored {
            if let Some(lot) = name.strip_prefix(LOT) {
                let lot = lot.parse().map_err(Trouble::new)?;
                entries.insert(lot, read::<Entry>(value)?);
            } else if let Some(lot) = name.strip_prefix(RESERVED) {
                let lot = lot.parse().map_err(Trouble::new)?;
                reserved.insert(lot, read::<Reservation>(value)?);
            }
        }
        Ok(match books {
            Some(books) => Gate::restore(read::<Books>(&books)?, entries, reserved),
            None => Gate::new(self.index),
        })
    }

    async fn keep(&self, mut gate: Gate, changed: &[Lot], slot: &mut Option<Gate>) -> Told<()> {
        let lapsed = gate.take_lapsed();
        let mut changes = vec![(BOOKS.current(), Some(write(gate.books())?))];
        for lot in changed {
            if let Some(entry) = gate.entry(*lot) {
                changes.push((format!("{LOT}{lot}"), Some(write(entry)?)));
            }
        }
        for lot in changed.iter().chain(&lapsed) {
            let reserved = gate.reservation(*lot).map(write).transpose()?;
            changes.push((format!("{RESERVED}{lot}"), reserved));
        }
        self.storage.store(changes).await?;
        *slot = Some(gate);
        Ok(())
    }

    async fn close_in_cloud(&self, pass: PassId) -> Told<()> {
        let body = json!({"show": self.show}).to_string().into_bytes();
        let target = format!("/internal/passes/{pass}/close");
        let request: Request<Vec<u8>> =
            signed_request(&self.keys, "POST", &target, body, self.links.now())?;
        let answer = self.links.room_function(request).await?;
        match answer.status() {
            StatusCode::NO_CONTENT => Ok(()),
            status => Err(Trouble(format!("closing a pass was answered {status}"))),
        }
    }
}

fn read<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Told<T> {
    postcard::from_bytes(bytes).map_err(Trouble::new)
}

fn write<T: serde::Serialize>(value: &T) -> Told<Vec<u8>> {
    postcard::to_allocvec(value).map_err(Trouble::new)
}
