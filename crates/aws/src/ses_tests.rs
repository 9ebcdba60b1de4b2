use super::*;
use crate::AwsConfig;
use aws_sdk_dynamodb::config::Credentials;
use onsale_aws_emulator::Emulator;
use onsale_aws_emulator::testing::{FaultPlan, FaultyClient};

fn mailer(cloud: &Emulator, faults: FaultPlan) -> SesMailer {
    let http = FaultyClient::new(cloud.http_client(), faults).http_client();
    let config = AwsConfig {
        region: "local".to_owned(),
        credentials: Credentials::new("local", "local", None, None, "test"),
        endpoint: Some("http://cloud.local".to_owned()),
        http,
        links: None,
    };
    config.mailer("box@onsale.example")
}

async fn received(cloud: &Emulator) -> usize {
    cloud.mailbox().newest(None, 10).await.unwrap().len()
}

#[tokio::test]
async fn a_message_arrives_as_it_was_written() {
    let cloud = Emulator::memory().unwrap();
    let ana = Email::parse("ana@example.org").unwrap();
    let mailer = mailer(&cloud, FaultPlan::new());
    let sent = mailer.send(&ana, b"Subject: x\r\n\r\n\xff".to_vec()).await;
    assert_eq!(sent, Ok(()));
    let mail = cloud.mailbox().newest(None, 10).await.unwrap().remove(0);
    assert_eq!(mail.raw, b"Subject: x\r\n\r\n\xff");
    assert_eq!(
        (mail.recipient.as_str(), mail.sender.as_str()),
        ("ana@example.org", "box@onsale.example")
    );
}

#[tokio::test]
async fn a_lost_answer_is_no_reason_to_send_again_by_itself() {
    let cloud = Emulator::memory().unwrap();
    let ana = Email::parse("ana@example.org").unwrap();
    let lossy = FaultPlan::new().drop_reply("SendEmail", 1);
    let sent = mailer(&cloud, lossy).send(&ana, b"x".to_vec()).await;
    assert!(matches!(sent, Err(MailFailure::Unavailable(_))), "{sent:?}");
    assert_eq!(received(&cloud).await, 1);
}

#[tokio::test]
async fn an_address_that_cannot_be_is_refused_for_good_and_not_named() {
    let cloud = Emulator::memory().unwrap();
    let odd = Email::parse("zoë@example.org").unwrap();
    let sent = mailer(&cloud, FaultPlan::new())
        .send(&odd, b"x".to_vec())
        .await;
    let Err(MailFailure::Refused(reason)) = sent else {
        panic!("{sent:?}");
    };
    assert!(!reason.contains("zoë"), "{reason}");
    assert_eq!(received(&cloud).await, 0);
}
