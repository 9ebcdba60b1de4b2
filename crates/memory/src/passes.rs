//! Passes: who uses one, and which have ended.

use async_trait::async_trait;
use onsale_app::ports::{EndedPass, Passes, Stored};
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::time::Millis;

use crate::{MemoryStore, Step};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredPass {
    account: Option<AccountId>,
    /// In whose list of ended passes it is, and since when.
    closed: Option<(ShowId, Millis)>,
}

impl StoredPass {
    fn used(&self) -> PassUse {
        PassUse {
            account: self.account,
            closed: self.closed.is_some(),
        }
    }
}

impl MemoryStore {
    /// What is stored of a pass.
    pub fn pass_use(&self, pass: PassId) -> Option<PassUse> {
        self.items().passes.get(&pass).map(StoredPass::used)
    }
}

#[async_trait]
impl Passes for MemoryStore {
    async fn take_pass(&self, pass: PassId, account: AccountId, _now: Millis) -> Stored<PassUse> {
        self.reach(Step::TakePass).await;
        self.pass("take_pass", async {
            let mut items = self.items();
            let stored = items.passes.entry(pass).or_insert(StoredPass {
                account: Some(account),
                closed: None,
            });
            Ok(stored.used())
        })
        .await
    }

    async fn close_pass(&self, pass: PassId, show: ShowId, now: Millis) -> Stored<()> {
        self.pass("close_pass", async {
            let mut items = self.items();
            let stored = items.passes.entry(pass).or_default();
            stored.closed.get_or_insert((show, now));
            Ok(())
        })
        .await
    }

    async fn passes_ended(
        &self,
        show: ShowId,
        from: Millis,
        limit: usize,
    ) -> Stored<Vec<EndedPass>> {
        self.reach(Step::ListEndedPasses).await;
        let items = self.items();
        let closed = items.passes.iter().filter_map(|(pass, stored)| {
            let (of, at) = stored.closed?;
            let listed = of == show && at >= from;
            listed.then_some(EndedPass { pass: *pass, at })
        });
        let mut ended: Vec<_> = closed.collect();
        ended.sort_by_key(|ended| (ended.at, ended.pass));
        ended.truncate(limit);
        Ok(ended)
    }
}
