//! The local event bus: rules decide which queues get a copy of an event.
//! All copies of one PutEvents request are stored in one transaction, or none are.

use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use crate::connector::Reply;
use crate::queues::{Outgoing, QueueError, Queues};

/// EventBridge takes at most ten entries per request.
const ENTRIES_MAX: usize = 10;
const DEFAULT_BUS: &str = "default";

/// One allowed value of an event's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    Exactly(String),
    Prefix(String),
}

impl Matcher {
    fn accepts(&self, text: &str) -> bool {
        match self {
            Self::Exactly(wanted) => text == wanted,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
        }
    }
}

/// What a field of an event's detail may be, and the path to it.
pub type Field = (Vec<String>, Vec<Matcher>);

/// Sends a copy of every matching event to each target queue. An empty list accepts everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub name: String,
    pub bus: String,
    pub sources: Vec<Matcher>,
    pub detail_types: Vec<Matcher>,
    pub detail: Vec<Field>,
    pub target_queues: Vec<String>,
}

impl Rule {
    fn accepts(&self, bus: &str, entry: &Accepted<'_>) -> bool {
        let any = |matchers: &[Matcher], text: &str| {
            matchers.is_empty() || matchers.iter().any(|m| m.accepts(text))
        };
        self.bus == bus
            && any(&self.sources, entry.source)
            && any(&self.detail_types, entry.detail_type)
            && self.detail.iter().all(|(path, matchers)| {
                let field = path.iter().fold(&entry.detail, |value, part| &value[part]);
                texts(field).any(|text| matchers.iter().any(|m| m.accepts(text)))
            })
    }
}

/// The texts of a field: itself, or each of a list, of which one is enough.
fn texts(field: &Value) -> impl Iterator<Item = &str> {
    let items = match field {
        Value::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    items.iter().filter_map(Value::as_str)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PutEvents {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    source: Option<String>,
    detail_type: Option<String>,
    detail: Option<String>,
    time: Option<f64>,
    #[serde(default)]
    resources: Vec<String>,
    event_bus_name: Option<String>,
}

/// An entry that has everything EventBridge asks for.
struct Accepted<'a> {
    source: &'a str,
    detail_type: &'a str,
    detail: Value,
}

/// The event buses of one local cloud, told apart by name in their rules.
#[derive(Debug, Clone)]
pub struct Bus {
    queues: Queues,
    rules: Arc<RwLock<Vec<Rule>>>,
}

impl Bus {
    pub(crate) fn new(queues: Queues) -> Self {
        Self {
            queues,
            rules: Arc::default(),
        }
    }

    /// Replaces all rules.
    pub fn set_rules(&self, rules: Vec<Rule>) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    pub(crate) async fn answer(&self, body: &[u8]) -> Reply {
        let request: PutEvents = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => {
                let kind = "com.amazon.coral.service#SerializationException";
                return Reply::error(400, kind, &error.to_string());
            }
        };
        if request.entries.is_empty() || request.entries.len() > ENTRIES_MAX {
            let message = format!("a request has from 1 to {ENTRIES_MAX} entries");
            return Reply::error(400, "com.amazonaws.events#ValidationException", &message);
        }
        match self.put(&request.entries).await {
            Ok(results) => {
                let failed = results.iter().filter(|r| r.get("ErrorCode").is_some());
                Reply::ok(
                    json!({ "FailedEntryCount": failed.count(), "Entries": results }).to_string(),
                )
            }
            Err(error) => {
                tracing::error!(%error, "an event could not be stored");
                Reply::error(
                    500,
                    "com.amazonaws.events#InternalException",
                    &error.to_string(),
                )
            }
        }
    }

    async fn put(&self, entries: &[Entry]) -> Result<Vec<Value>, QueueError> {
        let now_ms = self.queues.clock().now_ms();
        let mut results = Vec::with_capacity(entries.len());
        let mut copies = Vec::new();
        for entry in entries {
            match accept(entry) {
                Ok(accepted) => {
                    let id = Uuid::new_v4().to_string();
                    self.copy_to_queues(entry, &accepted, &id, now_ms, &mut copies);
                    results.push(json!({ "EventId": id }));
                }
                Err((code, message)) => {
                    results.push(json!({ "ErrorCode": code, "ErrorMessage": message }));
                }
            }
        }
        if !copies.is_empty() {
            self.queues.send(copies).await?;
        }
        Ok(results)
    }

    fn copy_to_queues(
        &self,
        entry: &Entry,
        accepted: &Accepted<'_>,
        id: &str,
        now_ms: u64,
        copies: &mut Vec<Outgoing>,
    ) {
        let bus = bus_name(entry.event_bus_name.as_deref().unwrap_or(DEFAULT_BUS));
        let body = envelope(entry, accepted, id, now_ms).to_string();
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        for rule in rules.iter().filter(|rule| rule.accepts(bus, accepted)) {
            let targets = rule.target_queues.iter();
            copies.extend(targets.map(|queue| Outgoing::new(queue, body.clone())));
        }
    }
}

/// A bus may be named by its ARN, which ends in `event-bus/<name>`.
fn bus_name(name_or_arn: &str) -> &str {
    name_or_arn.rsplit('/').next().unwrap_or(name_or_arn)
}

/// The code and the text with which EventBridge turns down one entry.
type EntryRefusal = (&'static str, String);

fn accept(entry: &Entry) -> Result<Accepted<'_>, EntryRefusal> {
    let detail = required("Detail", entry.detail.as_deref())?;
    Ok(Accepted {
        source: required("Source", entry.source.as_deref())?,
        detail_type: required("DetailType", entry.detail_type.as_deref())?,
        detail: serde_json::from_str(detail)
            .ok()
            .filter(Value::is_object)
            .ok_or(("MalformedDetail", "Detail is malformed.".to_owned()))?,
    })
}

fn required<'a>(field: &str, value: Option<&'a str>) -> Result<&'a str, EntryRefusal> {
    value.filter(|text| !text.is_empty()).ok_or_else(|| {
        let message =
            format!("Parameter {field} is not valid. Reason: {field} is a required argument.");
        ("InvalidArgument", message)
    })
}

/// The event as EventBridge writes it into a target queue.
fn envelope(entry: &Entry, accepted: &Accepted<'_>, id: &str, now_ms: u64) -> Value {
    let seconds = entry.time.map_or((now_ms / 1000) as i64, |t| t as i64);
    let time = OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|t| t.format(&Rfc3339).ok())
        .unwrap_or_default();
    json!({
        "version": "0",
        "id": id,
        "detail-type": accepted.detail_type,
        "source": accepted.source,
        "account": "000000000000",
        "time": time,
        "region": "local",
        "resources": entry.resources,
        "detail": accepted.detail,
    })
}
