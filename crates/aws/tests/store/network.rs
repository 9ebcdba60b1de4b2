//! A network: others get their turn while a request is on its way. The engine in this
//! process answers at once, so without one nobody could overtake anybody.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

pub(crate) fn over_a_network(inner: SharedHttpClient) -> SharedHttpClient {
    SharedHttpClient::new(Network(inner))
}

#[derive(Debug)]
struct Network(SharedHttpClient);

impl HttpClient for Network {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Line(self.0.http_connector(settings, components)))
    }
}

#[derive(Debug)]
struct Line(SharedHttpConnector);

impl HttpConnector for Line {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let far_end = self.0.clone();
        HttpConnectorFuture::new(async move {
            tokio::task::yield_now().await;
            let answer = far_end.call(request).await;
            tokio::task::yield_now().await;
            answer
        })
    }
}
