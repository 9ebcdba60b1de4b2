//! What an operator sees of the platform: log lines, metrics and spans, joined by the id
//! of the request that caused them.
//!
//! Every function starts with [`lambda`] and lets [`Observed::around`] surround what it is
//! invoked for; the embedded platform starts with [`embedded`]. `docs/OPERATIONS.md` names
//! the fields, the metrics and the settings.

pub mod cause;
pub mod emf;
pub mod log;
pub mod otlp;
pub mod spans;
pub mod traceparent;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

pub use cause::{Cause, Kind};
pub use traceparent::TraceParent;

use emf::Emf;
use log::Format;
use otlp::Exporter;
use spans::{Spans, SpansLayer};

/// How long an invocation waits for the collector of spans at most.
const EXPORT_MS: Duration = Duration::from_millis(250);

/// What is told about a process. Clones share it.
#[derive(Debug, Clone)]
pub struct Observed {
    metrics: Option<Arc<Emf>>,
    exporter: Option<Arc<Exporter>>,
}

/// Starts logs, metrics and traces of a Lambda function. Nothing here keeps a function from
/// its work: what cannot be started is told in the log.
pub fn lambda(function: &str) -> Observed {
    lambda_with(function, environment)
}

/// The same with these settings.
pub fn lambda_with(function: &str, setting: impl Fn(&str) -> Option<String>) -> Observed {
    let (spans, exporter, trouble) = tracing_of(&setting, function);
    let lines = log::layer(
        setting("RUST_LOG").as_deref(),
        "info",
        Format::json(function),
        std::io::stdout,
    );
    install(lines, spans);
    let stack = setting("ONSALE_STACK").unwrap_or_else(|| "onsale".to_owned());
    let emf = Arc::new(Emf::new(stack, function.to_owned()));
    // Somebody else's recorder would be a test's; then ours stays empty.
    let metrics = metrics::set_global_recorder(emf.clone()).ok().map(|()| emf);
    tell(trouble);
    Observed { metrics, exporter }
}

/// Starts logs and traces of the embedded platform, whose metrics are read from it.
/// `terminal`: whether a person reads the lines.
pub fn embedded(terminal: bool) -> Observed {
    let setting = environment;
    let (spans, exporter, trouble) = tracing_of(setting, "onsale");
    let format = match setting("ONSALE_LOG_FORMAT").as_deref() {
        Some("json") => Format::json("onsale"),
        Some("text") => Format::text(terminal),
        _ if terminal => Format::text(true),
        // People read lines, machines read JSON.
        _ => Format::json("onsale"),
    };
    let lines = log::layer(
        setting("RUST_LOG").as_deref(),
        "warn,onsale=info",
        format,
        std::io::stderr,
    );
    install(lines, spans);
    tell(trouble);
    Observed {
        metrics: None,
        exporter,
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

type Traced = (Option<SpansLayer>, Option<Arc<Exporter>>, Option<String>);

fn tracing_of(setting: impl Fn(&str) -> Option<String>, function: &str) -> Traced {
    let spans = Arc::new(Spans::default());
    match Exporter::configured(setting, function, spans.clone()) {
        Ok(None) => (None, None, None),
        Ok(Some((exporter, sampler))) => {
            cause::collect_traces(sampler);
            (Some(SpansLayer::new(spans)), Some(Arc::new(exporter)), None)
        }
        Err(trouble) => (None, None, Some(trouble)),
    }
}

fn install(
    lines: impl tracing_subscriber::Layer<tracing_subscriber::Registry> + Send + Sync,
    spans: Option<SpansLayer>,
) {
    let spans = spans.map(|layer| layer.with_filter(spans::filter()));
    let installed = tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .try_init();
    if installed.is_err() {
        eprintln!("onsale: logging was set up before");
    }
}

fn tell(trouble: Option<String>) {
    if let Some(why) = trouble {
        tracing::warn!(why, "there are no traces");
    }
}

impl Observed {
    /// Runs what a function was invoked for, and tells what there is to tell before the
    /// process may be frozen.
    pub async fn around<T>(&self, invocation: impl Future<Output = T>) -> T {
        let done = invocation.await;
        if let Some(metrics) = &self.metrics {
            metrics.flush(now_ms(), &mut std::io::stdout().lock());
        }
        if let Some(exporter) = &self.exporter {
            exporter.flush(EXPORT_MS).await;
        }
        done
    }

    /// Sends spans now and then, for a process that is never frozen.
    pub async fn export_every(self, pause: Duration) {
        let Some(exporter) = self.exporter else {
            return;
        };
        loop {
            tokio::time::sleep(pause).await;
            exporter.flush(pause).await;
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
