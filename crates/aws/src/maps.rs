//! The packed map of a show and the lease on rebuilding it.

use async_trait::async_trait;
use onsale_app::ports::{Maps, StoreError, Stored};
use onsale_domain::ids::ShowId;
use onsale_domain::map::SeatMap;
use onsale_domain::time::Millis;

use crate::attributes::{Item, bytes, get_bytes, number, seconds};
use crate::conditions::{Change, LEASE_IS_FREE, MAP_IS_OLDER};
use crate::keys::Key;
use crate::table::DynamoStore;

#[async_trait]
impl Maps for DynamoStore {
    async fn map(&self, show: ShowId) -> Stored<Option<SeatMap>> {
        let Some(item) = self.get(&Key::map(show)).await? else {
            return Ok(None);
        };
        let map = SeatMap::decode(get_bytes(&item, "m")?);
        map.map(Some)
            .ok_or_else(|| StoreError::Corrupt("the map of a show".into()))
    }

    async fn put_map(&self, show: ShowId, map: &SeatMap, forget_at: Millis) -> Stored<()> {
        let change = Change {
            update: "SET m = :m, ver = :ver, forget_at = :forget_at".to_owned(),
            condition: Some(MAP_IS_OLDER.to_owned()),
            values: Item::from([
                (":m".to_owned(), bytes(map.encode())),
                (":ver".to_owned(), number(map.version.0)),
                (":forget_at".to_owned(), seconds(forget_at)),
            ]),
        };
        self.update_if(&Key::map(show), change).await.map(|_| ())
    }

    async fn lease_map(&self, show: ShowId, now: Millis, until: Millis) -> Stored<bool> {
        let change = Change {
            update: "SET til = :til, forget_at = :forget_at".to_owned(),
            condition: Some(LEASE_IS_FREE.to_owned()),
            values: Item::from([
                (":til".to_owned(), number(until.0)),
                (":now".to_owned(), number(now.0)),
                (":forget_at".to_owned(), seconds(until + 24 * 3_600_000)),
            ]),
        };
        self.update_if(&Key::map_lease(show), change).await
    }
}
