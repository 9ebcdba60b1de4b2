//! The HTTP client that the AWS SDKs are given: it dispatches on `x-amz-target` and opens no socket.
//! A request without that header is one of SES, known by its path, or one of S3, whose operations
//! are methods and paths.
//! Everything above it (retries, signing, parsing) runs as in production.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use onsale_local_cloud::LocalCloud;
use serde_json::{Value, json};

use crate::dynamodb::Table;
use crate::{events, s3, ses, sqs};

/// An answer in the AWS JSON protocol.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    body: String,
    /// SQS names its older error codes in a header, and the SDK reads the code from there.
    query_error: Option<&'static str>,
}

impl Reply {
    pub(crate) fn new(status: u16, body: String) -> Self {
        Self {
            status,
            body,
            query_error: None,
        }
    }

    pub(crate) fn ok(body: String) -> Self {
        Self::new(200, body)
    }

    pub(crate) fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::new(
            status,
            json!({ "__type": kind, "message": message }).to_string(),
        )
    }

    pub(crate) fn with_query_error(mut self, code: &'static str) -> Self {
        self.query_error = Some(code);
        self
    }

    pub(crate) fn into_json(self) -> Result<Value, Value> {
        let body = serde_json::from_str(&self.body).unwrap_or_default();
        if self.status == 200 {
            Ok(body)
        } else {
            Err(body)
        }
    }

    fn into_response(self) -> Result<HttpResponse, ConnectorError> {
        let status =
            StatusCode::try_from(self.status).map_err(|e| ConnectorError::other(e.into(), None))?;
        let mut response = HttpResponse::new(status, SdkBody::from(self.body));
        let headers = response.headers_mut();
        headers.insert("content-type", "application/x-amz-json-1.0");
        if let Some(code) = self.query_error {
            headers.insert("x-amzn-query-error", code);
        }
        Ok(response)
    }
}

/// The services behind one endpoint.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) table: Table,
    /// Everything but the table.
    pub(crate) cloud: LocalCloud,
}

impl Services {
    async fn answer(&self, target: Option<&str>, body: &[u8]) -> Reply {
        let Some(target) = target else {
            return ses::answer(self.cloud.mailbox(), body).await;
        };
        match target.split_once('.') {
            Some(("DynamoDB_20120810", operation)) => self.table.answer(operation, body).await,
            Some(("AmazonSQS", operation)) => {
                sqs::answer(self.cloud.queues(), operation, body).await
            }
            Some(("AWSEvents", "PutEvents")) => events::answer(self.cloud.bus(), body).await,
            _ => Reply::error(
                400,
                "com.amazon.coral.service#UnknownOperationException",
                &format!("the emulator does not offer {target:?}"),
            ),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Connector(pub(crate) Arc<Services>);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let services = Arc::clone(&self.0);
        HttpConnectorFuture::new(async move {
            let target = request.headers().get("x-amz-target");
            if target.is_none() && path_of(request.uri()) != ses::SEND_PATH {
                return s3::answer(services.cloud.object_store(), request).await;
            }
            let Some(body) = request.body().bytes() else {
                return Err(ConnectorError::user(
                    "the emulator takes no streamed request bodies".into(),
                ));
            };
            services.answer(target, body).await.into_response()
        })
    }
}

/// The path of an absolute address.
fn path_of(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split('?').next().unwrap_or(path)
}

impl HttpClient for Connector {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}
