//! Collects finished spans until they are sent.
//!
//! Requests, messages and runs begin a span by [`Cause::run`]; use cases, steps of sagas and
//! calls of the SDKs are spans within. Without a collector none of this is there: a span
//! that nobody is interested in costs one comparison.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::cause::{Cause, random_u64};
use crate::log::is_ours;
use crate::traceparent::TraceParent;

/// More than a batch of messages makes; what comes beyond is not kept.
const MAX_SPANS: usize = 4_096;
/// Under this name pieces of work begin.
const WORK: &str = "work";
const WORK_TARGET: &str = "onsale_observe::cause";
/// The SDKs name the operation in these, and say in others what they were asked for.
const SDK_FIELDS: [&str; 3] = ["rpc.service", "rpc.method", "rpc.system"];

#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Text(String),
    Number(i64),
    Flag(bool),
}

#[derive(Debug, Clone)]
pub struct Span {
    pub place: TraceParent,
    /// Zero: the first of its trace.
    pub parent: u64,
    pub name: String,
    pub kind: &'static str,
    pub failed: bool,
    pub start: SystemTime,
    pub end: SystemTime,
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// Spans that are finished and not sent yet.
#[derive(Debug, Default)]
pub struct Spans(Mutex<Vec<Span>>);

impl Spans {
    fn put(&self, span: Span) {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spans.len() < MAX_SPANS {
            spans.push(span);
        }
    }

    pub fn take(&self) -> Vec<Span> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug)]
pub struct SpansLayer(Arc<Spans>);

/// Which spans are collected: ours, and the operations of the SDKs.
pub fn filter() -> FilterFn {
    FilterFn::new(is_collected as fn(&Metadata<'_>) -> bool)
}

fn is_collected(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && (is_ours(metadata.target()) || is_sdk_call(metadata))
}

fn is_sdk_call(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    target.starts_with("aws_sdk_") && target.contains("::operation::")
}

impl SpansLayer {
    pub fn new(spans: Arc<Spans>) -> Self {
        Self(spans)
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpansLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let metadata = span.metadata();
        let around = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            extensions.get::<Span>().map(|around| around.place)
        });
        let is_work = metadata.name() == WORK && metadata.target() == WORK_TARGET;
        let Some((place, parent)) = placed(is_work, around) else {
            return;
        };
        let now = SystemTime::now();
        let mut open = Span {
            place,
            parent,
            name: metadata.name().to_owned(),
            kind: if is_sdk_call(metadata) {
                "client"
            } else {
                "internal"
            },
            failed: false,
            start: now,
            end: now,
            attributes: Vec::new(),
        };
        let ours = is_ours(metadata.target());
        attributes.record(&mut Fields {
            open: &mut open,
            ours,
        });
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let ours = is_ours(span.metadata().target());
        if let Some(open) = span.extensions_mut().get_mut::<Span>() {
            values.record(&mut Fields { open, ours });
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id);
        let open = span.and_then(|span| span.extensions_mut().remove::<Span>());
        if let Some(mut done) = open {
            done.end = SystemTime::now();
            done.name_by_route();
            self.0.put(done);
        }
    }
}

/// The place of a new span and its parent; `None` if its trace is not collected.
fn placed(is_work: bool, around: Option<TraceParent>) -> Option<(TraceParent, u64)> {
    let within = |around: TraceParent| {
        let span = random_u64();
        (TraceParent { span, ..around }, around.span)
    };
    let mut found = around.map(within);
    if is_work || found.is_none() {
        Cause::read(|cause| {
            found = cause.trace().map(|place| match is_work {
                true => (place, cause.parent),
                // A task that was spawned by hand has the cause but not the span.
                false => within(place),
            });
        });
    }
    found.filter(|(place, _)| place.sampled)
}

impl Span {
    /// A request is called by its route, which is known before its end only.
    fn name_by_route(&mut self) {
        let text = |name: &str| {
            let found = self.attributes.iter().find(|(known, _)| *known == name);
            match found {
                Some((_, Attribute::Text(text))) => Some(text.clone()),
                _ => None,
            }
        };
        if let (Some(method), Some(route)) = (text("http.request.method"), text("http.route")) {
            self.name = format!("{method} {route}");
        }
    }
}

struct Fields<'a> {
    open: &'a mut Span,
    ours: bool,
}

impl Fields<'_> {
    fn put(&mut self, field: &Field, value: Attribute) {
        let name = field.name();
        match (name, value) {
            ("otel.name", Attribute::Text(text)) => self.open.name = text,
            ("otel.kind", Attribute::Text(text)) => self.open.kind = kind(&text),
            ("otel.status_code", Attribute::Text(text)) => self.open.failed = text == "ERROR",
            (_, value) if self.ours || SDK_FIELDS.contains(&name) => {
                self.open.attributes.push((name, value));
            }
            _ => {}
        }
    }
}

fn kind(text: &str) -> &'static str {
    match text {
        "server" => "server",
        "consumer" => "consumer",
        "producer" => "producer",
        "client" => "client",
        _ => "internal",
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Attribute::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Attribute::Text(value.to_owned()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Attribute::Number(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.put(field, Attribute::Number(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Attribute::Flag(value));
    }
}
