//! What else happens to a ticket while it goes from hand to hand: it is scanned, its order is
//! cancelled, the bank takes the money back, the show is called off, it is lost.

use onsale_app::Error;
use onsale_app::tickets::ScanAnswer;
use onsale_domain::order::OrderStatus;
use onsale_domain::ticket::TicketState;

use super::Friends;

#[tokio::test]
async fn a_scan_and_an_acceptance_in_the_same_moment_are_one_or_the_other() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    let other = friends.clone();
    let code = friends.ticket(friends.old).await.code;
    friends
        .scene
        .world
        .faults
        .before_next("write TRF", async move {
            assert!(matches!(other.scan(&code).await, ScanAnswer::Admitted(_)));
        });
    let late = friends.accept(&friends.bo, id).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    let state = friends.ticket(friends.old).await.state;
    assert!(matches!(state, TicketState::Used { .. }), "{state:?}");
}

#[tokio::test]
async fn a_buyer_cannot_cancel_what_they_gave_away_not_even_in_the_same_moment() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, friends.scene.ana);
    let id = friends.offered().await;
    // The friend accepts after the check of the cancellation and before its write.
    let other = friends.clone();
    friends
        .scene
        .world
        .faults
        .before_next("write ORD", async move {
            other.accept(&other.bo, id).await.unwrap();
        });
    let refused = app.cancel_order(&ana, friends.order).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    friends.scene.settle().await;
    friends.assert_one_good_ticket("cancelled too late").await;

    // The other way round: the buyer was quicker.
    let friends = Friends::new().await;
    let id = friends.offered().await;
    let other = friends.clone();
    friends
        .scene
        .world
        .faults
        .before_next("write TRF", async move {
            let app = &other.scene.app;
            app.cancel_order(&other.scene.ana, other.order)
                .await
                .unwrap();
        });
    let refused = friends.accept(&friends.bo, id).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    friends.scene.settle().await;
    let order = friends.scene.order(friends.order).await;
    assert_eq!(order.status(), OrderStatus::Refunded);
    let owned = friends
        .scene
        .app
        .my_tickets(&friends.bo, None, 9)
        .await
        .unwrap();
    assert_eq!(owned.items, []);
}

/// Through many hands, and then the bank takes the money back, or the show is called off.
#[tokio::test]
async fn a_charge_back_and_a_cancelled_show_reach_whoever_has_the_ticket() {
    for charge_back in [true, false] {
        let friends = Friends::new().await;
        let app = &friends.scene.app;
        let hands = [friends.scene.ana, friends.bo, friends.cleo];
        let mut ticket = friends.old;
        for (from, to, name) in [(0, 1, "bo"), (1, 2, "cleo"), (2, 0, "ana")] {
            let id = friends.offer(&hands[from], ticket, name).await.unwrap().id;
            ticket = friends.accept(&hands[to], id).await.unwrap().id;
        }
        assert_eq!(friends.ticket(ticket).await.hands.before.len(), 3);
        let report = app.reconcile_all().await.unwrap();
        assert_eq!(report.alarms, Vec::<String>::new());
        if charge_back {
            let payment = friends.scene.order(friends.order).await.payment.unwrap();
            app.charge_back(friends.order, &payment).await.unwrap();
        } else {
            let organiser = friends.scene.show.organiser().await.unwrap();
            let show = friends.scene.show.show.id;
            app.cancel_show(&organiser, show).await.unwrap();
        }
        friends.scene.settle().await;
        let state = friends.ticket(ticket).await.state;
        assert!(matches!(state, TicketState::Revoked { .. }), "{state:?}");
        let order = friends.scene.order(friends.order).await;
        let (status, refund) = match charge_back {
            true => (OrderStatus::Cancelled, 0),
            false => (OrderStatus::Refunded, 9_000),
        };
        assert_eq!((order.status(), order.refund_due().0), (status, refund));
        let report = app.reconcile_all().await.unwrap();
        assert_eq!(report.alarms, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_lost_ticket_of_a_new_owner_is_an_alarm() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    let new = friends.accept(&friends.bo, id).await.unwrap();
    friends.scene.world.table.lose_ticket(new.id);
    let report = friends.scene.app.reconcile_all().await.unwrap();
    assert!(
        report
            .alarms
            .iter()
            .any(|alarm| alarm.contains("1 tickets are missing")),
        "{:?}",
        report.alarms
    );
}
