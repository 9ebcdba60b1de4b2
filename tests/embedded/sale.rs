//! A platform with one show on sale, and somebody who runs it.

use serde_json::{Value, json};

use crate::server::Server;
use crate::visitor::{Visitor, rows};

/// Dropping it ends the process, then deletes its data.
pub(crate) struct Sale {
    pub(crate) server: Server,
    pub(crate) data: tempfile::TempDir,
    pub(crate) organiser: Visitor,
    pub(crate) event: String,
    pub(crate) show: String,
}

impl Sale {
    pub(crate) async fn open(sections: Value, prices: Value, more: Value) -> Self {
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        Self::open_on(server, data, sections, prices, more).await
    }

    /// The same on a server that was started in a special way.
    pub(crate) async fn open_on(
        server: Server,
        data: tempfile::TempDir,
        sections: Value,
        prices: Value,
        more: Value,
    ) -> Self {
        let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
        let event = organiser.event(&organiser.venue(sections).await).await;
        let show = organiser.show(&event, prices, more).await;
        Self {
            server,
            data,
            organiser,
            event,
            show,
        }
    }

    /// Two rows of ten seats, A-1-1 to A-2-10, at 45.01 EUR each.
    pub(crate) async fn small(more: Value) -> Self {
        Self::open(json!([rows("A", 2, 10)]), json!({"A": 4501}), more).await
    }

    pub(crate) async fn buyer(&self, name: &str) -> Visitor {
        Visitor::new(&self.server.url, name, "buyer").await
    }

    pub(crate) async fn availability(&self) -> Value {
        let path = format!("/api/v1/shows/{}/availability", self.show);
        self.organiser.get(&path).await.expect(200)
    }
}
