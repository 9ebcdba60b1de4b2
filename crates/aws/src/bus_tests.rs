use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::config::Credentials;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use onsale_domain::announcement::News;
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use serde_json::{Value, json};

use super::*;
use crate::AwsConfig;

/// Answers each request with the next list of error codes (none: taken), then takes
/// everything.
#[derive(Debug, Clone, Default)]
struct Service {
    refusals: Arc<Mutex<VecDeque<Vec<Option<&'static str>>>>>,
    requests: Arc<Mutex<Vec<Vec<Value>>>>,
}

impl Service {
    fn answer(&self, body: &[u8]) -> Value {
        let request: Value = serde_json::from_slice(body).unwrap();
        let entries = request["Entries"].as_array().unwrap().clone();
        let scripted = self.refusals.lock().unwrap().pop_front();
        let codes = scripted.unwrap_or_else(|| vec![None; entries.len()]);
        assert_eq!(codes.len(), entries.len());
        self.requests.lock().unwrap().push(entries);
        let failed = codes.iter().flatten().count();
        let results: Vec<_> = codes
            .iter()
            .map(|code| match code {
                Some(code) => json!({ "ErrorCode": code, "ErrorMessage": "later" }),
                None => json!({ "EventId": "1" }),
            })
            .collect();
        json!({ "FailedEntryCount": failed, "Entries": results })
    }

    /// The ids of the announcements in every request.
    fn told(&self) -> Vec<Vec<String>> {
        let id = |entry: &Value| {
            let detail: Announcement =
                serde_json::from_str(entry["Detail"].as_str().unwrap()).unwrap();
            detail.id
        };
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|entries| entries.iter().map(id).collect())
            .collect()
    }
}

impl HttpClient for Service {
    fn http_connector(
        &self,
        _: &HttpConnectorSettings,
        _: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Service {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let answer = self.answer(request.body().bytes().unwrap_or_default());
        let status = 200u16.try_into().unwrap();
        let response = HttpResponse::new(status, SdkBody::from(answer.to_string()));
        HttpConnectorFuture::ready(Ok(response))
    }
}

fn bus(service: &Service) -> EventBridgeBus {
    let config = AwsConfig {
        region: "eu-central-1".into(),
        credentials: Credentials::new("test", "test", None, None, "test"),
        endpoint: Some("http://bus.local".into()),
        links: None,
        http: SharedHttpClient::new(service.clone()),
    };
    EventBridgeBus::new(config.eventbridge(), "onsale-bus")
}

fn news(n: usize) -> Announcement {
    let news = News::ShowCancelled {
        show_id: ShowId::from_bytes([1; 16]),
        refunds_due: 2,
    };
    news.announce(&n.to_string(), Millis(1_800_000_000_000))
}

fn ids(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|n| news(n).id).collect()
}

#[tokio::test]
async fn an_announcement_is_an_entry_with_its_source_and_kind() {
    let service = Service::default();
    bus(&service).announce(&[news(1)]).await.unwrap();
    let requests = service.requests.lock().unwrap();
    let entry = &requests[0][0];
    assert_eq!(entry["EventBusName"], "onsale-bus");
    assert_eq!(entry["Source"], "onsale");
    assert_eq!(entry["DetailType"], "ShowCancelled");
    let detail: Announcement = serde_json::from_str(entry["Detail"].as_str().unwrap()).unwrap();
    assert_eq!(detail, news(1));
}

#[tokio::test]
async fn an_announcement_names_the_request_that_caused_it() {
    let service = Service::default();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let cause = Cause::begin(Some("req-7"), Some(parent));
    let told = [news(1)];
    cause.scope(bus(&service).announce(&told)).await.unwrap();
    bus(&service).announce(&told).await.unwrap();
    let requests = service.requests.lock().unwrap();
    let detail = |n: usize| {
        let text = requests[n][0]["Detail"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()
    };
    assert_eq!(detail(0)["request_id"], "req-7");
    assert_eq!(detail(0)["traceparent"], parent);
    assert_eq!(detail(1), serde_json::to_value(&told[0]).unwrap());
    let read: Announcement = serde_json::from_value(detail(0)).unwrap();
    assert_eq!(read, told[0]);
}

#[tokio::test]
async fn many_announcements_go_in_requests_of_ten() {
    let service = Service::default();
    let many: Vec<_> = (0..23).map(news).collect();
    bus(&service).announce(&many).await.unwrap();
    assert_eq!(service.told(), [ids(0..10), ids(10..20), ids(20..23)]);
    bus(&service).announce(&[]).await.unwrap();
    assert_eq!(service.told().len(), 3);
}

#[tokio::test]
async fn only_what_was_turned_down_is_sent_again() {
    let service = Service::default();
    let busy = Some("ThrottlingException");
    service
        .refusals
        .lock()
        .unwrap()
        .extend([vec![None, busy, None, busy], vec![busy, None]]);
    let four: Vec<_> = (0..4).map(news).collect();
    bus(&service).announce(&four).await.unwrap();
    assert_eq!(service.told(), [ids(0..4), ids([1, 3]), ids([1])]);
}

#[tokio::test]
async fn a_bus_that_keeps_turning_an_entry_down_is_unavailable() {
    let service = Service::default();
    let refusals = vec![vec![Some("InternalFailure")]; TRIES as usize];
    service.refusals.lock().unwrap().extend(refusals);
    let told = bus(&service).announce(&[news(1)]).await;
    let expected = StoreError::Unavailable("bus: InternalFailure".to_owned());
    assert_eq!(told, Err(expected));
    assert_eq!(service.told().len(), TRIES as usize);
}
