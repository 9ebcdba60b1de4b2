//! SDK clients as production builds them, apart from the HTTP client.

use std::collections::HashMap;

use aws_sdk_dynamodb::config::{
    BehaviorVersion, Credentials, Region, SharedHttpClient, retry::RetryConfig,
};
use aws_sdk_dynamodb::types::AttributeValue;
use onsale_aws_emulator::{Emulator, Wiring};

pub(crate) const TEMPLATE: &str = include_str!("../../../../template.yaml");
pub(crate) const TABLE: &str = "Table";

macro_rules! client {
    ($name:ident, $sdk:ident) => {
        pub(crate) fn $name(http: SharedHttpClient) -> $sdk::Client {
            let config = $sdk::Config::builder()
                .behavior_version(BehaviorVersion::latest())
                .region(Region::new("local"))
                .credentials_provider(Credentials::new("local", "local", None, None, "local"))
                .endpoint_url("http://cloud.local")
                // The pause between attempts is random up to this; a test need not wait.
                .retry_config(
                    RetryConfig::standard()
                        .with_initial_backoff(std::time::Duration::from_millis(1)),
                )
                .http_client(http)
                .build();
            $sdk::Client::from_conf(config)
        }
    };
}

client!(dynamodb, aws_sdk_dynamodb);
client!(sqs, aws_sdk_sqs);
client!(events, aws_sdk_eventbridge);

/// An emulator with the shape of the real template.
pub(crate) async fn emulator() -> Emulator {
    let emulator = Emulator::memory().unwrap();
    emulator
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    emulator
}

pub(crate) fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub(crate) fn key(pk: &str) -> HashMap<String, AttributeValue> {
    HashMap::from([("pk".to_owned(), s(pk)), ("sk".to_owned(), s("-"))])
}
