//! What the edge needs from whoever runs it: Cloudflare, or one process.
//!
//! Both hosts run the same logic. A worker has one thread and futures that stay on it;
//! a process moves them between threads. [`MaybeSend`] is the difference.

use std::future::Future;

use http::{Request, Response};
use onsale_domain::room::backend::Calls;
use onsale_domain::room::census::Tally;
use onsale_domain::room::opening::Bucket;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

pub use crate::objects::wire::Objects;

#[cfg(not(target_arch = "wasm32"))]
mod threads {
    pub trait MaybeSend: Send {}
    impl<T: Send> MaybeSend for T {}
    pub trait MaybeSync: Sync {}
    impl<T: Sync> MaybeSync for T {}
}

#[cfg(target_arch = "wasm32")]
mod threads {
    pub trait MaybeSend {}
    impl<T> MaybeSend for T {}
    pub trait MaybeSync {}
    impl<T> MaybeSync for T {}
}

pub use threads::{MaybeSend, MaybeSync};

/// Somebody was asked and did not answer, or not sensibly. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

impl Trouble {
    pub fn new(what: impl std::fmt::Display) -> Self {
        Self(what.to_string())
    }
}

pub type Told<T> = Result<T, Trouble>;

/// How many counters a show has. Each takes the flushes of some of the isolates.
pub const COUNTERS: u8 = 8;

/// What an isolate has counted of a show since it told a counter last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Flush {
    /// People who joined, by bucket.
    pub joined: Vec<(Bucket, Tally)>,
    pub calls: Calls,
}

/// What a request at the edge may ask for. One of these exists per request. Its bulletins
/// come through a cache of a second.
pub trait Host: Objects + Clone + 'static {
    fn now(&self) -> Millis;

    /// Unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);

    /// Work that goes on after the answer has been given.
    fn defer(&self, work: impl Future<Output = ()> + MaybeSend + 'static);

    fn sleep(&self, ms: u64) -> impl Future<Output = ()> + MaybeSend;

    /// Sends a request to one of the functions.
    fn function(
        &self,
        name: &str,
        request: Request<Vec<u8>>,
        timeout_ms: u64,
    ) -> impl Future<Output = Told<Response<Vec<u8>>>> + MaybeSend;

    /// Sends a request to somebody else, such as a CAPTCHA service.
    fn fetch(
        &self,
        request: Request<Vec<u8>>,
        timeout_ms: u64,
    ) -> impl Future<Output = Told<Response<Vec<u8>>>> + MaybeSend;

    fn log(&self, what: &str);
}

/// What an object asks of others. Each host has one kind for all objects.
pub trait Links: Objects {
    fn now(&self) -> Millis;

    fn fill(&self, bytes: &mut [u8]);

    /// Sends a request to the function `room`.
    fn room_function(
        &self,
        request: Request<Vec<u8>>,
    ) -> impl Future<Output = Told<Response<Vec<u8>>>> + MaybeSend;

    fn log(&self, what: &str);
}

/// What one object keeps. Nobody else writes there.
pub trait Storage: MaybeSend + MaybeSync {
    /// Everything, by name.
    fn load(&self) -> impl Future<Output = Told<Vec<(String, Vec<u8>)>>> + MaybeSend;

    /// Writes and, where there is no value, removes: all of it or nothing, and durably
    /// before it returns.
    fn store(
        &self,
        changes: Vec<(String, Option<Vec<u8>>)>,
    ) -> impl Future<Output = Told<()>> + MaybeSend;

    /// Removes everything.
    fn clear(&self) -> impl Future<Output = Told<()>> + MaybeSend;
}
