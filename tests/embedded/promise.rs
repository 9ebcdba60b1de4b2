//! Times that the README and the benchmarks promise. They hold on a machine that does nothing
//! else, so `scripts/bench promises` judges them; every other run tells them and waits longer.

use std::time::Duration;

/// For what comes in the end, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn is_measured() -> bool {
    std::env::var_os("ONSALE_BENCH").is_some()
}

/// Prints how long this took; too long is a failure where times are measured.
pub(crate) fn promised(what: &str, took: Duration, most: Duration) {
    println!("promise: {what}: {took:.1?} of {most:?}");
    assert!(!is_measured() || took <= most, "{what} took {took:?}");
}
