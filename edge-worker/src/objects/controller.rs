//! The controller of a show: once a second it hears the cloud and the gates, moves the
//! line on, and says how things are.

use futures_util::future::join_all;
use futures_util::lock::{Mutex, MutexGuard};
use http::StatusCode;
use onsale_domain::ids::ShowId;
use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::briefing::{Briefing, OnSale};
use onsale_domain::room::census::CounterReport;
use onsale_domain::room::controller::Controller;
use onsale_domain::room::gate::GateIndex;
use onsale_domain::room::published::Published;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex as ShortMutex, PoisonError};

use crate::host::{Links, Storage, Told, Trouble};
use crate::internal::signed_request;
use crate::objects::format::Format;
use crate::objects::wire::{ControllerRequest, ObjectAnswer};

/// How often it takes a step.
pub const STEP_MS: u64 = 1_000;
/// An older bulletin means that nobody wakes the controller; then whoever asks does.
const OVERDUE_MS: u64 = 2_500;
/// After this long without anybody asking, nobody waits: the longest time between two
/// polls of a visitor is less than half of it.
const QUIET_MS: u64 = 300_000;
/// Nobody sets an alarm for years: shows may be far away.
const LONGEST_REST_MS: u64 = 30 * 24 * 3_600_000;
const STATE: Format = Format {
    name: "state",
    version: 2,
};

/// What everybody may know about the room of a show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bulletin {
    pub title: String,
    pub on_sale: OnSale,
    pub published: Published,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    title: String,
    on_sale: OnSale,
    controller: Controller,
}

#[derive(Debug, Clone)]
struct Said {
    at: Millis,
    /// `None`: the cloud knows no such show.
    bulletin: Option<Bulletin>,
}

#[derive(Debug)]
pub struct ControllerObject<S, L> {
    show: ShowId,
    storage: S,
    links: L,
    keys: InternalKeys,
    /// `None` until loaded, and again after a failed write.
    state: Mutex<Option<Option<Kept>>>,
    said: ShortMutex<Option<Said>>,
    asked: ShortMutex<Millis>,
    heard: ShortMutex<Vec<CounterReport>>,
    /// What gates said since the last step.
    reported: ShortMutex<Vec<(GateIndex, Report)>>,
}

impl<S: Storage, L: Links> ControllerObject<S, L> {
    pub fn new(show: ShowId, storage: S, links: L, keys: InternalKeys) -> Self {
        Self {
            show,
            storage,
            links,
            keys,
            state: Mutex::new(None),
            said: ShortMutex::new(None),
            asked: ShortMutex::new(Millis(0)),
            heard: ShortMutex::new(Vec::new()),
            reported: ShortMutex::new(Vec::new()),
        }
    }

    pub async fn answer(&self, request: ControllerRequest) -> Told<ObjectAnswer> {
        Ok(match request {
            ControllerRequest::Bulletin => {
                ObjectAnswer::Bulletin(self.bulletin().await?.map(Box::new))
            }
            ControllerRequest::Report(report) => {
                self.hear(report);
                ObjectAnswer::Done
            }
        })
    }

    /// The latest bulletin; `None` when there is no such show.
    pub async fn bulletin(&self) -> Told<Option<Bulletin>> {
        let now = self.links.now();
        *held(&self.asked) = now;
        if let Some(said) = self.said_lately() {
            return Ok(said.bulletin);
        }
        let slot = self.state.lock().await;
        // Whoever held the lock has taken the step that all who waited for it need.
        if let Some(said) = self.said_lately() {
            return Ok(said.bulletin);
        }
        self.step_with(slot).await?;
        let said = held(&self.said).clone();
        Ok(said.and_then(|said| said.bulletin))
    }

    fn said_lately(&self) -> Option<Said> {
        let said = held(&self.said).clone();
        said.filter(|said| said.at + OVERDUE_MS > self.links.now())
    }

    /// Takes a counter's report in. It counts with the next step.
    pub fn hear(&self, report: CounterReport) {
        held(&self.heard).push(report);
    }

    /// Whether somebody still wants steps to be taken. Nobody does for a show that does
    /// not exist: made-up ids must cost nothing.
    pub fn is_wanted(&self) -> bool {
        let missing = held(&self.said)
            .as_ref()
            .is_some_and(|s| s.bulletin.is_none());
        !missing && *held(&self.asked) + QUIET_MS > self.links.now()
    }

    /// One step. Whoever calls it has arranged for the next one before.
    pub async fn step(&self) -> Told<()> {
        let slot = self.state.lock().await;
        self.step_with(slot).await
    }

    async fn step_with(&self, mut slot: MutexGuard<'_, Option<Option<Kept>>>) -> Told<()> {
        let kept = match slot.take() {
            Some(kept) => kept,
            None => self.load().await?,
        };
        let briefing = self.ask_cloud(kept.as_ref()).await;
        let now = self.links.now();
        let mut kept = match (kept, briefing) {
            (None, Err(trouble)) => {
                *slot = Some(None);
                return Err(trouble);
            }
            (None, Ok(None)) => {
                *slot = Some(None);
                self.say(now, None);
                return Ok(());
            }
            (None, Ok(Some(briefing))) => started(self.show, &briefing, now),
            (Some(mut kept), Ok(Some(briefing))) => {
                kept.controller.change_settings(briefing.settings, now);
                kept.controller.hear_cloud(&briefing.news, now);
                kept.title = briefing.title;
                kept.on_sale = briefing.on_sale;
                kept
            }
            // A controller that hears nothing pauses by itself after a while.
            (Some(kept), Ok(None)) => kept,
            (Some(kept), Err(trouble)) => {
                self.links.log(&format!("the cloud is silent: {trouble}"));
                kept
            }
        };
        // Counters were told that they are heard, so it is kept until it is stored.
        let heard = held(&self.heard).clone();
        for report in &heard {
            kept.controller.hear_counter(report, now);
        }
        for (gate, report) in std::mem::take(&mut *held(&self.reported)) {
            kept.controller.hear_gate(gate, report);
        }
        kept.controller.tick(now);
        self.keep(&kept).await?;
        held(&self.heard).drain(..heard.len());
        let bulletin = Bulletin {
            title: kept.title.clone(),
            on_sale: kept.on_sale.clone(),
            published: kept.controller.published(now),
        };
        self.say(now, Some(bulletin));
        // Gates that have forgotten a room would begin to keep it again.
        let is_forgotten = kept.controller.settings().forgotten_from() <= now;
        let grants: Vec<_> = match is_forgotten {
            true => Vec::new(),
            false => kept.controller.grants().collect(),
        };
        *slot = Some(Some(kept));
        // What is sent is stored, and grants may come late, twice or out of order: the next
        // step need not wait for a gate that is slow.
        drop(slot);
        self.talk_to_gates(grants).await;
        Ok(())
    }

    /// Nobody asks any more. Long after the show its gates and counters forget everybody; this
    /// object keeps what proves the draw. In how many milliseconds to see to that; `None`:
    /// it is done.
    pub async fn rest(&self) -> Told<Option<u64>> {
        let mut slot = self.state.lock().await;
        let kept = match slot.take() {
            Some(kept) => kept,
            None => self.load().await?,
        };
        let Some(mut kept) = kept else {
            *slot = Some(None);
            return Ok(None);
        };
        let now = self.links.now();
        let mut from = kept.controller.settings().forgotten_from();
        if from <= now {
            // The show may have been moved since anybody asked.
            let Some(briefing) = self.ask_cloud(Some(&kept)).await? else {
                *slot = Some(Some(kept));
                return Ok(None);
            };
            from = briefing.settings.forgotten_from();
        }
        if from > now {
            *slot = Some(Some(kept));
            return Ok(Some(now.until(from).min(LONGEST_REST_MS)));
        }
        self.links.forget(self.show).await?;
        held(&self.reported).clear();
        kept.controller.forget_gates();
        self.keep(&kept).await?;
        *slot = Some(Some(kept));
        Ok(None)
    }

    /// Sends each gate what is stored as granted. What they report counts with the next
    /// step; if it is lost until then, they report it again.
    async fn talk_to_gates(&self, grants: Vec<(GateIndex, Grant)>) {
        let calls = grants.into_iter().map(|(gate, grant)| async move {
            (gate, self.links.grant(self.show, gate, grant).await)
        });
        for (gate, report) in join_all(calls).await {
            match report {
                Ok(report) => held(&self.reported).push((gate, report)),
                Err(trouble) => self
                    .links
                    .log(&format!("gate {} is silent: {trouble}", gate.number())),
            }
        }
    }

    fn say(&self, at: Millis, bulletin: Option<Bulletin>) {
        *held(&self.said) = Some(Said { at, bulletin });
    }

    async fn keep(&self, kept: &Kept) -> Told<()> {
        let bytes = postcard::to_allocvec(kept).map_err(Trouble::new)?;
        let changes = vec![(STATE.current(), Some(bytes))];
        self.storage.store(changes).await
    }

    async fn load(&self) -> Told<Option<Kept>> {
        let stored = self.storage.load().await?;
        let state = STATE.find(&self.storage, &stored).await?;
        state
            .map(|bytes| postcard::from_bytes(&bytes).map_err(Trouble::new))
            .transpose()
    }

    async fn ask_cloud(&self, kept: Option<&Kept>) -> Told<Option<Briefing>> {
        let now = self.links.now();
        let since = kept.map_or(0, |kept| kept.controller.cursor());
        let mut target = format!("/internal/shows/{}/room?since={since}", self.show);
        if let Some(kept) = kept {
            let figures = kept.controller.figures(now);
            let (waiting, admitted, rate) = (figures.waiting, figures.admitted, figures.rate);
            target += &format!("&waiting={waiting}&admitted={admitted}&rate={rate}");
        }
        let request = signed_request(&self.keys, "GET", &target, Vec::new(), now)?;
        let answer = self.links.room_function(request).await?;
        match answer.status() {
            StatusCode::OK => serde_json::from_slice(answer.body())
                .map(Some)
                .map_err(Trouble::new),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(Trouble(format!("it answered {status}"))),
        }
    }
}

fn started(show: ShowId, briefing: &Briefing, now: Millis) -> Kept {
    let mut controller = Controller::new(show, briefing.settings.clone());
    controller.hear_cloud(&briefing.news, now);
    Kept {
        title: briefing.title.clone(),
        on_sale: briefing.on_sale.clone(),
        controller,
    }
}

/// Held for a moment only, never over an await.
fn held<T>(mutex: &ShortMutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
