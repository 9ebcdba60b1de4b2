//! What an operator on this machine may ask: `onsale reconcile`, `onsale resume` and
//! `onsale resend`.
//!
//! A data folder serves one process. When the platform runs, the commands talk to it,
//! with a token that it left in the folder for whoever may read there; when it does not,
//! they open the folder themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use clap::Args;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use onsale_app::reconcile::Report;
use onsale_app::{App, Error};
use onsale_domain::ids::OrderId;
use onsale_domain::mail::{MailId, MailState};
use onsale_http::Limits;
use subtle::ConstantTimeEq;
use tokio::net::TcpStream;

use crate::data_folder::{self, DataFolder, DataFolderError};
use crate::downloads::Links;
use crate::platform::Platform;

#[derive(Debug, Clone, Args)]
pub struct OperatorArgs {
    /// The data folder of the platform
    #[arg(long, default_value = ".onsale")]
    data: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub struct ResumeArgs {
    /// The order that is stuck
    order: OrderId,
    #[command(flatten)]
    operator: OperatorArgs,
}

#[derive(Debug, Clone, Args)]
pub struct ResendArgs {
    /// The mail to send again; without one, those that are parked are listed
    #[arg(conflicts_with = "all")]
    mail: Option<String>,
    /// Send every mail again that is parked
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    operator: OperatorArgs,
}

/// What an operator wants; the path under which the running platform does it.
enum Wish {
    Reconcile,
    Resume(OrderId),
    ParkedMails,
    Resend(MailId),
    ResendAll,
}

impl Wish {
    fn path(&self) -> String {
        match self {
            Self::Reconcile => "/operator/reconcile".to_owned(),
            Self::Resume(order) => format!("/operator/orders/{order}/resume"),
            Self::ParkedMails => "/operator/mails".to_owned(),
            Self::Resend(mail) => {
                let query = form_urlencoded::Serializer::new(String::new())
                    .append_pair("mail", mail.as_str())
                    .finish();
                format!("/operator/mails/resend?{query}")
            }
            Self::ResendAll => "/operator/mails/resend-all".to_owned(),
        }
    }

    async fn grant(&self, app: &App) -> Result<Answer, Error> {
        let text = match self {
            Self::Reconcile => return Ok(Answer::of_report(&app.reconcile_all().await?)),
            Self::Resume(order) => match app.resume_order(*order).await? {
                true => format!("{order} goes on."),
                false => format!("{order} is not stuck; nothing was changed."),
            },
            Self::ParkedMails => parked_mails(app).await?,
            Self::Resend(mail) => match app.resend_mail(mail).await? {
                true => format!("{mail} is sent again."),
                false => format!("{mail} is not parked; nothing was changed."),
            },
            Self::ResendAll => match app.resend_parked().await? {
                0 => NOTHING_PARKED.to_owned(),
                1 => "1 mail is sent again.".to_owned(),
                many => format!("{many} mails are sent again."),
            },
        };
        Ok(Answer {
            text,
            needs_a_look: false,
        })
    }
}

/// What an operator is told, and whether the command fails because of it. The words of the
/// text say nothing about that: some of them are those of others.
#[derive(Debug)]
struct Answer {
    text: String,
    needs_a_look: bool,
}

impl Answer {
    fn of_report(report: &Report) -> Self {
        Self {
            text: report.to_string(),
            needs_a_look: !report.alarms.is_empty(),
        }
    }

    fn status(&self) -> StatusCode {
        match self.needs_a_look {
            true => StatusCode::CONFLICT,
            false => StatusCode::OK,
        }
    }

    /// What a platform that runs answered, or why it did not.
    fn heard(status: StatusCode, text: String) -> Result<Self, String> {
        let needs_a_look = status == StatusCode::CONFLICT;
        match needs_a_look || status.is_success() {
            true => Ok(Self { text, needs_a_look }),
            false => Err(text),
        }
    }
}

pub async fn reconcile(args: &OperatorArgs) -> Result<(), String> {
    fulfil(&args.data, Wish::Reconcile).await
}

pub async fn resume(args: &ResumeArgs) -> Result<(), String> {
    fulfil(&args.operator.data, Wish::Resume(args.order)).await
}

pub async fn resend(args: &ResendArgs) -> Result<(), String> {
    let wish = match &args.mail {
        Some(mail) => Wish::Resend(MailId::stored(mail)),
        None if args.all => Wish::ResendAll,
        None => Wish::ParkedMails,
    };
    fulfil(&args.operator.data, wish).await
}

const NEEDS_A_LOOK: &str = "something needs a look, see above";
const NOTHING_PARKED: &str = "No mail is parked.";
/// As many mails are listed, the oldest.
const MAILS_LISTED: usize = 100;

async fn parked_mails(app: &App) -> Result<String, Error> {
    let page = app.parked_mails(None, MAILS_LISTED).await?;
    let lines = page.items.iter().map(|mail| match &mail.state {
        MailState::Parked { at, reason } => format!("{} since {at}: {reason}", mail.id),
        _ => mail.id.to_string(),
    });
    let mut lines: Vec<_> = lines.collect();
    match (lines.is_empty(), page.next.is_some()) {
        (true, _) => return Ok(NOTHING_PARKED.to_owned()),
        (false, true) => lines.push("and more".to_owned()),
        (false, false) => {}
    }
    Ok(lines.join("\n"))
}

async fn fulfil(data: &Path, wish: Wish) -> Result<(), String> {
    if !data.exists() {
        let data = data.display();
        return Err(format!(
            "there is no data folder {data}.\nName it with --data DIR."
        ));
    }
    let answer = match DataFolder::open(data) {
        Ok(folder) => {
            // Nobody is served, so nobody gets a link but by mail, to where the platform usually is.
            let links = Links::new("http://127.0.0.1:8787".to_owned())?;
            let platform = Platform::start(&folder, Limits::off(), &[], links).await?;
            wish.grant(&platform.app).await.map_err(|e| e.to_string())?
        }
        Err(DataFolderError::InUse { .. }) => ask_running(data, &wish.path()).await?,
        Err(error) => return Err(error.to_string()),
    };
    println!("{}", answer.text);
    match answer.needs_a_look {
        true => Err(NEEDS_A_LOOK.to_owned()),
        false => Ok(()),
    }
}

/// The routes for the operator, and the token that opens them.
pub fn router(app: App, token: String) -> Router {
    let state = Arc::new((app, token));
    Router::new()
        .route("/operator/reconcile", post(reconcile_route))
        .route("/operator/orders/{order}/resume", post(resume_route))
        .route("/operator/mails", post(parked_mails_route))
        .route("/operator/mails/resend", post(resend_route))
        .route("/operator/mails/resend-all", post(resend_all_route))
        .with_state(state)
}

pub fn fresh_token() -> Result<String, String> {
    let mut secret = [0u8; 32];
    getrandom::fill(&mut secret).map_err(|e| e.to_string())?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(secret))
}

type Shared = State<Arc<(App, String)>>;

async fn reconcile_route(State(shared): Shared, headers: HeaderMap) -> (StatusCode, String) {
    grant(&shared, &headers, Wish::Reconcile).await
}

async fn resume_route(
    State(shared): Shared,
    axum::extract::Path(order): axum::extract::Path<String>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    match order.parse() {
        Ok(order) => grant(&shared, &headers, Wish::Resume(order)).await,
        Err(_) => (StatusCode::NOT_FOUND, "there is no such order".to_owned()),
    }
}

async fn parked_mails_route(State(shared): Shared, headers: HeaderMap) -> (StatusCode, String) {
    grant(&shared, &headers, Wish::ParkedMails).await
}

#[derive(serde::Deserialize)]
struct Resend {
    mail: MailId,
}

async fn resend_route(
    State(shared): Shared,
    axum::extract::Query(resend): axum::extract::Query<Resend>,
    headers: HeaderMap,
) -> (StatusCode, String) {
    grant(&shared, &headers, Wish::Resend(resend.mail)).await
}

async fn resend_all_route(State(shared): Shared, headers: HeaderMap) -> (StatusCode, String) {
    grant(&shared, &headers, Wish::ResendAll).await
}

async fn grant(shared: &(App, String), headers: &HeaderMap, wish: Wish) -> (StatusCode, String) {
    let (app, token) = shared;
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let known = given.is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into());
    if !known {
        // To everybody else there is nothing here.
        return (StatusCode::NOT_FOUND, "not found".to_owned());
    }
    match wish.grant(app).await {
        Ok(answer) => (answer.status(), answer.text),
        Err(Error::NotFound(what)) => (StatusCode::NOT_FOUND, format!("there is no such {what}")),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    }
}

/// The folder says where the platform listens and which token it takes.
async fn ask_running(data: &Path, path: &str) -> Result<Answer, String> {
    let announced = data_folder::operator(data).map_err(|e| {
        format!(
            "the platform runs, but left no word in {}: {e}",
            data.display()
        )
    })?;
    let (address, token) = announced
        .split_once(' ')
        .ok_or("the word that the platform left cannot be read")?;
    let failed =
        |e: &dyn std::fmt::Display| format!("the platform at {address} does not answer: {e}");
    let stream = TcpStream::connect(address).await.map_err(|e| failed(&e))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(&e))?;
    tokio::spawn(connection);
    let request = hyper::Request::post(path)
        .header(header::HOST, address)
        .header(header::AUTHORIZATION, format!("Bearer {}", token.trim()))
        .body(Empty::<Bytes>::new())
        .map_err(|e| failed(&e))?;
    let answer = sender.send_request(request).await.map_err(|e| failed(&e))?;
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(|e| failed(&e))?;
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Answer::heard(status, text)
}

#[cfg(test)]
#[path = "operator_tests.rs"]
mod tests;
