//! What a request at the edge may ask for, at Cloudflare.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_domain::room::gate::{Enter, Entered, GateIndex, NotEntered};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::{NotKept, Reminder};
use onsale_domain::time::Millis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::{Cache, Context, Delay, Env, console_warn};

use super::object_alarm;
use super::object_calls::{Object, Verdict};
use super::outgoing;
use super::settings::Functions;
use crate::host::{Flush, Host, Told};
use crate::objects::controller::Bulletin;

/// How long a location keeps a bulletin, so that its isolates share one.
const BULLETIN_CACHE: &str = "max-age=1";

#[derive(Debug, Clone)]
pub struct WorkerHost(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    env: Env,
    context: Context,
    functions: Functions,
    object_calls: Cell<u32>,
}

impl WorkerHost {
    pub fn new(env: Env, context: Context, functions: Functions) -> Self {
        Self(Rc::new(Shared {
            env,
            context,
            functions,
            object_calls: Cell::new(0),
        }))
    }

    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// How many objects were asked so far.
    pub fn object_calls(&self) -> u32 {
        self.0.object_calls.get()
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        object: Object,
        action: &str,
        body: &impl Serialize,
    ) -> Told<A> {
        self.0.object_calls.set(self.object_calls() + 1);
        object.call(&self.0.env, action, body).await
    }
}

impl Host for WorkerHost {
    fn now(&self) -> Millis {
        object_alarm::now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        fill(bytes);
    }

    fn defer(&self, work: impl Future<Output = ()> + 'static) {
        self.0.context.wait_until(work);
    }

    async fn sleep(&self, ms: u64) {
        Delay::from(Duration::from_millis(ms)).await;
    }

    async fn bulletin(&self, show: ShowId) -> Told<Option<Bulletin>> {
        if let Some(bulletin) = cached(show).await {
            return Ok(bulletin);
        }
        let bulletin = self.ask(Object::Controller(show), "bulletin", &()).await?;
        keep_cached(show, &bulletin).await;
        Ok(bulletin)
    }

    async fn count(&self, show: ShowId, counter: u8, flush: Flush) -> Told<()> {
        let counter = Object::Counter(show, counter);
        self.ask(counter, "add", &flush).await
    }

    async fn enter(&self, show: ShowId, wanted: Enter) -> Told<Result<Entered, NotEntered>> {
        let gate = Object::Gate(show, GateIndex::of_lot(wanted.lot));
        let verdict: Verdict = self.ask(gate, "enter", &wanted).await?;
        Ok(verdict.into())
    }

    async fn remind(&self, show: ShowId, reminder: Reminder) -> Told<Result<(), NotKept>> {
        let gate = GateIndex::of_lot(reminder.ticket.lot);
        let reminders = Object::Reminders(show, gate);
        self.ask(reminders, "remind", &reminder).await
    }

    async fn leave(&self, show: ShowId, lot: Lot) -> Told<bool> {
        let gate = Object::Gate(show, GateIndex::of_lot(lot));
        self.ask(gate, "leave", &lot).await
    }

    async fn function(
        &self,
        name: &str,
        request: Request<Vec<u8>>,
        timeout_ms: u64,
    ) -> Told<Response<Vec<u8>>> {
        outgoing::to_function(&self.0.functions, name, request, timeout_ms).await
    }

    async fn fetch(&self, request: Request<Vec<u8>>, timeout_ms: u64) -> Told<Response<Vec<u8>>> {
        let url = request.uri().to_string();
        outgoing::send(&url, request, timeout_ms).await
    }

    fn log(&self, what: &str) {
        console_warn!("{what}");
    }
}

pub fn fill(bytes: &mut [u8]) {
    // Going on with bytes that can be predicted would be worse than ending here.
    getrandom::fill(bytes).expect("the runtime has random bytes");
}

fn cache_key(show: ShowId) -> String {
    format!("https://onsale.internal/bulletin/{show}")
}

/// `None`: nothing is kept here, or there is no cache, as on `workers.dev`.
async fn cached(show: ShowId) -> Option<Option<Bulletin>> {
    let found = Cache::default().get(cache_key(show), false).await;
    let text = found.ok()??.text().await.ok()?;
    serde_json::from_str(&text).ok()
}

async fn keep_cached(show: ShowId, bulletin: &Option<Bulletin>) {
    let Ok(mut kept) = worker::Response::from_json(bulletin) else {
        return;
    };
    let Ok(()) = kept.headers_mut().set("cache-control", BULLETIN_CACHE) else {
        return;
    };
    if let Err(error) = Cache::default().put(cache_key(show), kept).await {
        console_warn!("a bulletin could not be cached: {error}");
    }
}
