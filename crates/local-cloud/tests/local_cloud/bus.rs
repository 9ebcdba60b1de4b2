//! Events from PutEvents to the queues of their rules.

use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use onsale_local_cloud::{LocalCloud, Wiring};
use serde_json::Value;

use crate::clients::events;

const TEMPLATE: &str = r#"
Resources:
  Bus: { Type: AWS::Events::EventBus, Properties: { Name: onsale } }
  Notify: { Type: AWS::SQS::Queue }
  Waitlist: { Type: AWS::SQS::Queue }
  OrderEvents:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [onsale]
        detail-type: [{ prefix: Order }]
      Targets: [{ Id: notify, Arn: !GetAtt Notify.Arn }]
  SeatEvents:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [onsale]
        detail-type: [SeatsReturned, OrderCancelled]
      Targets: [{ Id: waitlist, Arn: !GetAtt Waitlist.Arn }]
  OwnMails:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [mails]
        detail: { mail: { tags: { "ses:configuration-set": [!Ref Reports] } } }
      Targets: [{ Id: notify, Arn: !GetAtt Notify.Arn }]
"#;

fn entry(source: &str, detail_type: &str, detail: &str) -> PutEventsRequestEntry {
    PutEventsRequestEntry::builder()
        .event_bus_name("Bus")
        .source(source)
        .detail_type(detail_type)
        .detail(detail)
        .build()
}

async fn received(cloud: &LocalCloud, queue: &str) -> Vec<Value> {
    let messages = cloud.queues().receive(queue, 10, None).await.unwrap();
    let bodies = messages.iter().map(|m| serde_json::from_str(&m.body));
    bodies.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn an_event_reaches_the_queue_of_every_rule_it_matches_and_no_other() {
    let cloud = LocalCloud::memory().unwrap();
    cloud
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let client = events(cloud.http_client());
    let put = client
        .put_events()
        .entries(entry("onsale", "OrderConfirmed", r#"{"order":"a"}"#))
        .entries(entry("onsale", "OrderCancelled", r#"{"order":"b"}"#))
        .entries(entry("somebody", "OrderCancelled", "{}"))
        .send()
        .await
        .unwrap();
    assert_eq!(put.failed_entry_count(), 0);

    let notify = received(&cloud, "Notify").await;
    assert_eq!(notify.len(), 2);
    assert_eq!(notify[0]["detail-type"], "OrderConfirmed");
    assert_eq!(notify[0]["source"], "onsale");
    assert_eq!(notify[0]["detail"]["order"], "a");
    assert_eq!(notify[0]["version"], "0");
    assert_eq!(notify[0]["id"], put.entries()[0].event_id().unwrap());
    assert!(notify[0]["time"].as_str().unwrap().ends_with('Z'));
    let waitlist = received(&cloud, "Waitlist").await;
    assert_eq!(waitlist.len(), 1);
    assert_eq!(waitlist[0]["detail"]["order"], "b");
}

#[tokio::test]
async fn an_entry_without_proper_detail_fails_alone() {
    let cloud = LocalCloud::memory().unwrap();
    cloud
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let put = events(cloud.http_client())
        .put_events()
        .entries(entry("onsale", "OrderConfirmed", "not json"))
        .entries(entry("onsale", "OrderConfirmed", "{}"))
        .send()
        .await
        .unwrap();
    assert_eq!(put.failed_entry_count(), 1);
    assert_eq!(put.entries()[0].error_code(), Some("MalformedDetail"));
    assert_eq!(received(&cloud, "Notify").await.len(), 1);
}

#[tokio::test]
async fn a_rule_that_names_fields_of_the_detail_hears_of_no_others() {
    let cloud = LocalCloud::memory().unwrap();
    cloud
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let own = r#"{"mail":{"id":"own","tags":{"ses:configuration-set":["Reports"]}}}"#;
    let foreign = r#"{"mail":{"id":"foreign","tags":{"ses:configuration-set":["others"]}}}"#;
    events(cloud.http_client())
        .put_events()
        .entries(entry("mails", "Email Bounced", foreign))
        .entries(entry("mails", "Email Bounced", own))
        .entries(entry("mails", "Email Bounced", r#"{"mail":{}}"#))
        .send()
        .await
        .unwrap();
    let heard = received(&cloud, "Notify").await;
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["detail"]["mail"]["id"], "own");
}
