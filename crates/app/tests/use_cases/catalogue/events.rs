use std::collections::HashSet;

use onsale_app::Error;
use onsale_app::events::{EventChange, EventItem, EventQuery, EventSort, Near};
use onsale_app::shows::ShowChange;

use super::*;

fn query() -> EventQuery {
    EventQuery {
        limit: 20,
        ..EventQuery::default()
    }
}

async fn found(world: &MemoryWorld, query: EventQuery) -> Vec<EventId> {
    let page = world.app.list_events(&query, None).await.unwrap();
    page.items.iter().map(|item| item.event.id).collect()
}

/// Everything a list has, page after page.
async fn all_pages(world: &MemoryWorld, mut query: EventQuery) -> Vec<EventItem> {
    let mut items = Vec::new();
    loop {
        let page = world
            .app
            .list_events(&query, Some(organiser(1).account))
            .await
            .unwrap();
        assert!(page.items.len() <= query.limit);
        items.extend(page.items);
        match page.next {
            // A cursor survives being written down.
            Some(next) => query.cursor = Some(next.to_string().parse().unwrap()),
            None => return items,
        }
    }
}

#[tokio::test]
async fn a_draft_is_known_to_its_owner_only_until_it_is_published() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let show = make_show(
        &world,
        &owner,
        event,
        NewShow {
            draft: true,
            ..evening()
        },
    )
    .await;
    for viewer in [None, Some(organiser(2).account)] {
        assert_eq!(
            world.app.event(event, viewer).await,
            Err(Error::NotFound("event"))
        );
        assert_eq!(
            world.app.show(show, viewer).await,
            Err(Error::NotFound("show"))
        );
        assert!(world.app.show_layout(show, viewer).await.is_err());
    }
    assert_eq!(
        world
            .app
            .event(event, Some(owner.account))
            .await
            .unwrap()
            .shows
            .len(),
        1
    );
    assert!(world.app.show(show, Some(owner.account)).await.is_ok());
    assert!(found(&world, query()).await.is_empty());
    let mine = EventQuery {
        mine: true,
        ..query()
    };
    assert_eq!(all_pages(&world, mine.clone()).await.len(), 1);
    assert_eq!(
        world.app.list_events(&mine, None).await,
        Err(Error::Unauthenticated)
    );

    let publish = ShowChange {
        publish: true,
        ..ShowChange::default()
    };
    world.app.change_show(&owner, show, &publish).await.unwrap();
    assert_eq!(found(&world, query()).await, vec![event]);
    assert!(world.app.show(show, None).await.is_ok());

    make_show(
        &world,
        &owner,
        event,
        NewShow {
            draft: true,
            ..evening()
        },
    )
    .await;
    assert_eq!(world.app.event(event, None).await.unwrap().shows.len(), 1);
    assert_eq!(
        world
            .app
            .event(event, Some(owner.account))
            .await
            .unwrap()
            .shows
            .len(),
        2
    );
}

#[tokio::test]
async fn the_pages_of_a_list_cover_everything_exactly_once_in_its_order() {
    let (world, owner) = (world(), organiser(1));
    let venue = make_venue(&world, &owner).await;
    let mut events = Vec::new();
    for n in 0..250u64 {
        world.clock.advance(n % 2);
        let title = format!("Event {}", if n % 7 == 0 { "odd" } else { "even" });
        let new = NewEvent {
            title,
            ..concert(venue)
        };
        let event = world
            .app
            .create_event(&owner, new, None, request("event"))
            .await
            .unwrap();
        let starts_at = NOW + DAY * (1 + (n * 37) % 50);
        make_show(
            &world,
            &owner,
            event,
            NewShow {
                starts_at,
                ..evening()
            },
        )
        .await;
        events.push(event);
    }
    let odd = events.iter().step_by(7).copied().collect::<HashSet<_>>();
    let near = Near {
        center: Location {
            lat: 50.0,
            lon: 10.0,
        },
        radius_km: 1_000.0,
    };
    for sort in [EventSort::Relevance, EventSort::Date, EventSort::Distance] {
        for mine in [false, true] {
            for limit in [1, 7, 20, 50, 100] {
                let all = EventQuery {
                    sort,
                    near: Some(near),
                    mine,
                    limit,
                    ..query()
                };
                let some = EventQuery {
                    query: Some("ODD".into()),
                    ..all.clone()
                };
                let items = all_pages(&world, all).await;
                let ids: HashSet<_> = items.iter().map(|item| item.event.id).collect();
                assert_eq!(
                    (items.len(), ids.len()),
                    (250, 250),
                    "{sort:?} {mine} {limit}"
                );
                let in_order = items.windows(2).all(|pair| match sort {
                    EventSort::Relevance => pair[0].event.created >= pair[1].event.created,
                    EventSort::Date => pair[0].next_show_at <= pair[1].next_show_at,
                    EventSort::Distance => {
                        let far = |item: &EventItem| near.metres(item.event.location.unwrap());
                        far(&pair[0]) <= far(&pair[1])
                    }
                });
                assert!(in_order, "{sort:?} {mine} {limit}");
                let items = all_pages(&world, some).await;
                let ids: HashSet<_> = items.iter().map(|item| item.event.id).collect();
                assert_eq!(
                    (items.len(), &ids),
                    (odd.len(), &odd),
                    "{sort:?} {mine} {limit}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_event_that_appears_between_two_pages_moves_nothing() {
    let (world, owner) = (world(), organiser(1));
    let mut expected = Vec::new();
    for _ in 0..5 {
        world.clock.advance(1);
        let event = make_event(&world, &owner).await;
        make_show(&world, &owner, event, evening()).await;
        expected.insert(0, event);
    }
    let mut query = EventQuery {
        limit: 2,
        ..query()
    };
    let first = world.app.list_events(&query, None).await.unwrap();
    world.clock.advance(1);
    let newer = make_event(&world, &owner).await;
    make_show(&world, &owner, newer, evening()).await;
    query.cursor = first.next;
    query.limit = 20;
    let rest = found(&world, query).await;
    let first: Vec<_> = first.items.iter().map(|item| item.event.id).collect();
    assert_eq!([first, rest].concat(), expected);
}

#[tokio::test]
async fn filters_find_what_they_name() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    make_show(&world, &owner, event, evening()).await;
    let berlin = |lat, radius_km| {
        Some(Near {
            center: Location { lat, lon: 13.4 },
            radius_km,
        })
    };
    let finds: [fn(&mut EventQuery); 8] = [
        |q| q.query = Some("ZAŻÓŁĆ".into()),
        |q| q.query = Some("hall".into()),
        |q| q.city = Some("berlin".into()),
        |q| q.category = Some("Music".into()),
        |q| q.from = Some(NOW + 7 * DAY),
        |q| q.to = Some(NOW + 7 * DAY),
        |q| q.max_price = Some(Cents(2_000)),
        |q| q.currency = Currency::parse("EUR"),
    ];
    let misses: [fn(&mut EventQuery); 8] = [
        |q| q.query = Some("opera".into()),
        |q| q.city = Some("Berl".into()),
        |q| q.category = Some("sport".into()),
        |q| q.from = Some(NOW + 7 * DAY + 1),
        |q| q.to = Some(NOW + (7 * DAY - 1)),
        |q| q.max_price = Some(Cents(1_999)),
        |q| q.currency = Currency::parse("USD"),
        |q| q.cursor = "dated 1 evt_00000000000000000000000000000000".parse().ok(),
    ];
    for (narrow, expected) in finds
        .iter()
        .map(|f| (f, 1))
        .chain(misses[..7].iter().map(|f| (f, 0)))
    {
        let mut query = query();
        narrow(&mut query);
        assert_eq!(
            found(&world, query.clone()).await.len(),
            expected,
            "{query:?}"
        );
    }
    assert_eq!(
        found(
            &world,
            EventQuery {
                near: berlin(52.5, 5.0),
                ..query()
            }
        )
        .await
        .len(),
        1
    );
    assert_eq!(
        found(
            &world,
            EventQuery {
                near: berlin(53.5, 5.0),
                ..query()
            }
        )
        .await
        .len(),
        0
    );
    for wrong in [berlin(91.0, 5.0), berlin(52.5, 0.0), berlin(52.5, f64::NAN)] {
        let refused = world
            .app
            .list_events(
                &EventQuery {
                    near: wrong,
                    ..query()
                },
                None,
            )
            .await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{wrong:?}");
    }
    let mut other_order = query();
    misses[7](&mut other_order);
    assert!(world.app.list_events(&other_order, None).await.is_err());
}

#[tokio::test]
async fn dates_and_prices_must_meet_in_one_show() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    make_show(&world, &owner, event, evening()).await;
    let mut cheap = NewShow {
        starts_at: NOW + 30 * DAY,
        ..evening()
    };
    cheap.prices.insert("Floor".into(), Cents(500));
    make_show(&world, &owner, event, cheap).await;
    let week = EventQuery {
        to: Some(NOW + 8 * DAY),
        max_price: Some(Cents(500)),
        ..query()
    };
    assert!(found(&world, week.clone()).await.is_empty());
    assert_eq!(
        found(&world, EventQuery { to: None, ..week }).await,
        vec![event]
    );
    let item = &all_pages(&world, query()).await[0];
    assert_eq!((item.shows, item.next_show_at), (2, Some(NOW + 7 * DAY)));
    assert_eq!(item.from_price.unwrap().amount, Cents(500));
}

#[tokio::test]
async fn an_event_changes_by_its_owner_only() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let change = EventChange {
        title: Some("New".into()),
        description: Some(Some("Line\nLine".into())),
        ..EventChange::default()
    };
    let foreign = world.app.change_event(&organiser(2), event, &change).await;
    assert!(matches!(foreign, Err(Error::Forbidden(_))));
    let view = world
        .app
        .change_event(&owner, event, &change)
        .await
        .unwrap();
    assert_eq!(view.event.title, "New");
    let take_away = EventChange {
        description: Some(None),
        ..EventChange::default()
    };
    let view = world
        .app
        .change_event(&owner, event, &take_away)
        .await
        .unwrap();
    assert_eq!(
        (view.event.title.as_str(), view.event.description),
        ("New", None)
    );
    let wrong = EventChange {
        title: Some(" ".into()),
        ..EventChange::default()
    };
    assert!(world.app.change_event(&owner, event, &wrong).await.is_err());
    let nowhere = EventId::from_bytes([9; 16]);
    let missing = world.app.change_event(&owner, nowhere, &change).await;
    assert_eq!(missing, Err(Error::NotFound("event")));
}

#[tokio::test]
async fn an_event_needs_a_venue_of_its_owner() {
    let world = world();
    let venue = make_venue(&world, &organiser(1)).await;
    let foreign = world
        .app
        .create_event(&organiser(2), concert(venue), None, request("x"))
        .await;
    assert!(matches!(foreign, Err(Error::Forbidden(_))));
    let nowhere = concert(VenueId::from_bytes([9; 16]));
    let missing = world
        .app
        .create_event(&organiser(1), nowhere, None, request("x"))
        .await;
    assert_eq!(missing, Err(Error::NotFound("venue")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_made_at_once_are_all_kept() {
    let (world, owner) = (world(), organiser(1));
    // Four writers fail at most three times each, one time for every other's success.
    for _ in 0..50 {
        let event = make_event(&world, &owner).await;
        let keep = EventChange::default;
        let changes = [
            EventChange {
                title: Some("New".into()),
                ..keep()
            },
            EventChange {
                category: Some("sport".into()),
                ..keep()
            },
            EventChange {
                description: Some(Some("Text".into())),
                ..keep()
            },
        ];
        let tasks = changes.map(|change| {
            let app = world.app.clone();
            tokio::spawn(async move { app.change_event(&owner, event, &change).await })
        });
        make_show(&world, &owner, event, evening()).await;
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let view = world.app.event(event, None).await.unwrap();
        let (event, shows) = (view.event, view.shows.len());
        let texts = (
            event.title.as_str(),
            event.category.as_str(),
            event.description.as_deref(),
        );
        assert_eq!((texts, shows), (("New", "sport", Some("Text")), 1));
    }
}
