//! Whom the objects ask: the function `room`, and each other.

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::census::CounterReport;
use onsale_domain::room::gate::GateIndex;
use onsale_domain::time::Millis;
use worker::{Env, console_warn};

use super::object_alarm;
use super::object_calls::Object;
use super::outgoing;
use super::settings::Functions;
use super::worker_host::fill;
use crate::host::{COUNTERS, Links, Told};
use crate::objects::controller::Bulletin;
use crate::objects::controller::GATE_TIMEOUT_MS;

/// A step of the controller waits for this, and the line with it.
const TIMEOUT_MS: u64 = 5_000;

#[derive(Debug)]
pub struct ObjectLinks {
    env: Env,
    functions: Functions,
}

impl ObjectLinks {
    pub fn new(env: Env) -> Told<Self> {
        let functions = Functions::read(&env)?;
        Ok(Self { env, functions })
    }

    pub async fn function(&self, name: &str, request: Request<Vec<u8>>) -> Told<Response<Vec<u8>>> {
        outgoing::to_function(&self.functions, name, request, TIMEOUT_MS).await
    }
}

impl Links for ObjectLinks {
    fn now(&self) -> Millis {
        object_alarm::now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        fill(bytes);
    }

    async fn room_function(&self, request: Request<Vec<u8>>) -> Told<Response<Vec<u8>>> {
        self.function("room", request).await
    }

    async fn grant(&self, show: ShowId, gate: GateIndex, grant: Grant) -> Told<Report> {
        let gate = Object::Gate(show, gate);
        let asked = gate.call_within(GATE_TIMEOUT_MS, &self.env, "grant", &grant);
        asked.await
    }

    async fn bulletin(&self, show: ShowId) -> Told<Option<Bulletin>> {
        let controller = Object::Controller(show);
        controller.call(&self.env, "bulletin", &()).await
    }

    async fn report(&self, show: ShowId, report: CounterReport) -> Told<()> {
        let controller = Object::Controller(show);
        controller.call(&self.env, "report", &report).await
    }

    async fn forget(&self, show: ShowId) -> Told<()> {
        let gates = GateIndex::all().map(|gate| Object::Gate(show, gate));
        let counters = (0..COUNTERS).map(|number| Object::Counter(show, number));
        for object in gates.chain(counters) {
            let forgotten = object.call_within::<()>(GATE_TIMEOUT_MS, &self.env, "forget", &());
            forgotten.await?;
        }
        Ok(())
    }

    fn log(&self, what: &str) {
        console_warn!("{what}");
    }
}
