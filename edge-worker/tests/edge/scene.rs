//! One edge, one room, and visitors with cookies.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use http::{Method, Request, Response, StatusCode};
use onsale_domain::ids::ShowId;
use onsale_domain::room::backend::Calls;
use onsale_domain::room::briefing::OnSale;
use onsale_domain::room::census::{CounterReport, Tally};
use onsale_domain::room::controller::{Controller, News, Settings};
use onsale_domain::room::draw::Beacon;
use onsale_domain::room::gate::{Gate, GateIndex};
use onsale_domain::room::opening::{Bucket, Opening};
use onsale_domain::room::reminder::Reminders;
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;
use onsale_domain::work::{Challenge, TRIES, payload};
use onsale_edge::host::{Flush, Host, Objects, Told, Trouble};
use onsale_edge::objects::controller::Bulletin;
use onsale_edge::objects::wire::{
    ControllerRequest, CounterRequest, GateRequest, ObjectAnswer, ObjectRequest,
};
use onsale_edge::{Edge, EdgeLimits, Reply, Secrets, Site};
use serde_json::{Value, json};

pub const SHOW: ShowId = ShowId::from_bytes([1; 16]);
pub const SINCE: Millis = Millis(1_800_000_000_000);

/// What the world behind the edge is like.
pub struct World {
    now: AtomicU64,
    chance: AtomicU64,
    pub controller: Mutex<Controller>,
    pub news: Mutex<News>,
    published: Mutex<Bulletin>,
    gates: Mutex<Vec<Gate>>,
    totals: Mutex<BTreeMap<(u8, Bucket), Tally>>,
    /// Since the controller heard of them last.
    calls: Mutex<Calls>,
    reminders: Mutex<Reminders>,
    /// Whether the controller answers.
    pub is_silent: AtomicBool,
    /// Whether it takes the question and never answers.
    pub hangs: AtomicBool,
    pub bulletins_asked: AtomicU64,
    /// Whether functions can be reached.
    pub functions_are_down: AtomicBool,
    /// What functions answer next; when there is nothing, a 202.
    pub functions: Mutex<VecDeque<Response<Vec<u8>>>>,
    /// What functions were asked.
    pub calls_of_functions: Mutex<Vec<Request<Vec<u8>>>>,
    pub gate_calls: AtomicU64,
    pub gates_are_silent: AtomicBool,
    /// How many of the next flushes find no counter, and whether counters forget what they
    /// were told.
    pub counters_away: Mutex<u32>,
    pub counters_forget: AtomicBool,
    /// What the CAPTCHA service answers, and what it was asked.
    pub captcha: Mutex<Value>,
    pub asked: Mutex<Vec<String>>,
}

#[derive(Clone)]
pub struct TestHost(pub Arc<World>);

pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

pub fn settings(mode: RoomMode, opens: Option<Millis>) -> Settings {
    Settings {
        mode,
        capacity: 100,
        rate_per_second: 50,
        pass_seconds: 300,
        opening: Opening {
            opens,
            order: RoomOrder::Lottery,
            since: SINCE,
        },
        beacon: Beacon::Unused,
        ends: SINCE + 86_400_000,
    }
}

impl World {
    fn new(settings: Settings) -> Self {
        let controller = Controller::new(SHOW, settings);
        let published = Bulletin {
            title: "Nacht".to_owned(),
            on_sale: OnSale {
                sold_out_sections: vec!["Loge".to_owned()],
                message: Some("Doors at seven.".to_owned()),
                ..OnSale::default()
            },
            published: controller.published(SINCE),
        };
        Self {
            now: AtomicU64::new(SINCE.0),
            chance: AtomicU64::new(7),
            controller: Mutex::new(controller),
            news: Mutex::new(News {
                cursor: 0,
                free_seats: Some(1_000),
                sold_out: false,
                healthy: true,
                ended: vec![],
            }),
            published: Mutex::new(published),
            gates: Mutex::new(GateIndex::all().map(Gate::new).collect()),
            totals: Mutex::default(),
            calls: Mutex::default(),
            reminders: Mutex::default(),
            is_silent: AtomicBool::new(false),
            hangs: AtomicBool::new(false),
            bulletins_asked: AtomicU64::new(0),
            functions_are_down: AtomicBool::new(false),
            functions: Mutex::default(),
            calls_of_functions: Mutex::default(),
            gate_calls: AtomicU64::new(0),
            gates_are_silent: AtomicBool::new(false),
            counters_away: Mutex::new(0),
            counters_forget: AtomicBool::new(false),
            captcha: Mutex::new(json!({"success": true})),
            asked: Mutex::default(),
        }
    }

    pub fn now(&self) -> Millis {
        Millis(self.now.load(Ordering::SeqCst))
    }

    /// Lets time go by, without anybody taking steps.
    pub fn wait(&self, ms: u64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
    }

    /// Lets seconds go by in which the controller and the gates do their work.
    pub fn run(&self, seconds: u64) {
        for _ in 0..seconds {
            self.wait(1_000);
            let now = self.now();
            let mut controller = held(&self.controller);
            for ((counter, bucket), tally) in held(&self.totals).iter() {
                let report = CounterReport {
                    counter: *counter,
                    totals: vec![(*bucket, *tally)],
                    ..CounterReport::default()
                };
                controller.hear_counter(&report, now);
            }
            let report = CounterReport {
                calls: std::mem::take(&mut *held(&self.calls)),
                ..CounterReport::default()
            };
            controller.hear_counter(&report, now);
            controller.hear_cloud(&held(&self.news), now);
            controller.tick(now);
            held(&self.published).published = controller.published(now);
            let grants: Vec<_> = controller.grants().collect();
            for (index, grant) in grants {
                let gate = &mut held(&self.gates)[usize::from(index.number())];
                gate.apply(&grant, now);
                controller.hear_gate(index, gate.report(now));
            }
        }
    }

    pub fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut controller = held(&self.controller);
        let mut wanted = controller.settings().clone();
        change(&mut wanted);
        controller.change_settings(wanted, self.now());
    }
}

impl TestHost {
    async fn bulletin(&self, show: ShowId) -> Told<Option<Bulletin>> {
        self.0.bulletins_asked.fetch_add(1, Ordering::SeqCst);
        if self.0.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        match self.0.is_silent.load(Ordering::SeqCst) {
            true => Err(Trouble::new("the controller is away")),
            false => Ok((show == SHOW).then(|| held(&self.0.published).clone())),
        }
    }

    fn count(&self, counter: u8, flush: Flush) -> Told<()> {
        {
            let mut away = held(&self.0.counters_away);
            if *away > 0 {
                *away -= 1;
                return Err(Trouble::new("the counter is away"));
            }
        }
        if self.0.counters_forget.load(Ordering::SeqCst) {
            return Ok(());
        }
        held(&self.0.calls).add(flush.calls);
        let mut totals = held(&self.0.totals);
        for (bucket, more) in flush.joined {
            let total = totals.entry((counter, bucket)).or_default();
            total.fans += more.fans;
            total.others += more.others;
        }
        Ok(())
    }

    fn gate(&self, index: GateIndex, request: GateRequest) -> ObjectAnswer {
        let mut entropy = [0; 16];
        self.fill(&mut entropy);
        let (now, mut gates) = (self.now(), held(&self.0.gates));
        let gate = &mut gates[usize::from(index.number())];
        match request {
            GateRequest::Enter(wanted) => {
                self.0.gate_calls.fetch_add(1, Ordering::SeqCst);
                ObjectAnswer::Entered(gate.enter(&wanted, now, entropy))
            }
            GateRequest::Knock(knock) => {
                self.0.gate_calls.fetch_add(1, Ordering::SeqCst);
                ObjectAnswer::Knocked(gate.knock(&knock, now))
            }
            GateRequest::Leave(lot) => ObjectAnswer::Left(gate.leave(lot, now).is_some()),
            GateRequest::Grant(_) | GateRequest::Forget => panic!("no visitor asks for that"),
        }
    }
}

impl Objects for TestHost {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        match request {
            ObjectRequest::Controller(show, ControllerRequest::Bulletin) => {
                let bulletin = TestHost::bulletin(self, show).await?;
                Ok(ObjectAnswer::Bulletin(bulletin.map(Box::new)))
            }
            ObjectRequest::Counter(_, counter, CounterRequest::Add(flush)) => {
                TestHost::count(self, counter, flush)?;
                Ok(ObjectAnswer::Done)
            }
            ObjectRequest::Gate(..) if self.0.gates_are_silent.load(Ordering::SeqCst) => {
                Err(Trouble::new("the gate is away"))
            }
            ObjectRequest::Gate(_, index, request) => Ok(self.gate(index, request)),
            ObjectRequest::Reminders(_, _, reminder) => {
                Ok(ObjectAnswer::Kept(held(&self.0.reminders).ask(reminder)))
            }
            other => panic!("no visitor asks for {other:?}"),
        }
    }
}

impl Host for TestHost {
    fn now(&self) -> Millis {
        self.0.now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let n = self.0.chance.fetch_add(0x9e37_79b9, Ordering::SeqCst);
            *byte = (n.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8;
        }
    }

    fn defer(&self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    async fn sleep(&self, _: u64) {
        tokio::task::yield_now().await;
    }

    async fn function(
        &self,
        _: &str,
        request: Request<Vec<u8>>,
        _: u64,
    ) -> Told<Response<Vec<u8>>> {
        held(&self.0.calls_of_functions).push(request);
        if self.0.functions_are_down.load(Ordering::SeqCst) {
            return Err(Trouble::new("nobody is there"));
        }
        if let Some(answer) = held(&self.0.functions).pop_front() {
            return Ok(answer);
        }
        let mut answer = Response::new(b"{}".to_vec());
        *answer.status_mut() = StatusCode::ACCEPTED;
        Ok(answer)
    }

    async fn fetch(&self, request: Request<Vec<u8>>, _: u64) -> Told<Response<Vec<u8>>> {
        let body = String::from_utf8(request.into_body()).unwrap();
        held(&self.0.asked).push(body);
        Ok(Response::new(
            held(&self.0.captcha).to_string().into_bytes(),
        ))
    }

    fn log(&self, _: &str) {}
}

pub struct Scene {
    pub edge: Arc<Edge>,
    pub host: TestHost,
}

/// Secrets of this test, with this said about CAPTCHAs.
pub fn secrets(captcha: &[(&str, &str)]) -> Secrets {
    let hex = |byte: &str| byte.repeat(32);
    Secrets::read(|name| {
        let other = captcha.iter().find(|(known, _)| *known == name);
        match name {
            "ROOM_SECRET" => Some(hex("01")),
            "TICKET_KEYS" => Some(format!("1:{}", hex("02"))),
            "WORK_KEYS" => Some(hex("03")),
            "PASS_SIGNING_KEY" => Some(format!("test:{}", "A".repeat(43))),
            "INTERNAL_KEYS" => Some(format!("test:{}", hex("05"))),
            "FAN_KEYS" => Some(format!("1:{}", hex("06"))),
            _ => other.map(|(_, value)| (*value).to_owned()),
        }
    })
    .unwrap()
}

impl Scene {
    pub fn new(settings: Settings) -> Self {
        Self::with(settings, secrets(&[]), EdgeLimits::off())
    }

    pub fn with(settings: Settings, secrets: Secrets, limits: EdgeLimits) -> Self {
        Self {
            edge: Edge::new(secrets, limits, Site::default()),
            host: TestHost(Arc::new(World::new(settings))),
        }
    }

    pub fn world(&self) -> &World {
        &self.host.0
    }

    /// Lets seconds go by in which everybody does their work, and somebody asks how things
    /// are: the next one reads what was fetched for them.
    pub async fn run(&self, seconds: u64) {
        self.world().run(seconds);
        self.visitor().get("status").await.expect(200);
    }

    /// Another machine of the edge before the same room. It knows no bulletin yet.
    pub fn elsewhere(&self) -> Self {
        Self {
            edge: Edge::new(secrets(&[]), EdgeLimits::new(1_000), Site::default()),
            host: self.host.clone(),
        }
    }

    pub fn visitor(&self) -> Visitor<'_> {
        Visitor {
            scene: self,
            address: "192.0.2.1".to_owned(),
            cookies: BTreeMap::new(),
        }
    }
}

/// An answer, read.
#[derive(Debug)]
pub struct Heard {
    pub status: u16,
    pub media_type: String,
    pub retry_after: Option<u64>,
    pub location: Option<String>,
    pub refresh: Option<String>,
    pub text: String,
    pub json: Value,
}

impl Heard {
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }
}

pub const FORM: &str = "application/x-www-form-urlencoded";

pub struct Visitor<'a> {
    pub scene: &'a Scene,
    pub address: String,
    pub cookies: BTreeMap<String, String>,
}

impl Visitor<'_> {
    /// Sends a request to the room, or to another path that begins with a slash.
    pub async fn send(
        &mut self,
        method: Method,
        action: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Heard {
        let path = match action.starts_with('/') {
            true => action.to_owned(),
            false => format!("/room/{SHOW}/{action}"),
        };
        let path = path.replace("/?", "?");
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "room.test")
            .header("cookie", cookies.join("; "));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let scene = self.scene;
        let reply = scene.edge.handle(&scene.host, request, &self.address).await;
        let Reply::Answer(answer) = reply else {
            panic!("this is no feed");
        };
        // What goes on after the answer goes on now.
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        for cookie in answer.headers().get_all("set-cookie") {
            let (name, rest) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let header = |name: &str| {
            let value = answer.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        let text = String::from_utf8(answer.body().clone()).unwrap();
        Heard {
            status: answer.status().as_u16(),
            media_type: header("content-type").unwrap_or_default(),
            retry_after: header("retry-after").map(|text| text.parse().unwrap()),
            location: header("location"),
            refresh: header("refresh"),
            json: serde_json::from_str(&text).unwrap_or_default(),
            text,
        }
    }

    pub async fn get(&mut self, action: &str) -> Heard {
        self.send(Method::GET, action, &[], "").await
    }

    pub async fn page(&mut self, action: &str) -> Heard {
        let headers = [("accept", "text/html")];
        self.send(Method::GET, action, &headers, "").await
    }

    pub async fn post(&mut self, action: &str, body: Value) -> Heard {
        let headers = [("content-type", "application/json")];
        self.send(Method::POST, action, &headers, body.to_string())
            .await
    }

    pub async fn form(&mut self, action: &str, body: &str) -> Heard {
        let headers = [("content-type", FORM)];
        self.send(Method::POST, action, &headers, body).await
    }

    pub async fn challenge(&mut self) -> Challenge {
        let told = self.get("challenge").await.expect(200);
        Challenge::from_json(&told.text).unwrap()
    }

    pub async fn solved(&mut self) -> String {
        let challenge = self.challenge().await;
        payload(&challenge, &challenge.solve(0..TRIES).unwrap())
    }

    pub async fn join(&mut self) -> Heard {
        let altcha = self.solved().await;
        self.post("join", json!({"altcha": altcha})).await
    }

    pub async fn enter(&mut self) -> Heard {
        self.post("enter", json!({})).await
    }

    pub async fn state(&mut self) -> String {
        let told = self.get("status").await.expect(200);
        told.json["state"].as_str().unwrap().to_owned()
    }
}
