//! What the functions say about events and shows, for the pages that are rendered here.
//! An answer is kept for a moment, so that a crowd that opens one page asks once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::ACCEPT;
use http::{HeaderValue, Request, StatusCode};
use onsale_domain::time::Millis;
use serde_json::Value;

use crate::edge::Edge;
use crate::forward::{request_id, route_of};
use crate::host::Host;

const FRESH_MS: u64 = 1_500;
/// While one reader has a newer answer fetched, the others get this one.
const STALE_MS: u64 = 15_000;
/// A plan of seats hardly changes.
const PLAN_FRESH_MS: u64 = 60_000;
/// A page that is late is worse than one without its list: its script asks again.
const TIMEOUT_MS: u64 = 2_500;
const ANSWERS_KEPT: usize = 512;

/// What was answered.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Found(Arc<Value>),
    /// There is no such thing, or not for everybody.
    Missing,
    /// The function did not answer, or refused.
    Silent,
}

#[derive(Debug, Clone)]
struct Kept {
    at: Millis,
    told: Told,
    fetching_since: Option<Millis>,
}

#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<HashMap<String, Kept>>);

impl Catalogue {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, Kept>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is known and may be told. A stale answer is told to all but the first who ask.
    fn known(&self, path: &str, fresh_ms: u64, now: Millis) -> Option<Told> {
        self.with(|answers| {
            let kept = answers.get_mut(path)?;
            let age_ms = now - kept.at;
            // A request that was dropped never comes back with an answer.
            let is_fetched = (kept.fetching_since).is_some_and(|at| now - at <= TIMEOUT_MS);
            if age_ms < fresh_ms || (is_fetched && age_ms < fresh_ms + STALE_MS) {
                return Some(kept.told.clone());
            }
            kept.fetching_since = Some(now);
            None
        })
    }

    fn keep(&self, path: &str, told: &Told, now: Millis) {
        self.with(|answers| {
            if answers.len() >= ANSWERS_KEPT && !answers.contains_key(path) {
                answers.retain(|_, kept| now - kept.at < FRESH_MS);
            }
            if answers.len() >= ANSWERS_KEPT {
                answers.clear();
            }
            let kept = Kept {
                at: now,
                told: told.clone(),
                fetching_since: None,
            };
            answers.insert(path.to_owned(), kept);
        });
    }
}

impl Edge {
    /// The answer of a function to everybody: no session and no pass goes along.
    pub(crate) async fn told<H: Host>(&self, host: &H, path: &str) -> Told {
        self.told_by(host, path, FRESH_MS, |body| {
            serde_json::from_slice(body).ok()
        })
        .await
    }

    /// A show, as everybody may read it. This is no look of a reader, so it is not counted.
    pub(crate) async fn told_show<H: Host>(&self, host: &H, show: &str) -> Told {
        let path = format!("/api/v1/shows/{show}?look=no");
        self.told(host, &path).await
    }

    /// Whether a show has places with numbers. Its plan may be long, so it is not read.
    pub(crate) async fn is_numbered<H: Host>(&self, host: &H, show: &str) -> bool {
        const SEATED: &[u8] = b"\"kind\":\"seated\"";
        let path = format!("/api/v1/shows/{show}/layout");
        let read = |body: &[u8]| {
            let is_seated = body.windows(SEATED.len()).any(|part| part == SEATED);
            Some(Value::Bool(is_seated))
        };
        let told = self.told_by(host, &path, PLAN_FRESH_MS, read).await;
        !matches!(told, Told::Found(it) if *it == Value::Bool(false))
    }

    async fn told_by<H: Host>(
        &self,
        host: &H,
        path: &str,
        fresh_ms: u64,
        read: impl Fn(&[u8]) -> Option<Value>,
    ) -> Told {
        if let Some(told) = self.catalogue.known(path, fresh_ms, host.now()) {
            return told;
        }
        let told = ask(host, path, read).await;
        self.catalogue.keep(path, &told, host.now());
        told
    }
}

async fn ask<H: Host>(host: &H, path: &str, read: impl Fn(&[u8]) -> Option<Value>) -> Told {
    let route = route_of(path.split('?').next().unwrap_or(path));
    let (Some(route), Ok(mut request)) = (route, Request::get(path).body(Vec::new())) else {
        return Told::Missing;
    };
    let id = request_id(host, request.headers());
    request
        .headers_mut()
        .insert(onsale_wire::REQUEST_ID_HEADER, id);
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(ACCEPT, json);
    match host.function(route.function, request, TIMEOUT_MS).await {
        Ok(answer) if answer.status() == StatusCode::OK => match read(answer.body()) {
            Some(value) => Told::Found(Arc::new(value)),
            None => Told::Silent,
        },
        Ok(answer) if answer.status().is_client_error() => match answer.status() {
            StatusCode::TOO_MANY_REQUESTS => Told::Silent,
            _ => Told::Missing,
        },
        Ok(_) => Told::Silent,
        Err(trouble) => {
            host.log(&format!("a page is sent without {path}: {trouble}"));
            Told::Silent
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reader_fetches_what_is_stale_and_the_others_are_told_the_old_answer() {
        let catalogue = Catalogue::default();
        let at = |ms| Millis(1_000_000 + ms);
        assert!(catalogue.known("/a", FRESH_MS, at(0)).is_none());
        catalogue.keep("/a", &Told::Missing, at(0));
        assert!(catalogue.known("/a", FRESH_MS, at(FRESH_MS - 1)).is_some());
        assert!(catalogue.known("/a", FRESH_MS, at(FRESH_MS)).is_none());
        assert!(catalogue.known("/a", FRESH_MS, at(FRESH_MS)).is_some());
        let much_later = at(FRESH_MS + STALE_MS);
        assert!(catalogue.known("/a", FRESH_MS, much_later).is_none());
    }

    #[test]
    fn another_reader_fetches_when_the_first_has_not_come_back_in_time() {
        let catalogue = Catalogue::default();
        let at = |ms| Millis(1_000_000 + ms);
        catalogue.keep("/a", &Told::Missing, at(0));
        let known = |ms| catalogue.known("/a", FRESH_MS, at(ms)).is_some();
        assert!(!known(FRESH_MS), "the first fetches");
        assert!(known(FRESH_MS + TIMEOUT_MS));
        assert!(!known(FRESH_MS + TIMEOUT_MS + 1), "the second fetches");
        assert!(known(FRESH_MS + TIMEOUT_MS + 2));
    }

    #[test]
    fn made_up_addresses_do_not_fill_the_memory() {
        let catalogue = Catalogue::default();
        for n in 0..3 * ANSWERS_KEPT {
            catalogue.keep(&format!("/{n}"), &Told::Missing, Millis(1_000_000));
        }
        assert!(catalogue.with(|answers| answers.len()) <= ANSWERS_KEPT);
    }
}
