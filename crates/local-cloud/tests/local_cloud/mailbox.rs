//! Mails, as the application sends them.

use onsale_app::ports::{MailFailure, Mailer};
use onsale_domain::account::Email;
use onsale_local_cloud::LocalCloud;

async fn send(cloud: &LocalCloud, to: &str, raw: &[u8]) -> Result<(), MailFailure> {
    let mailer = cloud.mailbox().mailer("box@onsale.example");
    mailer.send(&Email::parse(to).unwrap(), raw.to_vec()).await
}

#[tokio::test]
async fn a_mail_is_kept_as_it_was_sent_and_outlives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let cloud = LocalCloud::open(dir.path()).await.unwrap();
    let ana = "ana@example.org";
    send(&cloud, ana, b"one\r\n\0\xff").await.unwrap();
    send(&cloud, "bo@example.org", b"two").await.unwrap();
    drop(cloud);
    let cloud = LocalCloud::open(dir.path()).await.unwrap();
    let mailbox = cloud.mailbox();
    let all = mailbox.newest(None, 10).await.unwrap();
    let raw: Vec<_> = all.iter().map(|mail| mail.raw.as_slice()).collect();
    assert_eq!(raw, [b"two".as_slice(), b"one\r\n\0\xff"]);
    let anas = mailbox.newest(Some(ana.into()), 10).await.unwrap();
    assert_eq!(anas, [all[1].clone()]);
    assert_eq!(anas[0].sender, "box@onsale.example");
    let found = mailbox.mail(anas[0].id.clone()).await.unwrap();
    assert_eq!(found, Some(anas[0].clone()));
    assert_eq!(mailbox.mail("none".into()).await.unwrap(), None);
}

#[tokio::test]
async fn an_address_that_ses_would_refuse_is_refused_for_good_and_not_named() {
    let cloud = LocalCloud::temporary().await.unwrap();
    let sent = send(&cloud, "zoë@example.org", b"one").await;
    let Err(MailFailure::Refused(reason)) = sent else {
        panic!("{sent:?}");
    };
    assert!(!reason.contains("zoë"), "{reason}");
    assert!(cloud.mailbox().newest(None, 10).await.unwrap().is_empty());
}
