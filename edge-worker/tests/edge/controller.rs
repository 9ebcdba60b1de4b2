//! The controller as an object: how it meets those who ask it, and gates that hang.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::briefing::{Briefing, OnSale};
use onsale_domain::room::census::{CounterReport, Tally};
use onsale_domain::room::controller::News;
use onsale_domain::room::gate::{Gate, GateIndex};
use onsale_domain::show::RoomMode;
use onsale_domain::time::Millis;
use onsale_edge::host::{Links, Objects, Storage, Told, Trouble};
use onsale_edge::objects::controller::ControllerObject;
use onsale_edge::objects::wire::{
    ControllerRequest, CounterRequest, GateRequest, ObjectAnswer, ObjectRequest,
};

use crate::scene::{SHOW, SINCE, settings};

#[derive(Clone, Default)]
pub struct Around(pub Arc<Counts>);

#[derive(Default)]
pub struct Counts {
    pub now: AtomicU64,
    briefings: AtomicU64,
    pub grants: AtomicU64,
    pub stored: Mutex<Vec<(String, Vec<u8>)>>,
    /// What counters told the controller, and whether it listens.
    pub reports: Mutex<Vec<CounterReport>>,
    pub is_deaf: AtomicBool,
    fails_to_store: AtomicBool,
    /// The first gate does not answer while this is set.
    hangs: AtomicBool,
    /// Whether the cloud says nothing, and by how much it has moved the show.
    pub is_silent: AtomicBool,
    pub moved_ms: AtomicU64,
    /// How often gates and counters were told to forget everything.
    pub forgets: AtomicU64,
}

impl Around {
    async fn grant(&self, index: GateIndex, grant: &Grant) -> Report {
        // Nothing is granted that is not stored.
        assert!(!self.0.stored.lock().unwrap().is_empty());
        self.0.grants.fetch_add(1, Ordering::SeqCst);
        if index.number() == 0 && self.0.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let mut gate = Gate::new(index);
        gate.apply(grant, self.now());
        gate.report(self.now())
    }
}

impl Objects for Around {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        match request {
            ObjectRequest::Gate(_, index, GateRequest::Grant(grant)) => {
                Ok(ObjectAnswer::Report(self.grant(index, &grant).await))
            }
            ObjectRequest::Controller(_, ControllerRequest::Report(report)) => {
                if self.0.is_deaf.load(Ordering::SeqCst) {
                    return Err(Trouble::new("the controller is away"));
                }
                self.0.reports.lock().unwrap().push(report);
                Ok(ObjectAnswer::Done)
            }
            ObjectRequest::Gate(_, _, GateRequest::Forget)
            | ObjectRequest::Counter(_, _, CounterRequest::Forget) => {
                self.0.forgets.fetch_add(1, Ordering::SeqCst);
                Ok(ObjectAnswer::Done)
            }
            other => panic!("nobody asks for {other:?} here"),
        }
    }
}

impl Links for Around {
    fn now(&self) -> Millis {
        Millis(SINCE.0 + 10_000 + self.0.now.load(Ordering::SeqCst))
    }

    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    async fn room_function(&self, _: Request<Vec<u8>>) -> Told<Response<Vec<u8>>> {
        self.0.briefings.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(50)).await;
        if self.0.is_silent.load(Ordering::SeqCst) {
            return Err(Trouble::new("the cloud is away"));
        }
        let mut settings = settings(RoomMode::Queue, None);
        settings.ends = settings.ends + self.0.moved_ms.load(Ordering::SeqCst);
        let briefing = Briefing {
            title: "Nacht".to_owned(),
            on_sale: OnSale::default(),
            settings,
            news: News {
                cursor: self.now().0,
                free_seats: Some(100),
                sold_out: false,
                healthy: true,
                ended: vec![],
            },
        };
        Ok(Response::new(serde_json::to_vec(&briefing).unwrap()))
    }

    fn log(&self, _: &str) {}
}

impl Storage for Around {
    async fn load(&self) -> Told<Vec<(String, Vec<u8>)>> {
        Ok(self.0.stored.lock().unwrap().clone())
    }

    async fn store(&self, changes: Vec<(String, Option<Vec<u8>>)>) -> Told<()> {
        if self.0.fails_to_store.load(Ordering::SeqCst) {
            return Err(Trouble::new("the disk is full"));
        }
        let mut stored = self.0.stored.lock().unwrap();
        for (name, value) in changes {
            stored.retain(|(known, _)| *known != name);
            stored.extend(value.map(|value| (name, value)));
        }
        Ok(())
    }

    async fn clear(&self) -> Told<()> {
        self.0.stored.lock().unwrap().clear();
        Ok(())
    }
}

pub fn object(around: &Around) -> Arc<ControllerObject<Around, Around>> {
    let keys = "test:a-secret-of-thirty-two-characters".parse().unwrap();
    Arc::new(ControllerObject::new(
        SHOW,
        around.clone(),
        around.clone(),
        keys,
    ))
}

#[tokio::test]
async fn a_crowd_that_asks_at_once_is_answered_by_one_step() {
    let around = Around::default();
    let object = object(&around);
    let crowd: Vec<_> = (0..50)
        .map(|_| {
            let object = object.clone();
            tokio::spawn(async move { object.bulletin().await.unwrap().unwrap() })
        })
        .collect();
    for visitor in crowd {
        assert_eq!(visitor.await.unwrap().title, "Nacht");
    }
    assert_eq!(around.0.briefings.load(Ordering::SeqCst), 1);
    around.0.now.store(2_600, Ordering::SeqCst);
    object.bulletin().await.unwrap().unwrap();
    assert_eq!(around.0.briefings.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_gate_that_hangs_holds_neither_bulletins_nor_the_other_gates_up() {
    let around = Around::default();
    around.0.hangs.store(true, Ordering::SeqCst);
    let object = object(&around);
    for second in 1..=3 {
        around.0.now.store(second * 1_000, Ordering::SeqCst);
        let stepping = object.clone();
        tokio::spawn(async move { stepping.step().await });
        tokio::time::timeout(Duration::from_secs(5), async {
            while around.0.grants.load(Ordering::SeqCst) < second * 8 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("the next step is taken all the same");
        let told = object.bulletin().await.unwrap().unwrap();
        assert_eq!(told.published.now.0, SINCE.0 + 10_000 + second * 1_000);
    }
}

#[tokio::test]
async fn what_cannot_be_stored_is_neither_granted_nor_said() {
    let around = Around::default();
    around.0.fails_to_store.store(true, Ordering::SeqCst);
    let object = object(&around);
    assert!(object.bulletin().await.is_err());
    assert_eq!(around.0.grants.load(Ordering::SeqCst), 0);
    around.0.fails_to_store.store(false, Ordering::SeqCst);
    assert!(object.bulletin().await.unwrap().is_some());
    assert_eq!(around.0.grants.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn what_a_counter_told_counts_although_a_step_could_not_be_stored() {
    let around = Around::default();
    let object = object(&around);
    object.bulletin().await.unwrap().unwrap();
    let opening = settings(RoomMode::Queue, None).opening;
    let one = Tally { fans: 0, others: 1 };
    object.hear(CounterReport {
        totals: vec![(opening.bucket_at(around.now()), one)],
        ..CounterReport::default()
    });
    around.0.now.store(1_000, Ordering::SeqCst);
    around.0.fails_to_store.store(true, Ordering::SeqCst);
    assert!(object.step().await.is_err());
    around.0.fails_to_store.store(false, Ordering::SeqCst);
    object.step().await.unwrap();
    let told = object.bulletin().await.unwrap().unwrap();
    assert_eq!(told.published.line.joined(), 1);
}

#[tokio::test]
async fn what_another_version_stored_is_refused_in_words_and_left_alone() {
    let around = Around::default();
    object(&around).bulletin().await.unwrap().unwrap();
    let names = || -> Vec<String> {
        let stored = around.0.stored.lock().unwrap();
        stored.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(), ["state/2"]);
    // Before names said the format there was one, the first.
    for other in ["state", "state/1", "state/9"] {
        around.0.stored.lock().unwrap()[0].0 = other.to_owned();
        let refused = object(&around).bulletin().await.unwrap_err();
        assert!(refused.0.contains(&format!("as {other},")), "{refused}");
        assert_eq!(names(), [other]);
    }
}
