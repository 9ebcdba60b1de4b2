//! The packed map of a show and the lease on rebuilding it.

use onsale_domain::ids::ShowId;
use onsale_domain::map::SeatMap;
use onsale_domain::time::Millis;
use onsale_table::Update;

use crate::attributes::{FORGET_AT, get_bytes, seconds};
use crate::conditions::{is_newer, lease_is_free};
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::store::Store;

impl Store {
    pub async fn map(&self, show: ShowId) -> Stored<Option<SeatMap>> {
        let Some(item) = self.get(&keys::map(show)).await? else {
            return Ok(None);
        };
        let map = SeatMap::decode(get_bytes(&item, "m")?);
        map.map(Some).ok_or_else(|| corrupt("the map of a show"))
    }

    /// Stores the map unless a newer one is there.
    pub async fn put_map(&self, show: ShowId, map: &SeatMap, forget_at: Millis) -> Stored<()> {
        let update = Update::when(is_newer("ver", map.version.0))
            .set("m", map.encode())
            .set("ver", map.version.0)
            .set(FORGET_AT, seconds(forget_at));
        self.update_if(&keys::map(show), &update).await.map(|_| ())
    }

    /// Takes the lease to rebuild until `until`; `false`: another process has it.
    pub async fn lease_map(&self, show: ShowId, now: Millis, until: Millis) -> Stored<bool> {
        let update = Update::when(lease_is_free(now))
            .set("til", until.0)
            .set(FORGET_AT, seconds(until + 24 * 3_600_000));
        self.update_if(&keys::map_lease(show), &update).await
    }
}
