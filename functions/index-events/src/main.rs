//! The Lambda of `index-events`: builds its clients and runs.

use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use onsale_app::App;
use onsale_aws::ports_from_env;
use onsale_machine::SystemClock;
use onsale_search::SnapshotIndex;
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let mut ports = ports_from_env()?;
    let folder = std::env::temp_dir().join("search-index");
    let index = SnapshotIndex::new(ports.objects.clone(), Arc::new(SystemClock), folder)?;
    ports.search_index = Arc::new(index);
    let app = &App::new(ports);
    run(service_fn(|event: LambdaEvent<Value>| {
        observed.around(indexed(app, event.payload))
    }))
    .await
}

/// Messages come as records, the schedule with nothing.
async fn indexed(app: &App, payload: Value) -> Result<Value, Error> {
    if payload.get("Records").is_none() {
        let indexed = index_events::sweep(app).await?;
        return Ok(json!({ "indexed": indexed }));
    }
    let batch = onsale_aws::deliveries(serde_json::from_value(payload)?);
    let failed = index_events::handle(app, batch).await;
    Ok(serde_json::to_value(onsale_aws::response(failed))?)
}
