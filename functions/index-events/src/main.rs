//! The Lambda of `index-events`: builds its clients and runs.

use std::sync::Arc;

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_runtime::{Error, LambdaEvent, run, service_fn, tracing};
use onsale_app::App;
use onsale_aws::{SystemClock, ports_from_env};
use onsale_search::SnapshotIndex;
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let mut ports = ports_from_env()?;
    let folder = std::env::temp_dir().join("search-index");
    let index = SnapshotIndex::new(ports.objects.clone(), Arc::new(SystemClock), folder)?;
    ports.search_index = Arc::new(index);
    let app = &App::new(ports);
    run(service_fn(|event: LambdaEvent<Value>| async move {
        // Messages come as records, the schedule with nothing.
        if event.payload.get("Records").is_none() {
            let indexed = index_events::sweep(app).await?;
            return Ok::<_, Error>(json!({ "indexed": indexed }));
        }
        let messages: SqsEvent = serde_json::from_value(event.payload)?;
        let done = index_events::handle(app, messages).await?;
        Ok(serde_json::to_value(done)?)
    }))
    .await
}
