//! Log lines: one JSON object each, with the fields that `docs/OPERATIONS.md` names.
//!
//! Whatever `RUST_LOG` asks for, code that is not ours writes nothing below `info`: at
//! `trace` the Lambda runtime prints whole payloads, and HTTP clients print headers with
//! their tokens.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{FilterExt as _, Targets, filter_fn};
use tracing_subscriber::fmt::format::{self, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::cause::Cause;

/// The crates of the functions; all others of ours begin with `onsale`.
const FUNCTIONS: [&str; 14] = [
    "accounts",
    "catalog",
    "checkout",
    "drive_saga",
    "expire_holds",
    "holds",
    "index_events",
    "notify",
    "offer_waitlist",
    "organiser",
    "reconcile",
    "room",
    "tickets",
    "write_exports",
];

/// How a line is written.
#[derive(Debug)]
pub enum Format {
    Json {
        function: String,
    },
    /// For a person at a terminal.
    Text {
        inner: Box<format::Format>,
    },
}

impl Format {
    pub fn json(function: &str) -> Self {
        Self::Json {
            function: function.to_owned(),
        }
    }

    pub fn text(colours: bool) -> Self {
        let inner = Box::new(format::Format::default().with_ansi(colours));
        Self::Text { inner }
    }
}

/// Writes lines that `asked`, or else `usual`, lets through.
pub fn layer<S, W>(
    asked: Option<&str>,
    usual: &str,
    format: Format,
    writer: W,
) -> impl Layer<S> + Send + Sync
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let usual = usual.parse::<Targets>().unwrap_or_default();
    let asked = asked.and_then(|text| text.parse::<Targets>().ok());
    tracing_subscriber::fmt::layer()
        .event_format(format)
        .with_writer(writer)
        .with_filter(asked.unwrap_or(usual).and(filter_fn(may_be_written)))
}

fn may_be_written(metadata: &Metadata<'_>) -> bool {
    // Spans are for traces; a line has the id of its request anyway.
    metadata.is_event() && (*metadata.level() <= Level::INFO || is_ours(metadata.target()))
}

pub(crate) fn is_ours(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or(target);
    name.starts_with("onsale") || FUNCTIONS.contains(&name)
}

impl<S, N> FormatEvent<S, N> for Format
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        match self {
            Self::Json { function } => writer.write_str(&json_line(function, event)?),
            Self::Text { inner } => {
                let mut told = Ok(());
                Cause::read(|cause| told = write!(writer, "{} ", cause.request_id()));
                told?;
                inner.format_event(context, writer, event)
            }
        }
    }
}

fn json_line(function: &str, event: &Event<'_>) -> Result<String, fmt::Error> {
    let metadata = event.metadata();
    let mut line = String::with_capacity(256);
    line.push_str("{\"timestamp\":\"");
    SystemTime.format_time(&mut Writer::new(&mut line))?;
    write!(line, "\",\"level\":\"{}\",\"target\":", metadata.level())?;
    quote(&mut line, metadata.target());
    line.push_str(",\"function\":");
    quote(&mut line, function);
    let mut told = Ok(());
    Cause::read(|cause| {
        line.push_str(",\"request_id\":");
        quote(&mut line, cause.request_id());
        if let Some(place) = cause.trace().filter(|place| place.sampled) {
            told = write!(line, ",\"trace_id\":\"{:032x}\"", place.trace);
        }
    });
    told?;
    event.record(&mut Fields(&mut line));
    line.push_str("}\n");
    Ok(line)
}

/// A text in JSON. Most are written as they are.
fn quote(line: &mut String, text: &str) {
    let is_plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\';
    if text.bytes().all(is_plain) {
        line.push('"');
        line.push_str(text);
        line.push('"');
    } else {
        // A text is always JSON.
        line.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// Adds the fields of an event to the line.
struct Fields<'a>(&'a mut String);

impl Fields<'_> {
    fn name(&mut self, field: &Field) {
        self.0.push(',');
        quote(self.0, field.name());
        self.0.push(':');
    }

    fn plain(&mut self, field: &Field, value: impl fmt::Display) {
        self.name(field);
        let _ = write!(self.0, "{value}");
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.name(field);
        quote(self.0, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.name(field);
        quote(self.0, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.plain(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.name(field);
        // Neither infinity nor what is no number exists in JSON.
        let value = serde_json::Value::from(value);
        let _ = write!(self.0, "{value}");
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
