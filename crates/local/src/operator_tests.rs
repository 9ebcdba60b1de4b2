//! A command fails by the alarms of a report, with the platform running and without it.

use onsale_app::Ports;
use onsale_app::ports::Written;
use onsale_app::unplugged::Unplugged;
use onsale_domain::announcement::News;
use onsale_domain::ids::EventId;
use onsale_domain::mail::{Mail, Recipient};
use tokio::net::TcpListener;

use super::*;

async fn platform(folder: &DataFolder) -> Platform {
    let links = Links::new("http://127.0.0.1:8787".to_owned()).unwrap();
    let platform = Platform::start(folder, Limits::off(), &[], links).await;
    platform.unwrap()
}

/// Answers operators from now on, at the address that the folder names.
async fn serve(folder: &DataFolder, app: App) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, token) = (listener.local_addr().unwrap(), fresh_token().unwrap());
    let announced = format!("{address} {token}");
    folder.announce_operator(&announced).unwrap();
    tokio::spawn(axum::serve(listener, router(app, token)).into_future());
}

async fn park_mail(app: &App, reason: &str) {
    let (now, to) = (app.now(), Recipient::Nobody);
    let event_id = EventId::from_bytes([1; 16]);
    let news = News::EventChanged { event_id };
    let mail = Mail::due("EventChanged:1", now, news, to, now, now + 3_600_000);
    let parked = mail.parked(reason.to_owned(), now);
    let stored = app.store.create(&parked).await;
    assert!(matches!(stored, Ok(Written::Done(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_mail_whose_reason_speaks_of_an_alarm_raises_none() {
    let data = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(data.path()).unwrap();
    let app = platform(&folder).await.app;
    park_mail(&app, "ALARM: the mailbox is full").await;
    let listed = Wish::ParkedMails.grant(&app).await.unwrap();
    assert!(listed.text.contains("ALARM"), "{listed:?}");
    assert!(!listed.needs_a_look, "{listed:?}");
    serve(&folder, app).await;
    assert_eq!(fulfil(data.path(), Wish::ParkedMails).await, Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alarm_of_a_report_fails_the_command() {
    let data = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(data.path()).unwrap();
    let whole = platform(&folder).await.app;
    let agreed = Wish::Reconcile.grant(&whole).await.unwrap();
    assert!(!agreed.needs_a_look, "{agreed:?}");
    // Payments that cannot be listed are an alarm.
    let app = App::new(Ports {
        payments: Arc::new(Unplugged),
        ..Ports::clone(&whole)
    });
    let found = Wish::Reconcile.grant(&app).await.unwrap();
    assert!(found.needs_a_look, "{found:?}");
    serve(&folder, app).await;
    let refused = fulfil(data.path(), Wish::Reconcile).await;
    assert_eq!(refused, Err(NEEDS_A_LOOK.to_owned()));
}
