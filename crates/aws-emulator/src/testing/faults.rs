//! Requests that fail on their way: before anything happened, or after everything did.
//! The errors are those of a broken connection, so the SDK's own retries deal with them first.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

use super::operation;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing goes wrong.
    None,
    /// The request never arrives.
    BeforeApplying,
    /// The request takes effect and its answer is lost.
    DropReply,
}

/// One request, as a plan sees it.
#[derive(Debug)]
pub struct Call<'a> {
    /// Such as `UpdateItem` or `SendMessage`.
    pub operation: &'a str,
    /// Which request of this operation it is, counted from 1, retries included.
    pub nth: u64,
    /// Which request of any operation it is, counted from 1.
    pub nth_of_all: u64,
    pub body: &'a [u8],
}

/// Decides about every request. Any function of a call will do.
pub trait Faults: Send + Sync {
    fn decide(&self, call: &Call<'_>) -> Fault;
}

impl<F: Fn(&Call<'_>) -> Fault + Send + Sync> Faults for F {
    fn decide(&self, call: &Call<'_>) -> Fault {
        self(call)
    }
}

/// Faults listed by operation and number.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    faults: HashMap<(String, u64), Fault>,
}

impl FaultPlan {
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the `nth` request of `operation`, counted from 1, and drops the answer.
    #[must_use]
    pub fn drop_reply(self, operation: &str, nth: u64) -> Self {
        self.with(operation, nth, Fault::DropReply)
    }

    /// Loses the `nth` request of `operation`, counted from 1, before it has any effect.
    #[must_use]
    pub fn fail_before(self, operation: &str, nth: u64) -> Self {
        self.with(operation, nth, Fault::BeforeApplying)
    }

    fn with(mut self, operation: &str, nth: u64, fault: Fault) -> Self {
        self.faults.insert((operation.to_owned(), nth), fault);
        self
    }
}

impl Faults for FaultPlan {
    fn decide(&self, call: &Call<'_>) -> Fault {
        let key = (call.operation.to_owned(), call.nth);
        self.faults.get(&key).copied().unwrap_or(Fault::None)
    }
}

#[derive(Default)]
struct Counts {
    all: u64,
    by_operation: HashMap<String, u64>,
}

/// An HTTP client that lets `inner` answer, except where the plan says otherwise.
#[derive(Clone)]
pub struct FaultyClient {
    inner: SharedHttpClient,
    faults: Arc<dyn Faults>,
    counts: Arc<Mutex<Counts>>,
}

impl fmt::Debug for FaultyClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyClient")
    }
}

impl FaultyClient {
    pub fn new(inner: SharedHttpClient, faults: impl Faults + 'static) -> Self {
        Self {
            inner,
            faults: Arc::new(faults),
            counts: Arc::default(),
        }
    }

    /// What to give to the configuration of an SDK client.
    pub fn http_client(&self) -> SharedHttpClient {
        SharedHttpClient::new(self.clone())
    }

    fn decide(&self, request: &HttpRequest) -> Fault {
        let operation = operation(request);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all += 1;
        let nth_of_all = counts.all;
        let nth = counts.by_operation.entry(operation.clone()).or_default();
        *nth += 1;
        let nth = *nth;
        drop(counts);
        self.faults.decide(&Call {
            operation: &operation,
            nth,
            nth_of_all,
            body: request.body().bytes().unwrap_or_default(),
        })
    }
}

impl HttpClient for FaultyClient {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(FaultyConnector {
            inner: self.inner.http_connector(settings, components),
            client: self.clone(),
        })
    }
}

#[derive(Debug)]
struct FaultyConnector {
    inner: SharedHttpConnector,
    client: FaultyClient,
}

impl HttpConnector for FaultyConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let broken = || ConnectorError::io("the connection was closed".into());
        match self.client.decide(&request) {
            Fault::None => self.inner.call(request),
            Fault::BeforeApplying => HttpConnectorFuture::ready(Err(broken())),
            Fault::DropReply => {
                let applied = self.inner.call(request);
                HttpConnectorFuture::new(async move {
                    applied.await?;
                    Err(broken())
                })
            }
        }
    }
}
