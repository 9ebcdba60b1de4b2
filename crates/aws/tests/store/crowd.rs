//! Many writes to one item at once: one gets through at a time, and all of them in the end.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use onsale_app::holds::Wish;
use onsale_app::shows::{NewShow, RoomChange};
use onsale_app::{Caller, Error};
use onsale_domain::account::Role;
use onsale_domain::block::{BlockIndex, Slot};
use onsale_domain::event::Event;
use onsale_domain::ids::SessionId;
use onsale_domain::money::Cents;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_store::Reads;
use onsale_test_support::stage::{Plan, Stage};

use crate::network::over_a_network;
use crate::places::in_process;

#[tokio::test]
async fn fifty_holds_of_one_buyer_at_once_fill_the_cap_and_leave_nothing_behind() {
    let world = in_process(over_a_network).await;
    let plan = Plan {
        rows: vec![50],
        ..Plan::default()
    };
    let stage = Stage::set(&world.app, &plan).await.unwrap();
    let caller = stage.buyer(1).await.unwrap();
    let (app, show) = (&world.app, stage.show.id);
    let holds = (1..=50).map(|n| async move {
        let key = IdempotencyKey::parse(&format!("key-{n}")).unwrap();
        let wish = Wish::Seats(vec![format!("A-1-{n}")]);
        app.place_hold(&caller, show, &key, &wish, None).await
    });
    let answers = join_all(holds).await;
    let held = answers.iter().filter(|answer| answer.is_ok()).count();
    let over =
        |answer: &&Result<_, Error>| matches!(answer, Err(Error::LimitExceeded { limit: 6, .. }));
    let refused = answers.iter().filter(over).count();
    assert_eq!((held, refused), (6, 44), "{answers:?}");

    let all: Vec<_> = (0..stage.layout.blocks().len() as u32)
        .map(BlockIndex)
        .collect();
    let blocks = app
        .store
        .read_blocks(show, &all, Reads::Consistent)
        .await
        .unwrap();
    let taken = |slot| blocks.iter().filter(move |(_, b)| b.cell(slot).is_some());
    assert_eq!((0..32).map(Slot).flat_map(taken).count(), 6);
    let buyer = app.store.buyer(show, caller.account).await.unwrap();
    assert_eq!(buyer.live_places(app.now()), 6);
}

#[tokio::test]
async fn forty_shows_of_one_event_are_created_at_once() {
    let world = in_process(over_a_network).await;
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let (app, show) = (&world.app, &stage.show);
    let organiser = Caller {
        account: show.owner,
        session: SessionId::from_bytes([1; 16]),
        role: Role::Organiser,
    };
    let new = |n: u64| NewShow {
        starts_at: show.starts_at + n * 3_600_000,
        on_sale_at: None,
        currency: show.currency,
        prices: BTreeMap::from([("A".into(), Cents(100)), ("Floor".into(), Cents(100))]),
        hold_seconds: None,
        max_tickets_per_buyer: None,
        refund_policy: None,
        room: RoomChange::default(),
        overbook_percent: 0,
        draft: false,
    };
    let event = show.event_id;
    let created = (1..=40).map(|n| {
        let request = RequestHash::of(b"show");
        app.create_show(&organiser, event, new(n), None, request)
    });
    for created in join_all(created).await {
        created.unwrap();
    }
    let stored = app.store.read::<Event>(event).await.unwrap().unwrap();
    assert_eq!(stored.value.shows.len(), 41);
}
