//! The one way in which this software calls services of others by itself: over TLS, with
//! the certificates that the system trusts.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

/// A function that slept does not find a connection that the other side has closed.
const IDLE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Outgoing(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Outgoing {
    pub fn new() -> Result<Self, String> {
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
            .https_or_http()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Ok(Self(client))
    }

    /// Sends a request and reads an answer of at most so many bytes. Whoever calls it says
    /// how long that may take.
    pub async fn send(
        &self,
        request: Request<Vec<u8>>,
        max_bytes: usize,
    ) -> Result<Response<Vec<u8>>, String> {
        let request = request.map(|body| Full::new(Bytes::from(body)));
        let answer = self.0.request(request).await;
        let (parts, body) = answer.map_err(|error| error.to_string())?.into_parts();
        let body = Limited::new(body, max_bytes).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok(Response::from_parts(parts, body.to_vec()))
    }
}
