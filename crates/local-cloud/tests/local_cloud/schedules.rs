//! Functions invoked on a schedule.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use onsale_local_cloud::testing::ManualClock;
use onsale_local_cloud::{Clock, LocalCloud, Runner, RunnerError, ScheduleHandler, Wiring};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinHandle;

const OFTEN: &str = r#"
Resources:
  ReconcileFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/reconcile/
      Timeout: 10
      Events:
        Open:
          Type: Schedule
          Properties: { Schedule: rate(1 minute), Input: '{"scope":"open"}' }
"#;

const ALSO_HOURLY: &str = r#"
        All: { Type: ScheduleV2, Properties: { ScheduleExpression: rate(1 hour) } }
"#;

const START_MS: u64 = 1_800_000_000_000;
const MINUTE_MS: u64 = 60_000;
const GRACE: Duration = Duration::from_secs(5);

/// A manual clock that tells when somebody begins to wait, and until when: only then does it make
/// sense to move it.
#[derive(Debug)]
struct WatchedClock {
    clock: ManualClock,
    waits: mpsc::UnboundedSender<u64>,
}

impl Clock for WatchedClock {
    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn wait_until(&self, due_ms: u64) -> BoxFuture<'static, ()> {
        let _ = self.waits.send(due_ms - START_MS);
        self.clock.wait_until(due_ms)
    }
}

struct Stage {
    cloud: LocalCloud,
    clock: ManualClock,
    waits: mpsc::UnboundedReceiver<u64>,
    wiring: Wiring,
    stop: watch::Sender<bool>,
}

impl Stage {
    async fn new(template: &str) -> Self {
        let clock = ManualClock::at(START_MS);
        let (waits, waiting) = mpsc::unbounded_channel();
        let watched = WatchedClock {
            clock: clock.clone(),
            waits,
        };
        Self {
            cloud: LocalCloud::temporary_with_clock(Arc::new(watched))
                .await
                .unwrap(),
            clock,
            waits: waiting,
            wiring: Wiring::parse(template).unwrap(),
            stop: watch::Sender::new(false),
        }
    }

    fn runner(&self, handler: ScheduleHandler) -> Runner {
        let schedules = HashMap::from([("reconcile".to_owned(), handler)]);
        Runner::new(&self.cloud, &self.wiring, HashMap::new(), schedules).unwrap()
    }

    fn start(&self, handler: ScheduleHandler) -> JoinHandle<usize> {
        tokio::spawn(self.runner(handler).run(self.stop.subscribe(), GRACE))
    }

    /// Resolves when the schedule waits for its next run; says for how long after the start.
    async fn next_wait_ms(&mut self) -> u64 {
        self.waits.recv().await.unwrap()
    }

    async fn finish(&self, running: JoinHandle<usize>) {
        self.stop.send_replace(true);
        assert_eq!(running.await.unwrap(), 0);
    }
}

fn handler<F>(handle: impl Fn(Value) -> F + Send + Sync + 'static) -> ScheduleHandler
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    Arc::new(move |input| Box::pin(handle(input)))
}

/// A function that does nothing but tell that it ran, and with what.
fn telling() -> (ScheduleHandler, mpsc::UnboundedReceiver<Value>) {
    let (seen, runs) = mpsc::unbounded_channel();
    let handler = handler(move |input| {
        seen.send(input).unwrap();
        async { Ok(()) }
    });
    (handler, runs)
}

#[tokio::test]
async fn a_schedule_runs_one_period_after_the_start_and_then_every_period() {
    let mut stage = Stage::new(OFTEN).await;
    let (handler, mut runs) = telling();
    let running = stage.start(handler);
    for round in 1..=3 {
        assert_eq!(stage.next_wait_ms().await, round * MINUTE_MS);
        stage.clock.advance_ms(MINUTE_MS - 1);
        tokio::task::yield_now().await;
        assert!(runs.try_recv().is_err(), "it ran too early");
        stage.clock.advance_ms(1);
        assert_eq!(runs.recv().await.unwrap(), json!({ "scope": "open" }));
    }
    stage.finish(running).await;
}

#[tokio::test]
async fn two_schedules_of_one_function_bring_their_own_inputs() {
    let mut stage = Stage::new(&format!("{OFTEN}{ALSO_HOURLY}")).await;
    let (handler, mut runs) = telling();
    let running = stage.start(handler);
    let mut waits = [stage.next_wait_ms().await, stage.next_wait_ms().await];
    waits.sort_unstable();
    assert_eq!(waits, [MINUTE_MS, 60 * MINUTE_MS]);
    stage.clock.advance_ms(MINUTE_MS);
    assert_eq!(runs.recv().await.unwrap(), json!({ "scope": "open" }));
    stage.next_wait_ms().await;
    stage.clock.advance_ms(59 * MINUTE_MS);
    let inputs = [runs.recv().await.unwrap(), runs.recv().await.unwrap()];
    assert!(inputs.contains(&json!({ "scope": "open" })), "{inputs:?}");
    assert!(inputs.contains(&json!({})), "{inputs:?}");
    stage.finish(running).await;
}

#[tokio::test]
async fn a_long_run_is_not_joined_by_another_and_missed_runs_are_skipped() {
    let mut stage = Stage::new(OFTEN).await;
    let (began, mut begun) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let running = stage.start({
        let gate = Arc::clone(&gate);
        handler(move |_| {
            began.send(()).unwrap();
            let gate = Arc::clone(&gate);
            async move {
                gate.acquire().await.unwrap().forget();
                Ok(())
            }
        })
    });
    stage.next_wait_ms().await;
    stage.clock.advance_ms(MINUTE_MS);
    begun.recv().await.unwrap();
    stage.clock.advance_ms(3 * MINUTE_MS + 1);
    tokio::task::yield_now().await;
    assert!(begun.try_recv().is_err(), "two runs at the same time");
    gate.add_permits(1);
    // Four minutes are over; those that were missed are gone, and the beat is kept.
    assert_eq!(stage.next_wait_ms().await, 5 * MINUTE_MS);
    assert!(begun.try_recv().is_err(), "a missed run was made up for");
    stage.finish(running).await;
}

#[tokio::test]
async fn after_a_panic_an_error_or_a_run_without_end_the_next_run_comes() {
    let mut stage = Stage::new(OFTEN).await;
    stage.wiring.schedules[0].timeout = Duration::from_millis(20);
    let (began, mut begun) = mpsc::unbounded_channel();
    let round = std::sync::atomic::AtomicU32::new(0);
    let running = stage.start(handler(move |_| {
        let round = round.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        began.send(round).unwrap();
        assert_ne!(round, 0, "the first run always panics");
        async move {
            match round {
                1 => panic!("so does the second, a little later"),
                2 => Err("no".to_owned()),
                3 => std::future::pending().await,
                _ => Ok(()),
            }
        }
    }));
    for round in 0..5 {
        stage.next_wait_ms().await;
        stage.clock.advance_ms(MINUTE_MS);
        assert_eq!(begun.recv().await.unwrap(), round);
    }
    stage.finish(running).await;
}

#[tokio::test]
async fn stopping_lets_the_run_in_flight_finish_and_begins_no_other() {
    let mut stage = Stage::new(OFTEN).await;
    let (told, mut steps) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let running = stage.start({
        let gate = Arc::clone(&gate);
        handler(move |_| {
            let (told, gate) = (told.clone(), Arc::clone(&gate));
            async move {
                told.send("begun").unwrap();
                gate.acquire().await.unwrap().forget();
                told.send("done").unwrap();
                Ok(())
            }
        })
    });
    stage.next_wait_ms().await;
    stage.clock.advance_ms(MINUTE_MS);
    assert_eq!(steps.recv().await.unwrap(), "begun");
    stage.stop.send_replace(true);
    stage.clock.advance_ms(10 * MINUTE_MS);
    gate.add_permits(2);
    stage.finish(running).await;
    assert_eq!(steps.recv().await.unwrap(), "done");
    assert!(steps.recv().await.is_none(), "another run began");
}

#[tokio::test]
async fn a_run_that_never_ends_is_cut_off_after_the_grace() {
    let mut stage = Stage::new(OFTEN).await;
    let (began, mut begun) = mpsc::unbounded_channel();
    let runner = stage.runner(handler(move |_| {
        began.send(()).unwrap();
        std::future::pending()
    }));
    let grace = Duration::from_millis(20);
    let running = tokio::spawn(runner.run(stage.stop.subscribe(), grace));
    stage.next_wait_ms().await;
    stage.clock.advance_ms(MINUTE_MS);
    begun.recv().await.unwrap();
    stage.stop.send_replace(true);
    assert_eq!(running.await.unwrap(), 1);
}

#[tokio::test]
async fn a_scheduled_function_that_is_switched_off_never_runs() {
    let mut stage = Stage::new(OFTEN).await;
    let (handler, mut runs) = telling();
    let off = HashSet::from(["reconcile".to_owned()]);
    let runner = stage.runner(handler).without(&off).unwrap();
    let running = tokio::spawn(runner.run(stage.stop.subscribe(), GRACE));
    tokio::task::yield_now().await;
    stage.clock.advance_ms(10 * MINUTE_MS);
    stage.finish(running).await;
    assert!(stage.waits.try_recv().is_err(), "a schedule was waited for");
    assert!(runs.recv().await.is_none(), "it ran");
}

#[tokio::test]
async fn template_and_scheduled_functions_must_name_each_other() {
    let stage = Stage::new(OFTEN).await;
    let new = |names: &[&str]| {
        let named = names.iter().map(|name| (name.to_string(), telling().0));
        Runner::new(&stage.cloud, &stage.wiring, HashMap::new(), named.collect())
    };
    let missing = new(&[]).unwrap_err();
    assert!(matches!(missing, RunnerError::MissingScheduled(name) if name == "reconcile"));
    let spare = new(&["reconcile", "report"]).unwrap_err();
    assert!(matches!(spare, RunnerError::MissingSchedule(name) if name == "report"));
    let unknown = HashSet::from(["report".to_owned()]);
    let nothing = new(&["reconcile"]).unwrap().without(&unknown).unwrap_err();
    assert!(matches!(nothing, RunnerError::NothingToSkip(name) if name == "report"));
}
