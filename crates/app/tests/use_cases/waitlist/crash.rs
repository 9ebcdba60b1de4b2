//! A process dies, or a call fails, before and after every single port call in the life of
//! an offer. The list of calls is taken from a run in which nothing goes wrong, so a new
//! call is covered the day it is written.

use onsale_app::Caller;
use onsale_app::ports::{ExpireHold, OfferPlaces};
use onsale_app::waitlist::WaitlistStatus;
use onsale_domain::ids::{HoldId, OrderId, WaitlistId};
use onsale_domain::order::Order;
use onsale_domain::waitlist::{OFFER_MS, WaitlistEntry};
use onsale_test_support::Fault;

use crate::waitlist::scene::{Scene, key, wait_for};

/// Two seats, a buyer who had them, and two who wait for both.
struct Life {
    scene: Scene,
    ana: Caller,
    order: OrderId,
    bo: Caller,
    first: WaitlistId,
    cy: Caller,
    second: WaitlistId,
}

impl Life {
    async fn begin() -> Self {
        let scene = Scene::row(2).await;
        let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
        let (bo, cy) = (scene.buyer().await, scene.buyer().await);
        let first = scene.join(&bo, &wait_for(2)).await.id;
        scene.wait(1_000).await;
        let second = scene.join(&cy, &wait_for(2)).await.id;
        scene.wait(2_000).await;
        Self {
            scene,
            ana,
            order,
            bo,
            first,
            cy,
            second,
        }
    }

    async fn returned() -> Self {
        let life = Self::begin().await;
        life.scene.cancel(&life.ana, life.order).await;
        life
    }

    async fn offered() -> Self {
        let life = Self::returned().await;
        life.scene.deliver().await;
        life
    }

    async fn look(&self) {
        let message = OfferPlaces {
            show_id: self.scene.show(),
            since: self.scene.app.now(),
        };
        let _ = self.scene.app.offer_places(&message).await;
    }

    fn hold(&self) -> HoldId {
        HoldId::for_offer(self.first, 1)
    }

    /// Exactly one of the two has the seats, and knows it.
    async fn check(&self, winner: (&Caller, WaitlistId), note: &str) {
        let (scene, (caller, id)) = (&self.scene, winner);
        assert_eq!(
            scene.status(caller, id).await,
            WaitlistStatus::Offered,
            "{note}"
        );
        assert_eq!(scene.live_offers(caller).await.len(), 1, "{note}");
        let attempt = scene.entry(caller).await.attempt;
        let told = format!("OfferMade:{id}:{attempt}");
        assert!(scene.told_of(id).contains(&told), "{note}: nobody was told");
        let other = if id == self.first { &self.cy } else { &self.bo };
        assert_eq!(scene.live_offers(other).await.len(), 0, "{note}");
    }
}

/// Lets a worker fail in every way at every call, and checks what becomes of it after the
/// sweep has been by.
macro_rules! at_every_call {
    ($prepare:expr, $work:expr, $check:expr) => {{
        let life = $prepare.await;
        life.scene.world.faults.arm(None);
        $work(&life).await;
        let calls = life.scene.world.faults.calls();
        assert!(calls.len() > 2, "{calls:?}");
        for (nth, call) in calls.iter().enumerate() {
            for fault in Fault::ALL {
                let life = $prepare.await;
                life.scene.world.faults.arm(Some((nth, fault)));
                Scene::until_death($work(&life));
                life.scene.world.faults.arm(None);
                life.scene.recover().await;
                $check(&life, format!("{fault:?} at call {nth} ({call})")).await;
            }
        }
        calls
    }};
}

#[tokio::test]
async fn an_offer_that_is_being_made_is_made_once_and_told() {
    let calls = at_every_call!(
        Life::returned(),
        async |life: &Life| life.look().await,
        async |life: &Life, note: String| life.check((&life.bo, life.first), &note).await
    );
    let steps = [
        "update WLS",
        "update BLK",
        "update BUY",
        "announce",
        "update WLS",
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
async fn seats_that_are_being_given_back_reach_the_line() {
    at_every_call!(
        Life::begin(),
        async |life: &Life| {
            let _ = life.scene.app.cancel_order(&life.ana, life.order).await;
            for message in life.scene.world.saga_queue.take_due() {
                let _ = life.scene.app.drive(&message).await;
            }
            life.look().await;
        },
        async |life: &Life, note: String| {
            // Whoever died before the order was called off called nothing off.
            let order = life
                .scene
                .app
                .store
                .read::<Order>(life.order)
                .await
                .unwrap();
            if order.unwrap().value.undo.is_some() {
                life.check((&life.bo, life.first), &note).await;
            }
        }
    );
}

#[tokio::test]
async fn an_offer_that_lapses_goes_to_the_next() {
    let prepare = || async {
        let life = Life::offered().await;
        life.scene.world.clock.advance(OFFER_MS + 6_000);
        life
    };
    at_every_call!(
        prepare(),
        async |life: &Life| {
            let message = ExpireHold {
                show_id: life.scene.show(),
                account_id: life.bo.account,
                hold_id: life.hold(),
            };
            let _ = life.scene.app.expire_hold(&message).await;
            life.look().await;
        },
        async |life: &Life, note: String| {
            let status = life.scene.status(&life.bo, life.first).await;
            assert_eq!(status, WaitlistStatus::Lapsed, "{note}");
            let told = ["OfferMade", "OfferLapsed"].map(|kind| format!("{kind}:{}:1", life.first));
            assert_eq!(life.scene.told_of(life.first), told, "{note}");
            life.check((&life.cy, life.second), &note).await;
        }
    );
}

#[tokio::test]
async fn an_offer_that_is_left_goes_to_the_next() {
    at_every_call!(
        Life::offered(),
        async |life: &Life| {
            let show = life.scene.show();
            let left = life.scene.app.leave_waitlist(&life.bo, show, life.first);
            let _ = left.await;
            life.look().await;
        },
        async |life: &Life, note: String| {
            // Dead before its first write, nothing has happened; else the seats went on.
            let left = life.scene.live_offers(&life.bo).await.is_empty();
            match left {
                true => life.check((&life.cy, life.second), &note).await,
                false => life.check((&life.bo, life.first), &note).await,
            }
        }
    );
}

#[tokio::test]
async fn a_paid_offer_is_taken() {
    let prepare = || async {
        let life = Life::offered().await;
        life.scene.pay(&life.bo, life.hold()).await;
        life
    };
    at_every_call!(
        prepare(),
        async |life: &Life| life.look().await,
        async |life: &Life, note: String| {
            let entry = life.scene.entry(&life.bo).await;
            let taken = onsale_domain::waitlist::Outcome::Taken;
            assert_eq!(entry.outcome(), Some(taken), "{note}");
            let status = life.scene.status(&life.cy, life.second).await;
            assert_eq!(status, WaitlistStatus::Waiting, "{note}");
        }
    );
}

/// Somebody joins while a place is free. Repeated with its key, or found by the sweep if
/// the entry was written, it is served.
#[tokio::test]
async fn whoever_joined_is_not_forgotten() {
    let join = async |scene: &Scene, di: &Caller| {
        let (show, k, wanted) = (scene.show(), key("k"), wait_for(1));
        let joined = scene.app.join_waitlist(di, show, Some(&k), &wanted);
        joined.await.map(|joined| joined.id)
    };
    let scene = Scene::row(1).await;
    let di = scene.buyer().await;
    scene.world.faults.arm(None);
    join(&scene, &di).await.unwrap();
    let calls = scene.world.faults.calls();
    for (nth, call) in calls.iter().enumerate() {
        for fault in Fault::ALL {
            for repeats in [true, false] {
                let note = format!("{fault:?} at call {nth} ({call}), repeated: {repeats}");
                let scene = Scene::row(1).await;
                let di = scene.buyer().await;
                scene.world.faults.arm(Some((nth, fault)));
                Scene::until_death(async { drop(join(&scene, &di).await) });
                scene.world.faults.arm(None);
                if repeats {
                    join(&scene, &di).await.unwrap();
                }
                scene.recover().await;
                let stored = scene
                    .app
                    .store
                    .read::<WaitlistEntry>((scene.show(), di.account));
                match stored.await.unwrap() {
                    Some(entry) => {
                        let status = scene.status(&di, entry.value.id).await;
                        assert_eq!(status, WaitlistStatus::Offered, "{note}");
                    }
                    None => assert!(!repeats, "{note}"),
                }
            }
        }
    }
}
