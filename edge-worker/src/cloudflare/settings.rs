//! What the bindings of the worker say: secrets, addresses and limits.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::secret::RoomSecret;
use worker::Env;

use crate::edge::{Edge, EdgeLimits};
use crate::host::{Told, Trouble};
use crate::secrets::{self, Secrets};
use crate::site::Site;

#[derive(Debug)]
pub struct Settings {
    pub edge: Arc<Edge>,
    pub functions: Functions,
    /// For tests: answers say how many objects were asked before they were given.
    pub tells_object_calls: bool,
}

thread_local! {
    static SETTINGS: OnceCell<Result<Rc<Settings>, String>> = const { OnceCell::new() };
}

/// The settings, read once: other bindings come with another isolate.
pub fn of_isolate(env: &Env) -> Result<Rc<Settings>, String> {
    SETTINGS.with(|settings| settings.get_or_init(|| read(env).map(Rc::new)).clone())
}

fn read(env: &Env) -> Result<Settings, String> {
    let secrets = Secrets::read(|name| text(env, name))?;
    let limits = match text(env, "RATE_LIMIT").as_deref() {
        Some("off") => EdgeLimits::off(),
        Some("on") | None => {
            let of_address = text(env, "IP_REQUESTS_PER_10S");
            let of_ticket = text(env, "TICKET_REQUESTS_PER_10S");
            EdgeLimits::configured(of_address.as_deref(), of_ticket.as_deref())
                .map_err(|why| format!("IP_ or TICKET_REQUESTS_PER_10S: {why}"))?
        }
        Some(_) => return Err("RATE_LIMIT is neither on nor off".to_owned()),
    };
    let file = |_: &str| Err("a worker has no files: give the text or an address".to_owned());
    let site = Site::read(|name| text(env, name), file)?;
    Ok(Settings {
        edge: Edge::new(secrets, limits, site),
        functions: Functions::read(env).map_err(|trouble| trouble.0)?,
        tells_object_calls: text(env, "COUNT_OBJECT_CALLS").as_deref() == Some("on"),
    })
}

/// The keys that sign calls to the functions: all that most objects need of the secrets.
pub fn internal_keys(env: &Env) -> Told<InternalKeys> {
    let keys = text(env, "INTERNAL_KEYS").ok_or_else(|| Trouble::new("no INTERNAL_KEYS"))?;
    keys.parse().map_err(Trouble::new)
}

/// What draws follow from.
pub fn room_secret(env: &Env) -> Told<RoomSecret> {
    let digits = text(env, "ROOM_SECRET").ok_or_else(|| Trouble::new("no ROOM_SECRET"))?;
    secrets::room_secret(&digits).map_err(Trouble::new)
}

/// Variables and secrets alike.
fn text(env: &Env, name: &str) -> Option<String> {
    env.var(name).ok().map(|value| value.to_string())
}

/// Where each function answers.
#[derive(Debug, Clone)]
pub struct Functions(Rc<BTreeMap<String, String>>);

impl Functions {
    pub fn read(env: &Env) -> Told<Self> {
        let urls = text(env, "FUNCTION_URLS");
        let urls = urls.ok_or_else(|| Trouble::new("FUNCTION_URLS is not set"))?;
        let urls = serde_json::from_slice(urls.as_bytes())
            .map_err(|error| Trouble(format!("FUNCTION_URLS is no JSON of addresses: {error}")))?;
        Ok(Self(Rc::new(urls)))
    }

    /// The address of a path at a function.
    pub fn url(&self, function: &str, path_and_query: &str) -> Told<String> {
        let url = self.0.get(function);
        let url = url.ok_or_else(|| Trouble(format!("FUNCTION_URLS has no {function}")))?;
        Ok(format!("{}{path_and_query}", url.trim_end_matches('/')))
    }
}
