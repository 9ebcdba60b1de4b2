//! Counts requests by operation and adds up the capacity that DynamoDB says they used.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use serde_json::Value;

use super::operation;
use crate::dynamodb::is_read;

/// What was used since the last reset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Requests by operation, such as `UpdateItem`, retries included.
    pub requests: BTreeMap<String, u64>,
    /// Read units, of those requests that asked for `ReturnConsumedCapacity`.
    pub read_units: f64,
    /// Write units, of those requests that asked for `ReturnConsumedCapacity`.
    pub write_units: f64,
    /// Writes and transactions refused by their condition. DynamoDB charges for them, at least one
    /// unit per item, but its refusal carries no capacity, so they are counted apart.
    pub refused_writes: u64,
}

impl Usage {
    pub fn total_requests(&self) -> u64 {
        self.requests.values().sum()
    }

    fn add(&mut self, operation: &str, response: &HttpResponse) {
        *self.requests.entry(operation.to_owned()).or_default() += 1;
        let body = response.body().bytes().unwrap_or_default();
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return;
        };
        let kind = body["__type"].as_str().unwrap_or_default();
        if kind.ends_with("#ConditionalCheckFailedException")
            || kind.ends_with("#TransactionCanceledException")
        {
            self.refused_writes += 1;
        }
        // One object for a single item, a list of them, one per table, for batches.
        let consumed = match &body["ConsumedCapacity"] {
            Value::Array(tables) => tables.as_slice(),
            Value::Null => &[],
            single => std::slice::from_ref(single),
        };
        let units: f64 = consumed
            .iter()
            .filter_map(|table| table["CapacityUnits"].as_f64())
            .sum();
        if is_read(operation) {
            self.read_units += units;
        } else {
            self.write_units += units;
        }
    }
}

/// An HTTP client that writes down what passes through it.
#[derive(Debug, Clone)]
pub struct Recorder {
    inner: SharedHttpClient,
    usage: Arc<Mutex<Usage>>,
}

impl Recorder {
    pub fn new(inner: SharedHttpClient) -> Self {
        Self {
            inner,
            usage: Arc::default(),
        }
    }

    /// What to give to the configuration of an SDK client.
    pub fn http_client(&self) -> SharedHttpClient {
        SharedHttpClient::new(self.clone())
    }

    pub fn usage(&self) -> Usage {
        let usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        usage.clone()
    }

    /// Returns what was used so far and starts again from nothing.
    pub fn take(&self) -> Usage {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut usage)
    }
}

impl HttpClient for Recorder {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(RecordingConnector {
            inner: self.inner.http_connector(settings, components),
            usage: Arc::clone(&self.usage),
        })
    }
}

#[derive(Debug)]
struct RecordingConnector {
    inner: SharedHttpConnector,
    usage: Arc<Mutex<Usage>>,
}

impl HttpConnector for RecordingConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = operation(&request);
        let usage = Arc::clone(&self.usage);
        let answer = self.inner.call(request);
        HttpConnectorFuture::new(async move {
            let response = answer.await?;
            let mut usage = usage.lock().unwrap_or_else(PoisonError::into_inner);
            usage.add(&operation, &response);
            Ok(response)
        })
    }
}
