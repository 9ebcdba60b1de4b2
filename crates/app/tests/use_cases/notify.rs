//! Telling people by mail: never forgotten, and twice only after a crash in the middle of
//! sending.

mod change;
mod crash;
mod given;
mod links;
mod lost_tickets;
mod outcomes;
mod resend;
mod turns;

use crate::checkout::scene::{NOW, Scene};
use onsale_app::Caller;
use onsale_app::ports::{Credentials, List, PasswordHash};
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::announcement::Announcement;
use onsale_domain::mail::{Mail, MailState};
use onsale_domain::mailing::Mailing;

/// Gives a caller an account with this address.
async fn known(scene: &Scene, caller: &Caller, email: &str) -> Email {
    let email = Email::parse(email).unwrap();
    let credentials = Credentials {
        account: Account {
            id: caller.account,
            email: email.clone(),
            name: "Ana".into(),
            role: Role::Buyer,
            created: NOW,
            language: None,
            proven: None,
        },
        password: PasswordHash("none".into()),
        epoch: 0,
        request: None,
    };
    scene
        .world
        .store
        .register(&credentials, None)
        .await
        .unwrap();
    email
}

/// The newest announcement of this kind.
fn told(scene: &Scene, kind: &str) -> Announcement {
    let told = scene.world.bus.told();
    let last = told.into_iter().rev().find(|told| told.news.kind() == kind);
    last.unwrap_or_else(|| panic!("{kind} was not announced"))
}

/// Delivers what our own queue has, and lets time pass and reconciles, until every mail
/// has come to an end.
async fn come_to_rest(scene: &Scene) {
    for _ in 0..40 {
        for message in scene.world.notify_queue.take_due() {
            // What fails comes again; here reconciling sees to that.
            let _ = scene.app.notify(&scene.world.post, &message).await;
        }
        let quiet = scene.world.notify_queue.waiting().is_empty();
        let open = |mail: &Mail| mail.look_at().is_some();
        let none_open = !scene.world.table.all_mails().iter().any(open);
        let mailings = scene
            .app
            .store
            .ids_in::<Mailing>(&List::OpenMailings)
            .await
            .unwrap();
        if quiet && none_open && mailings.is_empty() {
            return;
        }
        scene.world.clock.advance(130_000);
        scene.app.reconcile_open().await.unwrap();
    }
    unreachable!("mails do not come to rest");
}

fn is_sent(mail: &Mail) -> bool {
    matches!(mail.state, MailState::Sent { .. })
}

/// How many messages went to this address.
fn sent_to(scene: &Scene, email: &Email) -> usize {
    let sent = scene.world.mailer.sent();
    sent.iter().filter(|(to, _)| to == email).count()
}
