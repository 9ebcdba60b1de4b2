//! The search index follows the catalogue: whatever dies or is lost on the way, every
//! public event ends up in it as it is.

use std::time::Duration;

use onsale_app::events::EventChange;
use onsale_app::shows::ShowChange;
use onsale_domain::announcement::News;
use onsale_domain::event::Event;
use onsale_test_support::Fault;

use super::*;

/// The titles in the index, with the version of each event.
fn indexed(world: &MemoryWorld) -> Vec<(String, u64)> {
    let events = world.search_index.events().unwrap_or_default();
    let events = events.into_values();
    events.map(|e| (e.value.title, e.version)).collect()
}

/// The index has exactly what is public, as it is now.
async fn is_true(world: &MemoryWorld) {
    let public = world.app.store.public_events(None, 1_000).await.unwrap();
    let index = world.search_index.events().unwrap();
    let mut known: Vec<_> = index.into_values().collect();
    known.sort_by_key(|e| std::cmp::Reverse((e.value.created, e.value.id)));
    assert_eq!(known, public.items);
}

async fn rename(world: &MemoryWorld, owner: &Caller, event: EventId, title: &str) {
    let change = EventChange {
        title: Some(title.into()),
        ..EventChange::default()
    };
    world.app.change_event(owner, event, &change).await.unwrap();
}

#[tokio::test]
async fn a_change_is_announced_once_the_event_is_public() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    let draft = NewShow {
        draft: true,
        ..evening()
    };
    let show = make_show(&world, &owner, event, draft).await;
    rename(&world, &owner, event, "Still a draft").await;
    assert!(world.bus.told().is_empty(), "nobody may know of it");
    let publish = ShowChange {
        publish: true,
        ..ShowChange::default()
    };
    world.app.change_show(&owner, show, &publish).await.unwrap();
    rename(&world, &owner, event, "Known").await;
    make_show(&world, &owner, event, evening()).await;
    let told = world.bus.told();
    let ids: Vec<_> = told.iter().map(|told| told.id.as_str()).collect();
    let expected = [4, 5, 6].map(|version| format!("EventChanged:{event}:{version}"));
    assert_eq!(ids, expected);
    assert!(
        told.iter()
            .all(|t| t.news == News::EventChanged { event_id: event })
    );
    // The numbers are the versions that are stored.
    let stored = world.app.store.read::<Event>(event).await.unwrap().unwrap();
    assert_eq!(stored.version, 6);
}

#[tokio::test]
async fn the_first_look_builds_the_index_and_later_ones_follow_changes() {
    let (world, owner) = (world(), organiser(1));
    let mut events = Vec::new();
    for _ in 0..250 {
        world.clock.advance(1);
        let event = make_event(&world, &owner).await;
        make_show(&world, &owner, event, evening()).await;
        events.push(event);
    }
    make_event(&world, &owner).await;
    world.app.index_events(&[]).await.unwrap();
    is_true(&world).await;
    rename(&world, &owner, events[7], "Other").await;
    // A message that comes twice, and one about nothing.
    let nothing = EventId::from_bytes([9; 16]);
    let again = [events[7], events[7], nothing];
    assert_eq!(world.app.index_events(&again).await.unwrap(), 1);
    assert_eq!(world.app.index_events(&again).await.unwrap(), 0);
    is_true(&world).await;
}

#[tokio::test]
async fn a_change_that_was_never_announced_is_found() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    make_show(&world, &owner, event, evening()).await;
    world.app.index_events(&[]).await.unwrap();
    world.faults.fail_always("announce", true);
    rename(&world, &owner, event, "Unheard").await;
    assert_eq!(indexed(&world)[0].0, "Zażółć Night");
    assert_eq!(world.app.index_events(&[]).await.unwrap(), 1);
    assert_eq!(indexed(&world)[0].0, "Unheard");
    is_true(&world).await;
}

#[tokio::test]
async fn whoever_dies_while_indexing_leaves_it_to_the_next() {
    for fault in Fault::ALL {
        for step in 0.. {
            let (world, owner) = (world(), organiser(1));
            let event = make_event(&world, &owner).await;
            make_show(&world, &owner, event, evening()).await;
            if step % 2 == 0 {
                world.app.index_events(&[]).await.unwrap();
                rename(&world, &owner, event, "Other").await;
            }
            world.faults.arm(Some((step / 2, fault)));
            let hints = [event];
            let working = world.app.index_events(&hints);
            // A worker that died never answers.
            let _ = tokio::time::timeout(Duration::from_millis(20), working).await;
            let reached = world.faults.calls().len() > step / 2;
            world.faults.arm(None);
            // The lease of somebody who died while building is over by then.
            world.clock.advance(61_000);
            world.app.index_events(&[]).await.unwrap();
            is_true(&world).await;
            // Readers have followed by then.
            world.clock.advance(5_000);
            world.app.index_events(&[]).await.unwrap();
            let left = world.app.store.unindexed_events(10).await.unwrap();
            assert!(left.is_empty(), "{fault:?} at {step}");
            if !reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn an_index_is_built_by_one_at_a_time() {
    let (world, owner) = (world(), organiser(1));
    let event = make_event(&world, &owner).await;
    make_show(&world, &owner, event, evening()).await;
    let now = world.app.now();
    let lease = world
        .app
        .store
        .lease_rebuild([1; 16], now, now + 60_000)
        .await;
    assert!(lease.unwrap());
    assert_eq!(world.app.index_events(&[event]).await.unwrap(), 0);
    assert!(world.search_index.events().is_none());
    world.clock.advance(60_000);
    world.app.index_events(&[event]).await.unwrap();
    is_true(&world).await;
    // Lost, as by another format: built anew.
    world.search_index.lose();
    world.app.index_events(&[]).await.unwrap();
    is_true(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_once_publish_nothing_old() {
    let (world, owner) = (world(), organiser(1));
    let mut events = Vec::new();
    for _ in 0..4 {
        let event = make_event(&world, &owner).await;
        make_show(&world, &owner, event, evening()).await;
        events.push(event);
    }
    world.app.index_events(&[]).await.unwrap();
    for round in 0..20 {
        let tasks: Vec<_> = events
            .iter()
            .map(|event| {
                let (world, event) = (world.clone(), *event);
                tokio::spawn(async move {
                    rename(&world, &owner, event, &format!("Round {round}")).await;
                    world.app.index_events(&[event]).await.unwrap();
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        is_true(&world).await;
    }
}
