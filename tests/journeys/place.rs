//! Where the journeys take place.

use serde_json::{Value, json};

use crate::server::Server;
use crate::visitor::{Visitor, rows};

pub(crate) struct Place {
    pub(crate) url: String,
    /// Part of every name, so that journeys meet nobody of an earlier run.
    run: String,
    /// The embedded platform, and its data after it.
    _embedded: Option<(Server, tempfile::TempDir)>,
}

/// A show of one journey, and who runs it.
pub(crate) struct Sale {
    pub(crate) organiser: Visitor,
    pub(crate) show: String,
}

impl Place {
    pub(crate) async fn find() -> Self {
        let mut random = [0; 8];
        getrandom::fill(&mut random).unwrap();
        let run = hex::encode(random);
        if let Ok(url) = std::env::var("ONSALE_URL") {
            let url = url.trim_end_matches('/').to_owned();
            return Self {
                url,
                run,
                _embedded: None,
            };
        }
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(data.path()).await;
        Self {
            url: server.url.clone(),
            run,
            _embedded: Some((server, data)),
        }
    }

    pub(crate) async fn person(&self, name: &str, role: &str) -> Visitor {
        Visitor::new(&self.url, &format!("{name}-{}", self.run), role).await
    }

    pub(crate) fn email(&self, name: &str) -> String {
        format!("{name}-{}@example.org", self.run)
    }

    /// A word of letters that nobody else has.
    pub(crate) fn word(&self) -> String {
        let letters = self.run.bytes().map(|digit| char::from(b'a' + digit % 26));
        letters.collect()
    }

    pub(crate) async fn buyer(&self, name: &str) -> Visitor {
        self.person(name, "buyer").await
    }

    /// One row of so many seats, A-1-1 and on, at 45.01 EUR each.
    pub(crate) async fn sale(&self, seats: usize, more: Value) -> Sale {
        let organiser = self.person("organiser", "organiser").await;
        let venue = organiser.venue(json!([rows("A", 1, seats)])).await;
        let event = organiser.event(&venue).await;
        let show = organiser.show(&event, json!({"A": 4501}), more).await;
        Sale { organiser, show }
    }
}
