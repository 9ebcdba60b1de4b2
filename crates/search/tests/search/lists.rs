//! Lists of an application whose index is a moment behind: what changed is shown as it is,
//! at its place, once.

use onsale_app::events::{EventPage, EventSort};
use onsale_app::{App, Ports};
use onsale_test_support::MemoryWorld;
use proptest::prelude::*;

use super::*;

/// An application with a real index, and its parts.
struct Lists {
    world: MemoryWorld,
    app: App,
    _place: Place,
}

impl Lists {
    fn new() -> Self {
        let (world, place) = (MemoryWorld::new(NOW), Place::new());
        let ports = Ports {
            search: Arc::new(place.reader("read")),
            search_index: Arc::new(place.writer("write")),
            ..Ports::clone(&world.app)
        };
        Self {
            world,
            app: App::new(ports),
            _place: place,
        }
    }

    async fn publish(&self, event: Event) {
        let store = &self.world.store;
        store.create_event(&event, None).await.unwrap();
        let first = first_version(&event);
        store.replace(&first).await.unwrap();
    }

    async fn rename(&self, event: EventId, title: &str) {
        let store = &self.world.store;
        let mut stored = store.read::<Event>(event).await.unwrap().unwrap();
        stored.value.title = title.to_owned();
        store.replace(&stored).await.unwrap();
    }

    async fn index(&self) {
        self.app.index_events(&[]).await.unwrap();
    }

    async fn list(&self, query: &EventQuery) -> EventPage {
        let page = self.app.list_events(query, None).await.unwrap();
        assert!(page.facets.is_some(), "the index answers");
        page
    }

    /// All pages of a list, by titles.
    async fn all(&self, query: &EventQuery) -> Vec<String> {
        let (mut query, mut titles) = (query.clone(), Vec::new());
        loop {
            let page = self.list(&query).await;
            assert!(page.items.len() <= query.limit);
            titles.extend(page.items.into_iter().map(|item| item.event.title));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return titles,
            }
        }
    }
}

fn everything(limit: usize) -> EventQuery {
    EventQuery {
        limit,
        ..EventQuery::default()
    }
}

#[tokio::test]
async fn what_is_published_or_changed_stays_seen_while_readers_follow_the_index() {
    let lists = Lists::new();
    lists.publish(event(1, "Gala")).await;
    lists.index().await;
    assert_eq!(lists.all(&everything(20)).await, ["Gala"]);
    // The reader has just looked: what is indexed now it sees a second later.
    lists.publish(event(2, "Opera")).await;
    lists.rename(event(1, "").id, "Grand Gala").await;
    for _ in 0..3 {
        assert_eq!(lists.all(&everything(20)).await, ["Grand Gala", "Opera"]);
        assert_eq!(lists.all(&asking("gala")).await, ["Grand Gala"]);
        lists.index().await;
    }
    // Notes go once every reader has followed.
    assert_eq!(
        lists.world.store.unindexed_events(9).await.unwrap().len(),
        2
    );
    lists.world.clock.advance(5_000);
    lists.index().await;
    let left = lists.world.store.unindexed_events(9).await.unwrap();
    assert!(left.is_empty());
}

#[tokio::test]
async fn words_find_what_is_new_first_and_page_by_page() {
    let lists = Lists::new();
    for n in 0..3 {
        lists.publish(event(n, &format!("Gala {n}"))).await;
    }
    lists.index().await;
    assert_eq!(lists.all(&asking("gala")).await.len(), 3);
    for n in 3..6 {
        lists.publish(event(n, &format!("New Gala {n}"))).await;
    }
    for limit in 1..7 {
        let query = EventQuery {
            limit,
            ..asking("gala")
        };
        let expected = ["New Gala 3", "New Gala 4", "New Gala 5"];
        let found = lists.all(&query).await;
        assert_eq!(found[..3], expected, "{limit}");
        assert_eq!(found[3..], ["Gala 0", "Gala 1", "Gala 2"], "{limit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn pages_have_every_event_once_at_its_place_whatever_the_index_has_of_it(
        indexed in proptest::collection::vec((0..20u64, 0..4u64), 0..12),
        later in proptest::collection::vec((0..20u64, 0..4u64, 0..24usize), 0..12),
        limit in 1..8usize,
        by_date in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let lists = Lists::new();
            let made = |n: usize, created: u64, day: u64| Event {
                created: NOW + created,
                shows: vec![show(1, NOW + (1 + day) * DAY, 4_500)],
                ..event(n as u16, &format!("{n}"))
            };
            let mut events = Vec::new();
            // One at least, so that there is an index.
            lists.publish(made(100, 0, 0)).await;
            events.push(made(100, 0, 0));
            for (n, (created, day)) in indexed.into_iter().enumerate() {
                lists.publish(made(n, created, day)).await;
                events.push(made(n, created, day));
            }
            lists.index().await;
            lists.list(&everything(1)).await;
            for (n, (created, day, moved)) in later.into_iter().enumerate() {
                match events.get_mut(moved) {
                    // An event moves to another day.
                    Some(known) => {
                        let store = &lists.world.store;
                        let mut stored = store.read::<Event>(known.id).await.unwrap().unwrap();
                        stored.value.shows = vec![show(1, NOW + (1 + day) * DAY, 4_500)];
                        known.shows = stored.value.shows.clone();
                        store.replace(&stored).await.unwrap();
                    }
                    None => {
                        lists.publish(made(200 + n, created, day)).await;
                        events.push(made(200 + n, created, day));
                    }
                }
            }
            let sort = if by_date { EventSort::Date } else { EventSort::Relevance };
            match by_date {
                true => events.sort_by_key(|e| (e.shows[0].starts_at, e.id)),
                false => events.sort_by_key(|e| std::cmp::Reverse((e.created, e.id))),
            }
            let expected: Vec<_> = events.into_iter().map(|e| e.title).collect();
            let query = EventQuery { sort, ..everything(limit) };
            assert_eq!(lists.all(&query).await, expected);
            lists.index().await;
            assert_eq!(lists.all(&query).await, expected);
        });
    }
}
