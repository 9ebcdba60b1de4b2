//! The verified fans of a show, and the serials of its codes.

use async_trait::async_trait;
use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::FanSerial;
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::FanBatchId;

use super::{Page, Stored};

#[async_trait]
pub trait Fans: Send + Sync {
    /// Takes `count` serials that nobody ever had or will have, and returns the first.
    /// `None`: the show would have more than `most`. When the answer is lost, the
    /// serials are lost, too.
    async fn take_serials(&self, show: ShowId, count: u32, most: u32) -> Stored<Option<FanSerial>>;

    async fn fan_batch(&self, show: ShowId, id: FanBatchId) -> Stored<Option<FanBatch>>;
    /// Stores the batch, or returns the one that is there under its id.
    async fn keep_fan_batch(
        &self,
        show: ShowId,
        id: FanBatchId,
        batch: &FanBatch,
    ) -> Stored<FanBatch>;

    async fn fan(&self, show: ShowId, email: &Email) -> Stored<Option<Fan>>;
    /// Stores the fan, or returns the one who registered with this email before.
    async fn add_fan(&self, show: ShowId, fan: &Fan) -> Stored<Fan>;
    /// The fans of a show, in the order in which they registered.
    async fn fans(&self, show: ShowId, after: Option<&str>, limit: usize) -> Stored<Page<Fan>>;
    /// The shows that an address registered for, newest first.
    async fn fan_of(
        &self,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<(ShowId, Fan)>>;
    /// Forgets that an address registered. Its code stays what it was.
    async fn remove_fan(&self, show: ShowId, email: &Email) -> Stored<()>;
}
