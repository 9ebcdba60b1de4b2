//! What is forgotten of a room, and when: those who were in it, long after the show. What
//! proves the draw stays.

use super::{Controller, Settings};
use crate::room::steering::Steering;
use crate::time::Millis;

/// A week after the show began no pass lives, and whoever puts a show off has done so.
const KEPT_MS: u64 = 7 * 24 * 3_600_000;

impl Settings {
    /// From when on gates and counters need nothing of what they keep.
    pub fn forgotten_from(&self) -> Millis {
        self.ends + KEPT_MS
    }
}

impl Controller {
    /// Begins anew with gates that have forgotten everything. Should the show be moved after
    /// all, what they were granted before would mislead them.
    pub fn forget_gates(&mut self) {
        self.gates = Default::default();
        self.steering = Steering::default();
        self.calibration.interrupt();
        self.earned = 0.0;
        self.turn = None;
    }
}
