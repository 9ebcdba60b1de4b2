//! Filters, orders, cursors and counts agree with the plain question to each event.

use std::collections::BTreeMap;

use onsale_app::events::{EventCursor, EventFilter, EventSort, Near};
use onsale_domain::venue::Location;
use proptest::prelude::*;

use super::*;

fn coin(text: &str) -> Currency {
    Currency::parse(text).unwrap()
}

fn at(lat: f64, lon: f64) -> Location {
    Location { lat, lon }
}

#[tokio::test]
async fn a_filter_finds_what_it_names() {
    let place = Place::new();
    let mut gala = event(1, "Gala");
    gala.location = Some(at(52.52, 13.405));
    let mut over = event(2, "Over");
    over.shows = vec![show(2, Millis(NOW.0 - DAY), 1_000)];
    let mut off = event(3, "Called off");
    off.shows[0].status = StoredStatus::Cancelled;
    let mut draft = event(4, "Draft");
    draft.shows[0].status = StoredStatus::Draft;
    place.build(&[gala, over, off, draft]).await;
    let search = place.reader("read");
    let near = |lat, radius_km| {
        Some(Near {
            center: at(lat, 13.4),
            radius_km,
        })
    };
    let all = EventQuery {
        limit: 20,
        ..EventQuery::default()
    };
    let (week, past) = (NOW + 7 * DAY, Some(Millis(NOW.0 - 2 * DAY)));
    let table: Vec<(EventQuery, &[&str])> = vec![
        (all.clone(), &["Gala", "Called off"]),
        (
            EventQuery {
                city: Some(" berlin ".into()),
                ..all.clone()
            },
            &["Gala", "Called off"],
        ),
        (
            EventQuery {
                city: Some("Berl".into()),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                category: Some("MUSIC".into()),
                ..all.clone()
            },
            &["Gala", "Called off"],
        ),
        (
            EventQuery {
                category: Some("sport".into()),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                from: Some(week),
                ..all.clone()
            },
            &["Gala"],
        ),
        (
            EventQuery {
                from: Some(week + 1),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                to: Some(week),
                ..all.clone()
            },
            &["Gala"],
        ),
        (
            EventQuery {
                to: Some(Millis(week.0 - 1)),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                from: past,
                ..all.clone()
            },
            &["Gala", "Over"],
        ),
        (
            EventQuery {
                from: past,
                to: Some(NOW),
                ..all.clone()
            },
            &["Over"],
        ),
        (
            EventQuery {
                max_price: Some(Cents(4_500)),
                ..all.clone()
            },
            &["Gala"],
        ),
        (
            EventQuery {
                max_price: Some(Cents(4_499)),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                currency: Some(coin("EUR")),
                ..all.clone()
            },
            &["Gala"],
        ),
        (
            EventQuery {
                currency: Some(coin("USD")),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                near: near(52.5, 5.0),
                ..all.clone()
            },
            &["Gala"],
        ),
        (
            EventQuery {
                near: near(53.5, 5.0),
                ..all.clone()
            },
            &[],
        ),
        (
            EventQuery {
                city: Some("berlin".into()),
                ..asking("gala")
            },
            &["Gala"],
        ),
        (
            EventQuery {
                city: Some("paris".into()),
                ..asking("gala")
            },
            &[],
        ),
        (asking("draft"), &[]),
        (asking("over"), &[]),
    ];
    for (query, expected) in table {
        let found = ask(&search, &query).await;
        let found: Vec<_> = found.events.iter().map(|e| e.title.as_str()).collect();
        assert_eq!(found, expected, "{query:?}");
    }
}

#[tokio::test]
async fn dates_and_prices_must_meet_in_one_show() {
    let place = Place::new();
    let mut two = event(1, "Two");
    two.shows.push(show(2, NOW + 30 * DAY, 500));
    place.build(&[two]).await;
    let search = place.reader("read");
    let cheap = EventQuery {
        max_price: Some(Cents(500)),
        limit: 20,
        ..EventQuery::default()
    };
    let cheap_and_soon = EventQuery {
        to: Some(NOW + 8 * DAY),
        ..cheap.clone()
    };
    assert_eq!(ask(&search, &cheap).await.events.len(), 1);
    assert!(ask(&search, &cheap_and_soon).await.events.is_empty());
}

#[tokio::test]
async fn what_is_indexed_between_two_pages_moves_nothing() {
    let place = Place::new();
    let events: Vec<_> = (10..60).map(|n| event(n, "Night of the Stars")).collect();
    place.build(&events).await;
    let mut query = EventQuery {
        limit: 7,
        ..asking("stars")
    };
    let first = ask(&place.reader("one"), &query).await;
    // Better, newer, and many more of the same words: every statistic changes.
    let writer = place.writer("more");
    let mut draft = writer.open().await.unwrap().unwrap();
    let more = (0..9).map(|n| first_version(&event(n, "Stars"))).collect();
    draft.put(more).await.unwrap();
    assert!(draft.publish().await.unwrap());
    let search = place.reader("two");
    let mut seen: Vec<_> = first.events.iter().map(|e| e.id).collect();
    query.cursor = first.next;
    while let Some(cursor) = query.cursor.take() {
        query.cursor = Some(cursor.to_string().parse().unwrap());
        let page = ask(&search, &query).await;
        seen.extend(page.events.iter().map(|e| e.id));
        query.cursor = page.next;
    }
    let expected: Vec<_> = events.iter().map(|e| e.id).collect();
    assert_eq!(seen, expected, "newest first among equals, each once");
}

// ── Random catalogues ────────────────────────────────────────────────────────────────────────────

fn any_show() -> impl Strategy<Value = ShowSummary> {
    let status = prop::sample::select(vec![
        StoredStatus::OnSale,
        StoredStatus::OnSale,
        StoredStatus::Cancelled,
        StoredStatus::Draft,
    ]);
    let currency = prop::sample::select(vec!["EUR", "USD"]);
    (0u64..8, 0u64..4, currency, status).prop_map(|(day, price, currency, status)| {
        let mut show = show(1, Millis(NOW.0 - 3 * DAY + day * DAY), price * 500);
        show.from_price.currency = coin(currency);
        show.status = status;
        show
    })
}

fn any_event() -> impl Strategy<Value = Event> {
    let city = prop::sample::select(vec!["Berlin", "berlin", "Paris", "São Paulo", "上海"]);
    let category = prop::sample::select(vec!["music", "Sport", "theatre"]);
    let place = prop::option::of((-90.0..=90.0f64, -180.0..=180.0f64));
    let shows = prop::collection::vec(any_show(), 0..4);
    (city, category, place, shows, 0u64..5).prop_map(|(city, category, place, shows, age)| Event {
        city: city.to_owned(),
        category: category.to_owned(),
        location: place.map(|(lat, lon)| at(lat, lon)),
        timezone: None,
        shows,
        created: Millis(NOW.0 - age),
        ..event(0, "Night")
    })
}

fn any_query() -> impl Strategy<Value = EventQuery> {
    let city = prop::option::of(prop::sample::select(vec!["BERLIN", "são paulo", "Rome"]));
    let category = prop::option::of(prop::sample::select(vec!["Music", "sport"]));
    let time = || prop::option::of((0u64..8).prop_map(|d| Millis(NOW.0 - 3 * DAY + d * DAY)));
    let price = prop::option::of((0u64..4).prop_map(|p| Cents(p * 500)));
    let currency = prop::option::of(prop::sample::select(vec![coin("EUR"), coin("USD")]));
    let near = prop::option::of((-90.0..=90.0f64, -180.0..=180.0f64, 1.0..15_000.0f64));
    let sort = 0u8..3;
    let words = prop::option::of(Just("night".to_owned()));
    (
        city,
        category,
        time(),
        time(),
        price,
        currency,
        near,
        sort,
        1usize..6,
        words,
    )
        .prop_map(
            |(city, category, from, to, max_price, currency, near, sort, limit, query)| {
                EventQuery {
                    query,
                    city: city.map(str::to_owned),
                    category: category.map(str::to_owned),
                    from,
                    to,
                    max_price,
                    currency,
                    near: near.map(|(lat, lon, radius_km)| Near {
                        center: at(lat, lon),
                        radius_km,
                    }),
                    sort: match (sort, near) {
                        (1, _) => EventSort::Date,
                        (2, Some(_)) => EventSort::Distance,
                        _ => EventSort::Relevance,
                    },
                    mine: false,
                    limit,
                    cursor: None,
                }
            },
        )
}

/// What the plain filter finds, in the order of the list.
fn expected(events: &[Event], query: &EventQuery) -> Vec<EventId> {
    let filter = EventFilter::new(query, NOW).unwrap();
    let found = events.iter().filter(|event| filter.matches(event));
    let mut placed: Vec<_> = found
        .map(|event| {
            let item = filter.item(event.clone());
            let by = match query.sort {
                EventSort::Relevance => !event.created.0,
                EventSort::Date => item.next_show_at.map_or(u64::MAX, |at| at.0),
                EventSort::Distance => query.near.unwrap().metres(event.location.unwrap()),
            };
            let newest = query.sort == EventSort::Relevance;
            let id = u128::from_be_bytes(*event.id.as_bytes());
            ((by, if newest { !id } else { id }), event.id)
        })
        .collect();
    placed.sort();
    placed.into_iter().map(|(_, id)| id).collect()
}

fn counted(events: &[Event], ids: &[EventId], of: fn(&Event) -> &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in events.iter().filter(|event| ids.contains(&event.id)) {
        *counts.entry(of(event).to_lowercase()).or_default() += 1;
    }
    counts
}

#[test]
fn the_index_agrees_with_the_plain_filter_on_any_catalogue() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = ProptestConfig {
        cases: 24,
        ..ProptestConfig::default()
    };
    let catalogues = (
        prop::collection::vec(any_event(), 0..40),
        prop::collection::vec(any_query(), 12),
    );
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let agrees = |(mut events, queries): (Vec<Event>, Vec<EventQuery>)| {
        for (n, event) in (0u16..).zip(&mut events) {
            event.id = super::event(n, "").id;
        }
        let public: Vec<_> = events.iter().filter(|e| e.is_public()).cloned().collect();
        runtime.block_on(async {
            let place = Place::new();
            place.build(&public).await;
            let search = place.reader("read");
            for mut query in queries {
                let expected = expected(&public, &query);
                let mut found = Vec::new();
                loop {
                    let page = ask(&search, &query).await;
                    prop_assert!(page.events.len() <= query.limit);
                    found.extend(page.events.iter().map(|event| event.id));
                    for (told, of) in [
                        (&page.facets.cities, (|e| &e.city) as fn(&Event) -> &str),
                        (&page.facets.categories, |e| &e.category),
                    ] {
                        let told = told.iter().map(|f| (f.value.to_lowercase(), f.count));
                        let told: BTreeMap<_, _> = told.collect();
                        prop_assert_eq!(told, counted(&public, &expected, of));
                    }
                    let Some(next) = page.next else { break };
                    let read: EventCursor = next.to_string().parse().unwrap();
                    prop_assert_eq!(&read, &next);
                    query.cursor = Some(next);
                }
                prop_assert_eq!(found, expected, "{:?}", query);
            }
            Ok(())
        })
    };
    runner.run(&catalogues, agrees).unwrap();
}
