//! Cancelling a show: how far it is, and the blocks it closes.

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_app::ports::{Cancellations, StoreError, Stored, Versioned, Written};
use onsale_domain::block::BlockIndex;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::ShowId;

use crate::conditions;
use crate::documents::{Document, Listing};
use crate::keys::{self, BY_WORK, Key, OPEN_CANCELLATIONS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

/// Blocks that are closed at the same time.
const CLOSED_AT_ONCE: usize = 16;

impl Document for Cancellation {
    fn key(&self) -> Key {
        Key::cancellation(self.show_id)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.began, self.show_id);
        let open = self.is_open();
        vec![Listing {
            index: BY_WORK,
            place: open.then(|| (OPEN_CANCELLATIONS.to_owned(), place)),
        }]
    }
}

#[async_trait]
impl Cancellations for DynamoStore {
    async fn create_cancellation(&self, new: &Cancellation) -> Stored<Written<Cancellation>> {
        self.create_document(new).await
    }

    async fn cancellation(&self, show: ShowId) -> Stored<Option<Versioned<Cancellation>>> {
        self.get_versioned(&Key::cancellation(show)).await
    }

    async fn replace_cancellation(
        &self,
        cancellation: &Versioned<Cancellation>,
    ) -> Stored<Written<Cancellation>> {
        self.replace_document(cancellation).await
    }

    async fn open_cancellations(&self) -> Stored<Vec<ShowId>> {
        let list = List::oldest_first(BY_WORK, OPEN_CANCELLATIONS);
        named(&self.whole_list(&list).await?, Key::cancelled_show)
    }

    async fn close_blocks(&self, show: ShowId, blocks: &[BlockIndex]) -> Stored<()> {
        let closing: Vec<_> = blocks
            .iter()
            .map(|block| async move {
                let key = Key::block(show, *block);
                let closed = self.update(&key, conditions::close()).await;
                closed.map_err(StoreError::from)
            })
            .collect();
        stream::iter(closing)
            .buffer_unordered(CLOSED_AT_ONCE)
            .try_collect()
            .await
    }
}
