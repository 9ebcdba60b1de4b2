//! What caused the work at hand: a request of somebody, by its id.
//!
//! It goes with a task and not through every function, so that rules and use cases need not
//! know of it. What sends a message reads it here and sends it along; whoever takes the
//! message goes on under the same id.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use onsale_domain::request_id;
use tracing::{Instrument as _, Span};

use crate::otlp::Sampler;
use crate::traceparent::TraceParent;

/// The names under which a message, or an announcement, says what caused it.
pub const REQUEST_ID: &str = "request_id";
pub const TRACEPARENT: &str = "traceparent";

/// Set once, where spans are collected.
static SAMPLER: OnceLock<Sampler> = OnceLock::new();

tokio::task_local! {
    static CAUSE: Cause;
}

/// How a piece of work came about, in the words of OpenTelemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Somebody waits for an answer.
    Server,
    /// A message was taken from a queue.
    Consumer,
    /// A schedule, or the process itself.
    Internal,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Consumer => "consumer",
            Self::Internal => "internal",
        }
    }
}

/// Clones are cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    request_id: Arc<str>,
    /// The place of this work in its trace, for those that come after it.
    trace: Option<TraceParent>,
    /// The span before it; zero if it is the first.
    pub(crate) parent: u64,
}

pub(crate) fn collect_traces(sampler: Sampler) {
    // A second start in one process keeps the first.
    let _ = SAMPLER.set(sampler);
}

impl Cause {
    /// Work that begins here under the id it was given, if that is fit for a log, or else
    /// under a new one. `parent` is what came before it, as the sender wrote it.
    pub fn begin(request_id: Option<&str>, parent: Option<&str>) -> Self {
        let request_id = request_id.filter(|id| request_id::is_fit(id));
        let request_id = request_id.map_or_else(new_request_id, Arc::from);
        let before: Option<TraceParent> = parent.and_then(|text| text.parse().ok());
        let Some(sampler) = SAMPLER.get() else {
            // Passed on as it came, for those that collect.
            return Self {
                request_id,
                trace: before,
                parent: 0,
            };
        };
        let trace = before.map_or_else(random_u128, |before| before.trace);
        Self {
            request_id,
            trace: Some(TraceParent {
                trace,
                span: random_u64(),
                sampled: sampler.samples(trace, before.map(|before| before.sampled)),
            }),
            parent: before.map_or(0, |before| before.span),
        }
    }

    /// Work that nobody asked for.
    pub fn fresh() -> Self {
        Self::begin(None, None)
    }

    /// What caused the work of this task.
    pub fn current() -> Option<Self> {
        CAUSE.try_with(Self::clone).ok()
    }

    /// Reads it without a copy, if there is one.
    pub(crate) fn read(read: impl FnOnce(&Self)) {
        let _ = CAUSE.try_with(read);
    }

    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    pub fn trace(&self) -> Option<TraceParent> {
        self.trace
    }

    /// Runs work under this cause.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        CAUSE.scope(self, work).await
    }

    /// Runs work under this cause and in a span of its own. `work` is given the span, to
    /// write down what it learns.
    pub async fn run<F: Future>(
        self,
        kind: Kind,
        name: impl std::fmt::Display,
        work: impl FnOnce(Span) -> F,
    ) -> F::Output {
        CAUSE
            .scope(self, async {
                // Within the scope: the span takes its ids from there.
                let span = tracing::info_span!(
                    target: "onsale_observe::cause",
                    "work",
                    otel.name = %name,
                    otel.kind = kind.as_str(),
                    otel.status_code = tracing::field::Empty,
                    request_id = &*CAUSE.with(|cause| cause.request_id.clone()),
                    http.request.method = tracing::field::Empty,
                    http.route = tracing::field::Empty,
                    http.response.status_code = tracing::field::Empty,
                    messaging.message.id = tracing::field::Empty,
                );
                work(span.clone()).instrument(span).await
            })
            .await
    }
}

/// The work of a task that is spawned, under the cause and in the span of this one.
pub fn inherited<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let (cause, work) = (Cause::current(), work.in_current_span());
    async move {
        match cause {
            Some(cause) => cause.scope(work).await,
            None => work.await,
        }
    }
}

fn new_request_id() -> Arc<str> {
    Arc::from(request_id::from_random(random_u64()).as_str())
}

/// Never zero, which no span may be. Without randomness an id is useless, but the work
/// can still be done.
pub(crate) fn random_u64() -> u64 {
    getrandom::u64().unwrap_or_default().max(1)
}

fn random_u128() -> u128 {
    (u128::from(random_u64()) << 64) | u128::from(random_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_knows_its_cause_and_what_it_spawns_does_too() {
        assert_eq!(Cause::current(), None);
        let cause = Cause::begin(Some("abc-1"), None);
        let seen = cause
            .clone()
            .scope(async {
                let spawned = tokio::spawn(inherited(async { Cause::current() }));
                let lost = tokio::spawn(async { Cause::current() });
                (spawned.await.unwrap(), lost.await.unwrap())
            })
            .await;
        assert_eq!(seen, (Some(cause), None));
    }

    #[test]
    fn an_id_that_is_not_fit_is_replaced_and_a_place_in_a_trace_is_kept() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let cause = Cause::begin(Some("no good"), Some(parent));
        assert_eq!(cause.request_id().len(), 16);
        assert_eq!(cause.trace().unwrap().to_string(), parent);
        assert_ne!(Cause::fresh(), Cause::fresh());
    }
}
