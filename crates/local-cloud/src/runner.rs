//! Invokes functions as Lambda does: with batches of their queues, and on their schedules.
//! It pairs what the template asks for with the functions of this process, and stops them together.

mod poller;
mod ticker;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use onsale_consume::Delivery;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cloud::LocalCloud;
use crate::queues::Queues;
use crate::wiring::{Consumer, Schedule, Wiring};
use poller::Poller;
use ticker::Ticker;

/// A function that consumes a queue, or several. Returns the ids of the messages that have to
/// come back; after an error all of them do.
pub type Handler =
    Arc<dyn Fn(Vec<Delivery>) -> BoxFuture<'static, Result<Vec<String>, String>> + Send + Sync>;

/// A function that runs on a schedule. It is given the schedule's `Input`.
pub type ScheduleHandler =
    Arc<dyn Fn(serde_json::Value) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Invocations at a time when the template does not say. Lambda would go up to a thousand; one
/// process that also serves requests keeps it at the least the template may ask for.
const CONCURRENCY_DEFAULT: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("the template lets {function} consume {queue}, but there is no such function")]
    MissingFunction { function: String, queue: String },
    #[error("{0} is a queue consumer, but the template gives it no queue")]
    MissingConsumer(String),
    #[error("the template runs {0} on a schedule, but there is no such function")]
    MissingScheduled(String),
    #[error("{0} is a scheduled function, but the template gives it no schedule")]
    MissingSchedule(String),
    #[error("{0} is switched off, but the template gives it neither a queue nor a schedule")]
    NothingToSkip(String),
}

/// Everything that is needed to run the background functions of a template; [`Runner::run`] starts
/// them.
pub struct Runner {
    queues: Queues,
    consumers: Vec<(Consumer, Handler)>,
    schedules: Vec<(Schedule, ScheduleHandler)>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let consumers: Vec<_> = self.consumers.iter().map(|(c, _)| c).collect();
        let schedules: Vec<_> = self.schedules.iter().map(|(s, _)| s).collect();
        f.debug_struct("Runner")
            .field("consumers", &consumers)
            .field("schedules", &schedules)
            .finish_non_exhaustive()
    }
}

impl Runner {
    /// Pairs the template's consumers and schedules with the functions of those names. All must
    /// match exactly, so that a function that nothing invokes, or a queue or schedule without its
    /// function, shows at the start.
    pub fn new(
        cloud: &LocalCloud,
        wiring: &Wiring,
        consumers: HashMap<String, Handler>,
        schedules: HashMap<String, ScheduleHandler>,
    ) -> Result<Self, RunnerError> {
        let consuming: BTreeSet<_> = wiring.consumers.iter().map(|c| &c.function).collect();
        if let Some(name) = consumers.keys().find(|name| !consuming.contains(name)) {
            return Err(RunnerError::MissingConsumer(name.clone()));
        }
        let scheduled: BTreeSet<_> = wiring.schedules.iter().map(|s| &s.function).collect();
        if let Some(name) = schedules.keys().find(|name| !scheduled.contains(name)) {
            return Err(RunnerError::MissingSchedule(name.clone()));
        }
        let consumer = |consumer: &Consumer| match consumers.get(&consumer.function) {
            Some(handler) => Ok((consumer.clone(), Arc::clone(handler))),
            None => Err(RunnerError::MissingFunction {
                function: consumer.function.clone(),
                queue: consumer.queue.clone(),
            }),
        };
        let schedule = |schedule: &Schedule| match schedules.get(&schedule.function) {
            Some(handler) => Ok((schedule.clone(), Arc::clone(handler))),
            None => Err(RunnerError::MissingScheduled(schedule.function.clone())),
        };
        Ok(Self {
            queues: cloud.queues().clone(),
            consumers: wiring
                .consumers
                .iter()
                .map(consumer)
                .collect::<Result<_, _>>()?,
            schedules: wiring
                .schedules
                .iter()
                .map(schedule)
                .collect::<Result<_, _>>()?,
        })
    }

    /// Leaves the named functions out: their messages wait, and their schedules rest.
    pub fn without(mut self, functions: &HashSet<String>) -> Result<Self, RunnerError> {
        let consuming = self.consumers.iter().map(|(c, _)| &c.function);
        let scheduled = self.schedules.iter().map(|(s, _)| &s.function);
        let known: HashSet<_> = consuming.chain(scheduled).collect();
        if let Some(name) = functions.iter().find(|name| !known.contains(name)) {
            return Err(RunnerError::NothingToSkip(name.clone()));
        }
        self.consumers
            .retain(|(consumer, _)| !functions.contains(&consumer.function));
        self.schedules
            .retain(|(schedule, _)| !functions.contains(&schedule.function));
        Ok(self)
    }

    /// Invokes until `stop` turns true, then lets running invocations finish for at most `grace`.
    /// Returns how many had to be cut off; their messages will be delivered again.
    pub async fn run(self, mut stop: watch::Receiver<bool>, grace: Duration) -> usize {
        let mut tasks = JoinSet::new();
        for (consumer, handler) in self.consumers {
            for _ in 0..consumer.concurrency.unwrap_or(CONCURRENCY_DEFAULT).max(1) {
                let poller = Poller {
                    queues: self.queues.clone(),
                    consumer: consumer.clone(),
                    handler: Arc::clone(&handler),
                };
                tasks.spawn(poller.run(stop.clone()));
            }
        }
        for (schedule, handler) in self.schedules {
            let ticker = Ticker {
                clock: Arc::clone(self.queues.clock()),
                schedule,
                handler,
            };
            tasks.spawn(ticker.run(stop.clone()));
        }
        stopped(&mut stop).await;
        let finished = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, finished).await.is_err() {
            tracing::warn!(invocations = tasks.len(), "invocations were cut off");
        }
        let cut_off = tasks.len();
        tasks.shutdown().await;
        cut_off
    }
}

/// A sender that is gone can never say stop, so that counts as stop too.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// What came of one invocation. Neither a panic nor a function that hangs may end the task that
/// invoked it, so both are errors like any other.
async fn outcome<T>(
    timeout: Duration,
    invocation: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let caught = AssertUnwindSafe(invocation).catch_unwind();
    match tokio::time::timeout(timeout, caught).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err("it panicked".to_owned()),
        Err(_) => Err(format!("it took longer than {timeout:?}")),
    }
}
