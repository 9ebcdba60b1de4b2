//! The stores under test.

use std::sync::Arc;

use aws_sdk_dynamodb::config::Credentials;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use onsale_app::App;
use onsale_app::unplugged::Unplugged;
use onsale_aws::{AwsConfig, DynamoStore, Wires};
use onsale_domain::time::Millis;
use onsale_local_cloud::{LocalCloud, Wiring};
use onsale_memory::ManualClock;

const TEMPLATE: &str = include_str!("../../../../template.yaml");
pub(crate) const START: Millis = Millis(1_800_000_000_000);

pub(crate) fn wiring() -> Wiring {
    Wiring::parse(TEMPLATE).unwrap()
}

pub(crate) fn config(http: SharedHttpClient, endpoint: &str) -> AwsConfig {
    AwsConfig {
        region: "eu-central-1".into(),
        credentials: Credentials::new("test", "test", None, None, "test"),
        endpoint: Some(endpoint.into()),
        links: None,
        http,
    }
}

/// The real adapter on an engine in this process, with its requests going through
/// whatever `wrap` puts in between.
pub(crate) struct InProcess {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub store: DynamoStore,
    pub sqs: aws_sdk_sqs::Client,
}

pub(crate) async fn in_process(
    wrap: impl FnOnce(SharedHttpClient) -> SharedHttpClient,
) -> InProcess {
    let cloud = LocalCloud::memory().unwrap();
    let wiring = wiring();
    cloud.apply(&wiring).await.unwrap();
    let config = config(wrap(cloud.http_client()), "http://cloud.local");
    let wires = Wires {
        table: wiring.table_name().unwrap().to_owned(),
        expire_holds_queue: Some(wiring.queue_url("ExpireHoldsQueue").unwrap()),
        notify_queue: None,
        saga_queue: Some(wiring.queue_url("SagaQueue").unwrap()),
        exports_queue: Some(wiring.queue_url("ExportsQueue").unwrap()),
        offer_waitlist_queue: Some(wiring.queue_url("OfferWaitlistQueue").unwrap()),
        event_bus: Some("EventBus".to_owned()),
        bucket: Some("Bucket".to_owned()),
    };
    let store = config.store(&wires);
    let clock = Arc::new(ManualClock::new(START));
    let mut ports = config.ports(&wires, Arc::new(Unplugged), Arc::new(Unplugged));
    ports.clock = clock.clone();
    let app = App::new(ports);
    let sqs = config.sqs();
    InProcess {
        app,
        clock,
        store,
        sqs,
    }
}

/// MiniStack, when the test run has started it.
pub(crate) fn ministack_config() -> Option<AwsConfig> {
    let url = std::env::var("ONSALE_MINISTACK_URL").ok()?;
    let http = aws_smithy_http_client::Builder::new().build_http();
    Some(config(http, &url))
}

/// MiniStack's DynamoDB.
pub(crate) async fn ministack() -> Option<DynamoStore> {
    let client = ministack_config()?.dynamodb();
    let table = format!("contract-{}", std::process::id());
    create_table(&client, &table).await;
    Some(DynamoStore::new(client, table))
}

pub(crate) async fn create_table(client: &aws_sdk_dynamodb::Client, name: &str) {
    use aws_sdk_dynamodb::types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
        Projection, ProjectionType, ScalarAttributeType,
    };
    let table = wiring().table.unwrap();
    let key_schema = |keys: &[(String, String)]| -> Vec<KeySchemaElement> {
        let element = |(name, kind): &(String, String)| {
            let builder = KeySchemaElement::builder().attribute_name(name);
            builder
                .key_type(KeyType::from(kind.as_str()))
                .build()
                .unwrap()
        };
        keys.iter().map(element).collect()
    };
    let attributes = table.attributes.iter().map(|(name, kind)| {
        let builder = AttributeDefinition::builder().attribute_name(name);
        builder
            .attribute_type(ScalarAttributeType::from(kind.as_str()))
            .build()
            .unwrap()
    });
    let indexes = table.indexes.iter().map(|index| {
        GlobalSecondaryIndex::builder()
            .index_name(&index.name)
            .set_key_schema(Some(key_schema(&index.keys)))
            .projection(
                Projection::builder()
                    .projection_type(ProjectionType::from(index.projection.as_str()))
                    .build(),
            )
            .build()
            .unwrap()
    });
    let created = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema(&table.keys)))
        .set_attribute_definitions(Some(attributes.collect()))
        .set_global_secondary_indexes(Some(indexes.collect()))
        .send()
        .await;
    if let Err(error) = created {
        let in_use = error
            .as_service_error()
            .is_some_and(|e| e.is_resource_in_use_exception());
        assert!(in_use, "MiniStack cannot create the table: {error:?}");
    }
}
