//! Tickets from hand to hand: one good ticket a place at any time, whoever dies, and
//! whoever is quicker.

mod meanwhile;
mod strangers;

use futures_util::future::join_all;
use onsale_app::ports::{Credentials, List, PasswordHash};
use onsale_app::tickets::ScanAnswer;
use onsale_app::transfers::Side;
use onsale_app::{Caller, Error, Result};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::ids::{OrderId, TicketId, TransferId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_domain::transfer::{MAX_HANDS, MAX_OFFERS, OFFER_MS, Transfer, TransferStatus};
use onsale_test_support::Fault;

use crate::checkout::scene::{HOUR, Scene, key};

/// Ana's two tickets; Bo and Cleo, who may get one.
#[derive(Clone)]
pub(crate) struct Friends {
    pub(crate) scene: Scene,
    pub(crate) order: OrderId,
    old: TicketId,
    pub(crate) bo: Caller,
    pub(crate) cleo: Caller,
}

pub(crate) fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

impl Friends {
    pub(crate) async fn new() -> Self {
        let scene = Scene::new().await;
        let order = scene.paid("pay", &["A-1-1", "A-1-2"]).await;
        let (bo, cleo) = (scene.show.buyer(2).await, scene.show.buyer(3).await);
        let friends = Self {
            old: scene.order(order).await.ticket_ids()[0],
            bo: bo.unwrap(),
            cleo: cleo.unwrap(),
            order,
            scene,
        };
        friends.register(&friends.scene.ana, "ana").await;
        friends.register(&friends.bo, "bo").await;
        friends.register(&friends.cleo, "cleo").await;
        friends
    }

    pub(crate) async fn register(&self, caller: &Caller, name: &str) {
        let new = Credentials {
            account: Account {
                id: caller.account,
                email: email(name),
                name: name.to_owned(),
                role: Role::Buyer,
                created: self.scene.app.now(),
                language: None,
                proven: None,
            },
            password: PasswordHash("x".to_owned()),
            epoch: 0,
            request: None,
        };
        self.scene.app.store.register(&new, None).await.unwrap();
    }

    pub(crate) async fn offer(
        &self,
        from: &Caller,
        ticket: TicketId,
        to: &str,
    ) -> Result<Transfer> {
        let request = RequestHash::of(to.as_bytes());
        let app = &self.scene.app;
        app.offer_transfer(from, ticket, &email(to), None, request)
            .await
    }

    async fn offered(&self) -> TransferId {
        self.offer(&self.scene.ana, self.old, "bo")
            .await
            .unwrap()
            .id
    }

    pub(crate) async fn accept(&self, caller: &Caller, id: TransferId) -> Result<Ticket> {
        self.scene.app.accept_transfer(caller, id).await
    }

    pub(crate) async fn ticket(&self, id: TicketId) -> Ticket {
        self.scene
            .world
            .store
            .read::<Ticket>(id)
            .await
            .unwrap()
            .unwrap()
            .value
    }

    async fn scan(&self, code: &str) -> ScanAnswer {
        let (app, show) = (&self.scene.app, self.scene.show.show.id);
        let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
        let organiser = self.scene.show.organiser().await.unwrap();
        app.scan(&organiser, show, &keys, code, "north", None)
            .await
            .unwrap()
    }

    fn told(&self, kind: &str) -> usize {
        let told = self.scene.world.bus.told();
        told.iter().filter(|a| a.news.kind() == kind).count()
    }

    /// Exactly one ticket of the place is good, and the books agree.
    async fn assert_one_good_ticket(&self, note: &str) {
        let items = self
            .scene
            .world
            .store
            .tickets_owned(self.bo.account, None, 100)
            .await;
        let bos = items.unwrap().items;
        let old = self.ticket(self.old).await;
        let good = bos.iter().filter(|t| t.is_valid()).count() + usize::from(old.is_valid());
        assert_eq!(good, 1, "{note}: {old:?} {bos:?}");
        let report = self.scene.app.reconcile_all().await.unwrap();
        assert_eq!(report.alarms, Vec::<String>::new(), "{note}");
    }
}

#[tokio::test]
async fn the_old_code_dies_in_the_moment_in_which_the_new_one_is_born() {
    let friends = Friends::new().await;
    let old_code = friends.ticket(friends.old).await.code;
    let id = friends.offered().await;
    assert_eq!(friends.told("TransferOffered"), 1);
    assert!(
        friends.ticket(friends.old).await.is_valid(),
        "not before they accept"
    );
    let new = friends.accept(&friends.bo, id).await.unwrap();
    assert_eq!(friends.told("TransferAccepted"), 1);
    assert_eq!(
        (new.account, new.seat.as_str()),
        (friends.bo.account, "A-1-1")
    );
    let chain: Vec<_> = new.hands.before.iter().map(|hand| hand.account).collect();
    assert_eq!(chain, [friends.scene.ana.account]);
    assert_eq!(
        friends.ticket(friends.old).await.hands.passed_on,
        Some(new.id)
    );
    friends.assert_one_good_ticket("accepted").await;

    assert!(matches!(
        friends.scan(&old_code).await,
        ScanAnswer::Revoked(_)
    ));
    assert!(matches!(
        friends.scan(&new.code).await,
        ScanAnswer::Admitted(_)
    ));
    let app = &friends.scene.app;
    assert!(app.ticket(&friends.bo, new.id).await.is_ok());
    assert_eq!(
        app.ticket(&friends.scene.ana, new.id).await,
        Err(Error::NotFound("ticket"))
    );
    let anas = app.my_tickets(&friends.scene.ana, None, 100).await.unwrap();
    assert_eq!(anas.items.len(), 1, "the other one");
}

#[tokio::test]
async fn whoever_accepts_again_gets_the_same_and_nobody_else_gets_anything() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    for stranger in [&friends.cleo, &friends.scene.ana] {
        let refused = friends.accept(stranger, id).await;
        assert_eq!(refused, Err(Error::NotFound("transfer")));
    }
    let first = friends.accept(&friends.bo, id).await.unwrap();
    assert_eq!(friends.accept(&friends.bo, id).await.unwrap(), first);
    let late = friends.accept(&friends.cleo, id).await;
    assert_eq!(late, Err(Error::NotFound("transfer")));
    assert_eq!(friends.told("TransferAccepted"), 1);
}

#[tokio::test]
async fn whoever_is_overtaken_by_their_own_twin_gets_the_same_ticket() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    let (app, bo) = (friends.scene.app.clone(), friends.bo);
    let twin = async move {
        app.accept_transfer(&bo, id).await.unwrap();
    };
    // Between the look at the transfer and the look at its ticket.
    let faults = &friends.scene.world.faults;
    faults.before_next("get TKT", twin);
    let accepted = friends.accept(&friends.bo, id).await.unwrap();
    assert_eq!(friends.accept(&friends.bo, id).await.unwrap(), accepted);
    friends.assert_one_good_ticket("overtaken").await;
}

#[tokio::test]
async fn fifty_accepts_at_once_make_one_ticket() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    let accepted = join_all((0..50).map(|_| friends.accept(&friends.bo, id))).await;
    let first = accepted[0].clone().unwrap();
    for ticket in accepted {
        assert_eq!(ticket.unwrap(), first);
    }
    let owned = friends
        .scene
        .app
        .my_tickets(&friends.bo, None, 100)
        .await
        .unwrap();
    assert_eq!(owned.items, [first]);
    assert_eq!(friends.scene.order(friends.order).await.transfers, 1);
    friends.assert_one_good_ticket("fifty at once").await;
}

/// A process dies, or a call fails, at every call of accepting. The recipient asks again,
/// or never comes back.
#[tokio::test]
async fn whatever_dies_while_accepting_leaves_one_good_ticket_and_tells_the_world() {
    let friends = Friends::new().await;
    let id = friends.offered().await;
    friends.scene.world.faults.arm(None);
    friends.accept(&friends.bo, id).await.unwrap();
    let calls = friends.scene.world.faults.calls();
    assert!(
        ["transact TRF+TKT+ORD", "announce"]
            .iter()
            .all(|call| calls.iter().any(|c| c == call)),
        "{calls:?}"
    );
    for (nth, call) in calls.iter().enumerate() {
        for fault in Fault::ALL {
            for repeats in [true, false] {
                let note = format!("{fault:?} at {nth} ({call}), the recipient repeats: {repeats}");
                let friends = Friends::new().await;
                let id = friends.offered().await;
                friends.scene.world.faults.arm(Some((nth, fault)));
                let _ = Scene::until_death(friends.accept(&friends.bo, id));
                friends.scene.world.faults.arm(None);
                friends.assert_one_good_ticket(&note).await;
                if repeats {
                    friends.accept(&friends.bo, id).await.unwrap();
                }
                friends.scene.world.clock.advance(HOUR);
                friends.scene.app.reconcile_open().await.unwrap();
                friends.assert_one_good_ticket(&note).await;
                let gone = friends.ticket(friends.old).await.hands.passed_on.is_some();
                assert!(gone || !repeats, "{note}");
                assert_eq!(friends.told("TransferAccepted") > 0, gone, "{note}");
                let untold = friends
                    .scene
                    .world
                    .store
                    .page_of_ids::<Transfer>(&List::UntoldTransfers, None, 9)
                    .await;
                assert_eq!(untold.unwrap().items, [], "{note}");
            }
        }
    }
}

#[tokio::test]
async fn an_offer_that_nobody_heard_of_is_told_by_the_sweep() {
    let friends = Friends::new().await;
    friends.scene.world.faults.fail_always("announce", true);
    friends.offered().await;
    assert_eq!(friends.told("TransferOffered"), 0);
    friends.scene.world.faults.fail_always("announce", false);
    friends.scene.app.reconcile_open().await.unwrap();
    assert_eq!(friends.told("TransferOffered"), 0, "it is fresh");
    friends.scene.world.clock.advance(HOUR);
    for _ in 0..2 {
        friends.scene.app.reconcile_open().await.unwrap();
        assert_eq!(friends.told("TransferOffered"), 1);
    }
}

/// What is offered again with its key is the same offer, whatever dies in between.
#[tokio::test]
async fn an_offer_that_is_repeated_with_its_key_is_one_offer() {
    let friends = Friends::new().await;
    let app = &friends.scene.app;
    let (k, to) = (key("give"), email("bo"));
    let request = RequestHash::of(b"bo");
    let offer = || app.offer_transfer(&friends.scene.ana, friends.old, &to, Some(&k), request);
    let calls = {
        friends.scene.world.faults.arm(None);
        offer().await.unwrap();
        friends.scene.world.faults.calls().len()
    };
    for nth in 0..calls {
        for fault in Fault::ALL {
            let friends = Friends::new().await;
            let app = &friends.scene.app;
            let offer =
                || app.offer_transfer(&friends.scene.ana, friends.old, &to, Some(&k), request);
            friends.scene.world.faults.arm(Some((nth, fault)));
            let _ = Scene::until_death(offer());
            friends.scene.world.faults.arm(None);
            let id = offer().await.unwrap().id;
            assert_eq!(offer().await.unwrap().id, id);
            assert_eq!(friends.ticket(friends.old).await.hands.offers, 1);
            assert_eq!(friends.ticket(friends.old).await.hands.offered, Some(id));
        }
    }
    let other = RequestHash::of(b"cleo");
    let ana = &friends.scene.ana;
    let mismatch = app
        .offer_transfer(ana, friends.old, &email("cleo"), Some(&k), other)
        .await;
    assert_eq!(mismatch.err(), Some(Error::IdempotencyMismatch));
}

#[tokio::test]
async fn an_offer_ends_when_it_is_withdrawn_declined_or_too_old() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, &friends.scene.ana);
    let id = friends.offered().await;
    let second = friends.offer(ana, friends.old, "cleo").await;
    assert!(
        matches!(second, Err(Error::Conflict(_))),
        "one at a time: {second:?}"
    );
    let foreign = app.withdraw_transfer(&friends.bo, id).await;
    assert_eq!(foreign, Err(Error::NotFound("transfer")));
    for _ in 0..2 {
        assert_eq!(app.withdraw_transfer(ana, id).await, Ok(()));
    }
    let late = friends.accept(&friends.bo, id).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");

    let id = friends.offered().await;
    let foreign = app.decline_transfer(&friends.cleo, id).await;
    assert_eq!(foreign, Err(Error::NotFound("transfer")));
    for _ in 0..2 {
        assert_eq!(app.decline_transfer(&friends.bo, id).await, Ok(()));
    }
    let late = friends.accept(&friends.bo, id).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");

    let id = friends.offered().await;
    friends.scene.world.clock.advance(OFFER_MS);
    let late = friends.accept(&friends.bo, id).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    let seen = app.transfer(&friends.bo, id).await.unwrap();
    assert_eq!(
        (seen.transfer.status(app.now()), seen.side),
        (TransferStatus::Expired, Side::Recipient)
    );
    assert!(friends.ticket(friends.old).await.is_valid());
    // The old offer is over for good, even for a clock that is behind.
    let again = friends.offer(ana, friends.old, "cleo").await.unwrap();
    assert_ne!(again.id, id);

    friends.scene.wait_until_hours_before(1);
    let next = friends.offer(ana, friends.old, "bo").await.unwrap();
    assert_eq!(next.expires, friends.scene.show.show.starts_at);
    friends.scene.world.clock.advance(HOUR);
    let begun = friends.accept(&friends.bo, next.id).await;
    assert!(matches!(begun, Err(Error::Conflict(_))), "{begun:?}");
    let begun = friends.offer(ana, friends.old, "cleo").await;
    assert!(matches!(begun, Err(Error::Conflict(_))), "{begun:?}");
}

#[tokio::test]
async fn used_tickets_foreign_tickets_and_ones_own_address_are_refused() {
    let friends = Friends::new().await;
    let ana = &friends.scene.ana;
    let foreign = friends.offer(&friends.bo, friends.old, "cleo").await;
    assert_eq!(foreign.err(), Some(Error::NotFound("ticket")));
    let own = friends.offer(ana, friends.old, "ana").await;
    assert!(matches!(own, Err(Error::Invalid(_))), "{own:?}");
    let id = friends.offered().await;
    let code = friends.ticket(friends.old).await.code;
    assert!(matches!(friends.scan(&code).await, ScanAnswer::Admitted(_)));
    let used = friends.accept(&friends.bo, id).await;
    assert!(matches!(used, Err(Error::Conflict(_))), "{used:?}");
    friends.scene.app.withdraw_transfer(ana, id).await.unwrap();
    let used = friends.offer(ana, friends.old, "bo").await;
    assert!(matches!(used, Err(Error::Conflict(_))), "{used:?}");
}

#[tokio::test]
async fn a_ticket_is_offered_and_a_place_changes_hands_so_often_and_no_more() {
    let friends = Friends::new().await;
    let (app, ana) = (&friends.scene.app, friends.scene.ana);
    for _ in 0..MAX_OFFERS {
        let id = friends.offered().await;
        app.withdraw_transfer(&ana, id).await.unwrap();
    }
    let refused = friends.offer(&ana, friends.old, "bo").await;
    assert!(
        matches!(refused, Err(Error::LimitExceeded { .. })),
        "{refused:?}"
    );

    let friends = Friends::new().await;
    let hands = [(friends.scene.ana, "ana"), (friends.bo, "bo")];
    let mut ticket = friends.old;
    for n in 0..MAX_HANDS {
        let ((from, _), (to, name)) = (hands[n % 2], hands[(n + 1) % 2]);
        let id = friends.offer(&from, ticket, name).await.unwrap().id;
        ticket = friends.accept(&to, id).await.unwrap().id;
    }
    let (from, (_, name)) = (hands[MAX_HANDS % 2].0, hands[(MAX_HANDS + 1) % 2]);
    let refused = friends.offer(&from, ticket, name).await;
    assert!(
        matches!(refused, Err(Error::LimitExceeded { .. })),
        "{refused:?}"
    );
    let report = friends.scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms, Vec::<String>::new());
}

#[tokio::test]
async fn both_sides_see_their_transfers_and_nobody_else_does() {
    let friends = Friends::new().await;
    let app = &friends.scene.app;
    let id = friends.offered().await;
    let second = friends.scene.order(friends.order).await.ticket_ids()[1];
    friends.scene.world.clock.advance(10);
    let other = friends
        .offer(&friends.scene.ana, second, "cleo")
        .await
        .unwrap()
        .id;
    let new = friends.accept(&friends.bo, id).await.unwrap().id;
    friends.scene.world.clock.advance(10);
    let onwards = friends.offer(&friends.bo, new, "cleo").await.unwrap().id;
    let listed = async |caller: &Caller| -> Vec<_> {
        let page = app.transfers(caller, None, 10).await.unwrap();
        page.items
            .into_iter()
            .map(|(t, side)| (t.id, side))
            .collect()
    };
    use Side::{Recipient, Sender};
    assert_eq!(
        listed(&friends.scene.ana).await,
        [(other, Sender), (id, Sender)]
    );
    assert_eq!(
        listed(&friends.bo).await,
        [(onwards, Sender), (id, Recipient)]
    );
    let cleos = listed(&friends.cleo).await;
    assert!(cleos.is_empty(), "the mails have the ids: {cleos:?}");
    friends.accept(&friends.cleo, other).await.unwrap();
    app.decline_transfer(&friends.cleo, onwards).await.unwrap();
    assert_eq!(
        listed(&friends.cleo).await,
        [(onwards, Recipient), (other, Recipient)]
    );
    let unseen = app.transfer(&friends.cleo, id).await;
    assert_eq!(unseen.err(), Some(Error::NotFound("transfer")));
}
