//! 10,000 people wait for a sold-out show whose tickets come back at random, are paid
//! again, lapse or are let go, while processes die at random.

use std::collections::{BTreeMap, HashMap, HashSet};

use onsale_app::Caller;
use onsale_app::waitlist::WaitFor;
use onsale_domain::block::BlockIndex;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{AccountId, HoldId, OrderId, WaitlistId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::seed::Seed;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Waiting, Wish};
use onsale_test_support::Fault;
use onsale_test_support::stage::Plan;

use crate::waitlist::scene::{Scene, key};

const WAITING: usize = 10_000;
const ROUNDS: usize = 120;
const ROWS: u16 = 24;
const SEATS: u16 = 12;
const FLOOR: u32 = 60;

struct Sale {
    scene: Scene,
    dice: Seed,
    /// Paid orders that may be cancelled.
    orders: Vec<(Caller, OrderId)>,
    people: HashMap<AccountId, Caller>,
    /// Everybody who was ever seen with an offer, by what they wait for.
    served: BTreeMap<String, (Millis, WaitlistId)>,
    deaths: usize,
}

impl Sale {
    fn below(&mut self, n: usize) -> usize {
        self.dice.below(n).unwrap_or(0)
    }

    /// Every place is sold, in orders of three neighbours.
    async fn sold_out(seed: u64) -> Self {
        let scene = Scene::with(Plan {
            rows: vec![SEATS; usize::from(ROWS)],
            floor: FLOOR,
            ..Plan::default()
        })
        .await;
        let mut sale = Self {
            scene,
            dice: Seed::new(seed),
            orders: Vec::new(),
            people: HashMap::new(),
            served: BTreeMap::new(),
            deaths: 0,
        };
        let layout = sale.scene.stage.layout.clone();
        let seats: Vec<_> = (0..layout.places())
            .map(|p| layout.seat_id(PlaceIndex(p)))
            .collect();
        for three in seats.chunks(3) {
            let three: Vec<_> = three.iter().map(String::as_str).collect();
            sale.orders.push(sale.scene.sold(&three).await);
        }
        sale
    }

    async fn everybody_joins(&mut self) {
        let sections = [vec![], vec!["A".to_owned()], vec!["Floor".to_owned()]];
        for _ in 0..WAITING {
            let caller = self.scene.buyer().await;
            let wanted = WaitFor {
                quantity: 1 + self.below(4) as u32,
                sections: sections[self.below(3)].clone(),
                together: self.below(3) > 0,
            };
            self.scene.join(&caller, &wanted).await;
            self.people.insert(caller.account, caller);
            self.scene.world.clock.advance(1);
        }
    }

    /// Somebody who has an offer does something, or nothing.
    async fn decide(&mut self, account: AccountId) {
        let caller = self.people[&account];
        let entry = self.scene.entry(&caller).await;
        let Some(offer) = entry.offer().filter(|offer| offer.told) else {
            return;
        };
        let (show, hold) = (self.scene.show(), offer.hold_id);
        match self.below(6) {
            0 | 1 => {
                let card = PaymentMethod::parse("pm_card_visa").unwrap();
                let (app, k) = (&self.scene.app, key("pay"));
                // It may have lapsed a moment ago, or be paid.
                if let Ok(order) = app.check_out(&caller, show, hold, &k, card).await
                    && !self.orders.contains(&(caller, order))
                {
                    self.scene.drive().await;
                    self.orders.push((caller, order));
                }
            }
            2 => drop(self.scene.app.release_hold(&caller, show, hold).await),
            3 => drop(self.scene.app.leave_waitlist(&caller, show, entry.id).await),
            _ => {}
        }
    }

    /// Some tickets come back.
    async fn give_back(&mut self) {
        for _ in 0..=self.below(4) {
            if self.orders.is_empty() {
                return;
            }
            let at = self.below(self.orders.len());
            let (caller, order) = self.orders.swap_remove(at);
            self.scene.cancel(&caller, order).await;
        }
    }

    /// Delivers what is due. Every third message meets a call that fails or a death, and
    /// comes again later.
    async fn deliver(&mut self) {
        self.scene.drive().await;
        for message in self.scene.world.queue.take_due() {
            let app = self.scene.app.clone();
            self.at_risk(async move { drop(app.expire_hold(&message).await) });
        }
        let mut look = self.scene.world.waitlist_queue.take_due();
        look.extend(self.scene.returned());
        for message in look {
            let app = self.scene.app.clone();
            self.at_risk(async move { drop(app.offer_places(&message).await) });
        }
    }

    fn at_risk(&mut self, worker: impl Future<Output = ()>) {
        if self.below(3) == 0 {
            let fault = Fault::ALL[self.below(4)];
            let nth = self.below(40);
            self.scene.world.faults.arm(Some((nth, fault)));
        }
        self.deaths += usize::from(!Scene::until_death(worker));
        self.scene.world.faults.arm(None);
    }

    /// No place belongs to two, and within one wish it is first come, first served.
    async fn check(&mut self) {
        let (scene, show) = (&self.scene, self.scene.show());
        let blocks: HashMap<_, _> = scene.blocks().await.into_iter().collect();
        let layout = &scene.stage.layout;
        let now = scene.app.now();
        let mut owned = HashSet::new();
        for account in scene.app.store.offered(show).await.unwrap() {
            let entry = scene.entry(&self.people[&account]).await;
            let Some(offer) = entry.offer() else { continue };
            let buyer = scene.app.store.buyer(show, account).await.unwrap();
            let Some(hold) = buyer.entry(offer.hold_id) else {
                continue;
            };
            if hold.state_at(now) != EntryState::Held {
                continue;
            }
            assert_eq!(hold.places.len(), entry.wish.quantity as usize);
            assert!(!entry.wish.together || layout.are_together(&hold.places));
            for place in &hold.places {
                assert!(owned.insert(*place), "a place is offered twice");
                let (block, slot) = layout.locate(*place);
                let cell = blocks.get(&block).and_then(|b| b.cell(slot));
                assert_eq!(
                    cell.map(|c| c.hold),
                    Some(offer.hold_id),
                    "it is not theirs"
                );
            }
            let class = format!("{:?}", entry.wish);
            let last = self.served.entry(class).or_insert(entry.turn());
            *last = (*last).max(entry.turn());
        }
        for waiting in scene.app.store.waiting(show).await.unwrap() {
            let class = format!("{:?}", waiting.wish);
            let entry = scene.entry(&self.people[&waiting.account]).await;
            if let Some(last) = self.served.get(&class)
                && entry.attempt == 0
            {
                assert!(
                    waiting.turn() > *last,
                    "somebody who joined later was served"
                );
            }
        }
    }

    /// Nobody waits who fits what is free.
    async fn check_nobody_fits(&self) {
        let (scene, show) = (&self.scene, self.scene.show());
        let layout = &scene.stage.layout;
        let blocks: HashMap<BlockIndex, _> = scene.blocks().await.into_iter().collect();
        let now = scene.app.now();
        let is_free = |place: u32| {
            let (block, slot) = layout.locate(PlaceIndex(place));
            blocks.get(&block).is_none_or(|b| b.is_claimable(slot, now))
        };
        let free: Vec<bool> = (0..layout.places()).map(is_free).collect();
        let line = scene.app.store.waiting(show).await.unwrap();
        let wishes: HashSet<&Wish> = line.iter().map(|Waiting { wish, .. }| wish).collect();
        for wish in wishes {
            assert!(
                !fits(layout, &free, wish),
                "{wish:?} fits and was passed over"
            );
        }
    }

    /// Every hold that was made for somebody was announced to them.
    async fn check_everybody_was_told(&self) -> usize {
        let told: HashSet<String> = self
            .scene
            .world
            .bus
            .told()
            .into_iter()
            .map(|t| t.id)
            .collect();
        let mut offers = 0;
        for caller in self.people.values() {
            let entry = self.scene.entry(caller).await;
            let buyer = self
                .scene
                .app
                .store
                .buyer(self.scene.show(), caller.account);
            let buyer = buyer.await.unwrap();
            for attempt in 1..=entry.attempt {
                let hold = HoldId::for_offer(entry.id, attempt);
                if buyer.entry(hold).is_some() {
                    offers += 1;
                    let made = format!("OfferMade:{}:{attempt}", entry.id);
                    assert!(told.contains(&made), "{made} was never told");
                }
            }
        }
        offers
    }
}

/// Whether a wish fits, found by trying everything.
fn fits(layout: &Layout, free: &[bool], wish: &Wish) -> bool {
    let quantity = wish.quantity as usize;
    let sections = layout.sections().iter().enumerate();
    let allowed: Vec<_> = sections
        .filter(|(i, _)| wish.takes(*i))
        .map(|(_, s)| s)
        .collect();
    let free_in = |range: std::ops::Range<u32>| range.filter(|p| free[*p as usize]).count();
    if !wish.together {
        return allowed.iter().map(|s| free_in(s.range())).sum::<usize>() >= quantity;
    }
    allowed.iter().any(|section| {
        let general = section.is_general() && free_in(section.range()) >= quantity;
        let in_row = section.rows().iter().any(|row| {
            let seats = &free[row.first as usize..row.first as usize + row.seats.len()];
            seats
                .windows(quantity)
                .any(|window| window.iter().all(|free| *free))
        });
        general || in_row
    })
}

#[tokio::test]
async fn ten_thousand_wait_and_nobody_who_fits_is_passed_over() {
    let mut sale = Sale::sold_out(7).await;
    sale.everybody_joins().await;
    sale.scene.wait(12_000).await;
    for round in 0..ROUNDS {
        sale.give_back().await;
        let ms = 500 + 1_000 * sale.below(40) as u64;
        sale.scene.world.clock.advance(ms);
        if round % 2 == 0 {
            sale.scene.app.reconcile_open().await.unwrap();
        }
        sale.deliver().await;
        for account in sale
            .scene
            .app
            .store
            .offered(sale.scene.show())
            .await
            .unwrap()
        {
            if sale.below(4) == 0 {
                sale.decide(account).await;
            }
        }
        if round % 10 == 0 {
            sale.check().await;
        }
    }
    // The storm is over: everything comes to rest, and nothing is kept back any more.
    sale.scene.recover().await;
    sale.check().await;
    sale.check_nobody_fits().await;
    let offers = sale.check_everybody_was_told().await;
    eprintln!("{offers} offers, {} deaths", sale.deaths);
    assert!(offers > 300, "only {offers} offers were made");
    assert!(sale.deaths > 10, "only {} processes died", sale.deaths);
}
