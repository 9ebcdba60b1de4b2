//! The state that every router shares.

use std::sync::Arc;

use onsale_app::App;

use crate::limits::Limits;
use crate::pass::PassVerifier;
use crate::quote::{QuoteSigner, QuoteVerifier};
use crate::session::SessionVerifier;
use crate::work::WorkGate;

#[derive(Debug, Clone)]
pub struct Api {
    pub app: App,
    pub sessions: Arc<SessionVerifier>,
    pub passes: Arc<PassVerifier>,
    pub limits: Arc<Limits>,
    /// Asks nobody for anything unless it is put in place.
    pub work: Arc<WorkGate>,
    /// Signs what buyers are asked where prices follow demand.
    pub quotes: Option<Arc<QuoteSigner>>,
    /// Whose quotes are believed.
    pub quote_keys: Arc<QuoteVerifier>,
}

impl Api {
    pub fn new(app: App, sessions: SessionVerifier, limits: Limits) -> Self {
        Self {
            app,
            sessions: Arc::new(sessions),
            passes: Arc::default(),
            limits: Arc::new(limits),
            work: Arc::default(),
            quotes: None,
            quote_keys: Arc::default(),
        }
    }

    /// The same with passes that are believed; without, nobody's are.
    pub fn with_passes(mut self, passes: PassVerifier) -> Self {
        self.passes = Arc::new(passes);
        self
    }

    /// The same with a signer of quotes, which are believed from then on.
    pub fn with_quotes(mut self, signer: QuoteSigner) -> Self {
        self.quote_keys = Arc::new(signer.verifier());
        self.quotes = Some(Arc::new(signer));
        self
    }

    pub fn with_quote_keys(mut self, keys: QuoteVerifier) -> Self {
        self.quote_keys = Arc::new(keys);
        self
    }

    pub fn with_work(mut self, gate: WorkGate) -> Self {
        self.work = Arc::new(gate);
        self
    }
}

/// The state of a Lambda: its session keys come from `SESSION_PUBLIC_KEYS`, and those of
/// passes from `PASS_PUBLIC_KEYS`, if it has any.
pub fn api_from_env(app: App) -> Result<Api, String> {
    let keys =
        std::env::var("SESSION_PUBLIC_KEYS").map_err(|_| "SESSION_PUBLIC_KEYS is not set")?;
    let sessions =
        SessionVerifier::parse(&keys).map_err(|why| format!("SESSION_PUBLIC_KEYS: {why}"))?;
    let passes = std::env::var("PASS_PUBLIC_KEYS").unwrap_or_default();
    let passes = PassVerifier::parse(&passes).map_err(|why| format!("PASS_PUBLIC_KEYS: {why}"))?;
    Ok(Api::new(app, sessions, Limits::from_env()?).with_passes(passes))
}
