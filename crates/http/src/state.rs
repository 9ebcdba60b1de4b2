//! The state that every router shares.

use std::sync::Arc;

use onsale_app::App;

use crate::limits::Limits;
use crate::session::SessionVerifier;

#[derive(Debug, Clone)]
pub struct Api {
    pub app: App,
    pub sessions: Arc<SessionVerifier>,
    pub limits: Arc<Limits>,
}

impl Api {
    pub fn new(app: App, sessions: SessionVerifier, limits: Limits) -> Self {
        Self {
            app,
            sessions: Arc::new(sessions),
            limits: Arc::new(limits),
        }
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
