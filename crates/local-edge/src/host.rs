//! What the edge asks of this process.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::ids::ShowId;
use onsale_domain::room::gate::{Enter, Entered, GateIndex, NotEntered};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::{NotKept, Reminder};
use onsale_domain::time::Millis;
use onsale_edge::host::{Flush, Host, Told};
use onsale_edge::objects::controller::Bulletin;
use onsale_edge::objects::counter::REPORT_AFTER_MS;

use crate::feed;
use crate::world::{self, World};

#[derive(Debug, Clone)]
pub struct LocalHost(pub Arc<World>);

impl Host for LocalHost {
    fn now(&self) -> Millis {
        world::now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        world::fill(bytes);
    }

    fn defer(&self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(work);
    }

    async fn sleep(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    async fn bulletin(&self, show: ShowId) -> Told<Option<Bulletin>> {
        self.0.controller(show).object.bulletin().await
    }

    async fn count(&self, show: ShowId, counter: u8, flush: Flush) -> Told<()> {
        let counter = self.0.counter(show, counter);
        counter.add(flush).await?;
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(REPORT_AFTER_MS)).await;
            if let Err(trouble) = counter.report().await {
                tracing::warn!(%trouble, "a counter could not report");
            }
        });
        Ok(())
    }

    async fn enter(&self, show: ShowId, wanted: Enter) -> Told<Result<Entered, NotEntered>> {
        let gate = self.0.gate(show, GateIndex::of_lot(wanted.lot));
        gate.enter(&wanted).await
    }

    async fn remind(&self, show: ShowId, reminder: Reminder) -> Told<Result<(), NotKept>> {
        let gate = GateIndex::of_lot(reminder.ticket.lot);
        let reminders = self.0.reminders(show, gate);
        let kept = reminders.object.remind(reminder).await;
        reminders.look_soon();
        kept
    }

    async fn leave(&self, show: ShowId, lot: Lot) -> Told<bool> {
        self.0.gate(show, GateIndex::of_lot(lot)).leave(lot).await
    }

    async fn function(
        &self,
        _name: &str,
        request: Request<Vec<u8>>,
        timeout_ms: u64,
    ) -> Told<Response<Vec<u8>>> {
        let timeout = Duration::from_millis(timeout_ms);
        let map_of = feed::map_of(&request);
        let answer = self.0.function(request, timeout).await?;
        if let Some(show) = map_of {
            self.0.note_map(show, &answer);
        }
        Ok(answer)
    }

    async fn fetch(&self, request: Request<Vec<u8>>, timeout_ms: u64) -> Told<Response<Vec<u8>>> {
        let timeout = Duration::from_millis(timeout_ms);
        self.0.fetch(request, timeout).await
    }

    fn log(&self, what: &str) {
        tracing::warn!("{what}");
    }
}
