//! Somebody leaves who gave tickets away, was offered one, waits for another, and got mails:
//! nothing names them afterwards, whatever dies on the way, and the tickets stay good.

use std::time::Duration;

use onsale_app::ports::Drive;
use onsale_app::waitlist::WaitFor;
use onsale_app::{Caller, Result};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::{TicketId, TransferId};
use onsale_domain::mail::{Mail, MailState};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::reminder::Turn;
use onsale_domain::time::CLOCK_SKEW_MS;
use onsale_domain::transfer::{Transfer, TransferStatus};
use onsale_domain::waitlist::{Outcome, WaitlistEntry};
use onsale_test_support::Fault;

use crate::checkout::transfers::{Friends, email};

/// More than reconciling waits before it takes something for forgotten.
const IDLE_MS: u64 = 3 * 60_000;

struct Traces {
    friends: Friends,
    kept: TicketId,
    /// Cleo took it.
    taken: TransferId,
    /// Bo was asked, and Ana was.
    open: [TransferId; 2],
}

impl Traces {
    async fn new() -> Self {
        let friends = Friends::new().await;
        let (app, ana) = (&friends.scene.app, &friends.scene.ana);
        let [given, kept] = friends.scene.order(friends.order).await.ticket_ids()[..] else {
            unreachable!("two tickets");
        };
        let taken = friends.offer(ana, given, "cleo").await.unwrap().id;
        hear_all(&friends).await;
        let cleos = friends.accept(&friends.cleo, taken).await.unwrap().id;
        let to_bo = friends.offer(ana, kept, "bo").await.unwrap().id;
        let to_ana = friends.offer(&friends.cleo, cleos, "ana").await.unwrap();
        let show = friends.scene.show.show.id;
        let wish = WaitFor {
            quantity: 2,
            sections: vec![],
            together: true,
        };
        app.join_waitlist(ana, show, None, &wish).await.unwrap();
        let turn = Turn {
            lot: Lot([5; 16]),
            email: email("ana"),
            language: None,
            enter_by: app.now() + IDLE_MS,
        };
        app.tell_turns(show, vec![turn]).await.unwrap();
        hear_all(&friends).await;
        Self {
            friends,
            kept,
            taken,
            open: [to_bo, to_ana.id],
        }
    }

    async fn leave(&self) {
        leave(&self.friends, &self.friends.scene.ana).await;
    }

    async fn tidy(&self) -> Result<()> {
        tidy(&self.friends).await
    }

    async fn transfer(&self, id: TransferId) -> Transfer {
        let transfer = self.friends.scene.world.store.read::<Transfer>(id).await;
        transfer.unwrap().unwrap().value
    }

    async fn check(&self, when: &str) {
        let scene = &self.friends.scene;
        let (store, ana) = (&scene.world.store, scene.ana.account);
        let deletion = store.read::<Deletion>(ana).await.unwrap().unwrap().value;
        assert!(!deletion.is_open(), "{when}: {deletion:?}");
        let entries = store
            .waitlist_entries_of(ana, None, 10)
            .await
            .unwrap()
            .items;
        let outcomes: Vec<_> = entries.iter().map(|e| e.value.outcome()).collect();
        assert_eq!(outcomes, [Some(Outcome::Left)], "{when}");
        for id in self.open {
            let transfer = self.transfer(id).await;
            assert_eq!(transfer.to, None, "{when}: {transfer:?}");
            let over = transfer.status(scene.app.now());
            let ended = [TransferStatus::Withdrawn, TransferStatus::Declined];
            assert!(ended.contains(&over), "{when}: {over:?}");
        }
        let taken = self.transfer(self.taken).await;
        assert_eq!(taken.to, Some(email("cleo")), "{when}: hers");
        for mail in scene.world.table.all_mails() {
            assert!(!names(&mail, "ana"), "{when}: {mail:?}");
            assert!(mail.look_at().is_none(), "{when}: {mail:?}");
        }
        assert!(self.friends.ticket(self.kept).await.is_valid(), "{when}");
    }
}

async fn leave(friends: &Friends, who: &Caller) {
    let app = &friends.scene.app;
    let found = app.store.credentials_of(who.account).await.unwrap();
    let found = found.unwrap();
    let deletion = Deletion::begin(&found.account, None, app.now());
    let begun = app.store.begin_deletion(&deletion, found.epoch).await;
    assert!(begun.unwrap());
}

/// What reconciling and its messages do of the deletion.
async fn tidy(friends: &Friends) -> Result<()> {
    let scene = &friends.scene;
    scene.app.reconcile_open().await?;
    for message in scene.world.saga_queue.take_due() {
        if matches!(message, Drive::Deletion { .. }) {
            scene.app.drive(&message).await?;
        }
    }
    Ok(())
}

/// Everything that was announced is told by mail, again or for the first time.
async fn hear_all(friends: &Friends) {
    let scene = &friends.scene;
    for told in scene.world.bus.told() {
        scene.app.hear(&scene.world.post, &told).await.unwrap();
    }
}

fn names(mail: &Mail, name: &str) -> bool {
    let text = serde_json::to_string(mail).unwrap();
    text.contains(&format!("{name}@")) || text.contains(&format!("\"{name}\""))
}

#[tokio::test]
async fn nothing_names_whoever_has_left_whatever_dies_on_the_way() {
    for fault in Fault::ALL {
        for nth in 0.. {
            let traces = Traces::new().await;
            let world = &traces.friends.scene.world;
            let named = world.table.all_mails();
            assert_eq!(named.iter().filter(|mail| names(mail, "ana")).count(), 5);
            traces.leave().await;
            world.clock.advance(IDLE_MS);
            world.faults.arm(Some((nth, fault)));
            // A process that dies never comes back: it is dropped.
            let _ = tokio::time::timeout(Duration::from_millis(20), traces.tidy()).await;
            let reached = world.faults.calls().len() > nth;
            world.faults.arm(None);
            for _ in 0..3 {
                world.clock.advance(IDLE_MS);
                traces.tidy().await.unwrap();
            }
            traces.check(&format!("{fault:?} at call {nth}")).await;
            if !reached {
                break;
            }
        }
    }
}

#[tokio::test]
async fn news_that_comes_late_names_nobody_anew() {
    let traces = Traces::new().await;
    let scene = &traces.friends.scene;
    let sent = scene.world.mailer.sent().len();
    traces.leave().await;
    for _ in 0..3 {
        scene.world.clock.advance(IDLE_MS);
        traces.tidy().await.unwrap();
    }
    hear_all(&traces.friends).await;
    traces.check("told again").await;
    assert_eq!(scene.world.mailer.sent().len(), sent);
    // Whoever has the address next is written to as everybody is.
    let show = scene.show.show.id;
    let turn = Turn {
        lot: Lot([6; 16]),
        email: email("ana"),
        language: None,
        enter_by: scene.app.now() + IDLE_MS,
    };
    scene.app.tell_turns(show, vec![turn]).await.unwrap();
    let told = scene.world.bus.told().pop().unwrap();
    scene.app.hear(&scene.world.post, &told).await.unwrap();
    assert_eq!(scene.world.mailer.sent().len(), sent + 1);
}

#[tokio::test]
async fn an_offer_of_the_waitlist_goes_back_with_whoever_leaves() {
    let traces = Traces::new().await;
    let scene = &traces.friends.scene;
    let (store, show) = (&scene.world.store, scene.show.show.id);
    let account = scene.ana.account;
    let mut entry = store
        .read::<WaitlistEntry>((show, account))
        .await
        .unwrap()
        .unwrap();
    let places = vec![scene.show.layout.find("A-1-3").unwrap()];
    entry.value = entry
        .value
        .offered(places, vec![], scene.app.now(), 30 * 60_000);
    store.replace(&entry).await.unwrap();
    traces.leave().await;
    for _ in 0..3 {
        scene.world.clock.advance(IDLE_MS);
        traces.tidy().await.unwrap();
    }
    traces.check("offered").await;
    assert!(!scene.cells().await.iter().any(|(seat, _)| seat == "A-1-3"));
}

#[tokio::test]
async fn only_what_was_sent_stays_as_a_number() {
    let traces = Traces::new().await;
    traces.leave().await;
    let scene = &traces.friends.scene;
    for _ in 0..3 {
        scene.world.clock.advance(IDLE_MS);
        traces.tidy().await.unwrap();
    }
    let mails = scene.world.table.all_mails();
    let forgotten: Vec<_> = mails.iter().filter(|mail| mail.news.is_none()).collect();
    assert_eq!(forgotten.len(), 5);
    let sent = |mail: &&&Mail| matches!(mail.state, MailState::Sent { .. });
    assert_eq!(forgotten.iter().filter(sent).count(), 5);
}

/// A ticket is offered to an address, and somebody makes an account with it afterwards.
struct Latecomer {
    friends: Friends,
    offer: TransferId,
    dora: Caller,
}

impl Latecomer {
    async fn comes_to(friends: Friends, offer: TransferId) -> Self {
        let scene = &friends.scene;
        scene.world.clock.advance(CLOCK_SKEW_MS + 1);
        let dora = scene.show.buyer(4).await.unwrap();
        friends.register(&dora, "dora").await;
        Self {
            friends,
            offer,
            dora,
        }
    }

    /// Leaves, and everything is done that leaving takes: the offer is like this afterwards.
    async fn leaves(&self) -> Transfer {
        let scene = &self.friends.scene;
        leave(&self.friends, &self.dora).await;
        for _ in 0..3 {
            scene.world.clock.advance(IDLE_MS);
            tidy(&self.friends).await.unwrap();
        }
        let store = &scene.world.store;
        let deletion = store
            .read::<Deletion>(self.dora.account)
            .await
            .unwrap()
            .unwrap();
        assert!(!deletion.value.is_open(), "{deletion:?}");
        store
            .read::<Transfer>(self.offer)
            .await
            .unwrap()
            .unwrap()
            .value
    }
}

async fn offered_to_dora(friends: &Friends) -> TransferId {
    let ticket = friends.scene.order(friends.order).await.ticket_ids()[0];
    let offer = friends.offer(&friends.scene.ana, ticket, "dora").await;
    offer.unwrap().id
}

#[tokio::test]
async fn whoever_takes_an_address_and_leaves_ends_nothing_that_came_to_it_before() {
    let friends = Friends::new().await;
    let offer = offered_to_dora(&friends).await;
    let world = friends.scene.world.clone();
    let told = world.bus.told().pop().unwrap();
    // The mail is due, and not sent yet.
    world.faults.fail_always("get MAIL", true);
    let heard = friends.scene.app.hear(&world.post, &told).await;
    assert!(heard.is_err(), "{heard:?}");
    world.faults.fail_always("get MAIL", false);
    let sent = world.mailer.sent().len();
    let stranger = Latecomer::comes_to(friends, offer).await;
    let kept = stranger.leaves().await;
    let app = &stranger.friends.scene.app;
    assert_eq!(kept.status(app.now()), TransferStatus::Open);
    assert_eq!(kept.to, Some(email("dora")));
    app.hear(&world.post, &told).await.unwrap();
    assert_eq!(world.mailer.sent().len(), sent + 1);
    assert!(world.table.all_mails().iter().any(|m| names(m, "dora")));
}

#[tokio::test]
async fn the_letter_of_a_gift_goes_with_whoever_accepted_it() {
    let friends = Friends::new().await;
    let offer = offered_to_dora(&friends).await;
    hear_all(&friends).await;
    let latecomer = Latecomer::comes_to(friends, offer).await;
    let (friends, dora) = (&latecomer.friends, &latecomer.dora);
    let table = &friends.scene.world.table;
    assert!(table.all_mails().iter().any(|m| names(m, "dora")));
    friends.accept(dora, offer).await.unwrap();
    assert_eq!(latecomer.leaves().await.to, None);
    assert!(!table.all_mails().iter().any(|m| names(m, "dora")));
}
