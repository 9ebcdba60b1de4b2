//! Whom the objects ask: the function `room`, and each other.

use http::{Request, Response};
use onsale_domain::time::Millis;
use worker::{Env, console_warn};

use super::object_alarm;
use super::object_calls;
use super::outgoing;
use super::settings::Functions;
use super::worker_host::fill;
use crate::host::{Links, Objects, Told};
use crate::objects::wire::{ObjectAnswer, ObjectRequest};

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

impl Objects for ObjectLinks {
    async fn ask(&self, request: ObjectRequest) -> Told<ObjectAnswer> {
        object_calls::ask(&self.env, &request).await
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

    fn log(&self, what: &str) {
        console_warn!("{what}");
    }
}
