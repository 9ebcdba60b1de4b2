//! What a request at the edge may ask for, at Cloudflare.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use worker::{Cache, Context, Delay, Env, console_warn};

use super::object_alarm;
use super::object_calls;
use super::outgoing;
use super::settings::Functions;
use crate::host::{Host, Objects, Told, Trouble};
use crate::objects::controller::Bulletin;
use crate::objects::wire::{self, ControllerRequest, ObjectAnswer, ObjectRequest};

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
}

impl Objects for WorkerHost {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        self.0.object_calls.set(self.object_calls() + 1);
        object_calls::ask(&self.0.env, &request).await
    }

    async fn bulletin(&self, show: ShowId) -> Told<Option<Bulletin>> {
        if let Some(bulletin) = cached(show).await {
            return Ok(bulletin);
        }
        let request = ObjectRequest::Controller(show, ControllerRequest::Bulletin);
        let ObjectAnswer::Bulletin(bulletin) = self.ask(request).await? else {
            return Err(Trouble::new("a controller answered something else"));
        };
        let bulletin = bulletin.map(|bulletin| *bulletin);
        keep_cached(show, &bulletin).await;
        Ok(bulletin)
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
    let bytes = found.ok()??.bytes().await.ok()?;
    wire::read(&bytes).ok()
}

async fn keep_cached(show: ShowId, bulletin: &Option<Bulletin>) {
    let Ok(bytes) = wire::written(bulletin) else {
        return;
    };
    let Ok(mut kept) = worker::Response::from_bytes(bytes) else {
        return;
    };
    let Ok(()) = kept.headers_mut().set("cache-control", BULLETIN_CACHE) else {
        return;
    };
    if let Err(error) = Cache::default().put(cache_key(show), kept).await {
        console_warn!("a bulletin could not be cached: {error}");
    }
}
