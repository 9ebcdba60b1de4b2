//! The keys of links that are mailed, and what asking for a link and following one have in
//! common.

use std::sync::Arc;

use onsale_domain::account::Email;
use onsale_domain::ids::ResetId;
use onsale_domain::password_reset::ResetKeys;
use onsale_http::{Api, Code, Problem, to_the_end};

/// Setting keys up takes a person.
const NO_KEYS_RETRY_S: u64 = 60;

/// Without keys no link can be made or followed.
#[derive(Debug, Clone)]
pub(crate) struct Keys(pub(crate) Option<Arc<ResetKeys>>);

impl Keys {
    pub(crate) fn known_device(&self, email: &Email) -> Option<String> {
        self.0.as_ref().map(|keys| keys.known_device(email))
    }

    /// Without keys every browser is a stranger's.
    pub(crate) fn knows_device(&self, email: &Email, proof: &str) -> bool {
        let keys = self.0.as_ref();
        keys.is_some_and(|keys| keys.knows_device(email, proof))
    }

    /// Whether links can be mailed.
    pub(crate) fn are_set(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn configured(&self) -> Result<&ResetKeys, Problem> {
        self.0.as_deref().ok_or_else(|| {
            Problem::new(
                Code::Unavailable,
                "Links by mail are not set up on this server: its operator has to set RESET_KEYS. \
                 Nothing was changed.",
            )
            .retry_after(NO_KEYS_RETRY_S)
        })
    }

    /// Asks for a link to an address. Who asks more often than is allowed learns nothing from
    /// it.
    pub(crate) async fn ask_silently(
        &self,
        is_allowed: bool,
        ask: impl Future<Output = onsale_app::Result<()>> + Send + 'static,
    ) -> Result<(), Problem> {
        self.configured()?;
        if is_allowed {
            to_the_end(ask).await?;
        }
        Ok(())
    }

    /// The link that a token stands for, `what` it is. A token that is not ours costs neither
    /// a read nor a hash.
    pub(crate) fn follow(
        &self,
        api: &Api,
        token: &str,
        what: &'static str,
    ) -> Result<ResetId, Problem> {
        let link = self.configured()?.verify(token);
        let link = link.ok_or(onsale_app::Error::NotFound(what))?;
        api.limits.link_use(link, api.app.now())?;
        Ok(link)
    }
}
