//! A place goes from one buyer to another while processes die, replies are lost, and its
//! owner changes their mind. The lists of calls are taken from runs in which nothing goes
//! wrong, so a new call is covered the day it is written.

use onsale_app::ports::{Drive, OfferPlaces};
use onsale_app::tickets::ScanAnswer;
use onsale_app::waitlist::WaitlistStatus;
use onsale_domain::account::Email;
use onsale_domain::ids::OrderId;
use onsale_domain::order::{Order, OrderStatus, Why};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_test_support::Fault;

use crate::waitlist::returns_scene::Return;
use crate::waitlist::scene::{Scene, key};

impl Return {
    async fn look(&self) {
        let message = OfferPlaces {
            show_id: self.scene.show(),
            since: self.scene.app.now(),
        };
        let _ = self.scene.app.offer_places(&message).await;
    }

    async fn drive(&self, order_id: OrderId) {
        let message = Drive::Order { order_id, tries: 0 };
        let _ = self.scene.app.drive(&message).await;
    }

    /// Bo pays, and one worker does all of it: the sale, and what Ana is owed.
    async fn buy(&self) {
        let (show, hold) = (self.scene.show(), self.hold());
        let card = PaymentMethod::parse("pm_card_visa").unwrap();
        let app = &self.scene.app;
        let _ = app.check_out(&self.bo, show, hold, &key("pay"), card).await;
        self.drive(OrderId::of(hold)).await;
        self.drive(self.order).await;
    }

    async fn scan(&self) -> ScanAnswer {
        let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
        let (organiser, code) = (self.scene.stage.organiser().await, self.ticket().await.code);
        let (organiser, show) = (organiser.unwrap(), self.scene.show());
        let app = &self.scene.app;
        let scanned = app.scan(&organiser, show, &keys, &code, "north", None);
        scanned.await.unwrap()
    }

    async fn bought(&self) -> Option<OrderStatus> {
        let order = self
            .scene
            .app
            .store
            .read::<Order>(OrderId::of(self.hold()))
            .await;
        order.unwrap().map(|order| order.value.status())
    }
}

/// Lets a worker fail in every way at every call, and checks what becomes of it after the
/// sweep has been by.
async fn at_every_call(
    prepare: impl AsyncFn() -> Return,
    work: impl AsyncFn(&Return),
    check: impl AsyncFn(&Return, &str),
) -> Vec<String> {
    let life = prepare().await;
    life.scene.world.faults.arm(None);
    work(&life).await;
    let calls = life.scene.world.faults.calls();
    assert!(calls.len() > 1, "{calls:?}");
    for (nth, call) in calls.iter().enumerate() {
        for fault in Fault::ALL {
            for repeats in [false, true] {
                let life = prepare().await;
                life.scene.world.faults.arm(Some((nth, fault)));
                Scene::until_death(work(&life));
                life.scene.world.faults.arm(None);
                if repeats {
                    work(&life).await;
                }
                life.scene.recover().await;
                let note = format!("{fault:?} at call {nth} ({call}), repeated: {repeats}");
                life.check(&note).await;
                check(&life, &note).await;
            }
        }
    }
    calls
}

#[tokio::test]
async fn whatever_dies_while_a_place_is_resold_one_has_it_and_the_other_the_money() {
    let calls = at_every_call(
        Return::offered,
        async |life| life.buy().await,
        async |life, note| match life.bought().await {
            // It died before the order was written.
            None => assert!(life.ticket().await.is_valid(), "{note}"),
            Some(status) => {
                assert_eq!(status, OrderStatus::Confirmed, "{note}");
                let order = life.order_of(life.order).await;
                assert_eq!(order.repaid_amount().0, 4_500, "{note}");
                let told = life.scene.world.bus.told();
                let told = told
                    .iter()
                    .filter(|told| told.news.kind() == "TicketResold");
                assert!(told.count() > 0, "{note}: Ana was not told");
            }
        },
    )
    .await;
    let steps = [
        "update TKT",
        "transact BLK+TKT+ORD",
        "capture",
        "refund",
        "put_new SAL",
    ];
    let mut rest = calls.iter();
    for step in steps {
        assert!(
            rest.any(|call| *call == step),
            "{step} is missing in {calls:?}"
        );
    }
}

#[tokio::test]
async fn a_ticket_that_was_put_back_is_offered_once_whatever_dies() {
    at_every_call(
        Return::begin,
        async |life| {
            let (id, key) = (life.ticket_id(), key("r"));
            let put_back = life.scene.app.return_ticket(&life.ana, id, Some(&key));
            let _ = put_back.await;
            life.look().await;
        },
        async |life, note| {
            if life.ticket().await.put_back.is_none() {
                return;
            }
            let (status, entry) = (life.status().await, life.scene.entry(&life.bo).await);
            assert_eq!(status, WaitlistStatus::Offered, "{note}");
            let hold = entry.offer().unwrap().hold_id;
            let kept = life.ticket().await.promise().map(|promise| promise.hold);
            assert_eq!(kept, Some(hold), "{note}");
        },
    )
    .await;
}

#[tokio::test]
async fn whoever_was_offered_a_ticket_that_is_kept_waits_on() {
    let calls = at_every_call(
        Return::offered,
        async |life| {
            let id = life.ticket_id();
            let _ = life.scene.app.keep_ticket(&life.ana, id).await;
            life.look().await;
        },
        async |life, note| {
            let (ticket, status) = (life.ticket().await, life.status().await);
            assert!(ticket.is_valid(), "{note}");
            match ticket.is_put_back() {
                true => assert_eq!(status, WaitlistStatus::Offered, "{note}"),
                false => assert_eq!(status, WaitlistStatus::Waiting, "{note}"),
            }
        },
    )
    .await;
    assert!(calls.iter().any(|call| call == "update BUY"), "{calls:?}");
}

#[tokio::test]
async fn an_offer_that_is_left_lets_the_ticket_go() {
    at_every_call(
        Return::offered,
        async |life| {
            let (app, show) = (&life.scene.app, life.scene.show());
            let _ = app.leave_waitlist(&life.bo, show, life.entry).await;
        },
        async |life, note| {
            let ticket = life.ticket().await;
            let now = life.scene.app.now();
            assert!(ticket.is_valid() && ticket.is_put_back(), "{note}");
            let left = life.scene.entry(&life.bo).await.offer().is_none();
            assert_eq!(ticket.for_sale(now).is_some(), left, "{note}");
        },
    )
    .await;
}

/// What may come between, at the last moment before a place is sold to Bo.
#[derive(Debug, Clone, Copy)]
enum Rival {
    Scan,
    TakeBack,
    Cancel,
    Transfer,
    ShowCancelled,
}

impl Rival {
    async fn act(self, life: Return) {
        let (app, ticket) = (&life.scene.app, life.ticket().await);
        match self {
            Self::Scan => {
                assert!(matches!(life.scan().await, ScanAnswer::Admitted(_)));
            }
            Self::TakeBack => app.keep_ticket(&life.ana, ticket.id).await.unwrap(),
            Self::Cancel => {
                app.cancel_order(&life.ana, life.order).await.unwrap();
            }
            Self::Transfer => {
                let to = Email::parse("dora@example.org").unwrap();
                let request = RequestHash::of(b"dora");
                let offer = app.offer_transfer(&life.ana, ticket.id, &to, None, request);
                offer.await.unwrap();
            }
            Self::ShowCancelled => {
                let organiser = life.scene.stage.organiser().await.unwrap();
                let show = life.scene.show();
                app.cancel_show(&organiser, show).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn whoever_is_quicker_the_place_has_one_owner() {
    let rivals = [
        Rival::Scan,
        Rival::TakeBack,
        Rival::Cancel,
        Rival::Transfer,
        Rival::ShowCancelled,
    ];
    for rival in rivals {
        let life = Return::offered().await;
        life.register(&life.ana, "ana").await;
        let twin = life.clone();
        let action = async move { rival.act(twin).await };
        life.scene.world.faults.before_next("transact BLK", action);
        life.buy().await;
        life.scene.recover().await;
        let note = format!("{rival:?}");
        life.check(&note).await;
        let bought = life.order_of(OrderId::of(life.hold())).await;
        assert!(!bought.captured, "{note}: Bo pays nothing");
        let ended = bought.undo.unwrap().why;
        match rival {
            Rival::ShowCancelled => assert_eq!(ended, Why::ShowCancelled, "{note}"),
            _ => assert_eq!(ended, Why::SeatsLost, "{note}"),
        }
        let ticket = life.ticket().await;
        assert!(!ticket.is_resold() && !ticket.is_put_back(), "{note}");
        // Bo did nothing wrong, and is offered what comes next.
        let status = life.status().await;
        match rival {
            Rival::Cancel => assert_eq!(status, WaitlistStatus::Offered, "{note}"),
            Rival::ShowCancelled => assert_eq!(status, WaitlistStatus::Lapsed, "{note}"),
            _ => assert_eq!(status, WaitlistStatus::Waiting, "{note}"),
        }
    }
}

/// The seller is too late: the place is Bo's.
#[tokio::test]
async fn after_the_sale_the_old_code_is_dead() {
    let life = Return::offered().await;
    life.buy().await;
    assert!(matches!(life.scan().await, ScanAnswer::Revoked(_)));
    let (app, id) = (&life.scene.app, life.ticket_id());
    let kept = app.keep_ticket(&life.ana, id).await;
    assert!(matches!(kept, Err(onsale_app::Error::Conflict(_))));
    let again = app.return_ticket(&life.ana, id, None).await;
    assert!(matches!(again, Err(onsale_app::Error::Conflict(_))));
    life.scene.recover().await;
    life.check("sold").await;
}

/// Messages are only a hint: the sweep finds an order that is owed.
#[tokio::test]
async fn a_seller_whose_message_was_lost_is_paid_back_all_the_same() {
    let life = Return::offered().await;
    let (show, hold, pay) = (life.scene.show(), life.hold(), key("pay"));
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let app = &life.scene.app;
    let paid = app.check_out(&life.bo, show, hold, &pay, card).await;
    life.drive(paid.unwrap()).await;
    assert_eq!(life.bought().await, Some(OrderStatus::Confirmed));
    life.scene.world.saga_queue.take_due();
    assert_eq!(life.order_of(life.order).await.repaid_amount().0, 0);
    life.scene.recover().await;
    assert_eq!(life.order_of(life.order).await.repaid_amount().0, 4_500);
    life.check("the message was lost").await;
}

/// Two workers at the order of the buyer, and two at that of the seller, at once.
#[tokio::test]
async fn every_message_may_come_twice() {
    let life = Return::offered().await;
    let twin = life.clone();
    let again = async move { twin.buy().await };
    life.scene.world.faults.before_next("transact BLK", again);
    life.buy().await;
    life.buy().await;
    life.scene.recover().await;
    assert_eq!(life.bought().await, Some(OrderStatus::Confirmed));
    life.check("twice").await;
}
