//! The SQS JSON protocol over the emulated queues.
//! Field names and error codes are those the SDK expects; rules live in `queues`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use onsale_local_cloud::{
    Attributes, BATCH_MAX, BODY_BYTES_MAX, DELAY_S_MAX, Outgoing, QueueError, Queues, Received,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::connector::Reply;

const QUEUE_URL_BASE: &str = "http://sqs.local/";
/// SQS holds a receive open for at most this long.
const WAIT_S_MAX: u64 = 20;

/// The URL under which the emulator knows a queue, by its logical id in the template.
pub fn queue_url(logical_id: &str) -> String {
    format!("{QUEUE_URL_BASE}{logical_id}")
}

/// The queue a URL names: its last path segment.
fn queue_name(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Send {
    queue_url: String,
    message_body: String,
    delay_seconds: Option<u32>,
    #[serde(default)]
    message_attributes: BTreeMap<String, Attribute>,
}

/// An attribute of a message on the wire.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    data_type: String,
    string_value: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendBatch {
    queue_url: String,
    entries: Vec<SendBatchEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendBatchEntry {
    id: String,
    message_body: String,
    delay_seconds: Option<u32>,
    #[serde(default)]
    message_attributes: BTreeMap<String, Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Receive {
    queue_url: String,
    max_number_of_messages: Option<usize>,
    visibility_timeout: Option<u32>,
    wait_time_seconds: Option<u64>,
    #[serde(default)]
    message_attribute_names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Delete {
    queue_url: String,
    receipt_handle: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ByUrl {
    queue_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ByName {
    queue_name: String,
}

pub(crate) async fn answer(queues: &Queues, operation: &str, body: &[u8]) -> Reply {
    let result = match operation {
        "SendMessage" => send(queues, body).await,
        "SendMessageBatch" => send_batch(queues, body).await,
        "ReceiveMessage" => receive(queues, body).await,
        "DeleteMessage" => delete(queues, body).await,
        "GetQueueUrl" => get_url(queues, body).await,
        "GetQueueAttributes" => attributes(queues, body).await,
        unknown => Err(Refusal::UnknownOperation(unknown.to_owned())),
    };
    match result {
        Ok(body) => Reply::ok(body.to_string()),
        Err(refusal) => refusal.into_reply(),
    }
}

async fn send(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: Send = parse(body)?;
    let attributes = texts(request.message_attributes)?;
    let digests = Digests::of(&request.message_body, &attributes);
    let message = Outgoing {
        queue: queue_name(&request.queue_url).to_owned(),
        body: request.message_body,
        delay_s: request.delay_seconds,
        attributes,
    };
    let id = queues.send(vec![message]).await?.pop();
    Ok(digests.into_answer(json!({ "MessageId": id })))
}

/// SQS judges each entry of a batch on its own; what is acceptable is stored in one transaction.
async fn send_batch(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: SendBatch = parse(body)?;
    let queue = queue_name(&request.queue_url);
    check_batch(&request.entries)?;
    let (mut accepted, mut messages, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for entry in request.entries {
        if entry.delay_seconds.is_some_and(|s| s > DELAY_S_MAX) {
            failed.push(
                json!({ "Id": entry.id, "SenderFault": true, "Code": "InvalidParameterValue",
                "Message": "DelaySeconds must be >= 0 and <= 900." }),
            );
            continue;
        }
        let attributes = texts(entry.message_attributes)?;
        accepted.push((entry.id, Digests::of(&entry.message_body, &attributes)));
        messages.push(Outgoing {
            queue: queue.to_owned(),
            body: entry.message_body,
            delay_s: entry.delay_seconds,
            attributes,
        });
    }
    let ids = queues.send(messages).await?;
    let successful: Vec<_> = accepted
        .into_iter()
        .zip(&ids)
        .map(|((entry, digests), id)| digests.into_answer(json!({ "Id": entry, "MessageId": id })))
        .collect();
    Ok(json!({ "Successful": successful, "Failed": failed }))
}

fn check_batch(entries: &[SendBatchEntry]) -> Result<(), Refusal> {
    if entries.is_empty() {
        return Err(Refusal::EmptyBatch);
    }
    if entries.len() > BATCH_MAX {
        return Err(Refusal::TooManyEntries(entries.len()));
    }
    if entries.iter().map(|e| &e.id).collect::<HashSet<_>>().len() != entries.len() {
        return Err(Refusal::EntryIdsNotDistinct);
    }
    if entries.iter().map(|e| e.message_body.len()).sum::<usize>() > BODY_BYTES_MAX {
        return Err(Refusal::BatchTooLong);
    }
    Ok(())
}

async fn receive(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: Receive = parse(body)?;
    let queue = queue_name(&request.queue_url);
    let wait_s = request.wait_time_seconds.unwrap_or(0).min(WAIT_S_MAX);
    if wait_s > 0 {
        let due = queues.wait_for_due(queue);
        if let Ok(result) = tokio::time::timeout(Duration::from_secs(wait_s), due).await {
            result?;
        }
    }
    let max = request.max_number_of_messages.unwrap_or(1);
    let messages = queues
        .receive(queue, max, request.visibility_timeout)
        .await?;
    let asked = &request.message_attribute_names;
    let messages: Vec<_> = messages.iter().map(|m| message_json(m, asked)).collect();
    Ok(json!({ "Messages": messages }))
}

/// Attributes are told to those only who ask for them by name, or for all.
fn message_json(message: &Received, asked: &[String]) -> Value {
    let is_asked = |name: &str| asked.iter().any(|a| a == name || a == "All");
    let told: Attributes = message
        .attributes
        .iter()
        .filter(|(name, _)| is_asked(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut answer = json!({
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "Body": message.body,
        "MD5OfBody": md5_hex(&message.body),
        "Attributes": {
            "ApproximateReceiveCount": message.receives.to_string(),
            "SentTimestamp": message.sent_ms.to_string(),
            "ApproximateFirstReceiveTimestamp": message.first_received_ms.to_string(),
        },
    });
    if !told.is_empty() {
        answer["MD5OfMessageAttributes"] = attributes_md5(&told).into();
        let typed = told.iter().map(|(name, value)| {
            let value = json!({ "DataType": "String", "StringValue": value });
            (name.clone(), value)
        });
        answer["MessageAttributes"] = Value::Object(typed.collect());
    }
    answer
}

async fn delete(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: Delete = parse(body)?;
    let queue = queue_name(&request.queue_url);
    queues.delete(queue, vec![request.receipt_handle]).await?;
    Ok(json!({}))
}

async fn get_url(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: ByName = parse(body)?;
    queues.counts(&request.queue_name).await?;
    Ok(json!({ "QueueUrl": queue_url(&request.queue_name) }))
}

async fn attributes(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: ByUrl = parse(body)?;
    let counts = queues.counts(queue_name(&request.queue_url)).await?;
    Ok(json!({ "Attributes": {
        "ApproximateNumberOfMessages": counts.visible.to_string(),
        "ApproximateNumberOfMessagesNotVisible": counts.in_flight.to_string(),
        "ApproximateNumberOfMessagesDelayed": counts.delayed.to_string(),
    } }))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|e| Refusal::Unreadable(e.to_string()))
}

/// The attributes of a message. Dropping in silence what is no text would lose data, so a
/// sender that uses it is told.
fn texts(attributes: BTreeMap<String, Attribute>) -> Result<Attributes, Refusal> {
    let text = |(name, attribute): (String, Attribute)| match attribute {
        Attribute {
            data_type,
            string_value: Some(value),
        } if data_type == "String" && !value.is_empty() => Ok((name, value)),
        _ => Err(Refusal::AttributesUnsupported),
    };
    attributes.into_iter().map(text).collect()
}

/// What SQS answers to show that it understood.
struct Digests {
    body: String,
    attributes: Option<String>,
}

impl Digests {
    fn of(body: &str, attributes: &Attributes) -> Self {
        Self {
            body: md5_hex(body),
            attributes: (!attributes.is_empty()).then(|| attributes_md5(attributes)),
        }
    }

    fn into_answer(self, mut answer: Value) -> Value {
        answer["MD5OfMessageBody"] = self.body.into();
        if let Some(digest) = self.attributes {
            answer["MD5OfMessageAttributes"] = digest.into();
        }
        answer
    }
}

/// Over name, type and value of each, in the order of their names; each with its length.
fn attributes_md5(attributes: &Attributes) -> String {
    const TEXT: u8 = 1;
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, text: &str| {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        bytes.extend(length.to_be_bytes());
        bytes.extend(text.as_bytes());
    };
    for (name, value) in attributes {
        put(&mut bytes, name);
        put(&mut bytes, "String");
        bytes.push(TEXT);
        put(&mut bytes, value);
    }
    format!("{:x}", md5::compute(bytes))
}

/// Some SDKs check this digest. The Rust SDK does not, but an answer should be true anyway.
fn md5_hex(text: &str) -> String {
    format!("{:x}", md5::compute(text))
}

#[derive(Debug)]
enum Refusal {
    Queue(QueueError),
    UnknownOperation(String),
    Unreadable(String),
    AttributesUnsupported,
    EmptyBatch,
    TooManyEntries(usize),
    EntryIdsNotDistinct,
    BatchTooLong,
}

impl From<QueueError> for Refusal {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}

impl Refusal {
    fn into_reply(self) -> Reply {
        let sqs = |status, kind: &str, code: &'static str, message: &str| {
            Reply::error(status, &format!("com.amazonaws.sqs#{kind}"), message)
                .with_query_error(code)
        };
        match self {
            Self::Queue(error @ QueueError::NoSuchQueue(_)) => sqs(
                400,
                "QueueDoesNotExist",
                "AWS.SimpleQueueService.NonExistentQueue;Sender",
                &error.to_string(),
            ),
            Self::Queue(error @ QueueError::InvalidParameter(_)) => sqs(
                400,
                "InvalidParameterValueException",
                "InvalidParameterValue;Sender",
                &error.to_string(),
            ),
            Self::Queue(error @ QueueError::Storage(_)) => {
                tracing::error!(%error, "a queue request failed");
                sqs(
                    500,
                    "InternalError",
                    "InternalError;Receiver",
                    &error.to_string(),
                )
            }
            Self::UnknownOperation(name) => Reply::error(
                400,
                "com.amazon.coral.service#UnknownOperationException",
                &format!("the emulated queues do not offer {name}"),
            ),
            Self::Unreadable(why) => {
                Reply::error(400, "com.amazon.coral.service#SerializationException", &why)
            }
            Self::AttributesUnsupported => sqs(
                400,
                "UnsupportedOperation",
                "AWS.SimpleQueueService.UnsupportedOperation;Sender",
                "the emulated queues carry attributes that are texts, and no others",
            ),
            Self::EmptyBatch => sqs(
                400,
                "EmptyBatchRequest",
                "AWS.SimpleQueueService.EmptyBatchRequest;Sender",
                "There should be at least one entry in the request.",
            ),
            Self::TooManyEntries(count) => sqs(
                400,
                "TooManyEntriesInBatchRequest",
                "AWS.SimpleQueueService.TooManyEntriesInBatchRequest;Sender",
                &format!(
                    "Maximum number of entries per request are {BATCH_MAX}. You have sent {count}."
                ),
            ),
            Self::EntryIdsNotDistinct => sqs(
                400,
                "BatchEntryIdsNotDistinct",
                "AWS.SimpleQueueService.BatchEntryIdsNotDistinct;Sender",
                "Two or more batch entries in the request have the same Id.",
            ),
            Self::BatchTooLong => sqs(
                400,
                "BatchRequestTooLong",
                "AWS.SimpleQueueService.BatchRequestTooLong;Sender",
                "Batch requests cannot be longer than 1048576 bytes.",
            ),
        }
    }
}
