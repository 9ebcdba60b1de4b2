//! The one way in which this software calls services of others without an SDK: over TLS,
//! with the certificates that the system trusts.
//!
//! It knows nobody whom it calls. Whoever calls says how long that may take.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};

/// A function that slept does not find a connection that the other side has closed.
const IDLE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("{0}")]
    NoAnswer(String),
    #[error("the answer is too long")]
    TooLong,
    #[error("the answer broke off: {0}")]
    BrokeOff(String),
}

/// Clones share their connections.
#[derive(Debug, Clone)]
pub struct Outgoing(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Outgoing {
    pub fn new() -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(default_provider())
            .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self::over(connector))
    }

    /// Reads no certificates, which would take a while. Nobody is trusted then, so it
    /// reaches services that are called without TLS, and no others.
    pub fn in_the_clear() -> Result<Self, String> {
        let trusting_nobody = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(trusting_nobody)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self::over(connector))
    }

    fn over(connector: HttpsConnector<HttpConnector>) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Self(client)
    }

    /// Sends a request and reads an answer of at most so many bytes.
    pub async fn send(
        &self,
        request: Request<Vec<u8>>,
        max_bytes: usize,
    ) -> Result<Response<Vec<u8>>, SendError> {
        let (parts, body) = self.answer(request).await?.into_parts();
        match Limited::new(body, max_bytes).collect().await {
            Ok(body) => Ok(Response::from_parts(parts, body.to_bytes().to_vec())),
            Err(error) if error.is::<LengthLimitError>() => Err(SendError::TooLong),
            Err(error) => Err(SendError::BrokeOff(error.to_string())),
        }
    }

    /// Sends a request whose answer says enough by its status.
    pub async fn tell(&self, request: Request<Vec<u8>>) -> Result<StatusCode, SendError> {
        Ok(self.answer(request).await?.status())
    }

    async fn answer(&self, request: Request<Vec<u8>>) -> Result<Response<Incoming>, SendError> {
        let request = request.map(|body| Full::new(Bytes::from(body)));
        self.0.request(request).await.map_err(|error| {
            // The outer error says only "client error"; the cause says what happened.
            let cause = error.source().map(ToString::to_string);
            SendError::NoAnswer(cause.unwrap_or_else(|| error.to_string()))
        })
    }
}
