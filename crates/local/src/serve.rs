//! `onsale serve`: listens, says where to look, and stops without losing anything.

use std::convert::Infallible;
use std::io::{IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt;
use onsale_edge::secrets::Captcha;
use onsale_edge::{EdgeLimits, Site};
use onsale_http::{Limits, openapi};
use onsale_local_edge::LocalEdge;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::data_folder::DataFolder;
use crate::downloads::Links;
use crate::platform::Platform;
use crate::{ServeArgs, Switch, demo, operator, prometheus};

/// How long requests under way may take to finish when the platform stops.
const GRACE: Duration = Duration::from_secs(10);

/// How often spans are sent, where they are collected.
const EXPORT_EVERY: Duration = Duration::from_secs(1);

/// Sent when a file would grow past a limit of the process; its default action would
/// end us. Handled, the write fails with an error that is answered like any other.
const SIGXFSZ: i32 = 25;

pub async fn run(args: ServeArgs) -> Result<(), String> {
    let observed = onsale_observe::embedded(std::io::stderr().is_terminal());
    let _file_too_large = signal(SignalKind::from_raw(SIGXFSZ)).map_err(|e| e.to_string())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    // The port first: a second start by mistake should not touch the data.
    let listener = TcpListener::bind(address).await.map_err(|error| {
        format!("cannot listen on {address}: {error}\nChoose another port with --port N.")
    })?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    let folder = DataFolder::open(&args.data).map_err(|e| e.to_string())?;
    let limits = match args.rate_limit {
        Switch::On => Limits::from_env()?,
        Switch::Off => Limits::off(),
    };
    let links = Links::new(format!("http://{address}"))?;
    let metrics = prometheus::install()?;
    let platform = Platform::start(&folder, limits, &args.without, links).await?;
    let token = operator::fresh_token()?;
    folder
        .announce_operator(&format!("{address} {token}"))
        .map_err(|e| e.to_string())?;
    let demo = match args.empty {
        true => None,
        false => Some(demo::plant(&platform.app).await?),
    };

    let (stop, stopped) = watch::channel(false);
    let edge_limits = match args.rate_limit {
        Switch::On => EdgeLimits::from_env()?,
        Switch::Off => EdgeLimits::off(),
    };
    let functions = onsale_http::trace::layer(platform.functions.clone());
    let mut secrets = platform.edge_secrets.clone();
    if args.room_captcha {
        let captcha = Captcha::configured(|name| std::env::var(name).ok());
        secrets.captcha = Some(captcha.ok_or("--room-captcha needs CAPTCHA_SECRET to be set")?);
    }
    let site = Site::from_env()?;
    if args.room_captcha && site.captcha_site_key.is_none() {
        tracing::warn!(
            "--room-captcha without ONSALE_CAPTCHA_SITE_KEY: the waiting page shows no widget, so \
             no browser can join a waiting room"
        );
    }
    let edge = LocalEdge::open(&folder.path, functions.clone(), secrets, edge_limits, site)?;
    // What the edge asks of the functions is signed, so it may also come from outside: a
    // worker can stand before this process. Everything else goes through our own edge.
    let router = Router::new()
        .route(
            "/internal/{*rest}",
            any(move |request| ask(functions, request)),
        )
        .merge(edge.router(stopped.clone()))
        .merge(platform.health())
        .merge(platform.inbox())
        .merge(platform.downloads())
        .merge(prometheus::router(metrics))
        .merge(operator::router(platform.app.clone(), token))
        .method_not_allowed_fallback(openapi::method_not_allowed)
        .into_make_service_with_connect_info::<SocketAddr>();
    let background = tokio::spawn(platform.run_background(stopped.clone()));
    let exporting = tokio::spawn(observed.clone().export_every(EXPORT_EVERY));
    let nodelay = listener.tap_io(|stream| {
        // Small answers should not wait for more to send; failing costs latency only.
        let _ = stream.set_nodelay(true);
    });
    // Whoever reads the welcome may stop us at once.
    let mut signals = Signals::listen()?;
    print_welcome(address, &args, demo.as_ref());
    let mut interrupted = stopped;
    let server = axum::serve(nodelay, router).with_graceful_shutdown(async move {
        let _ = interrupted.wait_for(|stop| *stop).await;
    });
    let server = tokio::spawn(server.into_future());
    signals.wait().await;
    tracing::info!("stopping: requests under way are finished first");
    // The receivers may be gone already; then there is nothing left to stop.
    let _ = stop.send(true);
    match tokio::time::timeout(GRACE, server).await {
        Ok(served) => served
            .map_err(|e| e.to_string())?
            .map_err(|e| e.to_string())?,
        Err(_) => tracing::warn!("a connection did not end in time and was cut off"),
    }
    let ended = background.await.map_err(|e| e.to_string());
    exporting.abort();
    // The last spans.
    observed.around(async { ended }).await
}

/// Hands a request on as if it had come to the functions first: what our router found in
/// its path would confuse theirs.
async fn ask(functions: Router, request: Request) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let mut fresh = Request::new(body);
    *fresh.method_mut() = parts.method;
    *fresh.uri_mut() = parts.uri;
    *fresh.headers_mut() = parts.headers;
    functions.oneshot(fresh).await
}

/// What asks us to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Self, String> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(|e| e.to_string())?,
            interrupt: signal(SignalKind::interrupt()).map_err(|e| e.to_string())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The front page first: everything else is reached from there, or is for those who look
/// behind it.
fn print_welcome(address: SocketAddr, args: &ServeArgs, demo: Option<&demo::Demo>) {
    let mut text = format!(
        "Onsale is ready at http://{address}\n\n  \
         Open http://{address}/ in a browser.\n\n"
    );
    if demo.is_some() {
        let (organiser, buyer) = (demo::ORGANISER_EMAIL, demo::BUYER_EMAIL);
        let password = demo::PASSWORD;
        text += &format!(
            "Demo log-ins\n  \
             buyer      {buyer}  {password}\n  \
             organiser  {organiser}  {password}\n"
        );
    }
    text += &format!(
        "Mails, as they would arrive\n  \
         http://{address}/dev/mail\n\
         Behind it\n  \
         data       {}\n  \
         API        http://{address}/api/v1/openapi.json\n  \
         health     http://{address}/healthz   metrics http://{address}/metrics\n",
        args.data.display()
    );
    if let Some(demo) = demo {
        text += "Try\n  ";
        text += &match demo.show {
            Some(show) => format!("curl http://{address}/api/v1/shows/{show}/availability\n"),
            // The demo shows were cancelled.
            None => format!("curl http://{address}/api/v1/events\n"),
        };
        if let Some(room) = demo.room {
            text += &format!("  http://{address}/room/{room}   a show with a waiting room\n");
        }
    }
    text += "Stop with Ctrl-C; everything acknowledged is kept.\n";
    // Whoever reads may have gone, as with `| head -1`: that is no reason to stop.
    let _ = std::io::stdout().write_all(text.as_bytes());
}
