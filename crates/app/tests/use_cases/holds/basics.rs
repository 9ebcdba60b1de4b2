//! What a buyer can ask for and what they are told.

use onsale_app::Error;
use onsale_app::holds::Wish;
use onsale_app::waitlist::WaitFor;
use onsale_domain::account::Role;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::HoldId;
use onsale_domain::payment::PaymentMethod;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, best, best_or_fewer, key, seats};

fn invalid(result: onsale_app::Result<onsale_app::holds::HoldView>) -> bool {
    matches!(result, Err(Error::Invalid(_)))
}

#[tokio::test]
async fn chosen_seats_are_held_all_or_nothing_and_the_taken_ones_are_named() {
    let scene = Scene::new(Plan::default()).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let held = scene
        .hold(&ana, "k", &seats(&["A-1-3", "A-1-4"]))
        .await
        .unwrap();
    assert!(held.together && held.total.amount.0 == 9_000);
    let refused = scene
        .hold(&bo, "k", &seats(&["A-1-2", "A-1-3", "A-1-4"]))
        .await;
    assert_eq!(
        refused,
        Err(Error::SeatsTaken(vec!["A-1-3".into(), "A-1-4".into()]))
    );
    assert_eq!(scene.cells().await.len(), 2, "nothing else was taken");
}

#[tokio::test]
async fn whoever_takes_fewer_gets_what_the_cap_leaves_them() {
    let scene = Scene::new(Plan {
        cap: 6,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    scene.hold(&ana, "one", &best(4)).await.unwrap();
    let all_or_nothing = scene.hold(&ana, "two", &best(4)).await;
    assert!(matches!(all_or_nothing, Err(Error::LimitExceeded { .. })));
    let fewer = best_or_fewer(4);
    let held = scene.hold(&ana, "three", &fewer).await.unwrap();
    assert_eq!(held.seats.len(), 2);
    let none_left = scene.hold(&ana, "four", &fewer).await;
    assert!(matches!(none_left, Err(Error::LimitExceeded { .. })));
}

#[tokio::test]
async fn a_wish_that_names_nothing_of_this_show_is_refused() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    assert!(invalid(scene.hold(&ana, "k", &seats(&[])).await));
    assert!(invalid(
        scene.hold(&ana, "k", &seats(&["A-1-3", "A-1-3"])).await
    ));
    assert!(invalid(scene.hold(&ana, "k", &seats(&["Z-1-3"])).await));
    assert!(invalid(scene.hold(&ana, "k", &best(0)).await));
    let general = |section: &str, quantity| Wish::General {
        section: section.into(),
        quantity,
    };
    assert!(invalid(scene.hold(&ana, "k", &general("A", 1)).await));
    assert!(invalid(scene.hold(&ana, "k", &general("Z", 1)).await));
    assert!(invalid(scene.hold(&ana, "k", &general("Floor", 0)).await));
    assert!(scene.cells().await.is_empty());
}

/// A key that was used before an upgrade gets its first answer again.
#[test]
fn a_wish_is_serialised_as_before_unless_it_asks_for_an_accessible_place() {
    let json = |wish: &Wish| serde_json::to_string(wish).unwrap();
    let before = r#"{"Best":{"quantity":2,"section":"A","max_price":null,"together":false,"allow_fewer":false}}"#;
    assert_eq!(json(&best(2)), before);
    let mut wish = best(2);
    if let Wish::Best { accessible, .. } = &mut wish {
        *accessible = true;
    }
    assert_ne!(json(&wish), before);
}

#[tokio::test]
async fn the_cap_counts_over_all_holds_of_a_buyer() {
    let scene = Scene::new(Plan {
        cap: 3,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let first = scene
        .hold(&ana, "1", &seats(&["A-1-1", "A-1-2"]))
        .await
        .unwrap();
    let over = scene.hold(&ana, "2", &seats(&["A-1-3", "A-1-4"])).await;
    assert!(matches!(over, Err(Error::LimitExceeded { limit: 3, .. })));
    scene
        .app
        .release_hold(&ana, scene.stage.show.id, first.hold_id)
        .await
        .unwrap();
    scene
        .hold(&ana, "2", &seats(&["A-1-3", "A-1-4"]))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_repeated_request_gets_its_first_answer_also_while_the_hold_is_paid() {
    let scene = Scene::new(Plan::default()).await;
    let (ana, wish) = (scene.buyer(1).await, seats(&["A-1-1"]));
    let first = scene.hold(&ana, "k", &wish).await.unwrap();
    scene.clock.advance(60_000);
    assert!(scene.lock(&ana, first.hold_id).await);
    let read = async || {
        let show = scene.stage.show.id;
        scene.app.hold(&ana, show, first.hold_id).await.unwrap()
    };
    let paying = read().await;
    assert_eq!(paying.expires_at, first.expires_at + 300_000);
    assert_eq!(paying.state, EntryState::Paying);
    for attempt in 1..3 {
        let again = scene.hold(&ana, "k", &wish).await.unwrap();
        assert_eq!(again.expires_at, first.expires_at, "{attempt}");
        assert_eq!(
            (again.seats, again.total),
            (first.seats.clone(), first.total)
        );
        // A refused attempt leaves the extended expiry, and so does the next one.
        let buyer = scene.buyer_item(&ana).await;
        let declined = buyer
            .decline(first.hold_id, attempt, scene.app.now())
            .unwrap();
        scene.put_buyer(&ana, &declined).await;
        let again = scene.hold(&ana, "k", &wish).await.unwrap();
        assert_eq!(again.expires_at, first.expires_at, "{attempt}");
        let locked = declined.lock(first.hold_id, attempt + 1, scene.app.now());
        scene.put_buyer(&ana, &locked.unwrap()).await;
    }
    assert_eq!(read().await.expires_at, paying.expires_at);
}

#[tokio::test]
async fn general_places_sell_to_the_last_one_and_not_one_more() {
    let scene = Scene::new(Plan {
        floor: 70,
        cap: 50,
        ..Plan::default()
    })
    .await;
    let wish = |quantity| Wish::General {
        section: "Floor".into(),
        quantity,
    };
    let mut sold = 0;
    for n in 0..17 {
        let buyer = scene.buyer(n).await;
        sold += scene.hold(&buyer, "k", &wish(4)).await.unwrap().seats.len();
    }
    let last = scene.buyer(99).await;
    assert_eq!(
        scene.hold(&last, "k", &wish(4)).await,
        Err(Error::SeatsTaken(vec![]))
    );
    sold += scene.hold(&last, "k", &wish(2)).await.unwrap().seats.len();
    assert_eq!((sold, scene.cells().await.len()), (70, 70));
    assert_eq!(
        scene.hold(&last, "l", &wish(1)).await,
        Err(Error::SeatsTaken(vec![]))
    );
}

#[tokio::test]
async fn a_buyer_finds_their_open_holds_of_a_show_again_and_nobody_else_does() {
    let scene = Scene::new(Plan::default()).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let first = scene.hold(&ana, "1", &seats(&["A-1-1"])).await.unwrap();
    let second = scene.hold(&ana, "2", &seats(&["A-1-3"])).await.unwrap();
    let show = scene.stage.show.id;
    let open = async |who| scene.app.open_holds(who, show).await.unwrap();
    assert_eq!(open(&ana).await, [second.clone(), first.clone()]);
    assert_eq!(open(&bo).await, []);
    let gone = second.hold_id;
    scene.app.release_hold(&ana, show, gone).await.unwrap();
    assert_eq!(open(&ana).await, std::slice::from_ref(&first));
    let lapse = scene.app.now().until(first.expires_at);
    scene.clock.advance(lapse);
    assert_eq!(open(&ana).await, []);
}

#[tokio::test]
async fn only_the_owner_sees_and_releases_a_hold() {
    let scene = Scene::new(Plan::default()).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let held = scene.hold(&ana, "k", &best(2)).await.unwrap();
    let show = scene.stage.show.id;
    assert_eq!(
        scene.app.hold(&bo, show, held.hold_id).await,
        Err(Error::NotFound("hold"))
    );
    assert_eq!(
        scene.app.release_hold(&bo, show, held.hold_id).await,
        Err(Error::NotFound("hold"))
    );
    assert!(scene.owns(&held).await);
    scene
        .app
        .release_hold(&ana, show, held.hold_id)
        .await
        .unwrap();
    scene
        .app
        .release_hold(&ana, show, held.hold_id)
        .await
        .unwrap();
    assert_eq!(
        scene
            .app
            .hold(&ana, show, held.hold_id)
            .await
            .unwrap()
            .state,
        EntryState::Released
    );
    assert!(scene.cells().await.is_empty());
}

#[tokio::test]
async fn a_paid_or_paying_hold_is_not_released() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &best(2)).await.unwrap();
    let show = scene.stage.show.id;
    scene.lock_entry(&ana, held.hold_id).await;
    let refused = scene.app.release_hold(&ana, show, held.hold_id).await;
    assert!(matches!(refused, Err(Error::Conflict(_))));
    assert_eq!(scene.cells().await.len(), 2);
}

#[tokio::test]
async fn a_session_that_ended_holds_nothing() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    scene.app.store.close_session(ana.session).await.unwrap();
    assert_eq!(
        scene.hold(&ana, "k", &best(1)).await,
        Err(Error::Unauthenticated)
    );
    let show = scene.stage.show.id;
    let nothing = onsale_domain::ids::HoldId::from_bytes([1; 16]);
    assert_eq!(
        scene.app.hold(&ana, show, nothing).await,
        Err(Error::Unauthenticated)
    );
    assert_eq!(
        scene.app.release_hold(&ana, show, nothing).await,
        Err(Error::Unauthenticated)
    );
    let bo = scene.buyer(2).await;
    let borrowed = onsale_app::Caller {
        account: bo.account,
        ..scene.buyer(3).await
    };
    assert_eq!(
        scene.hold(&borrowed, "k", &best(1)).await,
        Err(Error::Unauthenticated)
    );
    assert_eq!(
        scene.app.hold(&borrowed, show, nothing).await,
        Err(Error::Unauthenticated)
    );
    // A session ends by itself too.
    scene.clock.advance(60 * 24 * 3_600_000);
    assert_eq!(
        scene.hold(&bo, "k", &best(1)).await,
        Err(Error::Unauthenticated)
    );
    assert_eq!(
        scene.app.hold(&bo, show, nothing).await,
        Err(Error::Unauthenticated)
    );
    assert!(scene.cells().await.is_empty());
}

#[tokio::test]
async fn nothing_is_held_before_the_sale_after_the_show_or_when_cancelled() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    // Cancelling closes the blocks; a claim that slips through the cached show meets them.
    scene
        .table
        .close_block(scene.stage.show.id, onsale_domain::block::BlockIndex(0));
    let refused = scene.hold(&ana, "l", &seats(&["A-1-2"])).await;
    assert!(matches!(refused, Err(Error::NotOnSale { .. })));
    assert!(scene.owns(&held).await);
    scene.clock.advance(31 * 24 * 3_600_000);
    assert!(scene.hold(&ana, "m", &seats(&["A-2-2"])).await.is_err());
}

#[tokio::test]
async fn a_staff_account_buys_nothing() {
    let scene = Scene::new(Plan::default()).await;
    let show = scene.stage.show.id;
    let gate = onsale_app::Caller {
        role: Role::Staff,
        ..scene.buyer(1).await
    };
    let held = scene.hold(&gate, "k", &best(1)).await;
    assert!(matches!(held, Err(Error::Forbidden(_))), "{held:?}");
    let wanted = WaitFor {
        quantity: 1,
        sections: vec![],
        together: true,
    };
    let joined = scene.app.join_waitlist(&gate, show, None, &wanted).await;
    assert!(matches!(joined, Err(Error::Forbidden(_))), "{joined:?}");
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let hold = HoldId::from_bytes([1; 16]);
    let pay = key("p");
    let paid = scene.app.check_out(&gate, show, hold, &pay, card);
    assert!(matches!(paid.await, Err(Error::Forbidden(_))));
    assert!(scene.cells().await.is_empty());
}
