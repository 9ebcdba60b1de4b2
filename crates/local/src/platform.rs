//! The platform put together: every function's router on one origin, every consumer
//! on its queue, all on a cloud inside this process.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::config::Credentials;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use onsale_app::App;
use onsale_aws::AwsConfig;
use onsale_http::{Api, Limits, SessionSigner, openapi};
use onsale_local_cloud::{LocalCloud, Runner, SqsHandler, Wiring};
use serde_json::json;
use tokio::sync::watch;
use utoipa::openapi::OpenApi;

/// The stack that a team deploys is also what wires this process.
const TEMPLATE: &str = include_str!("../../../template.yaml");
/// How long invocations under way may take to finish when the platform stops.
const GRACE: Duration = Duration::from_secs(10);
/// How often items whose time to live has passed are deleted.
const SWEEP_EVERY: Duration = Duration::from_secs(3_600);

#[derive(Debug)]
pub struct Platform {
    pub app: App,
    pub router: Router,
    cloud: LocalCloud,
    runner: Runner,
}

impl Platform {
    pub async fn start(
        data: &Path,
        signer: SessionSigner,
        limits: Limits,
        without: &[String],
    ) -> Result<Self, String> {
        let wiring = Wiring::parse(TEMPLATE).map_err(|e| format!("template.yaml: {e}"))?;
        let cloud = LocalCloud::open(data).map_err(|e| e.to_string())?;
        cloud.apply(&wiring).await.map_err(|e| e.to_string())?;
        let table = wiring.table_name().ok_or("template.yaml has no table")?;
        let queue = wiring
            .queue_url("ExpireHoldsQueue")
            .ok_or("template.yaml has no ExpireHoldsQueue")?;
        let app = aws_config(&cloud).app(table, &queue);
        let api = Api::new(app.clone(), signer.verifier(), limits);
        let (routes, _) = functions(Arc::new(signer));
        let router = routes.with_state(api).merge(health(cloud.clone()));
        let runner = Runner::new(&cloud, &wiring, consumers(&app))
            .and_then(|runner| runner.without(&HashSet::from_iter(without.iter().cloned())))
            .map_err(|e| e.to_string())?;
        Ok(Self {
            app,
            router,
            cloud,
            runner,
        })
    }

    /// Runs the consumers and the sweeper until `stop` turns true.
    pub async fn run_background(self, stop: watch::Receiver<bool>) {
        let cloud = self.cloud;
        let sweeper = tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP_EVERY).await;
                match cloud.sweep_expired_items().await {
                    Ok(swept) => tracing::info!(swept, "items past their time deleted"),
                    Err(error) => tracing::warn!(%error, "sweeping failed"),
                }
            }
        });
        let unfinished = self.runner.run(stop, GRACE).await;
        sweeper.abort();
        if unfinished > 0 {
            tracing::warn!(
                unfinished,
                "invocations were cut off; their messages come again"
            );
        }
    }
}

/// Any key opens a cloud that lives in this process.
fn aws_config(cloud: &LocalCloud) -> AwsConfig {
    AwsConfig {
        region: "local".to_owned(),
        credentials: Credentials::new("local", "local", None, None, "embedded"),
        endpoint: Some("http://cloud.local".to_owned()),
        http: cloud.http_client(),
    }
}

/// The routers that the Lambda functions serve, unchanged, and their document.
fn functions(signer: Arc<SessionSigner>) -> (Router<Api>, OpenApi) {
    let (accounts, accounts_doc) = openapi::finish(accounts::router(signer), "accounts");
    let (catalog, catalog_doc) = openapi::finish(catalog::router(), "catalog");
    let (holds, holds_doc) = openapi::finish(holds::router(), "holds");
    let router = accounts.merge(catalog).merge(holds);
    (
        router,
        openapi::merge(vec![accounts_doc, catalog_doc, holds_doc]),
    )
}

/// The document of this build, as it is committed in docs/openapi.json.
pub fn openapi_text() -> Result<String, String> {
    let (_, document) = functions(Arc::new(SessionSigner::from_secret("document", [0; 32])));
    document.to_pretty_json().map_err(|e| e.to_string())
}

fn consumers(app: &App) -> HashMap<String, SqsHandler> {
    let app = app.clone();
    let expire_holds: SqsHandler = Arc::new(move |event| {
        let app = app.clone();
        Box::pin(async move { Ok(expire_holds::handle(app, event).await) })
    });
    HashMap::from([("expire-holds".to_owned(), expire_holds)])
}

fn health(cloud: LocalCloud) -> Router {
    let answer = move || {
        let trouble = cloud.last_storage_error();
        async move {
            match trouble {
                None => (StatusCode::OK, Json(json!({"status": "ok"}))),
                Some(error) => {
                    tracing::error!(error, "the storage fails");
                    let body = json!({"status": "storage_failing"});
                    (StatusCode::SERVICE_UNAVAILABLE, Json(body))
                }
            }
        }
    };
    Router::new().route("/healthz", get(answer))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_document_is_that_of_this_build() {
        let committed = include_str!("../../../docs/openapi.json").trim();
        let built = super::openapi_text().unwrap();
        assert!(
            committed == built,
            "run: cargo run --release -- openapi > docs/openapi.json"
        );
    }
}
