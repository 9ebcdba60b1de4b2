//! A show with a waiting room: who may begin a hold, and whose a pass is.

use futures_util::FutureExt;
use onsale_app::Error;
use onsale_domain::ids::ShowId;
use onsale_domain::room::pass::{PassClaims, PassError};
use onsale_domain::show::RoomMode;
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, key, seats};

async fn scene(room: RoomMode) -> Scene {
    Scene::new(Plan {
        room,
        ..Plan::default()
    })
    .await
}

fn refused<T>(why: PassError) -> Result<T, Error> {
    Err(Error::PassRequired(Some(why)))
}

#[tokio::test]
async fn a_room_that_is_not_off_wants_a_pass_for_every_new_hold() {
    for room in [RoomMode::Queue, RoomMode::QueueAll, RoomMode::Closed] {
        let scene = scene(room).await;
        let (ana, wish) = (scene.buyer(1).await, seats(&["A-1-1"]));
        let without = scene.hold(&ana, "k", &wish).await;
        assert_eq!(without, Err(Error::PassRequired(None)), "{room:?}");
        assert!(scene.cells().await.is_empty());
        let pass = scene.stage.pass(1);
        let held = scene.hold_with(&ana, "k", &wish, &pass).await;
        assert!(held.is_ok(), "{room:?}: {held:?}");
    }
    let off = scene(RoomMode::Off).await;
    let ana = off.buyer(1).await;
    off.hold(&ana, "k", &seats(&["A-1-1"])).await.unwrap();
    let pass = off.stage.pass(1);
    let more = off.hold_with(&ana, "l", &seats(&["A-1-2"]), &pass).await;
    more.unwrap();
    assert_eq!(off.table.pass_use(pass.pass), None, "nobody asked for it");
}

#[tokio::test]
async fn a_pass_counts_for_its_show_and_its_time() {
    let scene = scene(RoomMode::Queue).await;
    let (ana, wish) = (scene.buyer(1).await, seats(&["A-1-1"]));
    let pass = scene.stage.pass(1);
    let elsewhere = PassClaims {
        show: ShowId::from_bytes([9; 16]),
        ..pass.clone()
    };
    let other = scene.hold_with(&ana, "k", &wish, &elsewhere).await;
    assert_eq!(other, refused(PassError::AnotherShow));
    scene.clock.advance(305_000);
    let late = scene.hold_with(&ana, "k", &wish, &pass).await;
    assert_eq!(late, refused(PassError::Expired));
    assert_eq!(scene.table.pass_use(pass.pass), None, "nothing was written");
    assert!(scene.cells().await.is_empty());
}

#[tokio::test]
async fn a_pass_is_its_first_accounts_and_later_holds_write_nothing_for_it() {
    let scene = scene(RoomMode::Queue).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let pass = scene.stage.pass(1);
    scene.faults.arm(None);
    for (k, seat) in [("1", "A-1-1"), ("2", "A-1-2")] {
        let held = scene.hold_with(&ana, k, &seats(&[seat]), &pass).await;
        held.unwrap();
    }
    assert_eq!(scene.faults.calls_of("update PAS"), 1);
    let borrowed = scene.hold_with(&bo, "k", &seats(&["A-1-3"]), &pass).await;
    assert_eq!(borrowed, refused(PassError::AnotherAccount));
    assert_eq!(scene.cells().await.len(), 2);
    let item = scene.buyer_item(&ana).await;
    assert_eq!(item.last_pass, Some(pass.pass));
}

#[tokio::test]
async fn an_account_that_comes_with_another_pass_gives_the_first_one_up() {
    let scene = scene(RoomMode::Queue).await;
    let ana = scene.buyer(1).await;
    let (first, second) = (scene.stage.pass(1), scene.stage.pass(2));
    let is_closed = |pass: &PassClaims| {
        let known = scene.table.pass_use(pass.pass);
        known.is_some_and(|known| known.closed)
    };
    let wish = seats(&["A-1-1"]);
    scene.hold_with(&ana, "1", &wish, &first).await.unwrap();
    assert!(!is_closed(&first));
    let wish = seats(&["A-1-2"]);
    scene.hold_with(&ana, "2", &wish, &second).await.unwrap();
    assert!(is_closed(&first) && !is_closed(&second));
    let item = scene.buyer_item(&ana).await;
    let passes: Vec<_> = item.entries.iter().map(|entry| entry.pass).collect();
    assert_eq!(passes, [Some(first.pass), Some(second.pass)]);
    let late = scene.hold_with(&ana, "3", &seats(&["A-1-3"]), &first).await;
    assert_eq!(late, refused(PassError::Closed));
}

#[tokio::test]
async fn the_pass_is_taken_before_any_place() {
    let scene = scene(RoomMode::Queue).await;
    let ana = scene.buyer(1).await;
    scene.faults.arm(None);
    let pass = scene.stage.pass(1);
    let held = scene.hold_with(&ana, "k", &seats(&["A-1-1"]), &pass).await;
    held.unwrap();
    let writes = ["update PAS", "update BLK", "update BUY"];
    let mut calls = scene.faults.calls();
    calls.retain(|call| writes.contains(&call.as_str()));
    assert_eq!(calls, writes);
}

#[tokio::test]
async fn of_two_accounts_that_race_with_one_pass_exactly_one_wins() {
    let scene = scene(RoomMode::Queue).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let pass = scene.stage.pass(1);
    // Bo comes between the moment Ana finds the pass unused and her taking it.
    let (other, borrowed) = (scene.clone(), pass.clone());
    scene.faults.before_next("write PAS", async move {
        let wish = seats(&["A-1-1"]);
        let won = other.hold_with(&bo, "k", &wish, &borrowed).await;
        won.unwrap();
    });
    let lost = scene.hold_with(&ana, "k", &seats(&["A-1-2"]), &pass).await;
    assert_eq!(lost, refused(PassError::AnotherAccount));
    assert_eq!(scene.cells().await.len(), 1);
}

#[tokio::test]
async fn nothing_begins_under_a_closed_pass_but_what_was_held_is_answered_again() {
    let scene = scene(RoomMode::Queue).await;
    let (ana, wish) = (scene.buyer(1).await, seats(&["A-1-1"]));
    let (show, pass) = (scene.stage.show.id, scene.stage.pass(1));
    let held = scene.hold_with(&ana, "k", &wish, &pass).await.unwrap();
    scene.app.close_pass(show, pass.pass).await.unwrap();
    let more = scene.hold_with(&ana, "l", &seats(&["A-1-2"]), &pass).await;
    assert_eq!(more, refused(PassError::Closed));
    assert_eq!(
        scene.hold_with(&ana, "k", &wish, &pass).await,
        Ok(held.clone())
    );
    assert_eq!(
        scene.hold(&ana, "k", &wish).await,
        Ok(held),
        "without a pass"
    );
    let unused = scene.stage.pass(2);
    scene.app.close_pass(show, unused.pass).await.unwrap();
    let never = scene
        .hold_with(&ana, "m", &seats(&["A-1-2"]), &unused)
        .await;
    assert_eq!(never, refused(PassError::Closed));
}

#[tokio::test]
async fn a_hold_that_died_on_its_way_is_repeated_under_the_same_pass() {
    for fault in Fault::ALL {
        for nth in 0..3 {
            let scene = scene(RoomMode::Queue).await;
            let (ana, wish) = (scene.buyer(1).await, seats(&["A-1-1"]));
            let pass = scene.stage.pass(1);
            scene.faults.arm(Some((nth, fault)));
            // A worker that dies never comes back; it is dropped where it stands.
            let first = scene.hold_with(&ana, "k", &wish, &pass).now_or_never();
            assert!(first.is_none_or(|held| held.is_err() || nth > 2));
            scene.faults.arm(None);
            let again = scene.hold_with(&ana, "k", &wish, &pass).await;
            let held = again.unwrap_or_else(|error| panic!("{fault:?} at {nth}: {error}"));
            assert!(scene.owns(&held).await, "{fault:?} at {nth}");
        }
    }
}

#[tokio::test]
async fn paying_needs_no_pass() {
    let scene = scene(RoomMode::Queue).await;
    let (ana, show) = (scene.buyer(1).await, scene.stage.show.id);
    let pass = scene.stage.pass(1);
    let held = scene.hold_with(&ana, "k", &seats(&["A-1-1"]), &pass).await;
    scene
        .store
        .close_pass(pass.pass, show, scene.app.now())
        .await
        .unwrap();
    let card = onsale_domain::payment::PaymentMethod::parse("pm_card_visa").unwrap();
    let (key, hold) = (key("p"), held.unwrap().hold_id);
    let paying = scene.app.check_out(&ana, show, hold, &key, card).await;
    assert!(paying.is_ok());
}
