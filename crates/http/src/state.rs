//! The state that every router shares.

use std::sync::Arc;

use onsale_app::App;

use crate::limits::Limits;
use crate::session::SessionVerifier;
use crate::work::WorkGate;

#[derive(Debug, Clone)]
pub struct Api {
    pub app: App,
    pub sessions: Arc<SessionVerifier>,
    pub limits: Arc<Limits>,
    /// Asks nobody for anything unless it is put in place.
    pub work: Arc<WorkGate>,
}

impl Api {
    pub fn new(app: App, sessions: SessionVerifier, limits: Limits) -> Self {
        Self {
            app,
            sessions: Arc::new(sessions),
            limits: Arc::new(limits),
            work: Arc::default(),
        }
    }

    pub fn with_work(mut self, gate: WorkGate) -> Self {
        self.work = Arc::new(gate);
        self
    }
}

/// The state of a Lambda: its session keys come from `SESSION_PUBLIC_KEYS`.
pub fn api_from_env(app: App) -> Result<Api, String> {
    let keys =
        std::env::var("SESSION_PUBLIC_KEYS").map_err(|_| "SESSION_PUBLIC_KEYS is not set")?;
    let sessions =
        SessionVerifier::parse(&keys).map_err(|why| format!("SESSION_PUBLIC_KEYS: {why}"))?;
    Ok(Api::new(app, sessions, Limits::from_env()?))
}
