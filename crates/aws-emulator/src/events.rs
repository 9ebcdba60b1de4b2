//! `PutEvents` of EventBridge. An entry that is refused does not keep the others.

use onsale_local_cloud::{Bus, Event, QueueError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::connector::Reply;

/// EventBridge takes at most ten entries per request.
const ENTRIES_MAX: usize = 10;
const DEFAULT_BUS: &str = "default";

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

pub(crate) async fn answer(bus: &Bus, body: &[u8]) -> Reply {
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
    match put(bus, request.entries).await {
        Ok(results) => {
            let failed = results.iter().filter(|r| r.get("ErrorCode").is_some());
            let answer = json!({ "FailedEntryCount": failed.count(), "Entries": results });
            Reply::ok(answer.to_string())
        }
        Err(error) => {
            let kind = "com.amazonaws.events#InternalException";
            Reply::error(500, kind, &error.to_string())
        }
    }
}

/// The answers to all entries, in their order.
async fn put(bus: &Bus, entries: Vec<Entry>) -> Result<Vec<Value>, QueueError> {
    let (mut events, mut refusals) = (Vec::new(), Vec::new());
    for entry in entries {
        refusals.push(match accept(entry) {
            Ok(event) => {
                events.push(event);
                None
            }
            Err((code, message)) => Some(json!({ "ErrorCode": code, "ErrorMessage": message })),
        });
    }
    let mut ids = bus.put(&events).await?.into_iter();
    let answer = |refusal: Option<Value>| {
        refusal.unwrap_or_else(|| json!({ "EventId": ids.next().unwrap_or_default() }))
    };
    Ok(refusals.into_iter().map(answer).collect())
}

/// The code and the text with which EventBridge turns down one entry.
type EntryRefusal = (&'static str, String);

fn accept(entry: Entry) -> Result<Event, EntryRefusal> {
    let detail = required("Detail", entry.detail)?;
    let malformed = || ("MalformedDetail", "Detail is malformed.".to_owned());
    let detail = serde_json::from_str(&detail).ok().filter(Value::is_object);
    Ok(Event {
        bus: bus_name(entry.event_bus_name.as_deref().unwrap_or(DEFAULT_BUS)).to_owned(),
        source: required("Source", entry.source)?,
        detail_type: required("DetailType", entry.detail_type)?,
        detail: detail.ok_or_else(malformed)?,
        resources: entry.resources,
        at_s: entry.time.map(|time| time as i64),
    })
}

/// A bus may be named by its ARN, which ends in `event-bus/<name>`.
fn bus_name(name_or_arn: &str) -> &str {
    name_or_arn.rsplit('/').next().unwrap_or(name_or_arn)
}

fn required(field: &str, value: Option<String>) -> Result<String, EntryRefusal> {
    value.filter(|text| !text.is_empty()).ok_or_else(|| {
        let message =
            format!("Parameter {field} is not valid. Reason: {field} is a required argument.");
        ("InvalidArgument", message)
    })
}
