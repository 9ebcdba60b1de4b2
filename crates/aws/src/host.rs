//! The configuration of the SDKs.
//!
//! On Lambda the credentials are three environment variables for the life of the
//! process, so they are read directly; a provider chain would only cost start-up time.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use onsale_app::ports::{
    Bus, ExpiryQueue, ExportQueue, NotifyQueue, Objects, Payments, SagaQueue, Store, TicketSigner,
    WaitlistQueue,
};
use onsale_app::unplugged::Unplugged;
use onsale_app::{App, Ports};
use onsale_machine::{OsEntropy, SystemClock};

use crate::signed::{Kind, Service, Signer};
use crate::{
    DynamoTable, EventBridgeBus, S3Objects, SesMailer, SqsExpiryQueue, SqsExportQueue,
    SqsNotifyQueue, SqsSagaQueue, SqsWaitlistQueue,
};

/// How the SDKs reach their services.
#[derive(Debug, Clone)]
pub struct AwsConfig {
    pub region: String,
    pub credentials: Credentials,
    /// For an emulated cloud; `None` is AWS itself.
    pub endpoint: Option<String>,
    /// Where links to objects point, if not to where we reach them ourselves.
    pub links: Option<String>,
    pub http: SharedHttpClient,
}

/// What the services of one deployment are called. A function that has no use for one
/// of them does not know its name, and gets `Unplugged` in its place.
#[derive(Debug, Clone)]
pub struct Wires {
    pub table: String,
    /// The URL of the queue of `expire-holds`.
    pub expire_holds_queue: Option<String>,
    /// The URL of the queue of `drive-saga`.
    pub saga_queue: Option<String>,
    /// The URL of the queue of `notify`.
    pub notify_queue: Option<String>,
    /// The URL of the queue of `write-exports`.
    pub exports_queue: Option<String>,
    /// The URL of the queue of `offer-waitlist`.
    pub offer_waitlist_queue: Option<String>,
    /// The name or ARN of the event bus.
    pub event_bus: Option<String>,
    /// The name of the bucket.
    pub bucket: Option<String>,
}

impl Wires {
    /// `TABLE_NAME`, `EXPIRE_HOLDS_QUEUE_URL`, `SAGA_QUEUE_URL`, `NOTIFY_QUEUE_URL`,
    /// `EXPORTS_QUEUE_URL`,
    /// `EVENT_BUS_NAME`,
    /// `OFFER_WAITLIST_QUEUE_URL` and `BUCKET_NAME`.
    pub fn from_env() -> Result<Self, String> {
        let named = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        Ok(Self {
            table: need("TABLE_NAME")?,
            expire_holds_queue: named("EXPIRE_HOLDS_QUEUE_URL"),
            saga_queue: named("SAGA_QUEUE_URL"),
            notify_queue: named("NOTIFY_QUEUE_URL"),
            exports_queue: named("EXPORTS_QUEUE_URL"),
            offer_waitlist_queue: named("OFFER_WAITLIST_QUEUE_URL"),
            event_bus: named("EVENT_BUS_NAME"),
            bucket: named("BUCKET_NAME"),
        })
    }
}

fn need(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set"))
}

impl AwsConfig {
    pub fn from_env() -> Result<Self, String> {
        let credentials = Credentials::new(
            need("AWS_ACCESS_KEY_ID")?,
            need("AWS_SECRET_ACCESS_KEY")?,
            std::env::var("AWS_SESSION_TOKEN").ok(),
            None,
            "environment",
        );
        Ok(Self {
            region: need("AWS_REGION")?,
            credentials,
            endpoint: std::env::var("AWS_ENDPOINT_URL").ok(),
            links: None,
            http: https_client(),
        })
    }

    /// Repeats by the SDK are what makes a lost reply harmless: the repeated write finds
    /// its own cells.
    fn retries() -> RetryConfig {
        RetryConfig::standard()
            .with_max_attempts(4)
            .with_initial_backoff(Duration::from_millis(25))
    }

    fn timeouts() -> TimeoutConfig {
        TimeoutConfig::builder()
            .operation_attempt_timeout(Duration::from_secs(3))
            .operation_timeout(Duration::from_secs(10))
            .build()
    }

    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let mut config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(self.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(self.credentials.clone()))
            .retry_config(Self::retries())
            .timeout_config(Self::timeouts())
            .http_client(self.http.clone());
        config.set_endpoint_url(self.endpoint.clone());
        aws_sdk_dynamodb::Client::from_conf(config.build())
    }

    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let mut config = aws_sdk_sqs::Config::builder()
            .behavior_version(aws_sdk_sqs::config::BehaviorVersion::latest())
            .region(aws_sdk_sqs::config::Region::new(self.region.clone()))
            .credentials_provider(SharedCredentialsProvider::new(self.credentials.clone()))
            .retry_config(Self::retries())
            .timeout_config(Self::timeouts())
            .http_client(self.http.clone());
        config.set_endpoint_url(self.endpoint.clone());
        aws_sdk_sqs::Client::from_conf(config.build())
    }

    pub fn eventbridge(&self) -> aws_sdk_eventbridge::Client {
        let mut config = aws_sdk_eventbridge::Config::builder()
            .behavior_version(aws_sdk_eventbridge::config::BehaviorVersion::latest())
            .region(aws_sdk_eventbridge::config::Region::new(
                self.region.clone(),
            ))
            .credentials_provider(SharedCredentialsProvider::new(self.credentials.clone()))
            .retry_config(Self::retries())
            .timeout_config(Self::timeouts())
            .http_client(self.http.clone());
        config.set_endpoint_url(self.endpoint.clone());
        aws_sdk_eventbridge::Client::from_conf(config.build())
    }

    fn signer(&self, kind: Kind, base: String) -> Signer {
        Signer {
            kind,
            base: base.trim_end_matches('/').to_owned(),
            region: self.region.clone(),
            credentials: self.credentials.clone(),
        }
    }

    /// The host of a service at AWS.
    fn at_aws(&self, service: &str) -> String {
        let china = if self.region.starts_with("cn-") {
            ".cn"
        } else {
            ""
        };
        format!("https://{service}.{}.amazonaws.com{china}", self.region)
    }

    /// Without repeats: a message whose answer was lost may have been sent.
    pub fn mailer(&self, sender: impl Into<String>) -> SesMailer {
        let base = self.endpoint.clone();
        let base = base.unwrap_or_else(|| self.at_aws("email"));
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(Duration::from_secs(20))
            .build();
        let signer = self.signer(Kind::Ses, base);
        let once = RetryConfig::disabled();
        let service = Service::new(signer, self.http.clone(), &once, timeouts);
        SesMailer::new(service, sender)
    }

    /// Objects are larger than items, so they may take longer.
    pub fn objects(&self, bucket: &str) -> S3Objects {
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(3))
            .read_timeout(Duration::from_secs(10))
            .operation_timeout(Duration::from_secs(600))
            .build();
        // An emulated cloud has no host name for each bucket.
        let (base, prefix) = match &self.endpoint {
            Some(endpoint) => (endpoint.clone(), format!("/{bucket}")),
            None => (self.at_aws(&format!("{bucket}.s3")), String::new()),
        };
        let links = self.links.clone().unwrap_or_else(|| base.clone());
        let signer = self.signer(Kind::S3, base);
        let service = Service::new(signer, self.http.clone(), &Self::retries(), timeouts);
        S3Objects::new(service, self.signer(Kind::S3, links), prefix)
    }

    /// The store by itself, for the sandbox that keeps its ledger in it. All stores of
    /// one configuration share their connections.
    pub fn store(&self, wires: &Wires) -> Store {
        let table = DynamoTable::new(self.dynamodb(), &wires.table);
        Store::new(Arc::new(table), Arc::new(SystemClock), Arc::new(OsEntropy))
    }

    /// The ports of the application on these services.
    pub fn ports(
        &self,
        wires: &Wires,
        payments: Arc<dyn Payments>,
        ticket_signer: Arc<dyn TicketSigner>,
    ) -> Ports {
        let expiry_queue: Arc<dyn ExpiryQueue> = match &wires.expire_holds_queue {
            Some(url) => Arc::new(SqsExpiryQueue::new(self.sqs(), url)),
            None => Arc::new(Unplugged),
        };
        let saga_queue: Arc<dyn SagaQueue> = match &wires.saga_queue {
            Some(url) => Arc::new(SqsSagaQueue::new(self.sqs(), url)),
            None => Arc::new(Unplugged),
        };
        let notify_queue: Arc<dyn NotifyQueue> = match &wires.notify_queue {
            Some(url) => Arc::new(SqsNotifyQueue::new(self.sqs(), url)),
            None => Arc::new(Unplugged),
        };
        let export_queue: Arc<dyn ExportQueue> = match &wires.exports_queue {
            Some(url) => Arc::new(SqsExportQueue::new(self.sqs(), url)),
            None => Arc::new(Unplugged),
        };
        let waitlist_queue: Arc<dyn WaitlistQueue> = match &wires.offer_waitlist_queue {
            Some(url) => Arc::new(SqsWaitlistQueue::new(self.sqs(), url)),
            None => Arc::new(Unplugged),
        };
        let bus: Arc<dyn Bus> = match &wires.event_bus {
            Some(name) => Arc::new(EventBridgeBus::new(self.eventbridge(), name)),
            None => Arc::new(Unplugged),
        };
        let objects: Arc<dyn Objects> = match &wires.bucket {
            Some(bucket) => Arc::new(self.objects(bucket)),
            None => Arc::new(Unplugged),
        };
        Ports {
            store: self.store(wires),
            expiry_queue,
            saga_queue,
            notify_queue,
            export_queue,
            waitlist_queue,
            bus,
            payments,
            ticket_signer,
            objects,
            // The engine is brought by the functions that search, or write the index.
            search: Arc::new(Unplugged),
            search_index: Arc::new(Unplugged),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
        }
    }
}

fn https_client() -> SharedHttpClient {
    use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
    let ring = tls::Provider::Rustls(CryptoMode::Ring);
    aws_smithy_http_client::Builder::new()
        .tls_provider(ring)
        .build_https()
}

/// The ports as a Lambda function finds them in its environment. Those of payments and
/// of tickets are unplugged: the few functions that need them put their own in place.
pub fn ports_from_env() -> Result<Ports, String> {
    let (config, wires) = (AwsConfig::from_env()?, Wires::from_env()?);
    Ok(config.ports(&wires, Arc::new(Unplugged), Arc::new(Unplugged)))
}

/// The application of a Lambda function that neither charges nor signs.
pub fn app_from_env() -> Result<App, String> {
    Ok(App::new(ports_from_env()?))
}
