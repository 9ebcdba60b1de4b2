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
use onsale_app::ports::Post;
use onsale_aws::{AwsConfig, SystemClock, Wires};
use onsale_domain::password_reset::ResetKeys;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_edge::Secrets;
use onsale_http::captcha::Siteverify;
use onsale_http::{Api, Limits, PassVerifier, SessionSigner, WorkGate, openapi};
use onsale_local_cloud::{LocalCloud, Runner, ScheduleHandler, SqsHandler, Wiring};
use onsale_payments::{PaymentSettings, Provider, WebhookSecrets};
use onsale_search::{SnapshotIndex, SnapshotSearch};
use room::RoomKeys;
use serde_json::json;
use tokio::sync::watch;
use utoipa::openapi::OpenApi;

use crate::data_folder::DataFolder;
use crate::dev_mail;
use crate::downloads::{self, Links};

/// The stack that a team deploys is also what wires this process.
const TEMPLATE: &str = include_str!("../../../template.yaml");
/// The logical id of the bus, which is its name in the local cloud.
const EVENT_BUS: &str = "EventBus";
/// Whom mails come from, and where nobody listens.
const SENDER: &str = "Onsale <tickets@onsale.example>";
/// How long invocations under way may take to finish when the platform stops.
const GRACE: Duration = Duration::from_secs(10);
/// The logical id of the bucket, which is its name in the local cloud.
const BUCKET: &str = "Bucket";
const INDEX_EVENTS: &str = "index-events";
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
    links: Links,
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
        let cloud = LocalCloud::open(&folder.path).map_err(|e| e.to_string())?;
        cloud.apply(&wiring).await.map_err(|e| e.to_string())?;
        let (config, wires) = (aws_config(&cloud, &links), wires(&wiring)?);
        let store = Arc::new(config.store(&wires));
        let stack = format!("local-{}", ticket_key.public().id());
        let setting = |name: &str| match (name, std::env::var(name).ok()) {
            // Two folders may pay into one account.
            ("ONSALE_STACK", None) => Some(stack.clone()),
            ("PUBLIC_BASE_URL", None) => Some(links.origin.clone()),
            (_, value) => value,
        };
        let provider = Provider::configured(setting, store, Arc::new(SystemClock))?;
        folder.check_provider(provider.kind.name())?;
        let payments = provider.payments.clone();
        let mut ports = config.ports(&wires, payments, Arc::new(ticket_key));
        let (objects, copies) = (ports.objects.clone(), folder.path.join("search"));
        ports.search = Arc::new(SnapshotSearch::new(objects.clone(), copies.join("read"))?);
        let clock = Arc::new(SystemClock);
        let index = SnapshotIndex::new(objects, clock, copies.join("write"))?;
        ports.search_index = Arc::new(index);
        let app = App::new(ports);
        let reset_keys = Arc::new(folder.reset_keys().map_err(|e| e.to_string())?);
        let post = post(reset_keys.clone(), &config, &links.origin)?;
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
        let runner = Runner::new(
            &cloud,
            &wiring,
            consumers(&app, post, &wiring)?,
            schedules(&app),
        )
        .and_then(|runner| runner.without(&HashSet::from_iter(without.iter().cloned())))
        .map_err(|e| e.to_string())?;
        Ok(Self {
            app,
            functions: routes.with_state(api),
            edge_secrets,
            cloud,
            runner,
            indexes: !without.iter().any(|name| name == INDEX_EVENTS),
            links,
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

/// Any key opens a cloud that lives in this process; links to objects are checked.
fn aws_config(cloud: &LocalCloud, links: &Links) -> AwsConfig {
    AwsConfig {
        region: "local".to_owned(),
        credentials: Credentials::new("local", &links.secret, None, None, "embedded"),
        endpoint: Some("http://cloud.local".to_owned()),
        links: Some(format!("{}{}", links.origin, downloads::PREFIX)),
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
        notify_queue: Some(queue("NotifyQueue")?),
        exports_queue: Some(queue("ExportsQueue")?),
        offer_waitlist_queue: Some(queue("OfferWaitlistQueue")?),
        event_bus: Some(EVENT_BUS.to_owned()),
        bucket: Some(BUCKET.to_owned()),
    })
}

/// What `notify` sends mails with: as the template says, except that links lead here.
fn post(keys: Arc<ResetKeys>, config: &AwsConfig, origin: &str) -> Result<Post, String> {
    let mut settings = notify::settings(|name| match (name, std::env::var(name).ok()) {
        ("MAIL_SENDER", None) => Some(SENDER.to_owned()),
        ("PUBLIC_BASE_URL", None) => Some(origin.to_owned()),
        (_, value) => value,
    })?;
    settings.reset_keys = Some(keys);
    let sender = settings.sender.address.as_str().to_owned();
    let mailer = config.mailer(sender);
    Ok(notify::post(Arc::new(mailer), settings))
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

fn consumers(
    app: &App,
    post: Post,
    wiring: &Wiring,
) -> Result<HashMap<String, SqsHandler>, String> {
    let expiring = app.clone();
    let expire_holds: SqsHandler = Arc::new(move |event| {
        let app = expiring.clone();
        Box::pin(async move { Ok(expire_holds::handle(&app, event).await) })
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
    let telling = app.clone();
    let notify: SqsHandler = Arc::new(move |event| {
        let (app, post) = (telling.clone(), post.clone());
        Box::pin(async move { Ok(notify::handle(&app, &post, event).await) })
    });
    let exporting = app.clone();
    let write_exports: SqsHandler = Arc::new(move |event| {
        let app = exporting.clone();
        Box::pin(async move { Ok(write_exports::handle(&app, event).await) })
    });
    let indexing = app.clone();
    let index_events: SqsHandler = Arc::new(move |event| {
        let app = indexing.clone();
        Box::pin(async move { index_events::handle(&app, event).await })
    });
    let offering = app.clone();
    let setting = std::env::var(offer_waitlist::OFFER_SECONDS).ok();
    let offer_ms = offer_waitlist::offer_ms(setting.as_deref())?;
    let offer_waitlist: SqsHandler = Arc::new(move |event| {
        let app = offering.clone();
        Box::pin(async move { Ok(offer_waitlist::handle(&app, offer_ms, event).await) })
    });
    Ok(HashMap::from([
        ("notify".to_owned(), notify),
        ("write-exports".to_owned(), write_exports),
        ("expire-holds".to_owned(), expire_holds),
        ("offer-waitlist".to_owned(), offer_waitlist),
        ("drive-saga".to_owned(), drive_saga),
        (INDEX_EVENTS.to_owned(), index_events),
    ]))
}

fn schedules(app: &App) -> HashMap<String, ScheduleHandler> {
    let indexing = app.clone();
    let index_events: ScheduleHandler = Arc::new(move |_| {
        let app = indexing.clone();
        Box::pin(async move { index_events::sweep(&app).await.map(|_| ()) })
    });
    let app = app.clone();
    let reconcile: ScheduleHandler = Arc::new(move |input| {
        let app = app.clone();
        Box::pin(async move {
            let request = serde_json::from_value(input).map_err(|e| e.to_string())?;
            reconcile::handle(&app, request).await.map(|_| ())
        })
    });
    HashMap::from([
        ("reconcile".to_owned(), reconcile),
        (INDEX_EVENTS.to_owned(), index_events),
    ])
}

impl Platform {
    /// The inbox of everybody: this machine only.
    pub fn inbox(&self) -> Router {
        dev_mail::router(self.cloud.mailbox().clone())
    }

    /// Answers links to objects.
    pub fn downloads(&self) -> Router {
        downloads::router(self.cloud.clone(), self.links.secret.clone())
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
