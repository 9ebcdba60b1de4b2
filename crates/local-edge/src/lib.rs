//! The edge inside one process. The logic is that of the worker; here are its host, its
//! objects in memory, and the file in which they keep what must survive a crash.

mod assets;
mod at_work;
mod compressed;
mod feed;
mod host;
mod reminding;
mod serve;
mod store;
mod world;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use onsale_edge::{Edge, EdgeLimits, Secrets, Site};
use onsale_outgoing::Outgoing;
use tokio::sync::watch;

pub use host::LocalHost;
pub use serve::EdgeServer;
pub use store::ObjectFile;
pub use world::World;

/// The file of the objects in a data folder.
pub const FILE: &str = "edge.db";

#[derive(Debug)]
pub struct LocalEdge {
    pub edge: Arc<Edge>,
    pub host: LocalHost,
}

impl LocalEdge {
    /// The edge before these functions, with its memory in this folder.
    pub fn open(
        folder: &Path,
        functions: Router,
        secrets: Secrets,
        limits: EdgeLimits,
        site: Site,
    ) -> Result<Self, String> {
        let file = ObjectFile::open(&folder.join(FILE))?;
        let keys = (secrets.internal.clone(), secrets.room.clone());
        let outgoing = secrets.captcha.as_ref().map(|_| Outgoing::new());
        let world = World::new(functions, file, keys, outgoing.transpose()?);
        Ok(Self {
            edge: Edge::new(secrets, limits, site),
            host: LocalHost(world),
        })
    }

    /// Answers everything. `stop` ends the feeds. Whoever was promised a mail before this
    /// process began gets it.
    pub fn router(&self, stop: watch::Receiver<bool>) -> Router {
        tokio::spawn(reminding::resume(self.host.0.clone()));
        let server = EdgeServer {
            edge: self.edge.clone(),
            host: self.host.clone(),
            stop,
        };
        Router::new().fallback(move |request| server.clone().answer(request))
    }
}
