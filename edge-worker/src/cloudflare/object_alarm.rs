//! The one alarm that an object has.

use std::cell::Cell;
use std::time::Duration;

use onsale_domain::time::Millis;
use worker::{State, Storage, js_sys};

use crate::host::{Told, Trouble};

pub fn now() -> Millis {
    Millis(js_sys::Date::now() as u64)
}

#[derive(Debug)]
pub struct Alarm {
    storage: Storage,
    /// When it rings, as far as is known here.
    due: Cell<Millis>,
}

impl Alarm {
    pub fn new(state: &State) -> Self {
        Self {
            storage: state.storage(),
            due: Cell::new(Millis(0)),
        }
    }

    /// Sees to it that the alarm rings after so long, unless it is set already. One that
    /// should have rung and did not is set again.
    pub async fn set_within(&self, ms: u64) -> Told<()> {
        let now = now();
        if self.due.get() > now {
            return Ok(());
        }
        self.due.set(now + ms);
        let set = self.storage.set_alarm(Duration::from_millis(ms)).await;
        set.map_err(|error| {
            self.due.set(Millis(0));
            Trouble::new(error)
        })
    }

    /// Sees to it that the alarm rings after so long at the latest.
    pub async fn set_sooner(&self, ms: u64) -> Told<()> {
        if self.due.get() > now() + ms {
            self.due.set(Millis(0));
        }
        self.set_within(ms).await
    }

    /// Sets the alarm from the alarm itself.
    pub async fn set_again(&self, ms: u64) -> Told<()> {
        self.due.set(Millis(0));
        self.set_within(ms).await
    }
}
