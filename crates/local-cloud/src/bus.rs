//! The local event bus: rules decide which queues get a copy of an event.
//! All copies of one request are stored in one write, or none are.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use onsale_app::ports::{StoreError, Stored};
use onsale_domain::announcement::{Announcement, SOURCE};
use onsale_observe::Cause;
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use crate::queues::{Outgoing, QueueError, Queues};

/// The logical id of the application's bus in the template.
const ANNOUNCEMENTS: &str = "EventBus";

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
    fn accepts(&self, event: &Event) -> bool {
        let any = |matchers: &[Matcher], text: &str| {
            matchers.is_empty() || matchers.iter().any(|m| m.accepts(text))
        };
        self.bus == event.bus
            && any(&self.sources, &event.source)
            && any(&self.detail_types, &event.detail_type)
            && self.detail.iter().all(|(path, matchers)| {
                let field = path.iter().fold(&event.detail, |value, part| &value[part]);
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

/// What happened, on its way to the bus.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub bus: String,
    pub source: String,
    pub detail_type: String,
    /// An object.
    pub detail: Value,
    pub resources: Vec<String>,
    /// Unix seconds; `None`: now.
    pub at_s: Option<i64>,
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

    /// Copies all events to the queues of their rules; returns the ids of the events in order.
    pub async fn put(&self, events: &[Event]) -> Result<Vec<String>, QueueError> {
        let now_s = i64::try_from(self.queues.clock().now_ms() / 1000).unwrap_or(i64::MAX);
        let mut ids = Vec::with_capacity(events.len());
        let mut copies = Vec::new();
        for event in events {
            let id = Uuid::new_v4().to_string();
            self.copy_to_queues(event, &id, now_s, &mut copies);
            ids.push(id);
        }
        if !copies.is_empty() {
            self.queues.send(copies).await?;
        }
        Ok(ids)
    }

    fn copy_to_queues(&self, event: &Event, id: &str, now_s: i64, copies: &mut Vec<Outgoing>) {
        let body = envelope(event, id, now_s).to_string();
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        for rule in rules.iter().filter(|rule| rule.accepts(event)) {
            let targets = rule.target_queues.iter();
            copies.extend(targets.map(|queue| Outgoing::new(queue, body.clone())));
        }
    }
}

#[async_trait]
impl onsale_app::ports::Bus for Bus {
    async fn announce(&self, announcements: &[Announcement]) -> Stored<()> {
        let cause = Cause::current();
        let events = announcements.iter().map(|told| event(told, cause.as_ref()));
        self.put(&events.collect::<Stored<Vec<_>>>()?).await?;
        Ok(())
    }
}

/// An announcement and what caused it. A repetition may name another cause; what was
/// announced is the same.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    announcement: &'a Announcement,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
}

fn event(announcement: &Announcement, cause: Option<&Cause>) -> Stored<Event> {
    let told = Told {
        announcement,
        request_id: cause.map(Cause::request_id),
        traceparent: cause.and_then(Cause::trace).map(|trace| trace.to_string()),
    };
    Ok(Event {
        bus: ANNOUNCEMENTS.to_owned(),
        source: SOURCE.to_owned(),
        detail_type: announcement.news.kind().to_owned(),
        detail: serde_json::to_value(&told).map_err(|e| StoreError::Corrupt(e.to_string()))?,
        resources: Vec::new(),
        at_s: None,
    })
}

/// The event as EventBridge writes it into a target queue.
fn envelope(event: &Event, id: &str, now_s: i64) -> Value {
    let time = OffsetDateTime::from_unix_timestamp(event.at_s.unwrap_or(now_s))
        .ok()
        .and_then(|t| t.format(&Rfc3339).ok())
        .unwrap_or_default();
    json!({
        "version": "0",
        "id": id,
        "detail-type": event.detail_type,
        "source": event.source,
        "account": "000000000000",
        "time": time,
        "region": "local",
        "resources": event.resources,
        "detail": event.detail,
    })
}
