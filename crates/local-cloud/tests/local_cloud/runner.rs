//! Functions invoked with batches of their queue.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use onsale_consume::Delivery;
use onsale_local_cloud::testing::ManualClock;
use onsale_local_cloud::{Handler, LocalCloud, Outgoing, Runner, RunnerError, Wiring};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

const TEMPLATE: &str = r#"
Resources:
  Work:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy: { deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 2 }
  Dead: { Type: AWS::SQS::Queue }
  WorkFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/work/
      Timeout: 10
      Events:
        Work:
          Type: SQS
          Properties:
            Queue: !GetAtt Work.Arn
            FunctionResponseTypes: [ReportBatchItemFailures]
            ScalingConfig: { MaximumConcurrency: 2 }
"#;

/// The same function takes care of its own dead letters, which have nowhere else to go.
const DEAD_LETTERS: &str = r#"
        Dead:
          Type: SQS
          Properties:
            Queue: !GetAtt Dead.Arn
            FunctionResponseTypes: [ReportBatchItemFailures]
"#;

const GRACE: Duration = Duration::from_secs(5);

struct Stage {
    cloud: LocalCloud,
    clock: ManualClock,
    wiring: Wiring,
    stop: watch::Sender<bool>,
}

impl Stage {
    async fn new() -> Self {
        Self::with(TEMPLATE).await
    }

    async fn with(template: &str) -> Self {
        let clock = ManualClock::at(1_800_000_000_000);
        let cloud = LocalCloud::temporary_with_clock(Arc::new(clock.clone()))
            .await
            .unwrap();
        let wiring = Wiring::parse(template).unwrap();
        cloud.apply(&wiring).await.unwrap();
        Self {
            cloud,
            clock,
            wiring,
            stop: watch::Sender::new(false),
        }
    }

    fn runner(&self, handler: Handler) -> Runner {
        let handlers = HashMap::from([("work".to_owned(), handler)]);
        Runner::new(&self.cloud, &self.wiring, handlers, HashMap::new()).unwrap()
    }

    fn start(&self, handler: Handler) -> JoinHandle<usize> {
        tokio::spawn(self.runner(handler).run(self.stop.subscribe(), GRACE))
    }

    async fn send(&self, bodies: &[&str]) {
        let messages = bodies.iter().map(|body| Outgoing::new("Work", *body));
        self.cloud.queues().send(messages.collect()).await.unwrap();
    }

    /// Stops the runner, which finishes what it has begun, so that counts can be compared.
    async fn finish(&self, running: JoinHandle<usize>) {
        self.stop.send_replace(true);
        assert_eq!(running.await.unwrap(), 0);
    }

    /// The runner deletes after the function has returned; this waits for it.
    async fn until_left(&self, queue: &str, messages: u64) {
        while self.left(queue).await != messages {
            tokio::task::yield_now().await;
        }
    }

    async fn left(&self, queue: &str) -> u64 {
        let counts = self.cloud.queues().counts(queue).await.unwrap();
        counts.visible + counts.in_flight + counts.delayed
    }
}

fn handler<F>(handle: impl Fn(Vec<Delivery>) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<Vec<String>, String>> + Send + 'static,
{
    Arc::new(move |batch| Box::pin(handle(batch)))
}

fn bodies(batch: &[Delivery]) -> Vec<String> {
    batch.iter().map(|message| message.body.clone()).collect()
}

#[tokio::test]
async fn of_a_batch_only_the_reported_failures_come_again() {
    let stage = Stage::new().await;
    let (seen, mut invocations) = mpsc::unbounded_channel();
    let first_time = AtomicU32::new(1);
    let running = stage.start(handler(move |batch| {
        let is_first = first_time.swap(0, Ordering::SeqCst) == 1;
        let bad = batch.iter().filter(|m| is_first && m.body == "bad");
        let failed: Vec<_> = bad.map(|message| message.id.clone()).collect();
        seen.send(bodies(&batch)).unwrap();
        async move { Ok(failed) }
    }));
    stage.send(&["good", "bad", "fine"]).await;
    assert_eq!(invocations.recv().await.unwrap(), ["good", "bad", "fine"]);
    stage.until_left("Work", 1).await;
    stage.clock.advance_ms(60_000);
    assert_eq!(invocations.recv().await.unwrap(), ["bad"]);
    stage.finish(running).await;
    assert_eq!(stage.left("Work").await, 0);
}

#[tokio::test]
async fn a_panicking_handler_keeps_the_batch_and_the_runner() {
    let stage = Stage::new().await;
    let (seen, mut invocations) = mpsc::unbounded_channel();
    let round = Arc::new(AtomicU32::new(0));
    let running = stage.start(handler(move |_| {
        let (seen, round) = (seen.clone(), Arc::clone(&round));
        async move {
            let round = round.fetch_add(1, Ordering::SeqCst) + 1;
            seen.send(round).unwrap();
            assert_ne!(round, 1, "the first delivery always fails");
            Ok(Vec::new())
        }
    }));
    stage.send(&["job"]).await;
    assert_eq!(invocations.recv().await.unwrap(), 1);
    stage.clock.advance_ms(60_000);
    assert_eq!(invocations.recv().await.unwrap(), 2);
    stage.finish(running).await;
    assert_eq!(stage.left("Work").await, 0);
}

#[tokio::test]
async fn what_fails_too_often_ends_among_the_dead_letters() {
    let stage = Stage::new().await;
    let (seen, mut invocations) = mpsc::unbounded_channel();
    let running = stage.start(handler(move |batch| {
        seen.send(bodies(&batch)).unwrap();
        async { Err("no".to_owned()) }
    }));
    stage.send(&["poison"]).await;
    for _ in 0..2 {
        assert_eq!(invocations.recv().await.unwrap(), ["poison"]);
        stage.clock.advance_ms(60_000);
    }
    stage.cloud.queues().wait_for_due("Dead").await.unwrap();
    stage.finish(running).await;
    assert_eq!((stage.left("Work").await, stage.left("Dead").await), (0, 1));
    assert!(invocations.try_recv().is_err());
}

#[tokio::test]
async fn one_function_consumes_two_queues_and_learns_from_which_a_message_comes() {
    let stage = Stage::with(&format!("{TEMPLATE}{DEAD_LETTERS}")).await;
    let (seen, mut invocations) = mpsc::unbounded_channel();
    let running = stage.start(handler(move |batch| {
        let from = batch[0].queue.clone();
        let answer = match from.as_str() {
            "Dead" => Ok(Vec::new()),
            _ => Err("no".to_owned()),
        };
        seen.send((from, bodies(&batch))).unwrap();
        async move { answer }
    }));
    stage.send(&["poison"]).await;
    for queue in ["Work", "Work", "Dead"] {
        let (from, bodies) = invocations.recv().await.unwrap();
        assert_eq!(from, queue);
        assert_eq!(bodies, ["poison"]);
        stage.clock.advance_ms(60_000);
    }
    stage.finish(running).await;
    assert_eq!((stage.left("Work").await, stage.left("Dead").await), (0, 0));
}

#[tokio::test]
async fn without_dead_letters_a_failing_message_comes_again_for_ever() {
    let stage = Stage::with(&format!("{TEMPLATE}{DEAD_LETTERS}")).await;
    let (seen, mut invocations) = mpsc::unbounded_channel();
    let running = stage.start(handler(move |batch| {
        let id = batch[0].id.clone();
        seen.send(id.clone()).unwrap();
        async move { Ok(vec![id]) }
    }));
    let message = Outgoing::new("Dead", "stubborn");
    let sent = stage.cloud.queues().send(vec![message]).await.unwrap();
    for _ in 0..50 {
        assert_eq!(invocations.recv().await.unwrap(), sent[0]);
        // The queue sets no visibility timeout, so it has the 30 seconds of SQS.
        stage.clock.advance_ms(29_999);
        tokio::task::yield_now().await;
        assert!(invocations.try_recv().is_err(), "it came back too early");
        stage.clock.advance_ms(1);
    }
    stage.finish(running).await;
    assert_eq!(stage.left("Dead").await, 1);
}

#[tokio::test]
async fn stopping_lets_the_invocation_in_flight_finish_and_takes_no_other() {
    let stage = Stage::new().await;
    let (began, mut begun) = mpsc::unbounded_channel();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let running = stage.start({
        let gate = Arc::clone(&gate);
        handler(move |batch| {
            began.send(batch.len()).unwrap();
            let gate = Arc::clone(&gate);
            async move {
                gate.acquire().await.unwrap().forget();
                Ok(Vec::new())
            }
        })
    });
    stage.send(&["one"]).await;
    begun.recv().await.unwrap();
    stage.stop.send_replace(true);
    stage.send(&["two"]).await;
    gate.add_permits(2);
    stage.finish(running).await;
    assert_eq!(stage.left("Work").await, 1);
}

#[tokio::test]
async fn an_invocation_that_never_ends_is_cut_off_after_the_grace() {
    let stage = Stage::new().await;
    let (began, mut begun) = mpsc::unbounded_channel();
    let runner = stage.runner(handler(move |_| {
        began.send(()).unwrap();
        std::future::pending()
    }));
    let grace = Duration::from_millis(20);
    let running = tokio::spawn(runner.run(stage.stop.subscribe(), grace));
    stage.send(&["one"]).await;
    begun.recv().await.unwrap();
    stage.stop.send_replace(true);
    assert_eq!(running.await.unwrap(), 1);
    assert_eq!(stage.left("Work").await, 1);
}

#[tokio::test]
async fn no_more_invocations_run_at_once_than_the_template_allows() {
    let stage = Stage::new().await;
    let (now, peak) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    // Ten invocations in five pairs: one alone would wait for ever.
    let pair = Arc::new(tokio::sync::Barrier::new(2));
    let (done, mut finished) = mpsc::unbounded_channel();
    let running = stage.start({
        let peak = Arc::clone(&peak);
        handler(move |batch| {
            let (now, peak, done) = (Arc::clone(&now), Arc::clone(&peak), done.clone());
            let pair = Arc::clone(&pair);
            async move {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                pair.wait().await;
                now.fetch_sub(1, Ordering::SeqCst);
                done.send(batch.len()).unwrap();
                Ok(Vec::new())
            }
        })
    });
    stage.send(&["job"; 100]).await;
    let mut seen = 0;
    while seen < 100 {
        let batch = finished.recv().await.unwrap();
        assert_eq!(batch, 10);
        seen += batch;
    }
    stage.finish(running).await;
    assert_eq!(peak.load(Ordering::SeqCst), 2);
    assert_eq!(stage.left("Work").await, 0);
}

#[tokio::test]
async fn a_consumer_that_is_switched_off_leaves_its_messages() {
    let stage = Stage::new().await;
    let off = HashSet::from(["work".to_owned()]);
    let never = handler(|_| async { panic!("it is switched off") });
    let runner = stage.runner(never).without(&off).unwrap();
    let running = tokio::spawn(runner.run(stage.stop.subscribe(), GRACE));
    stage.send(&["job"]).await;
    tokio::task::yield_now().await;
    stage.finish(running).await;
    assert_eq!(
        stage.cloud.queues().counts("Work").await.unwrap().visible,
        1
    );
}

#[tokio::test]
async fn template_and_functions_must_name_each_other() {
    let stage = Stage::new().await;
    let idle = || handler(|_| async { Ok(Vec::new()) });
    let new = |handlers| Runner::new(&stage.cloud, &stage.wiring, handlers, HashMap::new());
    let missing = new(HashMap::new()).unwrap_err();
    assert!(matches!(missing, RunnerError::MissingFunction { function, .. } if function == "work"));
    let handlers = HashMap::from([("work".to_owned(), idle()), ("play".to_owned(), idle())]);
    let spare = new(handlers).unwrap_err();
    assert!(matches!(spare, RunnerError::MissingConsumer(name) if name == "play"));
    let unknown = HashSet::from(["play".to_owned()]);
    let nothing = stage.runner(idle()).without(&unknown).unwrap_err();
    assert!(matches!(nothing, RunnerError::NothingToSkip(name) if name == "play"));
}
