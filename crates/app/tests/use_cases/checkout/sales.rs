//! What a show sold, to the cent, whatever happens on the way.

use onsale_domain::money::Cents;
use onsale_domain::order::Stage;
use onsale_domain::sales::{FOLD_AFTER_MS, Figures, RoomFigures};
use onsale_test_support::stage::Plan;

use crate::checkout::scene::{NOW, Scene};

impl Scene {
    async fn total(&self) -> Figures {
        self.sales().await.sales.total()
    }
}

fn figures(tickets: u64, gross: u64, returned: u64, refunds: u64) -> Figures {
    Figures {
        tickets,
        returned,
        gross: Cents(gross),
        refunds: Cents(refunds),
    }
}

#[tokio::test]
async fn sales_follow_holds_purchases_and_refunds() {
    let scene = Scene::with(Plan {
        price: 4_501,
        ..Plan::default()
    })
    .await;
    assert_eq!(scene.total().await, Figures::default());
    scene.hold(&scene.ana, "h", &["A-1-5"]).await;
    let view = scene.sales().await;
    assert_eq!((view.map.counts().held, view.sales.total().tickets), (1, 0));

    let first = scene.paid("one", &["A-1-1", "A-2-1"]).await;
    assert_eq!(scene.total().await, figures(2, 9_002, 0, 0));
    scene.paid("two", &["Floor-GA-1"]).await;
    let view = scene.sales().await;
    assert_eq!(view.sales.sections["A"], figures(2, 9_002, 0, 0));
    assert_eq!(view.sales.sections["Floor"], figures(1, 4_501, 0, 0));
    assert_eq!(view.map.counts().sold, 3);

    // Half of it, rounded for the buyer, in another minute.
    scene.wait_until_hours_before(5);
    scene.app.cancel_order(&scene.ana, first).await.unwrap();
    scene.settle().await;
    let view = scene.sales().await;
    assert_eq!(view.sales.sections["A"], figures(2, 9_002, 2, 4_501));
    assert_eq!(view.sales.total().net(), Cents(9_002));
    let minutes: Vec<_> = view.sales.minutes.values().copied().collect();
    assert_eq!(minutes, [figures(3, 13_503, 0, 0), figures(0, 0, 2, 4_501)]);
    assert_eq!(view.map.counts().sold, 1);
}

#[tokio::test]
async fn reading_again_and_again_closes_the_book_and_changes_nothing() {
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1"]).await;
    for _ in 0..4 {
        scene.world.clock.advance(4 * 60_000);
        assert_eq!(scene.total().await, figures(1, 4_500, 0, 0));
    }
    let (book, late) = scene
        .app
        .store
        .sales_book(scene.show.show.id)
        .await
        .unwrap();
    let book = book.unwrap().value;
    assert!(book.until > NOW + FOLD_AFTER_MS && late == 0);
    assert_eq!(book.sales.total(), figures(1, 4_500, 0, 0));
    scene.paid("two", &["A-1-2"]).await;
    assert_eq!(scene.total().await, figures(2, 9_000, 0, 0));
}

/// A worker dies before its line is written, and comes back when the book is closed over
/// the time of the sale.
#[tokio::test]
async fn a_line_that_comes_after_the_book_was_closed_is_counted_once() {
    let scene = Scene::new().await;
    scene.paid("two", &["A-1-2"]).await;
    scene.world.clock.advance(1_000);
    let late = scene.stopped_at("put_new SAL").await;
    assert_eq!(scene.order(late).await.stage, Stage::Announcing);
    // So that the book is closed, and over a time after that of the late line.
    scene.world.clock.advance(6 * 60_000);
    assert_eq!(scene.total().await, figures(1, 4_500, 0, 0));
    let (book, _) = scene
        .app
        .store
        .sales_book(scene.show.show.id)
        .await
        .unwrap();
    let sold_at = scene.order(late).await.sold_at.unwrap();
    assert!(book.unwrap().value.until > sold_at);

    scene.settle().await;
    assert_eq!(scene.order(late).await.stage, Stage::Confirmed);
    for _ in 0..3 {
        assert_eq!(scene.total().await, figures(3, 13_500, 0, 0));
        scene.world.clock.advance(6 * 60_000);
    }
    // Told twice, as after a crash: still once.
    scene.drive(late).await;
    assert_eq!(scene.total().await, figures(3, 13_500, 0, 0));
}

/// The sale was never in the books when the order was called off.
#[tokio::test]
async fn an_order_that_is_called_off_before_it_was_told_of_is_told_with_its_end() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("put_new SAL").await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.stage, Stage::Ended);
    assert_eq!(scene.total().await, figures(2, 9_000, 2, 9_000));
}

#[tokio::test]
async fn a_cancelled_show_has_given_everything_back() {
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1"]).await;
    scene.paid("two", &["A-1-2", "A-1-3"]).await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    scene.settle().await;
    let total = scene.total().await;
    assert_eq!(total, figures(3, 13_500, 3, 13_500));
    assert_eq!(total.net(), Cents(0));
}

#[tokio::test]
async fn the_figures_of_the_room_are_stored_every_few_seconds() {
    let scene = Scene::new().await;
    let show = scene.show.show.id;
    scene.world.faults.arm(None);
    for second in 0..20 {
        let figures = RoomFigures {
            waiting: 100 + second,
            admitted: 7,
            rate: 20,
            at: NOW + second * 1_000,
        };
        scene.app.hear_room(show, figures).await;
    }
    assert_eq!(scene.world.faults.calls_of("update RMF"), 4);
    assert_eq!(scene.sales().await.room.unwrap().waiting, 115);
}

#[tokio::test]
async fn nobody_but_the_organiser_sees_the_sales() {
    let scene = Scene::new().await;
    let show = scene.show.show.id;
    let refused = scene.app.sales(&scene.ana, show).await;
    assert!(matches!(refused, Err(onsale_app::Error::Forbidden(_))));
}
