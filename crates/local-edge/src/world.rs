//! The objects of this process, each made when it is first asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::gate::GateIndex;
use onsale_domain::room::secret::RoomSecret;
use onsale_domain::time::Millis;
use onsale_edge::host::{Links, Objects, Told, Trouble};
use onsale_edge::objects::controller::{ControllerObject, STEP_MS};
use onsale_edge::objects::counter::{CounterObject, REPORT_AFTER_MS};
use onsale_edge::objects::gate::GateObject;
use onsale_edge::objects::reminders::RemindersObject;
use onsale_edge::objects::wire::{CounterRequest, Object, ObjectAnswer, ObjectRequest};
use onsale_outgoing::Outgoing;
use tower::ServiceExt as _;

use crate::at_work::{AtWork, Working};
use crate::feed::Feeds;
use crate::reminding::{self, Reminding};
use crate::store::{ObjectFile, ObjectStorage};

type Controller = ControllerObject<ObjectStorage, LocalLinks>;
type Gate = GateObject<ObjectStorage, LocalLinks>;
type Counter = CounterObject<ObjectStorage, LocalLinks>;

/// What a service of somebody else answers is a few fields.
const MAX_FETCHED: usize = 64 << 10;
/// An answer of a function is a ticket on paper at most.
const MAX_ANSWER: usize = 64 << 20;
const INTERNAL_TIMEOUT: Duration = Duration::from_secs(5);

/// A controller that takes its steps by itself while anybody asks.
#[derive(Debug)]
pub struct RunningController {
    pub object: Controller,
    stepping: AtWork,
}

#[derive(Debug, Default)]
struct Made {
    controllers: HashMap<ShowId, Arc<RunningController>>,
    gates: HashMap<(ShowId, GateIndex), Arc<Gate>>,
    counters: HashMap<(ShowId, u8), Arc<Counter>>,
    reminders: HashMap<(ShowId, GateIndex), Arc<Reminding>>,
    feeds: Feeds,
}

/// Everything behind the edge of this process.
#[derive(Debug)]
pub struct World {
    functions: Router,
    file: ObjectFile,
    keys: InternalKeys,
    secret: RoomSecret,
    /// Where there is somebody outside to ask.
    outgoing: Option<Outgoing>,
    objects: Mutex<Made>,
}

pub fn now() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

pub fn fill(bytes: &mut [u8]) {
    // Passes and challenges must never repeat: without randomness nothing can go on.
    #[expect(
        clippy::expect_used,
        reason = "a machine without randomness cannot serve"
    )]
    getrandom::fill(bytes).expect("the operating system has no randomness");
}

impl World {
    pub fn new(
        functions: Router,
        file: ObjectFile,
        (keys, secret): (InternalKeys, RoomSecret),
        outgoing: Option<Outgoing>,
    ) -> Arc<Self> {
        Arc::new(Self {
            functions,
            file,
            keys,
            secret,
            outgoing,
            objects: Mutex::default(),
        })
    }

    fn objects<T>(&self, act: impl FnOnce(&mut Made) -> T) -> T {
        act(&mut self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks a function, in this process.
    pub async fn function(
        &self,
        request: Request<Vec<u8>>,
        timeout: Duration,
    ) -> Told<Response<Vec<u8>>> {
        let asked = self.functions.clone().oneshot(request.map(Body::from));
        let answer = async {
            let answer = asked.await.map_err(Trouble::new)?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER).collect().await;
            let body = body.map_err(Trouble::new)?.to_bytes().to_vec();
            Ok(Response::from_parts(parts, body))
        };
        tokio::time::timeout(timeout, answer)
            .await
            .map_err(|_| Trouble::new("it took too long"))?
    }

    /// Asks somebody outside, such as a CAPTCHA service.
    pub async fn fetch(
        &self,
        request: Request<Vec<u8>>,
        timeout: Duration,
    ) -> Told<Response<Vec<u8>>> {
        let outgoing = self.outgoing.as_ref();
        let outgoing = outgoing.ok_or_else(|| Trouble::new("nobody outside is asked here"))?;
        let answer = outgoing.send(request, MAX_FETCHED);
        let answer = tokio::time::timeout(timeout, answer).await;
        let answer = answer.map_err(|_| Trouble::new("it took too long"))?;
        answer.map_err(Trouble::new)
    }

    /// Asks one of the objects of this process.
    pub async fn ask(self: &Arc<Self>, request: ObjectRequest) -> Told<ObjectAnswer> {
        let timeout = Duration::from_millis(request.timeout_ms());
        let answered = tokio::time::timeout(timeout, self.answered(request)).await;
        answered.map_err(|_| Trouble::new("it took too long"))?
    }

    async fn answered(self: &Arc<Self>, request: ObjectRequest) -> Told<ObjectAnswer> {
        match request {
            ObjectRequest::Controller(show, request) => {
                self.controller(show).object.answer(request).await
            }
            ObjectRequest::Gate(show, gate, request) => self.gate(show, gate).answer(request).await,
            ObjectRequest::Counter(show, number, request) => {
                let is_flush = matches!(request, CounterRequest::Add(_));
                let counter = self.counter(show, number);
                let answer = counter.answer(request).await?;
                if is_flush {
                    tokio::spawn(report_soon(counter));
                }
                Ok(answer)
            }
            ObjectRequest::Reminders(show, gate, reminder) => {
                let reminders = self.reminders(show, gate);
                let kept = reminders.object.remind(reminder).await;
                reminders.look_soon();
                Ok(ObjectAnswer::Kept(kept?))
            }
        }
    }

    /// The controller of a show, taking steps.
    pub fn controller(self: &Arc<Self>, show: ShowId) -> Arc<RunningController> {
        let running = self.objects(|objects| {
            let made = || {
                let storage = self.file.of(format!("{show}/controller"));
                let links = LocalLinks(self.clone());
                let object = ControllerObject::new(show, storage, links, self.keys.clone());
                Arc::new(RunningController {
                    object,
                    stepping: AtWork::default(),
                })
            };
            objects.controllers.entry(show).or_insert_with(made).clone()
        });
        if let Some(working) = running.stepping.begin() {
            let stepping = run_controller(self.clone(), show, running.clone(), working);
            tokio::spawn(stepping);
        }
        running
    }

    /// A controller of a show that does not exist has nothing to keep. One that exists
    /// stays: two of them would each deal out the capacity.
    async fn forget_missing(&self, show: ShowId) {
        let known = self.objects(|objects| objects.controllers.get(&show).cloned());
        if let Some(running) = known
            && let Ok(None) = running.object.bulletin().await
        {
            self.objects(|objects| objects.controllers.remove(&show));
        }
    }

    pub fn gate(self: &Arc<Self>, show: ShowId, index: GateIndex) -> Arc<Gate> {
        self.objects(|objects| {
            let made = || {
                let storage = self.file.of(Object::Gate(show, index).to_string());
                let links = LocalLinks(self.clone());
                Arc::new(GateObject::new(
                    show,
                    index,
                    storage,
                    links,
                    self.keys.clone(),
                ))
            };
            let known = objects.gates.entry((show, index));
            known.or_insert_with(made).clone()
        })
    }

    pub fn counter(self: &Arc<Self>, show: ShowId, number: u8) -> Arc<Counter> {
        self.objects(|objects| {
            let made = || {
                let storage = self.file.of(Object::Counter(show, number).to_string());
                let links = LocalLinks(self.clone());
                Arc::new(CounterObject::new(show, number, storage, links))
            };
            let known = objects.counters.entry((show, number));
            known.or_insert_with(made).clone()
        })
    }

    /// Some of the reminders of a show, being looked at.
    pub fn reminders(self: &Arc<Self>, show: ShowId, gate: GateIndex) -> Arc<Reminding> {
        self.objects(|objects| {
            let made = || {
                let storage = self.file.of(reminding::name(show, gate));
                let (links, keys) = (LocalLinks(self.clone()), self.keys.clone());
                let seeds = self.secret.seeds(show);
                Reminding::start(RemindersObject::new(show, storage, links, keys, seeds))
            };
            let known = objects.reminders.entry((show, gate));
            known.or_insert_with(made).clone()
        })
    }

    /// The names of all objects that have stored anything.
    pub async fn stored_objects(&self) -> Told<Vec<String>> {
        self.file.names().await
    }

    pub fn feeds<T>(&self, act: impl FnOnce(&mut Feeds) -> T) -> T {
        self.objects(|objects| act(&mut objects.feeds))
    }
}

async fn report_soon(counter: Arc<Counter>) {
    tokio::time::sleep(Duration::from_millis(REPORT_AFTER_MS)).await;
    if let Err(trouble) = counter.report().await {
        tracing::warn!(%trouble, "a counter could not report");
    }
}

async fn run_controller(
    world: Arc<World>,
    show: ShowId,
    running: Arc<RunningController>,
    working: Working,
) {
    let mut every = tokio::time::interval(Duration::from_millis(STEP_MS));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if let Err(trouble) = running.object.step().await {
            tracing::warn!(%trouble, "a controller could not take a step");
        }
        if !running.object.is_wanted() {
            drop(working);
            if let Err(trouble) = running.object.rest().await {
                tracing::warn!(%trouble, "a room was not forgotten");
            }
            world.forget_missing(show).await;
            return;
        }
    }
}

/// How the objects of this process reach each other and the functions.
#[derive(Debug, Clone)]
pub struct LocalLinks(Arc<World>);

impl Objects for LocalLinks {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        self.0.ask(request).await
    }
}

impl Links for LocalLinks {
    fn now(&self) -> Millis {
        now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        fill(bytes);
    }

    async fn room_function(&self, request: Request<Vec<u8>>) -> Told<Response<Vec<u8>>> {
        self.0.function(request, INTERNAL_TIMEOUT).await
    }

    fn log(&self, what: &str) {
        tracing::warn!("{what}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn world(dir: &tempfile::TempDir, functions: Router) -> Arc<World> {
        let file = ObjectFile::open(&dir.path().join("edge.db")).unwrap();
        let keys = "k:a-secret-of-thirty-two-characters".parse().unwrap();
        World::new(functions, file, (keys, RoomSecret([1; 32])), None)
    }

    #[tokio::test]
    async fn a_function_that_never_answers_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let never = axum::routing::get(std::future::pending::<()>);
        let world = world(&dir, Router::new().route("/never", never));
        let request = Request::get("/never").body(Vec::new()).unwrap();
        let answer = world.function(request, Duration::from_millis(50));
        let answer = tokio::time::timeout(Duration::from_secs(5), answer).await;
        assert!(answer.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_controller_whose_step_panicked_takes_the_next_one() {
        fn broken() -> StatusCode {
            panic!("this function is broken");
        }
        let dir = tempfile::tempdir().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let times = asked.clone();
        let functions = Router::new().fallback(move || async move {
            times.fetch_add(1, Ordering::SeqCst);
            broken()
        });
        let world = world(&dir, functions);
        for _ in 0..500 {
            world.controller(ShowId::from_bytes([1; 16]));
            if asked.load(Ordering::SeqCst) >= 3 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it was asked {} times", asked.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn made_up_shows_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        // No function knows any of them.
        let world = world(&dir, Router::new());
        for n in 0..50 {
            let show = ShowId::from_bytes([n; 16]);
            let told = world.controller(show).object.bulletin().await.unwrap();
            assert!(told.is_none());
        }
        let left = || world.objects(|objects| objects.controllers.len());
        for _ in 0..100 {
            if left() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} controllers still take steps", left());
    }
}
