//! What the machine gives: the clock, randomness, and the configuration of the SDKs.
//!
//! On Lambda the credentials are three environment variables for the life of the
//! process, so they are read directly; a provider chain would only cost start-up time.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use onsale_app::App;
use onsale_app::ports::{Clock, Entropy};
use onsale_domain::time::Millis;

use crate::{DynamoStore, SqsExpiryQueue};

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Ids and salts must never repeat: without randomness nothing can go on.
        #[expect(
            clippy::expect_used,
            reason = "a machine without randomness cannot serve"
        )]
        getrandom::fill(bytes).expect("the operating system has no randomness");
    }
}

/// How the SDKs reach their services.
#[derive(Debug, Clone)]
pub struct AwsConfig {
    pub region: String,
    pub credentials: Credentials,
    /// For an emulated cloud; `None` is AWS itself.
    pub endpoint: Option<String>,
    pub http: SharedHttpClient,
}

impl AwsConfig {
    fn from_env() -> Result<Self, String> {
        let need = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
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

    /// The application on these services.
    pub fn app(&self, table: &str, expire_holds_queue_url: &str) -> App {
        App::new(
            Arc::new(DynamoStore::new(self.dynamodb(), table)),
            Arc::new(SqsExpiryQueue::new(self.sqs(), expire_holds_queue_url)),
            Arc::new(SystemClock),
            Arc::new(OsEntropy),
        )
    }
}

fn https_client() -> SharedHttpClient {
    use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
    let ring = tls::Provider::Rustls(CryptoMode::Ring);
    aws_smithy_http_client::Builder::new()
        .tls_provider(ring)
        .build_https()
}

/// The application as a Lambda function finds it: everything from the environment.
pub async fn app_from_env() -> Result<App, String> {
    let need = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let config = AwsConfig::from_env()?;
    // A function that sends no expiry messages has no queue in its environment.
    let queue = std::env::var("EXPIRE_HOLDS_QUEUE_URL").unwrap_or_default();
    Ok(config.app(&need("TABLE_NAME")?, &queue))
}
