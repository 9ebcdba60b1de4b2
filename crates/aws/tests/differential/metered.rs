//! An HTTP client that asks DynamoDB what each request consumed, and remembers the answer.

use std::sync::{Arc, Mutex};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};

/// Units of a request: those of the table, and those of its indexes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Consumed {
    pub(crate) table: f64,
    pub(crate) indexes: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Metered {
    inner: SharedHttpClient,
    /// `None`: there was no request, or its answer did not say, as a refusal does not.
    last: Arc<Mutex<Option<Consumed>>>,
}

impl Metered {
    pub(crate) fn new(inner: SharedHttpClient) -> Self {
        let last = Arc::default();
        Self { inner, last }
    }

    pub(crate) fn http_client(&self) -> SharedHttpClient {
        SharedHttpClient::new(self.clone())
    }

    /// What the last request since the last call consumed.
    pub(crate) fn take(&self) -> Option<Consumed> {
        self.last.lock().unwrap().take()
    }
}

impl HttpClient for Metered {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Connector {
            inner: self.inner.http_connector(settings, components),
            last: Arc::clone(&self.last),
        })
    }
}

#[derive(Debug)]
struct Connector {
    inner: SharedHttpConnector,
    last: Arc<Mutex<Option<Consumed>>>,
}

impl HttpConnector for Connector {
    fn call(&self, mut request: HttpRequest) -> HttpConnectorFuture {
        let mut body = json_of(request.body());
        body["ReturnConsumedCapacity"] = json!("INDEXES");
        *request.body_mut() = SdkBody::from(body.to_string());
        let last = Arc::clone(&self.last);
        let answer = self.inner.call(request);
        HttpConnectorFuture::new(async move {
            let answer = answer.await?;
            *last.lock().unwrap() = consumed(&answer);
            Ok(answer)
        })
    }
}

fn json_of(body: &SdkBody) -> Value {
    serde_json::from_slice(body.bytes().unwrap()).unwrap()
}

/// One object for a request on one item or list, a list of them for a batch or a transaction.
fn consumed(answer: &HttpResponse) -> Option<Consumed> {
    let body = json_of(answer.body());
    let consumed = match &body["ConsumedCapacity"] {
        Value::Array(tables) => tables.first()?,
        Value::Null => return None,
        table => table,
    };
    let units = |of: &Value| of["CapacityUnits"].as_f64().unwrap_or_default();
    let indexes = consumed["GlobalSecondaryIndexes"].as_object();
    Some(Consumed {
        table: units(&consumed["Table"]),
        indexes: indexes.map_or(0.0, |indexes| indexes.values().map(units).sum()),
    })
}
