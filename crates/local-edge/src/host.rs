//! What the edge asks of this process.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use onsale_domain::time::Millis;
use onsale_edge::host::{Host, Objects, Told};
use onsale_edge::objects::wire::{ObjectAnswer, ObjectRequest};

use crate::feed;
use crate::world::{self, World};

#[derive(Debug, Clone)]
pub struct LocalHost(pub Arc<World>);

impl Objects for LocalHost {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        self.0.ask(request).await
    }
}

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
