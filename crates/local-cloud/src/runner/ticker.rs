//! One schedule: its function runs every so often, and never twice at the same time.
//! Runs that were missed, because one took long or the machine slept, are not made up for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;

use super::{ScheduleHandler, outcome, stopped};
use crate::clock::Clock;
use crate::wiring::Schedule;

pub(super) struct Ticker {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) schedule: Schedule,
    pub(super) handler: ScheduleHandler,
}

impl Ticker {
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        let every = self.schedule.every;
        let start_ms = self.clock.now_ms();
        let mut due_ms = next_due_ms(start_ms, every, start_ms);
        loop {
            tokio::select! {
                // Stop comes first, or a clock that leaps would start one more run.
                biased;
                () = stopped(&mut stop) => return,
                () = self.clock.wait_until(due_ms) => {}
            }
            // The run itself is not raced against stop: what has begun is finished.
            self.invoke().await;
            due_ms = next_due_ms(due_ms, every, self.clock.now_ms());
        }
    }

    async fn invoke(&self) {
        let Schedule {
            function,
            every,
            input,
            timeout,
        } = &self.schedule;
        let input = input.clone().unwrap_or_else(|| json!({}));
        // The call itself may panic too, hence the block.
        let invocation = async { (self.handler)(input).await };
        if let Err(error) = outcome(*timeout, invocation).await {
            tracing::warn!(%function, ?every, %error, "a scheduled run failed");
        }
    }
}

/// The first time after `now_ms` that is a whole number of periods after `due_ms`. A clock that was
/// set back must not make a schedule pause, so it is never more than one period away.
fn next_due_ms(due_ms: u64, every: Duration, now_ms: u64) -> u64 {
    let every_ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX).max(1);
    let missed = now_ms.saturating_sub(due_ms) / every_ms;
    let next_ms = due_ms.saturating_add(every_ms.saturating_mul(missed + 1));
    next_ms.min(now_ms.saturating_add(every_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_forward_or_back_neither_doubles_nor_pauses_a_schedule() {
        let every = Duration::from_millis(100);
        assert_eq!(next_due_ms(1_000, every, 1_000), 1_100);
        assert_eq!(next_due_ms(1_000, every, 1_099), 1_100);
        assert_eq!(next_due_ms(1_000, every, 9_950), 10_000);
        assert_eq!(next_due_ms(1_000, every, 10), 110);
    }
}
