//! For tests only: a clock that stands still.

mod manual_clock;

pub use manual_clock::ManualClock;
