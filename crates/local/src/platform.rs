//! The platform put together: every function's router on one origin, every consumer
//! on its queue, all on a cloud inside this process.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::config::Credentials;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use onsale_app::App;
use onsale_aws::{AwsConfig, SystemClock, Wires};
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_edge::Secrets;
use onsale_http::{Api, Limits, PassVerifier, SessionSigner, WorkGate, openapi};
use onsale_local_cloud::{LocalCloud, Runner, ScheduleHandler, SqsHandler, Wiring};
use onsale_payments::{Provider, WebhookSecrets};
use room::RoomKeys;
use serde_json::json;
use tokio::sync::watch;
use utoipa::openapi::OpenApi;

use crate::data_folder::DataFolder;

/// The stack that a team deploys is also what wires this process.
const TEMPLATE: &str = include_str!("../../../template.yaml");
/// The logical id of the bus, which is its name in the local cloud.
const EVENT_BUS: &str = "EventBus";
/// How long invocations under way may take to finish when the platform stops.
const GRACE: Duration = Duration::from_secs(10);
/// How often items whose time to live has passed are deleted.
const SWEEP_EVERY: Duration = Duration::from_secs(3_600);

#[derive(Debug)]
pub struct Platform {
    pub app: App,
    /// The functions, before which the edge stands.
    pub functions: Router,
    pub edge_secrets: Secrets,
    cloud: LocalCloud,
    runner: Runner,
}

impl Platform {
    pub async fn start(
        folder: &DataFolder,
        limits: Limits,
        without: &[String],
    ) -> Result<Self, String> {
        let wiring = Wiring::parse(TEMPLATE).map_err(|e| format!("template.yaml: {e}"))?;
        let signer = folder.session_signer().map_err(|e| e.to_string())?;
        let ticket_key = folder.ticket_key().map_err(|e| e.to_string())?;
        let ticket_keys = TicketKeys::new(vec![ticket_key.public()]).map_err(|e| e.to_string())?;
        let edge_secrets = folder.edge_secrets().map_err(|e| e.to_string())?;
        let cloud = LocalCloud::open(&folder.path).map_err(|e| e.to_string())?;
        cloud.apply(&wiring).await.map_err(|e| e.to_string())?;
        let (config, wires) = (aws_config(&cloud), wires(&wiring)?);
        let store = Arc::new(config.store(&wires));
        let stack = format!("local-{}", ticket_key.public().id());
        let setting = |name: &str| match (name, std::env::var(name).ok()) {
            // Two folders may pay into one account.
            ("ONSALE_STACK", None) => Some(stack.clone()),
            (_, value) => value,
        };
        let provider = Provider::configured(setting, store, Arc::new(SystemClock))?;
        folder.check_provider(provider.kind.name())?;
        let payments = provider.payments.clone();
        let app = App::new(config.ports(&wires, payments, Arc::new(ticket_key)));
        let passes = PassVerifier::parse(&edge_secrets.passes.public_key())?;
        let api = Api::new(app.clone(), signer.verifier(), limits)
            .with_passes(passes)
            .with_work(WorkGate::new(Some(edge_secrets.work.clone())));
        let room_keys = RoomKeys {
            internal: Some(Arc::new(edge_secrets.internal.clone())),
            fans: edge_secrets.fans.clone(),
        };
        let (routes, _) = functions(
            Arc::new(signer),
            Arc::new(ticket_keys),
            room_keys,
            provider.webhooks,
        );
        let runner = Runner::new(&cloud, &wiring, consumers(&app, &wiring)?, schedules(&app))
            .and_then(|runner| runner.without(&HashSet::from_iter(without.iter().cloned())))
            .map_err(|e| e.to_string())?;
        Ok(Self {
            app,
            functions: routes.with_state(api),
            edge_secrets,
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

/// What the functions get in their environment, from the same template.
fn wires(wiring: &Wiring) -> Result<Wires, String> {
    let table = wiring.table_name().ok_or("template.yaml has no table")?;
    let queue = |name: &str| {
        let url = wiring.queue_url(name);
        url.ok_or_else(|| format!("template.yaml has no {name}"))
    };
    Ok(Wires {
        table: table.to_owned(),
        expire_holds_queue: Some(queue("ExpireHoldsQueue")?),
        saga_queue: Some(queue("SagaQueue")?),
        offer_waitlist_queue: Some(queue("OfferWaitlistQueue")?),
        event_bus: Some(EVENT_BUS.to_owned()),
    })
}

/// The routers that the Lambda functions serve, unchanged, and their document.
fn functions(
    signer: Arc<SessionSigner>,
    ticket_keys: Arc<TicketKeys>,
    room_keys: RoomKeys,
    webhooks: WebhookSecrets,
) -> (Router<Api>, OpenApi) {
    let parts = [
        openapi::finish(accounts::router(signer), "accounts"),
        openapi::finish(catalog::router(), "catalog"),
        openapi::finish(holds::router(), "holds"),
        openapi::finish(room::router(room_keys), "room"),
        openapi::finish(checkout::router(webhooks), "checkout"),
        openapi::finish(tickets::router(ticket_keys), "tickets"),
    ];
    let (routers, documents): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let router = routers.into_iter().fold(Router::new(), Router::merge);
    (router, openapi::merge(documents))
}

/// The document of this build, as it is committed in docs/openapi.json.
pub fn openapi_text() -> Result<String, String> {
    let signer = Arc::new(SessionSigner::from_secret("document", [0; 32]));
    let key = TicketKey::from_bytes(&[0; 32]).public();
    let keys = TicketKeys::new(vec![key]).map_err(|e| e.to_string())?;
    let (_, document) = functions(
        signer,
        Arc::new(keys),
        RoomKeys::default(),
        WebhookSecrets::default(),
    );
    document.to_pretty_json().map_err(|e| e.to_string())
}

fn consumers(app: &App, wiring: &Wiring) -> Result<HashMap<String, SqsHandler>, String> {
    let expiring = app.clone();
    let expire_holds: SqsHandler = Arc::new(move |event| {
        let app = expiring.clone();
        Box::pin(async move { Ok(expire_holds::handle(app, event).await) })
    });
    let dead_letters = wiring.queue_arn("SagaDeadLetters");
    let dead_letters: Arc<str> = dead_letters
        .ok_or("template.yaml has no SagaDeadLetters")?
        .into();
    let driving = app.clone();
    let drive_saga: SqsHandler = Arc::new(move |event| {
        let (app, dead_letters) = (driving.clone(), dead_letters.clone());
        Box::pin(async move { Ok(drive_saga::handle(&app, &dead_letters, event).await) })
    });
    let offering = app.clone();
    let setting = std::env::var(offer_waitlist::OFFER_SECONDS).ok();
    let offer_ms = offer_waitlist::offer_ms(setting.as_deref())?;
    let offer_waitlist: SqsHandler = Arc::new(move |event| {
        let app = offering.clone();
        Box::pin(async move { Ok(offer_waitlist::handle(app, offer_ms, event).await) })
    });
    Ok(HashMap::from([
        ("expire-holds".to_owned(), expire_holds),
        ("offer-waitlist".to_owned(), offer_waitlist),
        ("drive-saga".to_owned(), drive_saga),
    ]))
}

fn schedules(app: &App) -> HashMap<String, ScheduleHandler> {
    let app = app.clone();
    let reconcile: ScheduleHandler = Arc::new(move |input| {
        let app = app.clone();
        Box::pin(async move {
            let request = serde_json::from_value(input).map_err(|e| e.to_string())?;
            reconcile::handle(&app, request).await.map(|_| ())
        })
    });
    HashMap::from([("reconcile".to_owned(), reconcile)])
}

impl Platform {
    /// Whether the storage works.
    pub fn health(&self) -> Router {
        health(self.cloud.clone())
    }
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
