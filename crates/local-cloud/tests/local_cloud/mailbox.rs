//! Mails, sent with the real SDK.

use aws_sdk_sesv2::primitives::Blob;
use aws_sdk_sesv2::types::{Destination, EmailContent, RawMessage};
use onsale_local_cloud::LocalCloud;

async fn send(cloud: &LocalCloud, to: &str, raw: &[u8]) -> Result<String, bool> {
    let raw = RawMessage::builder().data(Blob::new(raw)).build().unwrap();
    let sent = crate::clients::ses(cloud.http_client())
        .send_email()
        .from_email_address("box@onsale.example")
        .destination(Destination::builder().to_addresses(to).build())
        .content(EmailContent::builder().raw(raw).build())
        .send()
        .await;
    match sent {
        Ok(answer) => Ok(answer.message_id.unwrap()),
        Err(error) => Err(error.into_service_error().is_bad_request_exception()),
    }
}

#[tokio::test]
async fn a_mail_is_kept_as_it_was_sent_and_outlives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let cloud = LocalCloud::open(dir.path()).unwrap();
    let first = send(&cloud, "ana@example.org", b"one\r\n\0\xff")
        .await
        .unwrap();
    let second = send(&cloud, "bo@example.org", b"two").await.unwrap();
    drop(cloud);
    let mailbox = LocalCloud::open(dir.path()).unwrap().mailbox().clone();
    let all = mailbox.newest(None, 10).await.unwrap();
    let ids: Vec<_> = all.iter().map(|mail| mail.id.as_str()).collect();
    assert_eq!(ids, [second.as_str(), first.as_str()]);
    let anas = mailbox
        .newest(Some("ana@example.org".into()), 10)
        .await
        .unwrap();
    assert_eq!(
        (anas.len(), anas[0].raw.as_slice()),
        (1, &b"one\r\n\0\xff"[..])
    );
    assert_eq!(mailbox.mail(first).await.unwrap(), Some(anas[0].clone()));
    assert_eq!(mailbox.mail("none".into()).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_no_address_is_refused_for_good() {
    let cloud = LocalCloud::memory().unwrap();
    assert_eq!(send(&cloud, "nobody", b"one").await, Err(true));
    assert!(cloud.mailbox().newest(None, 10).await.unwrap().is_empty());
}
