//! The stores under test.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use onsale_app::App;
use onsale_app::unplugged::Unplugged;
use onsale_aws::{DynamoTable, Wires};
use onsale_aws_emulator::{Emulator, Wiring, queue_url};
use onsale_domain::time::Millis;
use onsale_machine::{OsEntropy, SystemClock};
use onsale_store::{SCHEMA, Store};
use onsale_test_support::ManualClock;

use crate::cloud::{config, create_table, ministack_config};

const TEMPLATE: &str = include_str!("../../../../template.yaml");
pub(crate) const START: Millis = Millis(1_800_000_000_000);

pub(crate) fn wiring() -> Wiring {
    Wiring::parse(TEMPLATE).unwrap()
}

/// The real adapter on an engine in this process, with its requests going through
/// whatever `wrap` puts in between.
pub(crate) struct InProcess {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub store: Store,
    pub sqs: aws_sdk_sqs::Client,
}

pub(crate) async fn in_process(
    wrap: impl FnOnce(SharedHttpClient) -> SharedHttpClient,
) -> InProcess {
    let cloud = Emulator::memory().unwrap();
    let wiring = wiring();
    cloud.apply(&wiring).await.unwrap();
    let config = config(wrap(cloud.http_client()), "http://cloud.local");
    let wires = Wires {
        table: wiring.table_name().unwrap().to_owned(),
        expire_holds_queue: Some(queue_url("ExpireHoldsQueue")),
        notify_queue: None,
        saga_queue: Some(queue_url("SagaQueue")),
        exports_queue: Some(queue_url("ExportsQueue")),
        offer_waitlist_queue: Some(queue_url("OfferWaitlistQueue")),
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

/// MiniStack's DynamoDB.
pub(crate) async fn ministack() -> Option<Store> {
    let client = ministack_config()?.dynamodb();
    let table = format!("contract-{}", std::process::id());
    create_table(&client, &table, &SCHEMA).await;
    let table = Arc::new(DynamoTable::new(client, table));
    Some(Store::new(
        table,
        Arc::new(SystemClock),
        Arc::new(OsEntropy),
    ))
}
