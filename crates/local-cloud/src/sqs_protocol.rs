//! The SQS JSON protocol over the local queues.
//! Field names and error codes are those the SDK expects; rules live in `queues`.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::connector::Reply;
use crate::queues::{BATCH_MAX, BODY_BYTES_MAX, Message, Outgoing, QueueError, Queues};
use crate::wiring::{queue_name, queue_url};

/// SQS holds a receive open for at most this long.
const WAIT_S_MAX: u64 = 20;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Send {
    queue_url: String,
    message_body: String,
    delay_seconds: Option<u32>,
    message_attributes: Option<Value>,
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
    message_attributes: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Receive {
    queue_url: String,
    max_number_of_messages: Option<usize>,
    visibility_timeout: Option<u32>,
    wait_time_seconds: Option<u64>,
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
    refuse_attributes(request.message_attributes.as_ref())?;
    let digest = md5_hex(&request.message_body);
    let message = Outgoing {
        queue: queue_name(&request.queue_url).to_owned(),
        body: request.message_body,
        delay_s: request.delay_seconds,
    };
    let id = queues.send(vec![message]).await?.pop();
    Ok(json!({ "MessageId": id, "MD5OfMessageBody": digest }))
}

/// SQS judges each entry of a batch on its own; what is acceptable is stored in one transaction.
async fn send_batch(queues: &Queues, body: &[u8]) -> Result<Value, Refusal> {
    let request: SendBatch = parse(body)?;
    let queue = queue_name(&request.queue_url);
    check_batch(&request.entries)?;
    let (mut accepted, mut messages, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for entry in request.entries {
        if entry
            .delay_seconds
            .is_some_and(|s| s > crate::queues::DELAY_S_MAX)
        {
            failed.push(
                json!({ "Id": entry.id, "SenderFault": true, "Code": "InvalidParameterValue",
                "Message": "DelaySeconds must be >= 0 and <= 900." }),
            );
            continue;
        }
        refuse_attributes(entry.message_attributes.as_ref())?;
        accepted.push((entry.id, md5_hex(&entry.message_body)));
        messages.push(Outgoing {
            queue: queue.to_owned(),
            body: entry.message_body,
            delay_s: entry.delay_seconds,
        });
    }
    let ids = queues.send(messages).await?;
    let successful: Vec<_> = accepted
        .iter()
        .zip(&ids)
        .map(|((entry, digest), id)| {
            json!({ "Id": entry, "MessageId": id, "MD5OfMessageBody": digest })
        })
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
    let messages: Vec<_> = messages.iter().map(message_json).collect();
    Ok(json!({ "Messages": messages }))
}

fn message_json(message: &Message) -> Value {
    json!({
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "Body": message.body,
        "MD5OfBody": md5_hex(&message.body),
        "Attributes": {
            "ApproximateReceiveCount": message.receives.to_string(),
            "SentTimestamp": message.sent_ms.to_string(),
            "ApproximateFirstReceiveTimestamp": message.first_received_ms.to_string(),
        },
    })
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

/// Dropping attributes in silence would lose data, so a sender that uses them is told.
fn refuse_attributes(attributes: Option<&Value>) -> Result<(), Refusal> {
    match attributes.and_then(Value::as_object) {
        Some(attributes) if !attributes.is_empty() => Err(Refusal::AttributesUnsupported),
        _ => Ok(()),
    }
}

/// Some SDKs check this digest. The Rust SDK does not, but an answer should be true anyway.
pub(crate) fn md5_hex(text: &str) -> String {
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
                &format!("the local queues do not offer {name}"),
            ),
            Self::Unreadable(why) => {
                Reply::error(400, "com.amazon.coral.service#SerializationException", &why)
            }
            Self::AttributesUnsupported => sqs(
                400,
                "UnsupportedOperation",
                "AWS.SimpleQueueService.UnsupportedOperation;Sender",
                "the local queues carry no message attributes",
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
