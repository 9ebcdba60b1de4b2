//! The platform put together: every function's router on one origin, every consumer
//! on its queue, all on a cloud inside this process.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use onsale_app::ports::{Objects, Payments, Post, Store};
use onsale_app::{App, Ports};
use onsale_domain::password_reset::ResetKeys;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_edge::Secrets;
use onsale_http::captcha::Siteverify;
use onsale_http::{Api, Limits, PassVerifier, SessionSigner, WorkGate, openapi};
use onsale_local_cloud::{
    CloudError, LocalCloud, LocalObjects, Mailbox, Runner, Wiring, WorkQueues,
};
use onsale_machine::{OsEntropy, SystemClock};
use onsale_payments::{PaymentSettings, Provider, WebhookSecrets};
use onsale_search::{SnapshotIndex, SnapshotSearch};
use room::RoomKeys;
use serde_json::json;
use tokio::sync::watch;
use utoipa::openapi::OpenApi;

use crate::data_folder::DataFolder;
use crate::dev_mail;
use crate::downloads::{self, Links};
use crate::handlers::{INDEX_EVENTS, consumers, schedules};

/// The stack that a team deploys is also what wires this process.
const TEMPLATE: &str = include_str!("../../../template.yaml");
/// Whom mails come from, and where nobody listens.
const SENDER: &str = "Onsale <tickets@onsale.example>";
/// How long invocations under way may take to finish when the platform stops.
const GRACE: Duration = Duration::from_secs(10);
/// The logical id of the bucket, which is its name in the local cloud.
const BUCKET: &str = "Bucket";
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
    /// Whether this process writes the search index.
    indexes: bool,
    objects: LocalObjects,
}

impl Platform {
    pub async fn start(
        folder: &DataFolder,
        limits: Limits,
        without: &[String],
        links: Links,
    ) -> Result<Self, String> {
        let wiring = Wiring::parse(TEMPLATE).map_err(|e| format!("template.yaml: {e}"))?;
        let signer = folder.session_signer().map_err(|e| e.to_string())?;
        let quotes = folder.quote_signer().map_err(|e| e.to_string())?;
        let ticket_key = folder.ticket_key().map_err(|e| e.to_string())?;
        let ticket_keys = TicketKeys::new(vec![ticket_key.public()]).map_err(|e| e.to_string())?;
        let edge_secrets = folder.edge_secrets().map_err(|e| e.to_string())?;
        let cloud = open_cloud(folder, &wiring)
            .await
            .map_err(|e| e.to_string())?;
        let objects = cloud.objects(BUCKET, links.of_objects());
        let objects = objects.map_err(|e| e.to_string())?;
        let store = store(&cloud);
        let stack = format!("local-{}", ticket_key.public().id());
        let setting = |name: &str| match (name, std::env::var(name).ok()) {
            // Two folders may pay into one account.
            ("ONSALE_STACK", None) => Some(stack.clone()),
            ("PUBLIC_BASE_URL", None) => Some(links.origin.clone()),
            (_, value) => value,
        };
        let provider = Provider::configured(setting, store.clone(), Arc::new(SystemClock))?;
        folder.check_provider(provider.kind.name())?;
        let engines = Engines {
            store,
            payments: provider.payments.clone(),
            objects: Arc::new(objects.clone()),
        };
        let app = App::new(ports(
            &cloud,
            engines,
            ticket_key,
            &folder.path.join("search"),
        )?);
        let reset_keys = Arc::new(folder.reset_keys().map_err(|e| e.to_string())?);
        let post = post(reset_keys.clone(), cloud.mailbox(), &links.origin)?;
        let passes = PassVerifier::parse(&edge_secrets.passes.public_key())?;
        let api = Api::new(app.clone(), signer.verifier(), limits)
            .with_passes(passes)
            .with_quotes(quotes)
            .with_work(work_gate(&edge_secrets)?);
        let room_keys = RoomKeys {
            internal: Some(Arc::new(edge_secrets.internal.clone())),
            fans: edge_secrets.fans.clone(),
        };
        let (routes, _) = functions(
            Arc::new(signer),
            Some(reset_keys),
            Arc::new(ticket_keys),
            room_keys,
            (provider.webhooks, provider.settings),
        );
        let runner = Runner::new(&cloud, &wiring, consumers(&app, post)?, schedules(&app))
            .and_then(|runner| runner.without(&HashSet::from_iter(without.iter().cloned())))
            .map_err(|e| e.to_string())?;
        Ok(Self {
            app,
            functions: routes.with_state(api),
            edge_secrets,
            cloud,
            runner,
            indexes: !without.iter().any(|name| name == INDEX_EVENTS),
            objects,
        })
    }

    /// Runs the consumers and the sweeper until `stop` turns true.
    pub async fn run_background(self, stop: watch::Receiver<bool>) {
        let cloud = self.cloud;
        if self.indexes {
            // The schedule begins in a minute; an index that is missing should not wait for it.
            let app = self.app.clone();
            tokio::spawn(async move {
                if let Err(error) = index_events::sweep(&app).await {
                    tracing::warn!(error, "the search index was not looked at");
                }
            });
        }
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

/// The keys of the edge, and a CAPTCHA where the environment has the settings of one.
fn work_gate(edge: &Secrets) -> Result<WorkGate, String> {
    let gate = WorkGate::new(Some(edge.work.clone()));
    let captcha = Siteverify::configured(|name| std::env::var(name).ok())?;
    Ok(match captcha {
        Some(captcha) => gate.with_captcha(Arc::new(captcha)),
        None => gate,
    })
}

async fn open_cloud(folder: &DataFolder, wiring: &Wiring) -> Result<LocalCloud, CloudError> {
    let cloud = LocalCloud::open(&folder.path).await?;
    cloud.apply(wiring).await?;
    Ok(cloud)
}

fn store(cloud: &LocalCloud) -> Store {
    Store::new(cloud.table(), Arc::new(SystemClock), Arc::new(OsEntropy))
}

/// What the rest of the ports is built on.
struct Engines {
    store: Store,
    payments: Arc<dyn Payments>,
    objects: Arc<dyn Objects>,
}

/// The ports of the application. `copies` is the folder for copies of the search index.
fn ports(
    cloud: &LocalCloud,
    engines: Engines,
    ticket_key: TicketKey,
    copies: &Path,
) -> Result<Ports, String> {
    let queues = WorkQueues::new(cloud.queues().clone());
    let queues = Arc::new(queues.map_err(|e| format!("template.yaml: {e}"))?);
    let Engines {
        store,
        payments,
        objects,
    } = engines;
    let search = SnapshotSearch::new(objects.clone(), copies.join("read"))?;
    let clock = Arc::new(SystemClock);
    let index = SnapshotIndex::new(objects.clone(), clock.clone(), copies.join("write"))?;
    Ok(Ports {
        store,
        expiry_queue: queues.clone(),
        saga_queue: queues.clone(),
        notify_queue: queues.clone(),
        export_queue: queues.clone(),
        waitlist_queue: queues,
        bus: Arc::new(cloud.bus().clone()),
        payments,
        ticket_signer: Arc::new(ticket_key),
        objects,
        search: Arc::new(search),
        search_index: Arc::new(index),
        clock,
        entropy: Arc::new(OsEntropy),
    })
}

/// What `notify` sends mails with: as the template says, except that links lead here.
fn post(keys: Arc<ResetKeys>, mailbox: &Mailbox, origin: &str) -> Result<Post, String> {
    let mut settings = notify::settings(|name| match (name, std::env::var(name).ok()) {
        ("MAIL_SENDER", None) => Some(SENDER.to_owned()),
        ("PUBLIC_BASE_URL", None) => Some(origin.to_owned()),
        (_, value) => value,
    })?;
    settings.reset_keys = Some(keys);
    let sender = settings.sender.address.as_str().to_owned();
    Ok(notify::post(Arc::new(mailbox.mailer(sender)), settings))
}

/// The routers that the Lambda functions serve, unchanged, and their document.
fn functions(
    signer: Arc<SessionSigner>,
    reset_keys: Option<Arc<ResetKeys>>,
    ticket_keys: Arc<TicketKeys>,
    room_keys: RoomKeys,
    (webhooks, settings): (WebhookSecrets, PaymentSettings),
) -> (Router<Api>, OpenApi) {
    let parts = [
        openapi::finish(accounts::router(signer, reset_keys), "accounts"),
        openapi::finish(catalog::router(), "catalog"),
        openapi::finish(holds::router(), "holds"),
        openapi::finish(room::router(room_keys), "room"),
        openapi::finish(checkout::router(webhooks, settings), "checkout"),
        openapi::finish(
            tickets::router(ticket_keys, tickets::Seller::from_env()),
            "tickets",
        ),
        openapi::finish(organiser::router(), "organiser"),
    ];
    let (routers, documents): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let router = routers.into_iter().fold(Router::new(), Router::merge);
    (router, openapi::merge(documents))
}

/// What the edge answers without a function.
const EDGE: &str = include_str!("../../../edge-worker/openapi.json");

/// The document of this build, as it is committed in docs/openapi.json.
pub fn openapi_text() -> Result<String, String> {
    let signer = Arc::new(SessionSigner::from_secret("document", [0; 32]));
    let key = TicketKey::from_bytes(&[0; 32]).public();
    let keys = TicketKeys::new(vec![key]).map_err(|e| e.to_string())?;
    let (_, document) = functions(
        signer,
        None,
        Arc::new(keys),
        RoomKeys::default(),
        (WebhookSecrets::default(), PaymentSettings::sandbox()),
    );
    let edge = openapi::of_edge(EDGE).map_err(|e| e.to_string())?;
    let document = openapi::merge(vec![document, edge]);
    document.to_pretty_json().map_err(|e| e.to_string())
}

impl Platform {
    /// The inbox of everybody: this machine only.
    pub fn inbox(&self) -> Router {
        dev_mail::router(self.cloud.mailbox().clone())
    }

    /// Answers links to objects.
    pub fn downloads(&self) -> Router {
        downloads::router(self.objects.clone())
    }

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

    #[test]
    fn every_operation_says_who_answers_it() {
        let document = super::openapi_text().unwrap();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let function = operation["x-function"].as_str();
                assert!(function.is_some(), "{method} {path}");
            }
        }
    }
}
